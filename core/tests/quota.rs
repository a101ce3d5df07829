//! Nodes that hold the counts of a quota change by themselves; nothing may lose track of them.

use zoolab_core::request::{CreateOp, Stamp};
use zoolab_core::tree::Tree;
use zoolab_core::txn::{NodeChange, NodeKind};
use zoolab_core::{AclList, Millis, SessionId, Zxid};

const COUNTS: &str = "/zookeeper/quota/zookeeper_stats";

fn apply(tree: &mut Tree, zxid: i64, change: &NodeChange) {
    let stamp = Stamp { zxid: Zxid(zxid), time: Millis(0) };
    tree.apply(stamp, SessionId::NONE, change, &mut Vec::new());
    tree.assert_invariants();
}

fn create(data: &str) -> NodeChange {
    NodeChange::Create {
        op: CreateOp::Create,
        path: COUNTS.into(),
        data: Some(data.as_bytes().into()),
        acl: AclList::open(),
        kind: NodeKind::Persistent,
        parent_cversion: 1,
    }
}

#[test]
fn a_counts_node_that_goes_takes_all_its_bytes_along() {
    let mut tree = Tree::new(false, 0);
    let before = tree.data_bytes();
    assert_eq!(before, 44, "as ZooKeeper reports of a fresh server");
    apply(&mut tree, 1, &create(""));
    apply(&mut tree, 2, &NodeChange::Delete { path: COUNTS.into(), container: false });
    assert_eq!(tree.data_bytes(), before);
}

#[test]
fn a_counts_node_begins_with_counts_and_nothing_else() {
    let mut tree = Tree::new(false, 0);
    apply(&mut tree, 1, &create("count=9,bytes=9=;byteHardLimit=0"));
    let data = tree.get(COUNTS).expect("just created").data().clone();
    // Five nodes; the 32 bytes are what it was created with.
    assert_eq!(data.as_deref(), Some(&b"count=5,bytes=32"[..]));
}
