//! Searches that stop, are written to a file, and go on.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;

use zoolab_sim::search::toy::Broadcast;
use zoolab_sim::search::{
    Arrival, Awake, End, Expansion, Figures, Limits, NotResumed, Search, Space, Verdict, print_of,
};

use crate::counts::whole;
use crate::tangle::Tangle;

const THREADS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

/// A file that goes when the test does.
struct Scrap(PathBuf);

impl Scrap {
    fn new(name: &str) -> Self {
        let name = format!("zoolab-search-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Scrap {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn on<S: Space>(search: &mut Search<'_, S>, limits: &Limits) -> End {
    search.run(limits, THREADS, &mut |_| ControlFlow::Continue(()))
}

/// Figures without those of memory, which depend on the process.
fn lasting(figures: &Figures) -> Figures {
    Figures { bytes_seen: 0, bytes: 0, bytes_peak: 0, ..figures.clone() }
}

fn resumed<'a, S: Space>(space: &'a S, scrap: &Scrap) -> Search<'a, S> {
    Search::resume(space, &scrap.0, THREADS).unwrap().0
}

#[test]
fn a_search_stopped_anywhere_goes_on_as_if_it_had_not() {
    let space = Broadcast::new(3, 2);
    for reduce in [false, true] {
        let all = whole(&space, reduce);
        let scrap = Scrap::new(&format!("anywhere-{reduce}"));
        let mut search = Search::new(&space, reduce);
        let mut stops = 0;
        // Every few rounds, in the middle of layers too, it is put down and taken up.
        loop {
            let mut rounds = 0;
            let end = search.run(&Limits::default(), THREADS, &mut |_| {
                rounds += 1;
                if rounds == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if end == End::Complete {
                break;
            }
            search.save(&scrap.0, "").unwrap();
            search = resumed(&space, &scrap);
            stops += 1;
        }
        assert!(stops > 8, "{stops}");
        assert_eq!(lasting(search.figures()), lasting(all.figures()));
        assert_eq!(search.path(search.goal().unwrap()), all.path(all.goal().unwrap()));
    }
}

#[test]
fn drawn_systems_go_on_too_and_break_the_same_promises() {
    for seed in 0..80 {
        let mut space = Tangle::drawn(seed);
        space.forbidden = space.distances().into_keys().find(|state| state % 7 == 5);
        let limits = Limits { past_broken: seed % 2 == 0, ..Limits::default() };
        let mut all = Search::new(&space, true);
        let end = on(&mut all, &limits);
        let scrap = Scrap::new(&format!("drawn-{seed}"));
        let mut search = Search::new(&space, true);
        for depth in 0..5 {
            on(&mut search, &Limits { depth: Some(depth), ..limits });
            search.save(&scrap.0, "").unwrap();
            search = resumed(&space, &scrap);
        }
        assert_eq!(on(&mut search, &limits), end, "seed {seed}");
        assert_eq!(lasting(search.figures()), lasting(all.figures()), "seed {seed}");
        assert_eq!(search.path_to_broken(), all.path_to_broken(), "seed {seed}");
    }
}

#[test]
fn notes_come_back_and_a_saved_search_takes_the_place_of_an_older_one() {
    let space = Broadcast::new(2, 2);
    let scrap = Scrap::new("notes");
    let mut search = Search::new(&space, false);
    for note in ["one", "two"] {
        on(&mut search, &Limits { depth: Some(4), ..Limits::default() });
        search.save(&scrap.0, note).unwrap();
        let (again, notes) = Search::resume(&space, &scrap.0, THREADS).unwrap();
        assert_eq!(lasting(again.figures()), lasting(search.figures()));
        assert_eq!(notes, note);
    }
    let missing = Search::resume(&space, &Scrap::new("missing").0, THREADS).err();
    assert_eq!(missing, Some(NotResumed::Unreadable(std::io::ErrorKind::NotFound)));
}

#[test]
fn a_file_that_is_foreign_or_damaged_is_refused_with_the_reason() {
    let space = Broadcast::new(2, 2);
    let scrap = Scrap::new("damaged");
    let mut search = Search::new(&space, false);
    on(&mut search, &Limits { depth: Some(4), ..Limits::default() });
    search.save(&scrap.0, "").unwrap();
    let other = Broadcast::new(2, 3);
    let refused = Search::resume(&other, &scrap.0, THREADS).err().unwrap();
    assert_eq!(
        refused.to_string(),
        "a search of another space: wanted `broadcast of 3 proposals to 2 followers`, got \
         `broadcast of 2 proposals to 2 followers`"
    );

    let refused = |bytes: &[u8]| {
        std::fs::write(&scrap.0, bytes).unwrap();
        Search::resume(&space, &scrap.0, THREADS).err().unwrap()
    };
    let bytes = std::fs::read(&scrap.0).unwrap();
    for len in [16, 17, 100, bytes.len() / 2, bytes.len() - 1] {
        assert_eq!(refused(&bytes[..len]), NotResumed::Damaged, "{len}");
    }
    for place in (16..bytes.len()).step_by(101) {
        let mut bytes = bytes.clone();
        bytes[place] ^= 4;
        assert_eq!(refused(&bytes), NotResumed::Damaged, "{place}");
    }
    assert_eq!(refused(b"{\"format\":1}"), NotResumed::NoSearch);
    assert_eq!(refused(b""), NotResumed::NoSearch);
}

/// Counts up by one or by so many; it never says by how many.
struct Secretive(u64);

impl Secretive {
    fn arrival(step: u16, state: u64) -> Arrival<Self> {
        let print = print_of([state, 0]);
        Arrival { step, print, state, asleep: (), verdict: Verdict::Fine, goal: false }
    }
}

impl Space for Secretive {
    type State = u64;
    type Steps = ();
    type Worker = ();

    fn identity(&self) -> String {
        String::from("secretive")
    }

    fn worker(&self) {}

    fn initial(&self, (): &mut ()) -> Arrival<Self> {
        Self::arrival(0, 0)
    }

    fn expand(
        &self,
        (): &mut (),
        state: &u64,
        _: &Awake<()>,
        out: &mut Vec<Arrival<Self>>,
    ) -> Expansion {
        out.push(Self::arrival(0, state + 1));
        out.push(Self::arrival(1, state + self.0));
        Expansion { enabled: 2 }
    }
}

#[test]
fn a_space_that_is_not_what_it_was_is_noticed() {
    let scrap = Scrap::new("strayed");
    let mut search = Search::new(&Secretive(5), false);
    on(&mut search, &Limits { depth: Some(9), ..Limits::default() });
    search.save(&scrap.0, "").unwrap();
    assert!(Search::resume(&Secretive(5), &scrap.0, THREADS).is_ok());
    let strayed = Search::resume(&Secretive(7), &scrap.0, THREADS).err();
    assert_eq!(strayed, Some(NotResumed::Strayed));
}
