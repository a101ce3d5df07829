//! Searches that have a name can be begun, and their first states are in order.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use zoolab_core::Server;
use zoolab_sim::checker::Checkers;
use zoolab_sim::drive::{self, Nobody, drive};
use zoolab_sim::search::{End, Limits, Search};
use zoolab_sim::states::{Begin, Ensemble, Preset, Root, sets_of, words_of};
use zoolab_sim::strategy::replay::Replay;
use zoolab_sim::world::{Bounds, World};

/// Enough to come past the first elections, little enough to be quick.
const STATES: u64 = 4_000;

fn first_states<const K: usize, const W: usize>(root: Root) {
    let space = Ensemble::<K, W>::new(root.world, root.checkers);
    let mut search = Search::new(&space, true);
    let limits = Limits { states: Some(STATES), ..Limits::default() };
    let end = search.run(&limits, NonZeroUsize::MIN, &mut |_| ControlFlow::Continue(()));
    assert_eq!(end, End::States);
    assert_eq!(search.figures().broken, 0);
}

#[test]
fn each_has_a_name_of_its_own_a_beginning_and_first_states() {
    let names: BTreeSet<&str> = Preset::ALL.iter().map(|preset| preset.name).collect();
    assert_eq!(names.len(), Preset::ALL.len());
    for preset in Preset::ALL {
        assert_eq!(Preset::named(preset.name).map(|other| other.about), Some(preset.about));
        let root = Root::begin(preset.begin, preset.setting()).expect("it can be set up");
        match preset.servers + preset.spares {
            3 => first_states::<{ words_of(3) }, { sets_of(3) }>(root),
            4 => first_states::<{ words_of(4) }, { sets_of(4) }>(root),
            5 => first_states::<{ words_of(5) }, { sets_of(5) }>(root),
            many => panic!("{}: {many} servers", preset.name),
        }
    }
}

/// A fourth server gets a vote, and anybody crashes at any moment of that.
#[test]
fn three_servers_become_four_in_every_order() {
    let preset = Preset::named("reconfig").expect("there is one");
    let root = Root::begin(preset.begin, preset.setting()).expect("it can be set up");
    let space = Ensemble::<{ words_of(4) }, { sets_of(4) }>::new(root.world, root.checkers);
    let mut search = Search::new(&space, true);
    let threads = NonZeroUsize::new(2).expect("not zero");
    let end = search.run(&Limits::default(), threads, &mut |_| ControlFlow::Continue(()));
    let figures = search.figures();
    assert_eq!((end, figures.broken, figures.distinct), (End::Complete, 0, 110_751));
}

#[test]
fn what_leads_to_a_beginning_can_be_performed_again() {
    for begin in [Begin::Fresh, Begin::Led, Begin::Proposed] {
        for name in ["remix", "full"] {
            let preset = Preset::named(name).expect("there is one");
            let bounds = Bounds { writes: 2, ..preset.bounds };
            let setting = Preset { bounds, ..preset }.setting();
            let root = Root::begin(begin, setting.clone()).expect("it can be set up");
            let mut world = World::new(setting).expect("it can be set up");
            let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &[]);
            let mut replay = Replay::new(&root.steps);
            let report = drive(&mut world, &mut replay, &mut checkers, &mut Nobody);
            assert_eq!(report.end, drive::End::Held);
            assert_eq!((world, checkers), (root.world, root.checkers), "{begin:?}, {name}");
        }
    }
}

/// Everybody has applied one transaction; another is on its way, and paid for.
#[test]
fn a_beginning_may_have_something_on_its_way() {
    let preset = Preset::named("mspec-2").expect("there is one");
    let world = Root::begin(preset.begin, preset.setting()).expect("it can be set up").world;
    let leader = world.leader().expect("somebody leads");
    for id in world.servers() {
        let server = world.host(*id).server.as_ref().expect("it runs");
        assert!(server.is_serving() && server.following() == Some(leader), "{id}");
        assert_eq!(server.zxid_last().to_string(), "1:1", "{id}");
    }
    let under_way = world.links().flat_map(|(_, link)| &link.lanes).flat_map(|lane| &lane.messages);
    let under_way: Vec<String> =
        under_way.map(|message| format!("{} {}", message.kind(), message.zxid())).collect();
    assert_eq!(under_way, ["PROPOSAL 1:2", "PROPOSAL 1:2"]);
    assert_eq!(world.budget().writes, 0);
    assert!(world.host(leader).server.as_ref().is_some_and(Server::is_leading));
}

#[test]
fn a_beginning_beyond_the_bounds_is_refused() {
    let preset = Preset::named("mspec-2").expect("there is one");
    let bounds = Bounds { writes: 1, ..preset.bounds };
    let refused = |begin, bounds| {
        let setting = Preset { bounds, ..preset.clone() }.setting();
        Root::begin(begin, setting).expect_err("it is beyond them").to_string()
    };
    let writes = refused(Begin::Proposed, bounds);
    assert_eq!(writes, "search, writes: 1 where 2 to 255 are allowed");
    let epochs = refused(Begin::Led, Bounds { epochs: 0, ..bounds });
    assert_eq!(epochs, "search, epochs: 0 where 1 to 255 are allowed");
}
