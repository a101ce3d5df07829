//! What all tasks of a server share.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;
use zoolab_core::Millis;

use crate::clock::Clock;
use crate::complaints::Complaints;
use crate::host::Host;
use crate::options::Options;
use crate::stats::Sizes;

/// One server, as its tasks share it.
#[derive(Debug)]
pub(crate) struct Shared {
    /// What it was told.
    pub(crate) options: Options,
    /// Where clients connect.
    pub(crate) address: SocketAddr,
    /// Where its files are, if it has any.
    pub(crate) data: Option<PathBuf>,
    /// What time it is.
    pub(crate) clock: Clock,
    /// How many bytes came and went.
    pub(crate) sizes: Sizes,
    /// What is said about clients.
    pub(crate) complaints: Complaints,
    /// Rung when a timer is due earlier than the next one was.
    pub(crate) timers_changed: Notify,
    /// Rung when something is to be persisted.
    pub(crate) disk_asked: Notify,
    /// Rung when a task has panicked.
    pub(crate) broken: Notify,
    host: Mutex<Host>,
    tasks: AtomicUsize,
    /// Rung when the last task has ended.
    emptied: Notify,
}

impl Shared {
    /// A server around this host.
    pub(crate) fn new(
        options: Options,
        address: SocketAddr,
        data: Option<PathBuf>,
        clock: Clock,
        host: Host,
    ) -> Self {
        Self {
            options,
            address,
            data,
            clock,
            sizes: Sizes::new(),
            complaints: Complaints::default(),
            timers_changed: Notify::new(),
            disk_asked: Notify::new(),
            broken: Notify::new(),
            host: Mutex::new(host),
            tasks: AtomicUsize::new(0),
            emptied: Notify::new(),
        }
    }

    /// Does something with the host, and then wakes whom it concerns.
    ///
    /// # Panics
    /// If anybody has panicked here before: the host may have been left half-way through
    /// something, and a server that goes on from there could tell clients anything.
    pub(crate) fn with_host<T>(&self, act: impl FnOnce(&mut Host) -> T) -> T {
        let mut host = self.lock();
        let due_before = host.timeout_next();
        let result = act(&mut host);
        let due = host.timeout_next();
        let bells = host.take_bells();
        let has_asked = host.has_asked();
        drop(host);
        if has_asked {
            self.disk_asked.notify_one();
        }
        for bell in bells {
            bell.notify_one();
        }
        if is_earlier(due, due_before) {
            self.timers_changed.notify_one();
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, Host> {
        self.host.lock().expect("nobody has panicked while holding the host")
    }

    /// A connection's task begins.
    pub(crate) fn arrived(&self) {
        self.tasks.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection's task ends.
    pub(crate) fn gone(&self) {
        if self.tasks.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.emptied.notify_one();
        }
    }

    /// Waits for the last connection's task to end, when no new ones begin.
    pub(crate) async fn all_gone(&self) {
        while self.tasks.load(Ordering::Acquire) > 0 {
            self.emptied.notified().await;
        }
    }
}

fn is_earlier(due: Option<Millis>, before: Option<Millis>) -> bool {
    due.is_some_and(|due| before.is_none_or(|before| due < before))
}
