//! A comparison that has never failed proves nothing: here the model is wrong on purpose, and
//! somebody has to notice.

use proptest::test_runner::Config;
use zoolab_core::Request;
use zoolab_core::request::Create;
use zoolab_sim::model::{Act, Kind, Model};

use crate::expected::Spoil;
use crate::lab::Look;
use crate::{Failure, config, run};

/// Runs against a spoilt model until someone objects.
fn objection(spoil: Spoil, look: Look) -> Failure {
    let config = Config { max_shrink_iters: 1, ..config(400) };
    match run(config, Some((spoil, look)), drop) {
        Ok(()) => panic!("nobody noticed"),
        Err(failure) => failure,
    }
}

fn parent(path: &str) -> String {
    match path.rsplit_once('/') {
        None | Some(("", _)) => "/".into(),
        Some((parent, _)) => parent.into(),
    }
}

const fn is_sequential(wish: &Create) -> bool {
    matches!(wish.flags, 2 | 3 | 6)
}

/// Only sequential creates count.
fn counter_stands_still(before: &Model, model: &mut Model, act: Act<'_>) {
    if let Act::Ask { request: Request::Create(wish), .. } = act
        && !is_sequential(wish)
        && model.nodes.len() > before.nodes.len()
    {
        let above = parent(&wish.path);
        let node = model.nodes.get_mut(&above).expect("a node was made below it");
        node.cversion = before.nodes[&above].cversion;
    }
}

/// Deleting counts as well.
fn counter_counts_deaths(before: &Model, model: &mut Model, act: Act<'_>) {
    if let Act::Ask { request: Request::Delete { path, .. }, .. } = act
        && model.nodes.len() < before.nodes.len()
    {
        let node = model.nodes.get_mut(&parent(path)).expect("a node went below it");
        node.cversion += 1;
    }
}

/// One-shot watches stay.
fn watches_stay(before: &Model, model: &mut Model, _: Act<'_>) {
    model.watches.extend(before.watches.iter().cloned());
}

/// Ephemerals outlive their session.
fn ephemerals_stay(before: &Model, model: &mut Model, _: Act<'_>) {
    for (path, node) in &before.nodes {
        if let Kind::Ephemeral(session) = node.kind
            && !model.sessions.contains_key(&session)
            && model.nodes.contains_key(&parent(path))
        {
            model.nodes.insert(path.clone(), node.clone());
        }
    }
}

/// Setting an ACL is a change of the node.
fn acls_touch_the_node(before: &Model, model: &mut Model, act: Act<'_>) {
    if let Act::Ask { request: Request::SetAcl { path, .. }, .. } = act
        && let (Some(old), Some(node)) = (before.nodes.get(&**path), model.nodes.get_mut(&**path))
        && old.aversion != node.aversion
    {
        node.mzxid = model.zxid;
    }
}

/// A refused write leaves no place behind.
fn errors_take_no_place(before: &Model, model: &mut Model, act: Act<'_>) {
    if let Act::Ask { .. } = act
        && model.nodes == before.nodes
        && model.sessions == before.sessions
    {
        model.zxid = before.zxid;
    }
}

#[test]
fn a_wrong_model_is_noticed() {
    let spoils: [(&str, Spoil); 6] = [
        ("counter_stands_still", counter_stands_still),
        ("counter_counts_deaths", counter_counts_deaths),
        ("watches_stay", watches_stay),
        ("ephemerals_stay", ephemerals_stay),
        ("acls_touch_the_node", acls_touch_the_node),
        ("errors_take_no_place", errors_take_no_place),
    ];
    for (name, spoil) in spoils {
        println!("{name}");
        objection(spoil, Look::Inside);
        // Clients notice as well, only later.
        let failure = objection(spoil, Look::Outside);
        assert!(failure.reason.contains("after "), "{failure}");
    }
}

#[test]
fn what_is_noticed_is_shrunk() {
    let Err(failure) = run(config(400), Some((counter_stands_still, Look::Inside)), drop) else {
        panic!("nobody noticed");
    };
    // Connect, open, create, the disk in between, and little else.
    assert!(failure.steps.len() <= 20, "{failure}");
}
