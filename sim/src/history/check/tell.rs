//! Operations and events as people read them.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "of all that can be asked, only a few things matter here"
)]

use std::fmt::Write as _;

use crate::history::intern::{PathId, ValueId};
use crate::history::record::{Kind, Mode};
use crate::history::store::{Asked, Event, History, Op, StatId, Told};
use crate::history::tree::{Mismatch, What};

/// The most of a value that is shown.
const VALUE_MAX: usize = 40;

/// A zxid as people read it.
pub(super) fn zxid(zxid: i64) -> String {
    format!("{:#x}", zxid)
}

pub(super) fn value(history: &History, value: ValueId) -> String {
    let Some(bytes) = history.values.get(value) else { return "null".into() };
    match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= VALUE_MAX => format!("{text:?}"),
        Ok(_) | Err(_) => {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(VALUE_MAX)]);
            format!("{start:?}… ({} bytes)", bytes.len())
        }
    }
}

fn path(history: &History, path: PathId) -> &str {
    history.paths.text(path)
}

pub(super) const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Created => "created",
        Kind::Deleted => "deleted",
        Kind::DataChanged => "data-changed",
        Kind::ChildrenChanged => "children-changed",
    }
}

/// A request.
pub(super) fn ask(history: &History, ask: &Asked) -> String {
    let mut text = match ask {
        Asked::AddWatch { recursive: true, .. } => "add-watch recursive".to_owned(),
        Asked::AddWatch { recursive: false, .. } => "add-watch".into(),
        Asked::Check { .. } => "check".into(),
        Asked::Close => "close".into(),
        Asked::Create { mode, sequential, .. } => {
            let mode = match mode {
                Mode::Persistent => "",
                Mode::Ephemeral => " ephemeral",
                Mode::Container => " container",
                Mode::Ttl => " ttl",
            };
            format!("create{mode}{}", if *sequential { " sequential" } else { "" })
        }
        Asked::Delete { .. } => "delete".into(),
        Asked::Exists { .. } => "exists".into(),
        Asked::GetAcl { .. } => "get-acl".into(),
        Asked::GetChildren { .. } => "get-children".into(),
        Asked::GetData { .. } => "get-data".into(),
        Asked::Multi { first, count } => {
            let parts = &history.parts[*first as usize..][..*count as usize];
            let parts: Vec<String> = parts.iter().map(|part| self::ask(history, part)).collect();
            format!("multi [{}]", parts.join(", "))
        }
        Asked::MultiRead { count, .. } => format!("multi-read of {count}"),
        Asked::Other { opcode } => format!("opcode {opcode}"),
        Asked::RemoveWatches { .. } => "remove-watches".into(),
        Asked::SetAcl { .. } => "set-acl".into(),
        Asked::SetData { .. } => "set-data".into(),
        Asked::SetWatches { .. } => "set-watches".into(),
        Asked::Sync { .. } => "sync".into(),
    };
    if let Some(at) = ask.path() {
        text.push(' ');
        text.push_str(path(history, at));
    }
    match ask {
        Asked::Create { data, .. } | Asked::SetData { data, .. } => {
            let _ = write!(text, " = {}", value(history, *data));
        }
        _ => {}
    }
    match ask {
        Asked::Check { version, .. }
        | Asked::Delete { version, .. }
        | Asked::SetAcl { version, .. }
        | Asked::SetData { version, .. }
            if *version != -1 =>
        {
            let _ = write!(text, " at version {version}");
        }
        _ => {}
    }
    text
}

/// An answer.
fn said(history: &History, told: &Told) -> String {
    let stat = |id: &StatId| {
        history.stat(*id).map_or(String::new(), |stat| {
            format!(" (version {}, mzxid {})", stat.version, zxid(stat.mzxid.0))
        })
    };
    match told {
        Told::Unknown => "no answer".into(),
        Told::Acl { acl, .. } => value(history, *acl),
        Told::Children { list, .. } => {
            let list = &history.lists[*list as usize];
            let names = &history.names[list.first as usize..][..list.count as usize];
            let some: Vec<&str> =
                names.iter().take(8).map(|path| history.paths.name(*path)).collect();
            let more = if names.len() > 8 { ", …" } else { "" };
            format!("{} children [{}{more}]", names.len(), some.join(", "))
        }
        Told::Created { path: at, stat: id } => format!("{}{}", path(history, *at), stat(id)),
        Told::Data { data, stat: id } => format!("{}{}", value(history, *data), stat(id)),
        Told::Done => "done".into(),
        Told::Error(code) => error(*code),
        Told::Parts { first, count } => {
            let parts = &history.results[*first as usize..][..*count as usize];
            let parts: Vec<String> = parts.iter().map(|part| said(history, part)).collect();
            format!("[{}]", parts.join(", "))
        }
        Told::Stat(id) => format!("ok{}", stat(id)),
    }
}

fn error(number: i32) -> String {
    zoolab_core::Code::from_number(number)
        .map_or_else(|| format!("error {number}"), |code| code.to_string())
}

/// An operation, on one line.
pub(super) fn op(history: &History, index: u32) -> String {
    let Op { zxid: at, called, returned, xid, .. } = history.ops[index as usize];
    let op = &history.ops[index as usize];
    let conn = &history.conns[op.conn as usize];
    let session = conn.session.map_or(0, |session| history.sessions[session as usize].id);
    let mut text = format!("session {session:#x}, conn {}", conn.name);
    if !conn.server.is_empty() {
        let _ = write!(text, " to {}", conn.server);
    }
    let _ = write!(text, ", xid {xid}: {}", ask(history, &op.ask));
    if op.is_definite() {
        let position = if at > 0 { format!(" at zxid {}", zxid(at)) } else { String::new() };
        let said = said(history, &op.said);
        let _ = write!(text, " -> {said}{position}, from {called} to {returned} us");
    } else {
        let _ = write!(text, " -> no answer, asked at {called} us");
    }
    text
}

/// An event, on one line.
pub(super) fn event(history: &History, event: &Event) -> String {
    let conn = &history.conns[event.conn as usize];
    let by = if event.zxid > 0 { format!(" by zxid {}", zxid(event.zxid)) } else { String::new() };
    format!(
        "conn {}: event {} {}{by}, at {} us",
        conn.name,
        kind(event.kind),
        path(history, event.path),
        event.at
    )
}

/// Why an answer cannot be.
pub(super) fn mismatch(history: &History, mismatch: &Mismatch) -> String {
    let at = path(history, mismatch.path);
    match &mismatch.what {
        What::Children => format!("{at} has other children"),
        What::Data(said, due) => {
            format!("{at} has {}, not {}", value(history, *due), value(history, *said))
        }
        What::HasChildren(true) => format!("{at} has children"),
        What::HasChildren(false) => format!("{at} has no children"),
        What::IsThere => format!("there is no {at}"),
        What::IsMissing => format!("{at} is there"),
        What::IsEphemeral(true) => format!("{at} is an ephemeral and can have no children"),
        What::IsEphemeral(false) => format!("{at} is no ephemeral"),
        What::Number { name, said, due } => {
            let wide = name.ends_with("xid") || *name == "ephemeralOwner";
            let text = |number: i64| if wide { zxid(number) } else { number.to_string() };
            format!("the {name} of {at} is {}, not {}", text(*due), text(*said))
        }
        What::Sequence { due } => format!("the next name is {due}, not {at}"),
        What::VersionIs { asked, is } => {
            format!("{at} has version {is}, and {asked} was asked for")
        }
    }
}
