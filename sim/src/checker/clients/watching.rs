//! Which watchers of an application are to hear of what, as its client should know.

use std::collections::{BTreeMap, BTreeSet};

use zoolab_core::client::{Call, Failed, WatcherId, WatcherKind};
use zoolab_core::request::{Body, EventKind, SetWatches};
use zoolab_core::{Code, Text};

use super::past::parent_of;

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Kind {
    Child,
    Data,
    Exist,
    Persistent,
    Recursive,
}

const ALL: [Kind; 5] = [Kind::Child, Kind::Data, Kind::Exist, Kind::Persistent, Kind::Recursive];

/// What a call means for watches if it goes well.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Intent {
    Nothing,
    Unwatch { path: Text, kind: WatcherKind, watcher: Option<WatcherId> },
    Watch { path: Text, on: On, watcher: WatcherId },
}

/// How a call asks to watch.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum On {
    Children,
    Data,
    Exists,
    Persistent,
    Recursive,
}

impl Intent {
    pub(super) fn of(call: &Call) -> Self {
        let watch = |path: &Text, on, watcher: &Option<WatcherId>| match watcher {
            Some(watcher) => Self::Watch { path: path.clone(), on, watcher: *watcher },
            None => Self::Nothing,
        };
        match call {
            Call::AddWatch { path, watcher, recursive } => {
                let on = if *recursive { On::Recursive } else { On::Persistent };
                watch(path, on, &Some(*watcher))
            }
            Call::Exists { path, watch: watcher } => watch(path, On::Exists, watcher),
            Call::GetChildren { path, watch: watcher, .. } => watch(path, On::Children, watcher),
            Call::GetConfig { watch: watcher } => {
                watch(&zoolab_core::client::CONFIG_NODE.into(), On::Data, watcher)
            }
            Call::GetData { path, watch: watcher } => watch(path, On::Data, watcher),
            Call::RemoveWatches { path, kind, watcher, .. } => {
                Self::Unwatch { path: path.clone(), kind: *kind, watcher: *watcher }
            }
            Call::Create { .. }
            | Call::Delete { .. }
            | Call::GetAcl { .. }
            | Call::GetAllChildrenNumber { .. }
            | Call::GetEphemerals { .. }
            | Call::Multi(_)
            | Call::MultiRead(_)
            | Call::Reconfig { .. }
            | Call::SetAcl { .. }
            | Call::SetData { .. }
            | Call::Sync { .. }
            | Call::WhoAmI => Self::Nothing,
        }
    }
}

/// See the [module](self). Paths are the client's.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Watching(BTreeMap<(Kind, Text), BTreeSet<WatcherId>>);

impl Watching {
    /// A call has come to its end.
    pub(super) fn ended(&mut self, intent: &Intent, result: &Result<Body, Failed>) {
        let absent = matches!(result, Err(Failed::Code(Code::NoNode)));
        match intent {
            Intent::Nothing => {}
            Intent::Unwatch { path, kind, watcher } => {
                if result.is_ok() {
                    self.forget(path, *kind, *watcher);
                }
            }
            Intent::Watch { path, on, watcher } => {
                let kind = match on {
                    On::Children if result.is_ok() => Kind::Child,
                    On::Data | On::Exists if result.is_ok() => Kind::Data,
                    On::Exists if absent => Kind::Exist,
                    On::Persistent if result.is_ok() || absent => Kind::Persistent,
                    On::Recursive if result.is_ok() || absent => Kind::Recursive,
                    On::Children | On::Data | On::Exists | On::Persistent | On::Recursive => return,
                };
                self.0.entry((kind, path.clone())).or_default().insert(*watcher);
            }
        }
    }

    fn forget(&mut self, path: &Text, kind: WatcherKind, watcher: Option<WatcherId>) {
        let kinds: &[Kind] = match kind {
            WatcherKind::Any => &ALL,
            WatcherKind::Child => &[Kind::Child],
            WatcherKind::Data => &[Kind::Data, Kind::Exist],
            WatcherKind::Persistent => &[Kind::Persistent],
            WatcherKind::Recursive => &[Kind::Recursive],
        };
        for kind in kinds {
            let key = (*kind, path.clone());
            let Some(all) = self.0.get_mut(&key) else { continue };
            match watcher {
                Some(watcher) => {
                    all.remove(&watcher);
                }
                None => all.clear(),
            }
            if all.is_empty() {
                self.0.remove(&key);
            }
        }
    }

    /// Who is to hear of an event. Whoever waited for one event only waits no more.
    pub(super) fn fire(&mut self, kind: EventKind, at: &Text) -> BTreeSet<WatcherId> {
        let mut to = BTreeSet::new();
        let once: &[Kind] = match kind {
            EventKind::ChildrenChanged => &[Kind::Child],
            EventKind::Created | EventKind::DataChanged => &[Kind::Data, Kind::Exist],
            EventKind::Deleted => &[Kind::Child, Kind::Data, Kind::Exist],
        };
        for of in once {
            to.extend(self.0.remove(&(*of, at.clone())).into_iter().flatten());
        }
        to.extend(self.0.get(&(Kind::Persistent, at.clone())).into_iter().flatten());
        if kind != EventKind::ChildrenChanged {
            let mut here: &str = at;
            loop {
                to.extend(self.0.get(&(Kind::Recursive, here.into())).into_iter().flatten());
                if here == "/" {
                    break;
                }
                here = parent_of(here);
            }
        }
        to
    }

    /// Something that is watched and that a client does not ask for again, having asked for this.
    pub(super) fn left_out(&self, asked: &[SetWatches], chroot: &str) -> Option<&Text> {
        let there = |kind: Kind, path: &Text| {
            let path = to_server(path, chroot);
            asked.iter().any(|lists| {
                let list = match kind {
                    Kind::Child => &lists.child,
                    Kind::Data => &lists.data,
                    Kind::Exist => &lists.exist,
                    Kind::Persistent => &lists.persistent,
                    Kind::Recursive => &lists.recursive,
                };
                list.iter().any(|listed| **listed == *path)
            })
        };
        self.0.keys().find(|(kind, path)| !there(*kind, path)).map(|(_, path)| path)
    }
}

fn to_server(path: &str, chroot: &str) -> String {
    match (chroot, path) {
        ("/", path) | (_, path @ zoolab_core::client::CONFIG_NODE) => path.into(),
        (chroot, "/") => chroot.into(),
        (chroot, path) => format!("{chroot}{path}"),
    }
}

/// How the client names what the server calls so.
pub(super) fn to_client(path: &Text, chroot: &str) -> Text {
    match path.strip_prefix(chroot) {
        Some("") if chroot != "/" => "/".into(),
        Some(below) if chroot != "/" && below.starts_with('/') => below.into(),
        Some(_) | None => path.clone(),
    }
}
