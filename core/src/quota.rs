//! Quotas: how many nodes and bytes a subtree may have.
//!
//! A limit is data of the node `/zookeeper/quota<subtree>/zookeeper_limits`; the counts are kept
//! in `zookeeper_stats` beside it. The nearest subtree with a limit governs a node, and only
//! that one.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt::Write as _;

use crate::Data;
use crate::path;
use crate::tree::QUOTA_ROOT;

const LIMITS: &str = "/zookeeper_limits";
const COUNTS: &str = "/zookeeper_stats";

/// Which subtrees have limits.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Quotas {
    subtrees: BTreeSet<String>,
}

impl Quotas {
    /// The subtree whose limits node this is, seen from below [`QUOTA_ROOT`].
    pub(crate) fn limits_born<'a>(&self, rest: &'a str) -> Option<&'a str> {
        rest.strip_suffix(LIMITS)
    }

    /// The subtree whose counts node this is, seen from below [`QUOTA_ROOT`].
    pub(crate) fn counts_born<'a>(&self, rest: &'a str) -> Option<&'a str> {
        rest.strip_suffix(COUNTS)
    }

    pub(crate) fn add(&mut self, subtree: &str) {
        // A quota on the root is ignored, as ZooKeeper ignores it.
        if !subtree.is_empty() {
            self.subtrees.insert(subtree.into());
        }
    }

    pub(crate) fn remove(&mut self, subtree: &str) {
        self.subtrees.remove(subtree);
    }

    /// The nearest subtree with a limit that holds this node.
    #[must_use]
    pub fn governing(&self, at: &str) -> Option<&str> {
        if self.subtrees.is_empty() {
            return None;
        }
        core::iter::once(at)
            .chain(path::ancestors(at))
            .find_map(|key| self.subtrees.get(key))
            .map(String::as_str)
    }
}

/// Where a subtree's limits are.
#[must_use]
pub fn limits_path(subtree: &str) -> String {
    format!("{QUOTA_ROOT}{subtree}{LIMITS}")
}

/// Where a subtree's counts are.
#[must_use]
pub fn counts_path(subtree: &str) -> String {
    format!("{QUOTA_ROOT}{subtree}{COUNTS}")
}

/// Numbers by name, as quota nodes hold them: `count=1,bytes=2=;byteHardLimit=3`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Figures(BTreeMap<String, i64>);

impl Figures {
    /// Reads a quota node. What makes no sense counts as absent: a client may write anything
    /// there, and no server may stumble over it.
    #[must_use]
    pub fn parse(data: &Data) -> Self {
        let text = data.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let pairs = text.split([',', ';']).filter_map(|pair| {
            // A second `=` and what follows it are there to keep older readers out.
            let mut parts = pair.split('=');
            let (name, value) = (parts.next()?, parts.next()?);
            Some((name.to_string(), value.parse().unwrap_or(-1)))
        });
        Self(pairs.collect())
    }

    fn of(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or(-1)
    }

    /// What may not be exceeded, if it is hard: nodes.
    #[must_use]
    pub fn count_hard(&self) -> Option<i64> {
        Some(self.of("countHardLimit")).filter(|limit| *limit > -1)
    }

    /// What may not be exceeded, if it is hard: bytes.
    #[must_use]
    pub fn bytes_hard(&self) -> Option<i64> {
        Some(self.of("byteHardLimit")).filter(|limit| *limit > -1)
    }

    /// Nodes.
    #[must_use]
    pub fn count(&self) -> i64 {
        self.of("count")
    }

    /// Bytes.
    #[must_use]
    pub fn bytes(&self) -> i64 {
        self.of("bytes")
    }

    fn data(&self) -> Arc<[u8]> {
        let mut text = format!("count={},bytes={}", self.count(), self.bytes());
        let mut rest = self.0.iter().filter(|(name, _)| !matches!(&***name, "count" | "bytes"));
        if let Some(first) = rest.next() {
            text.push('=');
            for (name, value) in core::iter::once(first).chain(rest) {
                let _ = write!(text, ";{name}={value}");
            }
        }
        text.into_bytes().into()
    }
}

/// What a counts node holds after so many more; whatever else stands there stays.
pub(crate) fn counts_changed(data: &Data, bytes: i64, nodes: i64) -> Arc<[u8]> {
    let mut figures = Figures::parse(data);
    let (bytes, nodes) = (figures.bytes().wrapping_add(bytes), figures.count().wrapping_add(nodes));
    figures.0.insert("count".into(), nodes);
    figures.0.insert("bytes".into(), bytes);
    figures.data()
}

/// What a new counts node holds, whatever it was created with.
pub(crate) fn counts_fresh(bytes: i64, nodes: i64) -> Arc<[u8]> {
    Figures([("count".into(), nodes), ("bytes".into(), bytes)].into()).data()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> Data {
        Some(text.as_bytes().into())
    }

    #[test]
    fn limits_are_read_as_zookeeper_writes_them() {
        let figures = Figures::parse(&data("count=5,bytes=-1=;byteHardLimit=100;countHardLimit=9"));
        assert_eq!(figures.count(), 5);
        assert_eq!(figures.bytes(), -1);
        assert_eq!(figures.bytes_hard(), Some(100));
        assert_eq!(figures.count_hard(), Some(9));
        let again = Figures::parse(&Some(figures.data()));
        assert_eq!(again, figures);
    }

    #[test]
    fn nonsense_counts_as_absent() {
        for text in ["", "x", "count=", "count=a,bytes", "=,;=", "count=1=2"] {
            let figures = Figures::parse(&data(text));
            assert!(figures.count_hard().is_none());
        }
        assert_eq!(Figures::parse(&None).count(), -1);
    }

    #[test]
    fn the_nearest_subtree_governs() {
        let mut quotas = Quotas::default();
        quotas.add("/a");
        quotas.add("/a/b");
        quotas.add("");
        assert_eq!(quotas.governing("/a/b/c"), Some("/a/b"));
        assert_eq!(quotas.governing("/a/x"), Some("/a"));
        assert_eq!(quotas.governing("/ab"), None);
    }
}
