//! The same worlds, searched by stateright: as many states, and the same verdicts.
//!
//! Nothing that makes our own search small or quick takes part: a state is a whole world and what
//! its watchers know, compared by `Eq`; its steps are what the world offers, and what they do is
//! what [`World::step`] does.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Mutex;

use stateright::{Checker, Model, Property};
use zoolab_core::Bug;
use zoolab_sim::checker::{Checkers, Promise};
use zoolab_sim::search::{End, Limits, Search};
use zoolab_sim::states::{Begin, Ensemble, Names, Preset, Root, print, sets_of, words_of};
use zoolab_sim::step::Step;
use zoolab_sim::world::{Bounds, Outcome, World};

/// Everything that can come of this.
struct Whole {
    root: Root,
    /// The fingerprints of all states met.
    prints: Mutex<BTreeSet<u128>>,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum State {
    /// So far every promise is kept.
    Kept(Box<(World, Checkers)>),
    /// Nothing is looked at behind a broken one.
    Broken(Promise),
}

impl Whole {
    fn new(root: &Root) -> Self {
        Self { root: root.clone(), prints: Mutex::default() }
    }

    fn kept(&self, world: World, checkers: Checkers) -> State {
        let kept = Box::new((world, checkers));
        let names = Names::own(kept.0.servers());
        self.prints.lock().expect("nobody panics here").insert(print(0, &*kept, &names));
        State::Kept(kept)
    }
}

impl Model for Whole {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![self.kept(self.root.world.clone(), self.root.checkers.clone())]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        let State::Kept(kept) = state else { return };
        let world = &kept.0;
        for server in world.servers() {
            world.choices(*server, actions);
        }
        world.choices_together(actions);
        actions.retain(|step| world.budget().affords(world.price(step)));
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let State::Kept(kept) = state else { return None };
        let (mut world, mut checkers) = (**kept).clone();
        let mut outcome = Outcome::default();
        world.step(world.now(), &step, &mut outcome);
        Some(match checkers.observe(&outcome.seen) {
            Ok(()) => self.kept(world, checkers),
            Err(violation) => State::Broken(violation.promise),
        })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("kept", |_, state| matches!(state, State::Kept(_)))]
    }
}

/// So many servers, of which all are told apart.
fn root(servers: u8, begin: Begin, bounds: Bounds, bug: Option<Bug>) -> Root {
    let small = Preset::named("small").expect("there is one");
    let bounds = Bounds { alike: false, ..bounds };
    let mut setting = Preset { servers, bounds, ..small }.setting();
    setting.bugs = bug.into_iter().collect();
    Root::begin(begin, setting).expect("it can be set up")
}

/// Nothing but elections.
fn calm() -> Bounds {
    let small = Preset::named("small").expect("there is one").bounds;
    Bounds { writes: 0, crashes: 0, epochs: 1, ..small }
}

/// What our search finds: how many states there are, or in how many steps a promise is broken.
#[derive(Debug, Eq, PartialEq)]
enum Found {
    Broken { steps: usize },
    Held { states: usize },
}

fn ours(root: &Root) -> Found {
    match root.world.servers().len() {
        2 => searched::<{ words_of(2) }, { sets_of(2) }>(root),
        3 => searched::<{ words_of(3) }, { sets_of(3) }>(root),
        many => panic!("{many} servers"),
    }
}

fn searched<const K: usize, const W: usize>(root: &Root) -> Found {
    let space = Ensemble::<K, W>::new(root.world.clone(), root.checkers.clone());
    let mut search = Search::new(&space, false);
    let end = search.run(&Limits::default(), NonZeroUsize::MIN, &mut |_| ControlFlow::Continue(()));
    if let Some(path) = search.path_to_broken() {
        return Found::Broken { steps: path.len() };
    }
    assert_eq!(end, End::Complete);
    Found::Held { states: search.figures().distinct as usize }
}

/// The order in which learners have come to a leader is part of a world, and changes nothing but
/// the order of what is sent to each of them; a fingerprint leaves it out. So `Eq` takes more
/// worlds apart where there are two learners, and all that it takes apart are looked into here;
/// but they have as many fingerprints as we have states.
#[test]
fn there_are_as_many_states() {
    let cases = [
        (2, Begin::Fresh, Bounds { writes: 1, crashes: 1, epochs: 2, ..calm() }),
        (2, Begin::Fresh, Bounds { writes: 2, power_losses: 1, epochs: 2, ..calm() }),
        (2, Begin::Led, Bounds { writes: 1, breaks: 1, timeouts: 1, epochs: 2, ..calm() }),
        (3, Begin::Fresh, Bounds { writes: 1, ..calm() }),
        (3, Begin::Led, Bounds { writes: 1, breaks: 1, epochs: 2, ..calm() }),
        (3, Begin::Led, Bounds { power_losses: 1, epochs: 2, ..calm() }),
        (3, Begin::Proposed, Bounds { writes: 2, crashes: 1, quick_disks: true, ..calm() }),
    ];
    let counts = cases.map(|(servers, begin, bounds)| {
        let root = root(servers, begin, bounds, None);
        let theirs = Whole::new(&root).checker().spawn_bfs().join();
        assert_eq!(theirs.discovery("kept"), None);
        let prints = theirs.model().prints.lock().expect("nobody panics here").len();
        let states = theirs.unique_state_count();
        assert_eq!(ours(&root), Found::Held { states: prints }, "{begin:?} {bounds:?}");
        assert!(prints == states || prints < states && servers == 3, "{begin:?} {bounds:?}");
        (prints, states)
    });
    assert_eq!(
        counts,
        [
            (1372, 1372),
            (6476, 6476),
            (4117, 4117),
            (2305, 3895),
            (2436, 2489),
            (764, 807),
            (660, 660)
        ]
    );
}

#[test]
fn a_bug_is_found_in_as_many_steps() {
    let one = Bounds { writes: 1, ..calm() };
    for (servers, bug, begin, bounds) in [
        (2, Bug::Zk335, Begin::Fresh, Bounds { crashes: 1, ..one }),
        (2, Bug::Zk2845, Begin::Fresh, Bounds { breaks: 1, ..one }),
        (2, Bug::Zk4643, Begin::Fresh, Bounds { crashes: 1, epochs: 2, ..one }),
        (2, Bug::TruncNotSynced, Begin::Led, Bounds { breaks: 1, power_losses: 1, ..one }),
        (3, Bug::Zk335, Begin::Led, Bounds { breaks: 1, epochs: 2, ..calm() }),
        (3, Bug::Zk2845, Begin::Led, Bounds { breaks: 1, ..one }),
        (3, Bug::Zk4685, Begin::Fresh, one),
        (3, Bug::AckSurvivesTrunc, Begin::Led, Bounds { breaks: 1, ..one }),
        (3, Bug::TruncNotSynced, Begin::Led, Bounds { breaks: 1, power_losses: 1, ..one }),
    ] {
        let root = root(servers, begin, bounds, Some(bug));
        let theirs = Whole::new(&root).checker().spawn_bfs().join();
        let way = theirs.discovery("kept").unwrap_or_else(|| panic!("{bug}: it is not found"));
        let steps = way.into_actions().len();
        assert_eq!(ours(&root), Found::Broken { steps }, "{bug}, {servers} servers");
    }
}
