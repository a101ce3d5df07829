//! Equal inputs make equal outputs and equal servers, wherever in memory things lie.

use std::hash::{DefaultHasher, Hash, Hasher};

use zoolab_core::{Boot, Input, Now, Output, Server};

use crate::lab::{BOOT, Lab};
use crate::{config, run};

fn replay(lab: &Lab, boot: Boot) -> (Server, Vec<Output>) {
    let mut outputs = Vec::new();
    let mut server = Server::recover(lab.server.settings().clone(), boot, &mut outputs);
    go_on(&mut server, &lab.inputs, &mut outputs);
    (server, outputs)
}

fn go_on(server: &mut Server, inputs: &[(Now, Input)], outputs: &mut Vec<Output>) {
    for (now, input) in inputs {
        server.step(*now, input.clone(), outputs);
    }
}

fn hash(server: &Server) -> u64 {
    let mut hasher = DefaultHasher::new();
    server.hash(&mut hasher);
    hasher.finish()
}

/// Runs as many labs as asked for, and hands them on.
fn for_each(cases: u32, check: impl Fn(Lab)) {
    if let Err(failure) = run(config(cases), None, check) {
        panic!("{failure}");
    }
}

#[test]
fn the_same_inputs_make_the_same_server() {
    for_each(200, |lab| {
        let (server, outputs) = replay(&lab, BOOT);
        assert_eq!(outputs, lab.outputs);
        assert_eq!(server, lab.server);
        assert_eq!(hash(&server), hash(&lab.server));
    });
}

#[test]
fn scatter_is_nobodys_business() {
    for_each(200, |lab| {
        for scatter in [1, u64::MAX, 0x9E37_79B9_7F4A_7C15] {
            let (server, outputs) = replay(&lab, Boot { scatter, ..BOOT });
            assert_eq!(outputs, lab.outputs);
            assert_eq!(server, lab.server);
            assert_eq!(hash(&server), hash(&lab.server));
        }
    });
}

#[test]
fn a_copy_has_the_same_future() {
    for_each(200, |lab| {
        let (before, after) = lab.inputs.split_at(lab.inputs.len() / 2);
        let mut outputs = Vec::new();
        let mut server = Server::recover(lab.server.settings().clone(), BOOT, &mut outputs);
        go_on(&mut server, before, &mut outputs);
        let mut copy = server.clone();
        let mut others = outputs.clone();
        go_on(&mut server, after, &mut outputs);
        go_on(&mut copy, after, &mut others);
        assert_eq!(outputs, others);
        assert_eq!(copy, server);
    });
}
