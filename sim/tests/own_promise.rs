//! The example of somebody else's workload and promise works, and its promise can be broken.

#[path = "../examples/own-promise.rs"]
#[expect(dead_code, reason = "an example has a main function")]
mod own_promise;

use zoolab_sim::report::Picture;

#[test]
fn what_is_registered_stays() {
    let mut names = 0;
    for seed in 0..12 {
        let (registered, failure) = own_promise::run(seed, false).unwrap();
        assert_eq!(failure.map(|failure| failure.what), None, "seed {seed}");
        names += registered;
    }
    assert!(names > 500, "{names}");
}

#[test]
fn whoever_tidies_up_is_found() {
    let (_, failure) = own_promise::run(0, true).unwrap();
    let failure = failure.expect("the rogue is noticed");
    assert!(failure.what.starts_with("registered-stays: server "), "{}", failure.what);
    assert!(failure.what.ends_with(" leads, and /n3 is not registered"), "{}", failure.what);
    // The trace is one like any other, and can be drawn.
    let picture = Picture::of(&failure.trace).unwrap();
    assert_eq!(picture.steps.len(), failure.trace.steps.len());
    let deletes = picture.steps.iter().filter(|step| step.text == "call c0 delete /n3");
    assert!(deletes.count() > 0);
}
