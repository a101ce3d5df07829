//! The nodes a load reads and writes, made before and removed afterwards.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zoolab_core::request::Request;
use zoolab_core::wire::jute::Reader;
use zoolab_core::{Data, Text};

use super::line::Line;
use super::mix::{create, open_acl};
use crate::bench::chance::Chance;

/// Everything a load makes is below this.
pub(super) const ROOT: &str = "/zoolab-bench";

const NODE_EXISTS: i32 = -110;
const NO_NODE: i32 = -101;

/// How many requests are on their way while nodes are made and removed.
const DEPTH: usize = 200;

/// The path of a node to read and write.
pub(super) fn key(number: usize) -> Text {
    format!("{ROOT}/k{number:06}").into()
}

/// Where a load takes place.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) address: SocketAddr,
    pub(super) keys: u32,
    pub(super) data: u32,
    pub(super) seed: u64,
}

impl Ground {
    /// Makes the nodes, after whatever an earlier load may have left.
    pub(super) fn prepare(&self, interrupted: &AtomicBool) -> Result<(), String> {
        self.clear()?;
        let mut line = Line::open(self.address)?;
        let data: Data = Some(Arc::from(Chance::new(self.seed).bytes(self.data as usize)));
        let root = Request::Create(create(ROOT.into(), None, open_acl()));
        let keys = (0..self.keys as usize)
            .take_while(|_| !interrupted.load(Ordering::Relaxed))
            .map(|number| Request::Create(create(key(number), data.clone(), open_acl())));
        let mut refused = None;
        line.all(std::iter::once(root).chain(keys), DEPTH, |answer| {
            if answer.err != 0 && answer.err != NODE_EXISTS {
                refused = Some(answer.err);
            }
        })?;
        match refused {
            None => Ok(()),
            Some(code) => {
                Err(format!("{}: cannot make nodes below {ROOT}: code {code}", self.address))
            }
        }
    }

    /// Removes everything.
    pub(super) fn clear(&self) -> Result<(), String> {
        let mut line = Line::open(self.address)?;
        let list = Request::GetChildren { path: ROOT.into(), watch: false, stat: false };
        let mut names: Result<Vec<Text>, i32> = Ok(Vec::new());
        line.all([list], 1, |answer| {
            let mut reader = Reader::new(answer.body, answer.body.len());
            names = match (answer.err, reader.vector(Reader::text)) {
                (0, Ok(list)) => Ok(list.unwrap_or_default().into_iter().flatten().collect()),
                (NO_NODE, _) => Err(NO_NODE),
                (code, _) => Err(code),
            };
        })?;
        let names = match names {
            Ok(names) => names,
            Err(NO_NODE) => return Ok(()),
            Err(code) => return Err(format!("{}: cannot list {ROOT}: code {code}", self.address)),
        };
        let delete = |path: Text| Request::Delete { path, version: -1 };
        let children = names.iter().map(|name| delete(format!("{ROOT}/{name}").into()));
        let mut left = 0_u64;
        line.all(children.chain([delete(ROOT.into())]), DEPTH, |answer| {
            left += u64::from(answer.err != 0 && answer.err != NO_NODE);
        })?;
        if left == 0 {
            Ok(())
        } else {
            Err(format!("{left} nodes below {ROOT} could not be removed"))
        }
    }
}
