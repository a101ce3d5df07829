//! The one task that owns the machine, its socket and its timers.
//!
//! ```text
//!   commands ---+                    +--- results, notices
//!   bytes ------+--> [ machine ] ----+--- bytes
//!   timers -----+                    +--- timers, dialling
//! ```

use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::io;
use std::mem;
use std::pin::Pin;

use tokio::net::TcpStream;
use tokio::select;
use tokio::sync::{mpsc, watch};
use tokio::time::{Duration, Instant, sleep_until};
use tracing::debug;
use zoolab_core::Code;
use zoolab_core::Millis;
use zoolab_core::client::{
    Call, CallId, Chance, Client as Machine, Config, Failed, Input, Line, Notice, Output, ProbeId,
    SessionState, Timer, WatcherId,
};

use crate::command::{Command, Reply};
use crate::dial::{dial, probe};
use crate::line::{Traffic, Wire};
use crate::luck::Luck;
use crate::status::{Status, is_last};
use crate::watch::Listeners;

/// So many commands are taken before the socket is looked at again.
const COMMANDS_AT_ONCE: usize = 256;

type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A call that has no result yet.
#[derive(Debug)]
struct Open {
    reply: Option<Reply>,
    /// Who listens if it succeeds.
    watcher: Option<WatcherId>,
    /// Whether "no such node" sets a watch as well.
    watches_absence: bool,
}

/// See the [module](self).
pub(crate) struct Driver {
    machine: Machine,
    began: Instant,
    luck: Luck,
    frame_max: usize,
    commands: mpsc::UnboundedReceiver<Command>,
    open: BTreeMap<CallId, Open>,
    calls: u64,
    listeners: Listeners,
    status: watch::Sender<Status>,
    states: Vec<mpsc::UnboundedSender<SessionState>>,
    timers: BTreeMap<Timer, Instant>,
    dialling: Option<(Line, Pending<io::Result<TcpStream>>)>,
    wire: Option<Wire>,
    probing: Option<(ProbeId, Pending<bool>)>,
    /// Room for outputs. Empty between inputs.
    outputs: Vec<Output>,
}

/// What the task waited for.
enum Woken {
    Command(Option<Command>),
    Dialled(io::Result<TcpStream>),
    Probed(bool),
    Time,
    Traffic(Traffic),
}

impl Driver {
    /// A driver, and how to speak to it.
    #[allow(clippy::disallowed_methods, reason = "in madsim tokio's Instant is std's, simulated")]
    pub(crate) fn new(
        config: Config,
        chance: Chance,
        luck: Luck,
        frame_max: usize,
    ) -> (Self, mpsc::UnboundedSender<Command>, watch::Receiver<Status>) {
        let machine = Machine::new(config, chance);
        let (sender, commands) = mpsc::unbounded_channel();
        let (status, status_receiver) = watch::channel(Status::of(&machine));
        let driver = Self {
            machine,
            began: Instant::now(),
            luck,
            frame_max,
            commands,
            open: BTreeMap::new(),
            calls: 0,
            listeners: Listeners::default(),
            status,
            states: Vec::new(),
            timers: BTreeMap::new(),
            dialling: None,
            wire: None,
            probing: None,
            outputs: Vec::new(),
        };
        (driver, sender, status_receiver)
    }

    /// Drives the client until nobody can ask it anything, and every call has its result.
    pub(crate) async fn run(mut self) {
        self.step(Input::Start);
        let mut asked = true;
        while asked || !self.open.is_empty() {
            match self.wait(asked).await {
                Woken::Command(None) => asked = false,
                Woken::Command(Some(command)) => self.take_commands(command),
                Woken::Dialled(dialled) => self.on_dialled(dialled),
                Woken::Probed(writable) => {
                    if let Some((probe, _)) = self.probing.take() {
                        self.step(Input::Probed { probe, writable });
                    }
                }
                Woken::Time => self.on_time(),
                Woken::Traffic(traffic) => self.on_traffic(traffic),
            }
        }
    }

    async fn wait(&mut self, asked: bool) -> Woken {
        let Self { commands, dialling, wire, probing, timers, .. } = self;
        let due = timers.values().min().copied();
        let time = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => pending().await,
            }
        };
        let dialled = async {
            match dialling {
                Some((_, dialled)) => dialled.await,
                None => pending().await,
            }
        };
        let probed = async {
            match probing {
                Some((_, probed)) => probed.await,
                None => pending().await,
            }
        };
        let traffic = async {
            match wire {
                Some(wire) => wire.traffic().await,
                None => pending().await,
            }
        };
        // The order is fixed, for the sake of simulations. Nobody is starved: after each answer
        // come commands, too.
        select! {
            biased;
            () = time => Woken::Time,
            traffic = traffic => Woken::Traffic(traffic),
            dialled = dialled => Woken::Dialled(dialled),
            writable = probed => Woken::Probed(writable),
            command = commands.recv(), if asked => Woken::Command(command),
        }
    }

    fn on_dialled(&mut self, dialled: io::Result<TcpStream>) {
        let Some((line, _)) = self.dialling.take() else { return };
        match dialled {
            Ok(stream) => {
                self.wire = Some(Wire::new(line, stream, self.frame_max));
                self.step(Input::Connected { line });
            }
            Err(error) => {
                debug!("no connection: {error}");
                self.step(Input::Refused { line });
            }
        }
    }

    fn on_time(&mut self) {
        #[allow(clippy::disallowed_methods, reason = "in madsim this is std's, simulated")]
        let now = Instant::now();
        let due = self.timers.iter().min_by_key(|(_, due)| **due);
        if let Some((&timer, _)) = due.filter(|(_, due)| **due <= now) {
            self.timers.remove(&timer);
            self.step(Input::Timeout(timer));
        }
    }

    fn on_traffic(&mut self, traffic: Traffic) {
        match traffic {
            Traffic::Came => self.take_frames(),
            Traffic::Ended(error) => {
                if let Some(error) = error {
                    debug!("connection lost: {error}");
                }
                if let Some(wire) = self.wire.take() {
                    self.step(Input::Disconnected { line: wire.line });
                }
            }
            Traffic::Went => {}
        }
        self.take_waiting();
    }

    /// Hands all whole frames to the machine, which may hang up in between.
    fn take_frames(&mut self) {
        while let Some(wire) = &mut self.wire {
            let line = wire.line;
            let input = match wire.inbox.next_frame() {
                Ok(Some(payload)) => self.machine.read(line, payload),
                Ok(None) => break,
                Err(error) => {
                    debug!("connection given up: {error}");
                    Input::Garbled { line }
                }
            };
            self.step(input);
        }
    }

    fn take_commands(&mut self, first: Command) {
        self.on_command(first);
        self.take_waiting();
    }

    /// Takes commands that are already there: their requests go out in one piece.
    fn take_waiting(&mut self) {
        for _ in 0..COMMANDS_AT_ONCE {
            // That there will be no more is noticed where they are waited for.
            let Ok(command) = self.commands.try_recv() else { break };
            self.on_command(command);
        }
    }

    fn on_command(&mut self, command: Command) {
        match command {
            Command::AddAuth { scheme, auth } => {
                self.step(Input::AddAuth { scheme, auth: auth.into() });
            }
            Command::Call { call, reply, listener } => {
                let watcher = listener.map(|(id, listener)| {
                    self.listeners.add(id, listener);
                    id
                });
                let watches_absence = matches!(call, Call::Exists { .. });
                let open = Open { reply: Some(reply), watcher, watches_absence };
                let id = self.opened(open);
                self.step(Input::Call { id, call });
            }
            Command::Close { reply } => {
                let open = Open { reply: Some(reply), watcher: None, watches_absence: false };
                let id = self.opened(open);
                self.step(Input::Close { id });
            }
            Command::Forget(watcher) => {
                if let Some(call) = self.listeners.forget(watcher) {
                    let open = Open { reply: None, watcher: None, watches_absence: false };
                    let id = self.opened(open);
                    self.step(Input::Call { id, call });
                }
            }
            Command::Servers(servers) => {
                let chance = self.luck.chance(servers.draws());
                self.step(Input::Servers { servers, chance });
            }
            Command::States(sender) => {
                if self.machine.state().is_alive() {
                    self.states.push(sender);
                }
            }
        }
    }

    fn opened(&mut self, open: Open) -> CallId {
        self.calls += 1;
        let id = CallId(self.calls);
        self.open.insert(id, open);
        id
    }

    /// Hands one input to the machine and does what it wants.
    fn step(&mut self, input: Input) {
        let elapsed = self.began.elapsed().as_millis();
        let now = Millis(i64::try_from(elapsed).unwrap_or(i64::MAX));
        let mut outputs = mem::take(&mut self.outputs);
        self.machine.step(now, input, &mut outputs);
        // Whoever is told something may look where the client stands.
        self.status.send_if_modified(|status| status.update(&self.machine));
        for output in outputs.drain(..) {
            self.carry_out(output);
        }
        self.outputs = outputs;
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Complete { id, zxid: _, result } => {
                let Some(Open { reply, watcher, watches_absence }) = self.open.remove(&id) else {
                    return;
                };
                let no_node = result == Err(Failed::Code(Code::NoNode));
                if let Some(watcher) = watcher
                    && result.is_err()
                    && !(watches_absence && no_node)
                {
                    self.listeners.remove(watcher);
                }
                if let Some(reply) = reply {
                    // Who dropped the call does not want to know.
                    let _ = reply.send(result);
                }
            }
            Output::Deliver { notice, to } => {
                if let Notice::Session(state) = notice {
                    debug!(?state, "session");
                    self.states.retain(|sender| sender.send(state).is_ok() && !is_last(state));
                }
                for watcher in to {
                    self.listeners.tell(watcher, &notice);
                }
            }
            Output::Dial { line, host } => {
                debug!(%host, "dialling");
                self.dialling = Some((line, Box::pin(dial(host, Luck::new()))));
            }
            Output::Disarm { timer } => {
                self.timers.remove(&timer);
            }
            Output::HangUp { line } => {
                self.dialling.take_if(|(dialled, _)| *dialled == line);
                if let Some(wire) = self.wire.take_if(|wire| wire.line == line) {
                    wire.hang_up();
                }
            }
            Output::Probe { probe: id, host } => {
                self.probing = Some((id, Box::pin(probe(host, Luck::new()))));
            }
            Output::Send { line, frame } => {
                let wire = self.wire.as_mut().filter(|wire| wire.line == line);
                wire.expect("frames are for the line that is up").send(&frame);
            }
            Output::Wake { timer, ms, spread_ms } => {
                let ms = u64::from(ms) + u64::from(self.luck.up_to(spread_ms));
                #[allow(clippy::disallowed_methods, reason = "in madsim this is std's, simulated")]
                let due = Instant::now() + Duration::from_millis(ms);
                self.timers.insert(timer, due);
            }
        }
    }
}
