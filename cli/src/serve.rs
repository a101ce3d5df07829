//! `zoolab serve`: a ZooKeeper server for the clients people already have.

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};
use tracing::info;
use tracing_subscriber::EnvFilter;
use zoolab_core::{ServerId, Settings};
use zoolab_server::{DataDir, Options, Serving, Whitelist};

use crate::Outcome;

/// Serve ZooKeeper clients, standalone
///
/// Any ZooKeeper client can connect: kazoo, zkCli, Curator, the Go and Rust clients. The server
/// stands alone. Without --data it keeps everything in memory: when the process ends, all nodes
/// and sessions are gone. With --data nothing is answered before it is safe on disk, and a server
/// that is started again, after whatever end, goes on with all of it; a disk that fails ends the
/// server with exit code 2.
///
/// When it is ready it prints one line to standard output, `zoolab: serving on ADDR:PORT`. The
/// log goes to standard error. SIGTERM and SIGINT stop it: nobody is let in any more, what was
/// answered is sent, connections are closed, and the exit code is 0.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    zoolab serve\n  \
    zoolab serve --data /var/lib/zookeeper\n  \
    zoolab serve --listen '[::]:2181' --four-letter-words '*'\n  \
    zoolab serve --listen 127.0.0.1:0 --tick 100     for tests: a free port, sessions that \
    expire soon")]
pub(crate) struct Args {
    /// Where clients connect; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:2181")]
    listen: SocketAddr,

    /// Keep everything in this directory, too; one that is not there is made
    ///
    /// It is what ZooKeeper calls dataDir, with the same files in the same places (DIR/version-2,
    /// logs and snapshots together), so that either server can go on with what the other one left.
    /// One server at a time can have it.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// With --data, write a snapshot after so many transactions
    ///
    /// ZooKeeper calls it snapCount. A start reads the newest snapshot and the log after it.
    #[arg(long, value_name = "COUNT", default_value = "100000", requires = "data")]
    snapshot_every: NonZeroU32,

    /// With --data, keep so many snapshots, and the logs they need
    #[arg(long, value_name = "COUNT", default_value = "3", requires = "data")]
    snapshots_kept: NonZeroU32,

    /// The unit of time: sessions expire at the beginning of a tick
    #[arg(long, value_name = "MS", default_value_t = 2000)]
    tick: u32,

    /// Clients that ask for a shorter session timeout get this one [default: 2 ticks]
    #[arg(long, value_name = "MS")]
    min_session_timeout: Option<i32>,

    /// Clients that ask for a longer session timeout get this one [default: 20 ticks]
    #[arg(long, value_name = "MS")]
    max_session_timeout: Option<i32>,

    /// The longest frame a client may send; a longer one closes its connection
    ///
    /// ZooKeeper calls it jute.maxbuffer. It bounds what a node can hold: data and path of a
    /// create have to fit.
    #[arg(long, value_name = "BYTES", default_value_t = 0xF_FFFF,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX)))]
    max_frame: u32,

    /// How many connections there may be at a time; 0 is ZooKeeper's way to say any number
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    max_connections: usize,

    /// How many of them may come from one address; 0 is any number
    #[arg(long, value_name = "COUNT", default_value_t = 60)]
    max_connections_per_address: usize,

    /// How many watch events may wait for a client that does not read them
    ///
    /// One more, and its connection is closed. Its session is not: it can come back and ask.
    #[arg(long, value_name = "COUNT", default_value_t = 100_000)]
    max_unsent_events: usize,

    /// Which four-letter words are answered: words with commas between them, or '*'
    ///
    /// Words are conf, cons, crst, dirs, dump, envi, gtmk, hash, isro, mntr, ruok, srst, srvr,
    /// stat, stmk, wchc, wchp and wchs. `srvr` is always answered.
    #[arg(long, value_name = "LIST", default_value_t = Whitelist::default())]
    four_letter_words: Whitelist,

    /// Who may do everything: a user, and the digest of user and password
    ///
    /// The digest is Base64 of the SHA-1 of `USER:PASSWORD`, as in a digest ACL. Whoever
    /// authenticates as that user is not stopped by any ACL.
    #[arg(long, value_name = "USER:DIGEST", value_parser = super_digest)]
    super_digest: Option<String>,

    /// Allow nodes with a time to live
    #[arg(long)]
    extended_types: bool,

    /// Let hard quotas refuse writes, rather than only be counted
    #[arg(long)]
    enforce_quota: bool,

    /// Answer reconfig requests, rather than say that they are switched off
    #[arg(long)]
    reconfig: bool,

    /// Ignore all ACLs; for emergencies
    #[arg(long)]
    skip_acl: bool,

    /// How often to look for empty containers and nodes that outlived their time
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    container_check_interval: u32,

    /// How many of them may go per minute
    #[arg(long, value_name = "COUNT", default_value_t = 10_000,
          value_parser = clap::value_parser!(u32).range(1..))]
    container_max_per_minute: u32,

    /// After how long a container that never had a child goes; 0 is never
    #[arg(long, value_name = "MS", default_value_t = 0)]
    container_max_never_used: u32,

    /// The highest byte of the ids of sessions opened here
    #[arg(long, value_name = "ID", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(1..))]
    server_id: u8,

    /// What to log: error, warn, info, debug, trace, or a filter like zoolab_server=debug
    #[arg(long, value_name = "FILTER", default_value = "info")]
    log: String,

    /// How many threads serve clients
    ///
    /// All of them share one state behind one lock; what they do at the same time is reading,
    /// decoding, encoding and writing. One is best where clients are on the same small machine;
    /// more may pay where the server has cores to itself and clients do not pipeline.
    #[arg(long, value_name = "COUNT", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
}

/// Serves until a signal comes.
pub(crate) fn run(args: Args) -> Outcome {
    log_to_stderr(&args.log)?;
    let runtime = runtime(args.threads).map_err(|error| format!("no threads: {error}"))?;
    let data = args.data.clone();
    let options = args.options()?;
    runtime.block_on(serve(options, data))
}

async fn serve(options: Options, data: Option<PathBuf>) -> Outcome {
    // Signals first: one that comes while we start must not be lost.
    let stop = stop_signal().map_err(|error| format!("cannot wait for signals: {error}"))?;
    let serving = match &data {
        None => Serving::bind(options).await,
        Some(data) => {
            let directory = DataDir::open(data).map_err(|error| error.to_string())?;
            Serving::recover(options, Box::new(directory)).await
        }
    }
    .map_err(|error| error.to_string())?;
    let version = env!("CARGO_PKG_VERSION");
    match &data {
        None => info!(version, "standalone, in memory: all is gone when this process ends"),
        Some(data) => info!(version, data = %data.display(), "standalone"),
    }
    log_settings(serving.options());
    announce(serving.local_addr()).map_err(|error| format!("standard output: {error}"))?;
    serving.run(stop).await.map_err(|error| format!("the disk has failed: {error}"))?;
    Ok(ExitCode::SUCCESS)
}

/// What somebody who reads the log later wants to know. The super digest is not for logs.
fn log_settings(options: &Options) {
    let Settings {
        tick_ms,
        session_timeout_min_ms,
        session_timeout_max_ms,
        extended_types,
        enforce_quota,
        reconfig,
        skip_acl,
        super_digest,
        container_check_ms,
        container_max_per_minute,
        container_never_used_ms,
    } = &options.settings;
    info!(
        tick_ms,
        session_timeout_min_ms,
        session_timeout_max_ms,
        extended_types,
        enforce_quota,
        reconfig,
        skip_acl,
        super_user = super_digest.is_some(),
        container_check_ms,
        container_max_per_minute,
        ?container_never_used_ms,
        "settings of the ensemble"
    );
    let Options {
        listen: _,
        server_id,
        settings: _,
        frame_max,
        connections_max,
        connections_per_address_max,
        unsent_events_max,
        four_letter_words,
        snapshot_every,
        snapshots_kept,
        log_grows_by,
    } = options;
    info!(
        server_id = server_id.0,
        frame_max,
        ?connections_max,
        ?connections_per_address_max,
        unsent_events_max,
        %four_letter_words,
        snapshot_every,
        snapshots_kept,
        log_grows_by,
        "settings of this server"
    );
}

/// The line that scripts wait for.
fn announce(address: SocketAddr) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "zoolab: serving on {address}")?;
    stdout.flush()
}

impl Args {
    fn options(self) -> Result<Options, String> {
        let mut settings = Settings {
            extended_types: self.extended_types,
            enforce_quota: self.enforce_quota,
            reconfig: self.reconfig,
            skip_acl: self.skip_acl,
            super_digest: self.super_digest,
            container_check_ms: self.container_check_interval,
            container_max_per_minute: self.container_max_per_minute,
            container_never_used_ms: some_unless_zero(self.container_max_never_used),
            ..Settings::with_tick(self.tick)
        };
        if let Some(min) = self.min_session_timeout {
            settings.session_timeout_min_ms = min;
        }
        if let Some(max) = self.max_session_timeout {
            settings.session_timeout_max_ms = max;
        }
        // In the owner of a node, the highest byte 0xFF says that it has a time to live.
        if self.extended_types && self.server_id == u8::MAX {
            return Err("--extended-types needs a --server-id of at most 254".to_owned());
        }
        Ok(Options {
            listen: self.listen,
            server_id: ServerId(self.server_id),
            settings: settings.checked().map_err(|error| error.to_string())?,
            frame_max: self.max_frame as usize,
            connections_max: some_unless_zero(self.max_connections),
            connections_per_address_max: some_unless_zero(self.max_connections_per_address),
            unsent_events_max: self.max_unsent_events,
            four_letter_words: self.four_letter_words,
            snapshot_every: self.snapshot_every,
            snapshots_kept: self.snapshots_kept,
            ..Options::default()
        })
    }
}

fn some_unless_zero<T: Default + PartialEq>(value: T) -> Option<T> {
    (value != T::default()).then_some(value)
}

fn super_digest(text: &str) -> Result<String, String> {
    match text.split_once(':') {
        Some((user, digest)) if !user.is_empty() && !digest.is_empty() => Ok(text.to_owned()),
        Some(_) | None => Err("a user, a colon and a digest are expected".to_owned()),
    }
}

fn log_to_stderr(filter: &str) -> Result<(), String> {
    let filter =
        EnvFilter::try_new(filter).map_err(|error| format!("--log {filter:?}: {error}"))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .init();
    Ok(())
}

fn runtime(threads: u16) -> io::Result<Runtime> {
    match threads {
        1 => Builder::new_current_thread().enable_all().build(),
        _ => Builder::new_multi_thread().worker_threads(threads.into()).enable_all().build(),
    }
}

/// Done when SIGTERM or SIGINT comes.
#[cfg(not(madsim))]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => info!("SIGTERM"),
            _ = interrupt.recv() => info!("SIGINT"),
        }
    })
}

/// A simulated machine knows one signal.
#[cfg(madsim)]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async { tokio::signal::ctrl_c().await.unwrap_or_default() })
}
