//! What an application wants becomes a call of its client.

use zoolab_core::client::{Call, CallId, Change, CreateMode, Input, NewNode, WatcherId};
use zoolab_core::request::ReadOp;
use zoolab_core::{Acl, Id, Text};

use super::Spots;
use crate::step::wish::{Kind, Part, Wish};

/// How long a node lives that nobody changes, where that matters.
const TTL_MS: i64 = 10_000;

/// The permissions to read a node and to change its ACL, and no other.
const READ_AND_ADMIN: i32 = 17;

fn mode(kind: Kind) -> CreateMode {
    match kind {
        Kind::Container => CreateMode::Container,
        Kind::Ephemeral => CreateMode::Ephemeral,
        Kind::EphemeralSequential => CreateMode::EphemeralSequential,
        Kind::Persistent => CreateMode::Persistent,
        Kind::Sequential => CreateMode::PersistentSequential,
        Kind::Ttl => CreateMode::Ttl { ms: TTL_MS },
    }
}

fn watcher(number: u16) -> WatcherId {
    WatcherId(number.into())
}

fn acl(open: bool) -> Vec<Acl> {
    let perms = if open { zoolab_core::acl::perms::ALL } else { READ_AND_ADMIN };
    vec![Acl { perms, id: Id::anyone() }]
}

fn change(part: Part, spots: &Spots) -> Change {
    match part {
        Part::Check { at, version } => Change::Check { path: spots.text(at), version },
        Part::Create { at, value, kind } => {
            Change::Create(NewNode::open(&spots.text(at), &value.to_be_bytes(), mode(kind)))
        }
        Part::Delete { at, version } => Change::Delete { path: spots.text(at), version },
        Part::Set { at, value, version } => {
            let data = Some(value.to_be_bytes()[..].into());
            Change::SetData { path: spots.text(at), data, version }
        }
    }
}

/// The input that a wish is, under this name.
pub(super) fn input(wish: &Wish, id: CallId, spots: &Spots) -> Input {
    let watch = |watch: &Option<u16>| watch.map(watcher);
    let call = match wish {
        Wish::AddAuth { user } => {
            let auth = format!("u{user}:secret");
            return Input::AddAuth { scheme: Text::from("digest"), auth: auth.as_bytes().into() };
        }
        Wish::Close => return Input::Close { id },
        Wish::AddWatch { at, watcher: who, recursive } => {
            let path = spots.text(*at);
            Call::AddWatch { path, watcher: watcher(*who), recursive: *recursive }
        }
        Wish::Children { at, watch: who, stat } => {
            Call::GetChildren { path: spots.text(*at), watch: watch(who), stat: *stat }
        }
        Wish::Config { watch: who } => Call::GetConfig { watch: watch(who) },
        Wish::Count { at } => Call::GetAllChildrenNumber { path: spots.text(*at) },
        Wish::Create { at, value, kind, stat } => {
            let node = NewNode::open(&spots.text(*at), &value.to_be_bytes(), mode(*kind));
            Call::Create { node, stat: *stat }
        }
        Wish::Delete { at, version } => Call::Delete { path: spots.text(*at), version: *version },
        Wish::Ephemerals { at } => Call::GetEphemerals { prefix: spots.text(*at) },
        Wish::Exists { at, watch: who } => {
            Call::Exists { path: spots.text(*at), watch: watch(who) }
        }
        Wish::Get { at, watch: who } => Call::GetData { path: spots.text(*at), watch: watch(who) },
        Wish::GetAcl { at } => Call::GetAcl { path: spots.text(*at) },
        Wish::Multi(parts) => Call::Multi(parts.iter().map(|part| change(*part, spots)).collect()),
        Wish::MultiRead(reads) => {
            let read = |(at, children): &(_, bool)| {
                let path = spots.text(*at);
                if *children { ReadOp::GetChildren { path } } else { ReadOp::GetData { path } }
            };
            Call::MultiRead(reads.iter().map(read).collect())
        }
        Wish::RemoveWatches { at, kind, watcher: who, local } => Call::RemoveWatches {
            path: spots.text(*at),
            kind: *kind,
            watcher: watch(who),
            local: *local,
        },
        Wish::Set { at, value, version } => {
            let data = Some(value.to_be_bytes()[..].into());
            Call::SetData { path: spots.text(*at), data, version: *version }
        }
        Wish::SetAcl { at, open, version } => {
            Call::SetAcl { path: spots.text(*at), acl: acl(*open), version: *version }
        }
        Wish::Sync { at } => Call::Sync { path: spots.text(*at) },
        Wish::WhoAmI => Call::WhoAmI,
    };
    Input::Call { id, call }
}
