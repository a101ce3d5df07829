//! What the async client has to show against any server: scripts, each about one thing.

mod access;
mod nodes;
mod proxy;
mod sessions;
mod stage;
mod watching;

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

pub use stage::Stage;

/// What a script finds: nothing, or what is not as it should be.
pub type Outcome = Result<(), String>;

/// No script takes as long, on any machine.
const LONG: Duration = Duration::from_secs(60);

type Play = for<'a> fn(&'a mut Stage) -> Pin<Box<dyn Future<Output = Outcome> + 'a>>;

/// All scripts by name, in the order in which they are performed.
const SCRIPTS: &[(&str, Play)] = &[
    ("nodes-and-stats", |stage| Box::pin(nodes::nodes_and_stats(stage))),
    ("error-codes", |stage| Box::pin(nodes::error_codes(stage))),
    ("sequential", |stage| Box::pin(nodes::sequential(stage))),
    ("multi", |stage| Box::pin(nodes::multi(stage))),
    ("pipelining", |stage| Box::pin(nodes::pipelining(stage))),
    ("cancelling", |stage| Box::pin(nodes::cancelling(stage))),
    ("chroot", |stage| Box::pin(access::chroot(stage))),
    ("acl-and-auth", |stage| Box::pin(access::acl_and_auth(stage))),
    ("auth-refused", |stage| Box::pin(access::auth_refused(stage))),
    ("configuration", |stage| Box::pin(access::configuration(stage))),
    ("one-shot-watches", |stage| Box::pin(watching::one_shot(stage))),
    ("persistent-watches", |stage| Box::pin(watching::persistent(stage))),
    ("recursive-watches", |stage| Box::pin(watching::recursive(stage))),
    ("watches-removed", |stage| Box::pin(watching::removed(stage))),
    ("ephemerals", |stage| Box::pin(sessions::ephemerals(stage))),
    ("reconnect", |stage| Box::pin(sessions::reconnect(stage))),
    ("watches-reconnect", |stage| Box::pin(watching::reconnect(stage))),
    ("another-server", |stage| Box::pin(sessions::another_server(stage))),
    ("expiry", |stage| Box::pin(sessions::expiry(stage))),
    ("restart", |stage| Box::pin(sessions::restart(stage))),
];

/// The names of all scripts.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCRIPTS.iter().map(|(name, _)| *name)
}

/// Performs the scripts that are wanted.
///
/// # Errors
/// Says which script was not as it should be, and in what.
pub async fn perform(stage: &mut Stage, wanted: impl Fn(&str) -> bool) -> Outcome {
    for (name, play) in SCRIPTS.iter().filter(|(name, _)| wanted(name)) {
        match tokio::time::timeout(LONG, play(stage)).await {
            Ok(outcome) => outcome.map_err(|error| format!("{name}: {error}"))?,
            Err(_) => return Err(format!("{name}: not over after {LONG:?}")),
        }
    }
    Ok(())
}

/// Both are the same, or which are not.
fn same<T: Debug + PartialEq>(what: &str, got: T, expected: T) -> Outcome {
    if got == expected { Ok(()) } else { Err(format!("{what}: {got:?}, expected {expected:?}")) }
}

/// It is so, or what is not.
fn is(what: &str, so: bool) -> Outcome {
    if so { Ok(()) } else { Err(format!("{what}: it is not so")) }
}

/// What went wrong where nothing should.
fn wrong(error: impl Debug) -> String {
    format!("{error:?}")
}
