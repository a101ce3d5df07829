//! How many nodes and bytes a subtree has and may have.
//!
//! The limits of `/a` are the data of `/zookeeper/quota/a/zookeeper_limits`; the node
//! `zookeeper_stats` beside it is kept up to date. The nearest subtree with limits governs.

use std::collections::BTreeMap;

use zoolab_core::{Code, Data};

use super::{Model, length, path};

const ROOT: &str = "/zookeeper/quota";
const LIMITS: &str = "/zookeeper_limits";
const COUNTS: &str = "/zookeeper_stats";

/// What hard quotas are compared with. Servers look at what has been applied when they decide, so
/// that writes in flight together can overshoot.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Usage(BTreeMap<String, Room>);

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Room {
    limits: Figures,
    /// Nothing can be compared without.
    counts: Option<Figures>,
}

type Figures = BTreeMap<String, i64>;

/// `count=1,bytes=2=;byteHardLimit=3`: pairs of name and number, −1 for none.
fn parse(data: &Data) -> Figures {
    let text = String::from_utf8_lossy(data.as_deref().unwrap_or_default()).into_owned();
    let pairs = text.split([',', ';']).filter_map(|pair| {
        let mut parts = pair.split('=');
        Some((parts.next()?.to_owned(), parts.next()?.parse().unwrap_or(-1)))
    });
    pairs.collect()
}

fn print(mut figures: Figures) -> Data {
    let mut of = |name| figures.remove(name).unwrap_or(-1);
    let mut text = format!("count={},bytes={}", of("count"), of("bytes"));
    if !figures.is_empty() {
        text += "=";
    }
    for (name, value) in figures {
        text += &format!(";{name}={value}");
    }
    Some(text.into_bytes().into())
}

impl Usage {
    /// Whether so much more would still be within the hard limits.
    pub(super) fn room(&self, at: &str, bytes: i64, nodes: i64) -> Result<(), Code> {
        let governs = |subtree: &String| at == subtree || path::is_below(at, subtree);
        let nearest = self.0.iter().filter(|(subtree, _)| governs(subtree));
        let Some((_, Room { limits, counts: Some(counts) })) =
            nearest.max_by_key(|(subtree, _)| subtree.len())
        else {
            return Ok(());
        };
        for (limit, count, more) in
            [("countHardLimit", "count", nodes), ("byteHardLimit", "bytes", bytes)]
        {
            let limit = limits.get(limit).copied().unwrap_or(-1);
            let count = counts.get(count).copied().unwrap_or(-1);
            if more != 0 && limit > -1 && count.saturating_add(more) > limit {
                return Err(Code::QuotaExceeded);
            }
        }
        Ok(())
    }
}

impl Model {
    /// What hard quotas are compared with now; nothing if they are not enforced.
    #[must_use]
    pub fn usage(&self) -> Usage {
        if !self.settings.enforce_quota {
            return Usage::default();
        }
        let figures = |path: String| self.nodes.get(&path).map(|node| parse(&node.data));
        let subtree = |path: &String| {
            let subtree = path.strip_prefix(ROOT)?.strip_suffix(LIMITS)?.to_owned();
            let limits = figures(format!("{ROOT}{subtree}{LIMITS}"))?;
            let counts = figures(format!("{ROOT}{subtree}{COUNTS}"));
            Some((subtree, Room { limits, counts }))
        };
        Usage(self.nodes.keys().filter_map(subtree).filter(|(at, _)| !at.is_empty()).collect())
    }

    /// A node is there: perhaps it is to hold counts, perhaps it counts.
    pub(super) fn count_created(&mut self, at: &str) {
        let bytes = length(&self.nodes[at].data);
        if let Some(subtree) = at.strip_prefix(ROOT).and_then(|rest| rest.strip_suffix(COUNTS)) {
            let top = path::root_if_empty(subtree);
            let all = self.nodes.iter().filter(|(at, _)| *at == top || path::is_below(at, top));
            let (count, bytes) = all
                .fold((0, 0), |(count, bytes), (_, node)| (count + 1, bytes + length(&node.data)));
            let counts = print([("count".into(), count), ("bytes".into(), bytes)].into());
            self.nodes.get_mut(at).expect("just created").data = counts;
        }
        self.count(at, bytes, 1);
    }

    /// Adds to the counts of whatever governs a node. Nobody is told, and no stat changes.
    pub(super) fn count(&mut self, at: &str, bytes: i64, nodes: i64) {
        let mut subtree = at;
        while !self.nodes.contains_key(&format!("{ROOT}{subtree}{LIMITS}")) {
            subtree = path::parent(subtree);
            if subtree == "/" {
                return;
            }
        }
        if let Some(node) = self.nodes.get_mut(&format!("{ROOT}{subtree}{COUNTS}")) {
            let mut figures = parse(&node.data);
            for (name, more) in [("count", nodes), ("bytes", bytes)] {
                let figure = figures.entry(name.into()).or_insert(-1);
                *figure = figure.wrapping_add(more);
            }
            node.data = print(figures);
        }
    }
}
