//! What can be asked of a server, well formed or not.

use std::fmt;

use super::jute::{Text, Writer};
use super::numbers::opcode;

/// One entry of an access control list.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Acl {
    /// Permission bits.
    pub perms: i32,
    /// The kind of identity: `world`, `digest`, `ip`, `auth`, ….
    pub scheme: Text,
    /// The identity.
    pub id: Text,
}

/// One entry of an access control list.
pub fn acl(perms: i32, scheme: &str, id: &str) -> Acl {
    Acl { perms, scheme: scheme.into(), id: id.into() }
}

/// Everyone may do everything.
pub fn open_acl() -> Vec<Acl> {
    vec![acl(31, "world", "anyone")]
}

impl fmt::Display for Acl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.scheme.lossy(), self.id.lossy(), self.perms)
    }
}

/// The paths of setWatches and setWatches2, by kind of watch; `None` is a null list.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WatchLists {
    /// Data watches on nodes that existed.
    pub data: Option<Vec<Text>>,
    /// Watches on nodes that did not exist.
    pub exist: Option<Vec<Text>>,
    /// Child watches.
    pub child: Option<Vec<Text>>,
    /// Persistent watches; setWatches2 only.
    pub persistent: Option<Vec<Text>>,
    /// Persistent recursive watches; setWatches2 only.
    pub persistent_recursive: Option<Vec<Text>>,
}

impl WatchLists {
    /// No paths at all, and no null list.
    pub fn empty() -> Self {
        Self {
            data: Some(vec![]),
            exist: Some(vec![]),
            child: Some(vec![]),
            persistent: Some(vec![]),
            persistent_recursive: Some(vec![]),
        }
    }
}

/// One request. Fields are named as in the protocol; null is a value wherever the wire has one.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the fields of requests are those of the protocol's records")]
pub enum Request {
    /// create, create2 or createContainer: one record, three opcodes.
    Create { opcode: i32, path: Text, data: Option<Vec<u8>>, acl: Option<Vec<Acl>>, flags: i32 },
    /// createTTL.
    CreateTtl { path: Text, data: Option<Vec<u8>>, acl: Option<Vec<Acl>>, flags: i32, ttl: i64 },
    /// delete.
    Delete { path: Text, version: i32 },
    /// deleteContainer, in the form of 3.9; servers send it to themselves.
    DeleteContainer { path: Text },
    /// exists.
    Exists { path: Text, watch: bool },
    /// getData.
    GetData { path: Text, watch: bool },
    /// setData.
    SetData { path: Text, data: Option<Vec<u8>>, version: i32 },
    /// getACL.
    GetAcl { path: Text },
    /// setACL.
    SetAcl { path: Text, acl: Option<Vec<Acl>>, version: i32 },
    /// getChildren.
    GetChildren { path: Text, watch: bool },
    /// getChildren2.
    GetChildren2 { path: Text, watch: bool },
    /// sync.
    Sync { path: Text },
    /// ping.
    Ping,
    /// check; belongs inside multi.
    Check { path: Text, version: i32 },
    /// multi.
    Multi(Vec<Self>),
    /// multiRead.
    MultiRead(Vec<Self>),
    /// reconfig.
    Reconfig { joining: Text, leaving: Text, members: Text, config_id: i64 },
    /// checkWatches.
    CheckWatches { path: Text, kind: i32 },
    /// removeWatches.
    RemoveWatches { path: Text, kind: i32 },
    /// auth.
    Auth { scheme: Text, auth: Option<Vec<u8>> },
    /// sasl.
    Sasl { token: Option<Vec<u8>> },
    /// setWatches: the first three lists.
    SetWatches { relative_zxid: i64, lists: WatchLists },
    /// setWatches2: all five lists.
    SetWatches2 { relative_zxid: i64, lists: WatchLists },
    /// addWatch.
    AddWatch { path: Text, mode: i32 },
    /// getEphemerals.
    GetEphemerals { prefix: Text },
    /// getAllChildrenNumber.
    GetAllChildrenNumber { path: Text },
    /// whoAmI.
    WhoAmI,
    /// closeSession.
    CloseSession,
    /// Any opcode with any bytes.
    Raw { opcode: i32, body: Vec<u8> },
}

impl Request {
    /// The number that goes into the header.
    pub fn opcode(&self) -> i32 {
        match self {
            Self::Create { opcode, .. } | Self::Raw { opcode, .. } => *opcode,
            Self::CreateTtl { .. } => opcode::CREATE_TTL,
            Self::Delete { .. } => opcode::DELETE,
            Self::DeleteContainer { .. } => opcode::DELETE_CONTAINER,
            Self::Exists { .. } => opcode::EXISTS,
            Self::GetData { .. } => opcode::GET_DATA,
            Self::SetData { .. } => opcode::SET_DATA,
            Self::GetAcl { .. } => opcode::GET_ACL,
            Self::SetAcl { .. } => opcode::SET_ACL,
            Self::GetChildren { .. } => opcode::GET_CHILDREN,
            Self::GetChildren2 { .. } => opcode::GET_CHILDREN2,
            Self::Sync { .. } => opcode::SYNC,
            Self::Ping => opcode::PING,
            Self::Check { .. } => opcode::CHECK,
            Self::Multi(_) => opcode::MULTI,
            Self::MultiRead(_) => opcode::MULTI_READ,
            Self::Reconfig { .. } => opcode::RECONFIG,
            Self::CheckWatches { .. } => opcode::CHECK_WATCHES,
            Self::RemoveWatches { .. } => opcode::REMOVE_WATCHES,
            Self::Auth { .. } => opcode::AUTH,
            Self::Sasl { .. } => opcode::SASL,
            Self::SetWatches { .. } => opcode::SET_WATCHES,
            Self::SetWatches2 { .. } => opcode::SET_WATCHES2,
            Self::AddWatch { .. } => opcode::ADD_WATCH,
            Self::GetEphemerals { .. } => opcode::GET_EPHEMERALS,
            Self::GetAllChildrenNumber { .. } => opcode::GET_ALL_CHILDREN_NUMBER,
            Self::WhoAmI => opcode::WHO_AM_I,
            Self::CloseSession => opcode::CLOSE_SESSION,
        }
    }

    /// The bytes behind the header.
    pub fn body(&self) -> Vec<u8> {
        let new = Writer::new;
        let writer = match self {
            Self::Create { opcode: _, path, data, acl, flags } => {
                create(path, data.as_deref(), acl.as_deref(), *flags)
            }
            Self::CreateTtl { path, data, acl, flags, ttl } => {
                create(path, data.as_deref(), acl.as_deref(), *flags).i64(*ttl)
            }
            Self::SetData { path, data, version } => {
                new().text(path).buffer(data.as_deref()).i32(*version)
            }
            Self::SetAcl { path, acl, version } => {
                acls(new().text(path), acl.as_deref()).i32(*version)
            }
            Self::Delete { path, version } | Self::Check { path, version } => {
                new().text(path).i32(*version)
            }
            Self::Exists { path, watch }
            | Self::GetData { path, watch }
            | Self::GetChildren { path, watch }
            | Self::GetChildren2 { path, watch } => new().text(path).bool(*watch),
            Self::DeleteContainer { path }
            | Self::GetAcl { path }
            | Self::Sync { path }
            | Self::GetEphemerals { prefix: path }
            | Self::GetAllChildrenNumber { path } => new().text(path),
            Self::CheckWatches { path, kind }
            | Self::RemoveWatches { path, kind }
            | Self::AddWatch { path, mode: kind } => new().text(path).i32(*kind),
            Self::Multi(ops) | Self::MultiRead(ops) => multi(ops),
            Self::Reconfig { joining, leaving, members, config_id } => {
                new().text(joining).text(leaving).text(members).i64(*config_id)
            }
            Self::Auth { scheme, auth } => new().i32(0).text(scheme).buffer(auth.as_deref()),
            Self::Sasl { token } => new().buffer(token.as_deref()),
            Self::SetWatches { relative_zxid, lists } => {
                let WatchLists { data, exist, child, persistent: _, persistent_recursive: _ } =
                    lists;
                watches(*relative_zxid, &[data, exist, child])
            }
            Self::SetWatches2 { relative_zxid, lists } => {
                let WatchLists { data, exist, child, persistent, persistent_recursive } = lists;
                watches(*relative_zxid, &[data, exist, child, persistent, persistent_recursive])
            }
            Self::Ping | Self::WhoAmI | Self::CloseSession => new(),
            Self::Raw { opcode: _, body } => new().raw(body),
        };
        writer.finish()
    }
}

fn create(path: &Text, data: Option<&[u8]>, acl: Option<&[Acl]>, flags: i32) -> Writer {
    acls(Writer::new().text(path).buffer(data), acl).i32(flags)
}

fn acls(writer: Writer, list: Option<&[Acl]>) -> Writer {
    writer.list(list, |writer, Acl { perms, scheme, id }| writer.i32(*perms).text(scheme).text(id))
}

fn watches(relative_zxid: i64, lists: &[&Option<Vec<Text>>]) -> Writer {
    lists.iter().fold(Writer::new().i64(relative_zxid), |writer, list| {
        writer.list(list.as_deref(), |writer, path| writer.text(path))
    })
}

fn multi(ops: &[Request]) -> Writer {
    let body = ops.iter().fold(Writer::new(), |writer, op| {
        writer.i32(op.opcode()).bool(false).i32(-1).raw(&op.body())
    });
    body.i32(-1).bool(true).i32(-1)
}

impl fmt::Display for Request {
    /// One line, with everything a reader needs to see why the answer is what it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", opcode::name(self.opcode()))?;
        match self {
            Self::Create { opcode: _, path, data, acl, flags } => {
                write!(f, " {path} {} {} flags={flags}", Bytes(data), Acls(acl))
            }
            Self::CreateTtl { path, data, acl, flags, ttl } => {
                write!(f, " {path} {} {} flags={flags} ttl={ttl}", Bytes(data), Acls(acl))
            }
            Self::SetData { path, data, version } => {
                write!(f, " {path} {} version={version}", Bytes(data))
            }
            Self::SetAcl { path, acl, version } => {
                write!(f, " {path} {} version={version}", Acls(acl))
            }
            Self::Delete { path, version } | Self::Check { path, version } => {
                write!(f, " {path} version={version}")
            }
            Self::Exists { path, watch }
            | Self::GetData { path, watch }
            | Self::GetChildren { path, watch }
            | Self::GetChildren2 { path, watch } => {
                write!(f, " {path}{}", if *watch { " watch" } else { "" })
            }
            Self::DeleteContainer { path }
            | Self::GetAcl { path }
            | Self::Sync { path }
            | Self::GetEphemerals { prefix: path }
            | Self::GetAllChildrenNumber { path } => write!(f, " {path}"),
            Self::CheckWatches { path, kind } | Self::RemoveWatches { path, kind } => {
                write!(f, " {path} type={kind}")
            }
            Self::AddWatch { path, mode } => write!(f, " {path} mode={mode}"),
            Self::Multi(ops) | Self::MultiRead(ops) => {
                f.write_str(" [")?;
                for (index, op) in ops.iter().enumerate() {
                    write!(f, "{}{op}", if index == 0 { "" } else { "; " })?;
                }
                f.write_str("]")
            }
            Self::Reconfig { joining, leaving, members, config_id } => {
                write!(f, " joining={joining} leaving={leaving} members={members} id={config_id}")
            }
            Self::Auth { scheme, auth } => write!(f, " {scheme} {}", Bytes(auth)),
            Self::Sasl { token } => write!(f, " {}", Bytes(token)),
            Self::SetWatches { relative_zxid, lists }
            | Self::SetWatches2 { relative_zxid, lists } => {
                let WatchLists { data, exist, child, persistent, persistent_recursive } = lists;
                write!(f, " since={relative_zxid} data={} exist={}", Texts(data), Texts(exist))?;
                write!(f, " child={}", Texts(child))?;
                if let Self::SetWatches2 { .. } = self {
                    write!(f, " persistent={}", Texts(persistent))?;
                    write!(f, " recursive={}", Texts(persistent_recursive))?;
                }
                Ok(())
            }
            Self::Ping | Self::WhoAmI | Self::CloseSession => Ok(()),
            Self::Raw { opcode, body } => write!(f, " opcode={opcode} body={}", Hex(body)),
        }
    }
}

/// Bytes for a reader: text in quotes, long ones by their length.
pub struct Bytes<'a>(pub &'a Option<Vec<u8>>);

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) if bytes.len() > 200 => write!(f, "<{} bytes>", bytes.len()),
            other => write!(f, "{}", Text(other.clone())),
        }
    }
}

/// Bytes as digits, shortened where long.
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 96;
        for byte in self.0.iter().take(SHOWN) {
            write!(f, "{byte:02x}")?;
        }
        if self.0.len() > SHOWN {
            write!(f, "… ({} bytes)", self.0.len())?;
        }
        if self.0.is_empty() { f.write_str("-") } else { Ok(()) }
    }
}

/// An access control list for a reader.
pub struct Acls<'a>(pub &'a Option<Vec<Acl>>);

impl fmt::Display for Acls<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, self.0)
    }
}

/// A list of strings for a reader.
pub struct Texts<'a>(pub &'a Option<Vec<Text>>);

impl fmt::Display for Texts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, self.0)
    }
}

fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, values: &Option<Vec<T>>) -> fmt::Result {
    let Some(values) = values else { return f.write_str("null") };
    f.write_str("[")?;
    for (index, value) in values.iter().enumerate() {
        write!(f, "{}{value}", if index == 0 { "" } else { ", " })?;
    }
    f.write_str("]")
}
