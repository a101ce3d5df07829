//! Where nodes live in memory: in blocks that never move, found by the hash of their path.
//!
//! Blocks rather than one vector: growing by doubling would stall a server for as long as it
//! takes to copy a million nodes, and waste half of what it holds.

use alloc::vec::Vec;
use core::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use super::index::Index;
use super::node::Node;
use crate::path;

/// Nodes per block. A block of this size is large enough for the kernel's huge pages.
const BLOCK: usize = 1 << 15;

/// How many look-ups are under way at once when looking ahead; a processor does not keep many
/// more fetches in flight.
const AHEAD: usize = 32;

#[derive(Clone, Debug)]
pub(super) struct Arena {
    blocks: Vec<Vec<Option<Node>>>,
    free: Vec<u32>,
    index: Index,
    hasher: FixedState,
}

impl Arena {
    pub(super) fn new(scatter: u64) -> Self {
        Self {
            blocks: Vec::new(),
            free: Vec::new(),
            index: Index::default(),
            hasher: FixedState::with_seed(scatter),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    fn find(&self, key: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(key);
        self.index.find(hash, |place| at(&self.blocks, place).key() == key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.find(key).map(|place| at(&self.blocks, place))
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let place = self.find(key)? as usize;
        self.blocks[place / BLOCK][place % BLOCK].as_mut()
    }

    /// Brings what look-ups of these keys will need into the cache.
    ///
    /// A look-up waits for memory three times over: for the index, the node, its data. Here they
    /// all wait for the index together, then for the nodes, then for the data.
    pub(super) fn look_ahead(&self, keys: &[&str]) {
        for keys in keys.chunks(AHEAD) {
            let (mut hashes, mut nodes) = ([0; AHEAD], [None; AHEAD]);
            let (hashes, nodes) = (&mut hashes[..keys.len()], &mut nodes[..keys.len()]);
            let mut seen = 0;
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = self.hasher.hash_one(path::key(key));
                seen ^= self.index.approach(*hash);
            }
            for (node, hash) in nodes.iter_mut().zip(hashes) {
                *node = self.index.guess(*hash).map(|place| at(&self.blocks, place));
                seen ^= node.map_or(0, Node::first_look);
            }
            for data in nodes.iter().flatten().filter_map(|node| node.data.as_deref()) {
                let ends = [data.first(), data.last()];
                seen ^= ends.iter().flatten().fold(0, |seen, byte| seen ^ u32::from(**byte));
            }
            // Or else the compiler would not look at what nobody wants to know.
            core::hint::black_box(seen);
        }
    }

    /// Puts a node. Its key must be new.
    pub(super) fn insert(&mut self, node: Node) {
        let hash = self.hasher.hash_one(node.key());
        let place = self.place(node);
        self.index.insert(hash, place);
    }

    fn place(&mut self, node: Node) -> u32 {
        if let Some(place) = self.free.pop() {
            self.blocks[place as usize / BLOCK][place as usize % BLOCK] = Some(node);
            return place;
        }
        match self.blocks.last_mut() {
            Some(block) if block.len() < BLOCK => block.push(Some(node)),
            Some(_) => {
                let mut block = Vec::with_capacity(BLOCK);
                block.push(Some(node));
                self.blocks.push(block);
            }
            // The first block grows as it must: a search holds millions of tiny trees.
            None => self.blocks.push(alloc::vec![Some(node)]),
        }
        let full = (self.blocks.len() - 1) * BLOCK;
        let last = self.blocks.last().map_or(0, Vec::len) - 1;
        u32::try_from(full + last).expect("fewer than 2^32 nodes")
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Node> {
        let hash = self.hasher.hash_one(key);
        let blocks = &self.blocks;
        let place = self.index.remove(hash, |place| at(blocks, place).key() == key)?;
        self.free.push(place);
        self.blocks[place as usize / BLOCK][place as usize % BLOCK].take()
    }
}

fn at(blocks: &[Vec<Option<Node>>], place: u32) -> &Node {
    let place = place as usize;
    blocks[place / BLOCK][place % BLOCK].as_ref().expect("the index names living nodes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn looking_ahead_finds_or_does_not_find_and_changes_nothing() {
        let tree = Tree::new(false, 7);
        let before = tree.clone();
        tree.look_ahead(&[]);
        tree.look_ahead(&["/", "", "/zookeeper", "/nothing", "/zookeeper/quota"]);
        tree.look_ahead(&["/zookeeper"; 3 * AHEAD + 1]);
        assert_eq!(tree, before);
        Arena::new(7).look_ahead(&["/"]);
    }
}
