//! A server that is an ensemble by itself, and begins with what its disk has.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use zoolab_core::members::Members;
use zoolab_core::quorum::Quorum;
use zoolab_core::session::password;
use zoolab_core::storage::Saved;
use zoolab_core::{
    Boot, ConnId, Ensemble, Epoch, Input, Millis, Output, Persist, Server, ServerId, SessionId,
    Settings, Ticks, Timer, Zxid,
};

use crate::Stage;

const BOOT: Boot = Boot { me: ServerId(1), steady: Millis(0), scatter: 0 };

fn blank() -> Saved {
    Saved::blank(&Settings::with_tick(2000), 0)
}

fn alone(ensemble: Ensemble, saved: Saved) -> (Stage, Vec<Output>) {
    let mut out = Vec::new();
    let settings = Arc::new(Settings::with_tick(2000));
    let server = Server::alone(Arc::new(ensemble), settings, BOOT, saved, &mut out);
    (Stage::of(server), out)
}

#[test]
fn sessions_on_disk_get_their_full_time_once_more() {
    let session = SessionId(0x0100_0000_0000_0007);
    let mut saved = blank();
    saved.sessions.insert(session, 10_000);
    let (mut stage, out) = alone(Ensemble::of_one(BOOT.me), saved);
    // The first whole tick of two seconds beyond ten.
    assert!(out.contains(&Output::Arm { timer: Timer::Sessions, ticks: Ticks(6) }), "{out:?}");
    let out = stage.connect(1, session, 10_000);
    let [Output::Connected { conn: ConnId(1), response }] = &out[..] else { panic!("{out:?}") };
    assert_eq!((response.session, response.password), (session, password(session)));

    stage.step(Input::Disconnected { conn: ConnId(1) });
    stage.step(Input::Timeout(Timer::Sessions));
    stage.disk();
    assert!(stage.server.sessions().is_empty(), "it was not heard from");
}

/// The others of a larger ensemble are not there to agree, and the epoch that they had begun is
/// not begun again below.
#[test]
fn a_disk_of_a_larger_ensemble_is_gone_on_with() {
    let three = Quorum::majority((1..=3).map(ServerId)).unwrap();
    let members = Arc::new(Members::first(&three, &BTreeSet::new()));
    let epoch = Epoch(5);
    let saved =
        Saved { members: Some(members), accepted_epoch: epoch, current_epoch: epoch, ..blank() };
    let (mut stage, _) = alone(Ensemble::of_one(BOOT.me), saved);
    stage.connect(1, SessionId::NONE, 10_000);
    let out = stage.disk();
    assert!(matches!(out[..], [Output::Connected { .. }]), "{out:?}");
    assert_eq!(stage.server.zxid_last(), Zxid::first_of(epoch).next());
}

#[test]
fn it_writes_snapshots_if_told_so() {
    let every = |every| Ensemble { snapshot_every: every, ..Ensemble::of_one(BOOT.me) };
    for (ensemble, expected) in [(every(NonZeroU32::new(2)), 2), (every(None), 0)] {
        let (mut stage, _) = alone(ensemble, blank());
        let mut begun = 0;
        for conn in 1..=5 {
            let mut out = stage.connect(conn, SessionId::NONE, 10_000);
            out.extend(stage.disk());
            let is_begun = |output: &&Output| {
                matches!(output, Output::Persist { persist: Persist::SnapshotBegin { .. }, .. })
            };
            begun += out.iter().filter(is_begun).count();
        }
        assert_eq!(begun, expected);
    }
}
