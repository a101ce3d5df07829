//! The tree that is measured, and the questions put to it.
//!
//! ```text
//!   /bench/000/0000   /bench/000/0001 …   about 1000 children per parent at every size,
//!   /bench/001/0000 …                     so that sizes differ in nothing else
//! ```
//!
//! Every node below `/bench/NNN` is as likely to be asked for as any other, so that no cache is
//! flattered. Nodes come and go in one shuffled order that goes round and round: what is created
//! has been away for long, and what is deleted has not been looked at for long.

use std::fmt;
use std::sync::Arc;

use zoolab_core::acl::{AclWish, perms};
use zoolab_core::request::{Create, CreateOp, Op};
use zoolab_core::{Data, Request, Text};

use crate::bench::chance::Chance;

/// Children per parent, on average.
pub(super) const CHILDREN: usize = 1000;
const ROOT: &str = "/bench";

/// What is measured, by the name its row has.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
#[value(rename_all = "camelCase")]
pub(super) enum Question {
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    SetData,
}

impl Question {
    /// Those to ask for; creating and deleting go together.
    pub(super) const ASKED: [Self; 6] =
        [Self::Create, Self::SetData, Self::GetData, Self::Exists, Self::GetChildren, Self::Multi];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Exists => "exists",
            Self::GetChildren => "getChildren",
            Self::GetData => "getData",
            Self::Multi => "multi",
            Self::SetData => "setData",
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which nodes there are, and who is asked for next.
#[derive(Debug)]
pub(super) struct Stage {
    size: usize,
    parents: usize,
    /// All nodes that can be, there or not.
    order: Vec<u32>,
    /// Where in the order the nodes begin that are there.
    first: usize,
    /// How many are there.
    there: usize,
    data: Vec<u8>,
    acl: Vec<AclWish>,
    chance: Chance,
}

impl Stage {
    /// An empty one, to be filled with `size` nodes; some more can be there besides.
    pub(super) fn new(size: usize, data: usize, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let away = (size / 8).max(1024);
        let (scheme, id) = (Some("world".into()), Some("anyone".into()));
        Self {
            size,
            parents: size.div_ceil(CHILDREN),
            order: chance.shuffled(size + away),
            first: 0,
            there: 0,
            data: chance.bytes(data),
            acl: vec![AclWish { perms: perms::ALL, scheme, id }],
            chance,
        }
    }

    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// What has to be there before the first node.
    pub(super) fn ground(&self) -> Vec<Request> {
        let parents = (0..self.parents).map(|parent| parent_path(parent).into());
        let paths = std::iter::once(ROOT.into()).chain(parents);
        paths.map(|path| Request::Create(self.wish(path, Some([].into())))).collect()
    }

    /// How many are missing.
    pub(super) const fn missing(&self) -> usize {
        self.size.saturating_sub(self.there)
    }

    /// The next so many questions of a kind.
    pub(super) fn ask(&mut self, question: Question, times: usize) -> Vec<Request> {
        (0..times).map(|_| self.one(question)).collect()
    }

    fn one(&mut self, question: Question) -> Request {
        match question {
            Question::Create => Request::Create(self.create()),
            Question::Delete => {
                let path = self.path(self.order[self.first]);
                self.first = (self.first + 1) % self.order.len();
                self.there -= 1;
                Request::Delete { path, version: -1 }
            }
            Question::Exists => Request::Exists { path: self.any(), watch: false },
            Question::GetChildren => {
                let path = parent_path(self.chance.below(self.parents)).into();
                Request::GetChildren { path, watch: false, stat: false }
            }
            Question::GetData => Request::GetData { path: self.any(), watch: false },
            Question::Multi => Request::Multi(self.multi()),
            Question::SetData => {
                Request::SetData { path: self.any(), data: self.data(), version: -1 }
            }
        }
    }

    fn create(&mut self) -> Create {
        let place = (self.first + self.there) % self.order.len();
        self.there += 1;
        assert!(self.there < self.order.len(), "more nodes than were planned");
        self.wish(self.path(self.order[place]), self.data())
    }

    /// A bit of everything; afterwards there are as many nodes as before.
    fn multi(&mut self) -> Vec<Op> {
        let (path, version) = (self.any(), -1);
        let parent = parent_path(self.chance.below(self.parents));
        let fleeting: Text = format!("{parent}/fleeting").into();
        vec![
            Op::Check { path, version },
            Op::SetData { path: self.any(), data: self.data(), version },
            Op::Create(self.wish(fleeting.clone(), self.data())),
            Op::Delete { path: fleeting, version },
        ]
    }

    fn wish(&self, path: Text, data: Data) -> Create {
        Create {
            op: CreateOp::Create,
            path,
            data,
            acl: Some(self.acl.clone()),
            flags: 0,
            ttl_ms: -1,
        }
    }

    fn data(&self) -> Data {
        Some(Arc::from(&*self.data))
    }

    /// Any node that is there.
    fn any(&mut self) -> Text {
        let place = (self.first + self.chance.below(self.there)) % self.order.len();
        self.path(self.order[place])
    }

    fn path(&self, node: u32) -> Text {
        let (parent, child) = (node as usize % self.parents, node as usize / self.parents);
        format!("{}/{child:04}", parent_path(parent)).into()
    }
}

fn parent_path(parent: usize) -> String {
    format!("{ROOT}/{parent:03}")
}
