//! A server on its socket: lets clients in, keeps time, stops.

use std::future::{Future, pending};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::time::{Duration, sleep, sleep_until, timeout};
use tracing::{debug, info, warn};
use zoolab_core::storage::{Recovered, Rules, recover};
use zoolab_core::{Boot, Ensemble, Now, Settings};

use crate::clock::Clock;
use crate::connection::Connection;
use crate::directory::Directory;
use crate::host::Host;
use crate::keeper::Keeper;
use crate::limits::{Limits, Seat};
use crate::options::Options;
use crate::shared::Shared;

/// How long to wait when the machine has no sockets left. Accepting again at once would only
/// burn the processor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long a stop may take. Each connection ends sooner by itself.
const STOP_MAX: Duration = Duration::from_secs(10);

/// A standalone server that listens.
///
/// Clients can connect from the moment it exists; they are served while it [runs](Self::run).
#[derive(Debug)]
pub struct Serving {
    listener: TcpListener,
    address: SocketAddr,
    limits: Arc<Limits>,
    shared: Arc<Shared>,
    keeper: Option<Keeper>,
}

impl Serving {
    /// Starts a server with nothing in it, which keeps everything in memory.
    ///
    /// # Errors
    /// If the address cannot be had, or the settings cannot work; then nothing was started.
    pub async fn bind(options: Options) -> io::Result<Self> {
        let (settings, now, clock, listener) = prepare(&options).await?;
        let boot = boot(&options, now);
        let host = Host::in_memory(settings, boot, options.unsent_events_max, now);
        Self::new(options, listener, clock, host, None, None)
    }

    /// Starts a server with what this directory has. Nothing is answered before it is safe there.
    ///
    /// # Errors
    /// If the address cannot be had, the settings cannot work, or the directory cannot be read or
    /// believed; then nothing was started.
    pub async fn recover(options: Options, mut directory: Box<dyn Directory>) -> io::Result<Self> {
        let (settings, now, clock, listener) = prepare(&options).await?;
        let boot = boot(&options, now);
        let data = directory.path().map(Path::to_owned);
        let place = data.as_ref().map_or_else(String::new, |path| format!("{}/", path.display()));
        let files = directory.read()?;
        let rules = Rules {
            extended_types: settings.extended_types,
            scatter: boot.scatter,
            preallocate: options.log_grows_by,
            ..Rules::default()
        };
        let Recovered { repairs, saved, disk, notes } =
            recover(&files, &rules).map_err(|error| {
                io::Error::new(io::ErrorKind::InvalidData, format!("{place}{error}"))
            })?;
        drop(files);
        for note in notes {
            warn!("{place}{note}");
        }
        let (nodes, sessions) = (saved.tree.len(), saved.sessions.len());
        info!(zxid = %saved.zxid_last, nodes, sessions, "recovered");
        directory.perform(repairs).await?;
        let ensemble = Ensemble {
            snapshot_every: Some(options.snapshot_every),
            snapshots_kept: options.snapshots_kept,
            ..Ensemble::of_one(boot.me)
        };
        let host = Host::on_disk(ensemble, settings, boot, saved, options.unsent_events_max, now);
        Self::new(options, listener, clock, host, data, Some(Keeper::new(disk, directory)))
    }

    fn new(
        options: Options,
        listener: TcpListener,
        clock: Clock,
        host: Host,
        data: Option<PathBuf>,
        keeper: Option<Keeper>,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let limits = Limits::new(options.connections_max, options.connections_per_address_max);
        let shared = Arc::new(Shared::new(options, address, data, clock, host));
        Ok(Self { listener, address, limits, shared, keeper })
    }

    /// Where clients connect.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What it was told.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    /// Serves clients until `stop` is done. Then nobody is let in any more, what was answered is
    /// sent, and the connections are closed.
    ///
    /// # Errors
    /// If the disk cannot do what it has to: what was answered is safe, and nothing more has been.
    ///
    /// # Panics
    /// If the core, or anything else that serves clients, has panicked: nobody can tell what is
    /// true then, and a server that goes on would pretend to.
    pub async fn run(self, stop: impl Future<Output = ()>) -> io::Result<()> {
        let Self { listener, address, limits, shared, keeper } = self;
        info!(%address, "serving");
        let mut stop = pin!(stop);
        let mut time = pin!(keep_time(&shared));
        let mut disk = pin!(keep(keeper, &shared));
        loop {
            select! {
                () = &mut stop => break,
                () = shared.broken.notified() => panic!("a connection's task has panicked"),
                () = &mut time => unreachable!("time does not end"),
                error = &mut disk => return Err(error),
                accepted = listener.accept() => match accepted {
                    Ok((stream, address)) => admit(&shared, &limits, stream, address),
                    Err(error) => not_accepted(&error).await,
                },
            }
        }
        drop(listener);
        let connections = shared.with_host(Host::stop);
        info!(connections, "stopping");
        let last = timeout(STOP_MAX, shared.all_gone());
        select! {
            () = shared.broken.notified() => panic!("a connection's task has panicked"),
            error = &mut disk => return Err(error),
            gone = last => match gone {
                Ok(()) => info!("stopped"),
                Err(_) => warn!("stopped with connections that did not end"),
            },
        }
        Ok(())
    }
}

/// What every server needs, whatever it keeps.
async fn prepare(options: &Options) -> io::Result<(Settings, Now, Clock, TcpListener)> {
    let settings = options.settings.clone().checked().map_err(io::Error::other)?;
    let listener = TcpListener::bind(options.listen).await.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot listen on {}: {error}", options.listen))
    })?;
    let clock = Clock::start();
    Ok((settings, clock.now(), clock, listener))
}

fn boot(options: &Options, now: Now) -> Boot {
    let scatter = RandomState::new().hash_one(options.listen);
    Boot { me: options.server_id, steady: now.steady, scatter }
}

/// Writes to the disk, if there is one, until that fails.
async fn keep(keeper: Option<Keeper>, shared: &Shared) -> io::Error {
    match keeper {
        Some(keeper) => keeper.run(shared).await,
        None => pending().await,
    }
}

/// Lets a client in, or says why not.
fn admit(shared: &Arc<Shared>, limits: &Arc<Limits>, stream: TcpStream, mut address: SocketAddr) {
    // An IPv4 client of an IPv6 socket is known by its IPv4 address, as anywhere else.
    address.set_ip(address.ip().to_canonical());
    let seat = match limits.admit(address.ip()) {
        Ok(seat) => seat,
        Err(refusal) => {
            shared.with_host(|host| host.totals.rejected += 1);
            if let Some(unheard) = shared.complaints.may_speak(shared.clock.steady()) {
                let unheard = (unheard > 0).then_some(unheard);
                warn!(%address, unheard, "connection refused: {refusal}");
            }
            return;
        }
    };
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%address, "connection is already gone: {error}");
        return;
    }
    debug!(%address, "connection accepted");
    let connection = Connection::new(Arc::clone(shared), stream, address);
    let attendance = Attendance::new(Arc::clone(shared), seat);
    tokio::spawn(async move {
        let _attendance = attendance;
        connection.attend().await;
    });
}

async fn not_accepted(error: &io::Error) {
    // The client went away before we looked; that is no fault of the machine.
    if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
        return;
    }
    warn!("cannot accept connections: {error}");
    sleep(ACCEPT_PAUSE).await;
}

/// Lets timers run out, for ever.
async fn keep_time(shared: &Shared) {
    loop {
        let due = shared.with_host(|host| {
            host.timeouts(shared.clock.now());
            host.timeout_next()
        });
        let Some(due) = due else {
            shared.timers_changed.notified().await;
            continue;
        };
        select! {
            () = sleep_until(shared.clock.instant(due)) => {}
            () = shared.timers_changed.notified() => {}
        }
    }
}

/// Kept by each connection's task to its end, whichever end that is.
struct Attendance {
    shared: Arc<Shared>,
    _seat: Seat,
}

impl Attendance {
    fn new(shared: Arc<Shared>, seat: Seat) -> Self {
        shared.arrived();
        Self { shared, _seat: seat }
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        self.shared.gone();
        if std::thread::panicking() {
            self.shared.broken.notify_one();
        }
    }
}

#[cfg(all(test, not(madsim)))]
mod tests {
    use super::*;

    /// A panic in a connection's task ends the server; nobody is served by what is left.
    #[tokio::test]
    async fn a_panic_is_not_hidden() {
        let serving = Serving::bind(Options::default()).await.unwrap();
        let shared = Arc::clone(&serving.shared);
        let seat = serving.limits.admit(serving.address.ip()).unwrap();
        let running = tokio::spawn(serving.run(std::future::pending()));
        let attendance = Attendance::new(Arc::clone(&shared), seat);
        let task = tokio::spawn(async move {
            let _attendance = attendance;
            shared.with_host(|_| panic!("the core has a fault"));
        });
        assert!(task.await.unwrap_err().is_panic());
        assert!(running.await.unwrap_err().is_panic());
    }
}
