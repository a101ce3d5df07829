//! One client's connection, from its first byte to its last.
//!
//! ```text
//!             four-letter word
//!   waiting --------------------> answer ------------------+
//!      |                                                   v
//!      | ConnectRequest                          rest sent, then closed
//!      v                                                   ^
//!   serving: read -> decode -> host -> encode -> write ----+  core done, or server stops
//!      |      ^                                    |
//!      |      +------------------------------------+
//!      v
//!   dropped: the client left, broke the rules, or does not read
//! ```
//!
//! A connection reads only when everything before has been written. A client that does not read
//! its replies is not read from either, and soon it is the client who has to wait.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::select;
use tokio::sync::Notify;
use tokio::time::{Duration, sleep, timeout};
use tracing::{debug, warn};
use zoolab_core::request::ConnectRequest;
use zoolab_core::wire::{self, Inbox, LengthError, WireError};
use zoolab_core::{ConnId, Millis, Request, Xid};

use crate::client::Closing;
use crate::four_letter::{self, Word};
use crate::outbox::Outgoing;
use crate::shared::Shared;
use crate::stats::Frames;

/// A client has this long to ask for a session.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);

/// When a connection is to end, its client has this long to read what is left.
const LAST_WRITE: Duration = Duration::from_secs(5);

/// After the last write the client has this long to close its side. If we closed at once, with
/// bytes of the client unread, TCP would take back what was just sent.
const LINGER: Duration = Duration::from_secs(1);

/// About how many bytes of replies may pile up before they are written and more requests are
/// looked at.
const BATCH_BYTES: usize = 256 * 1024;

/// How many requests of one connection may wait for the disk before more of them are looked at.
const UNANSWERED_MAX: usize = 1000;

/// How many bytes to encode before they are written.
const WRITE_BYTES: usize = 64 * 1024;

/// A client and its bytes.
#[derive(Debug)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
    stream: TcpStream,
    address: SocketAddr,
    conn: ConnId,
    /// Rung when others have something for this client.
    bell: Arc<Notify>,
    /// Whether the bell was heard, and the host not asked since.
    rung: bool,
    inbox: Inbox,
    /// Came in and not handed to the host yet.
    requests: VecDeque<(Xid, Request)>,
    /// Put out by the host and not encoded yet.
    outgoing: Vec<Outgoing>,
    /// Encoded and not written yet.
    bytes: Vec<u8>,
}

/// What a client begins with.
enum First {
    Connect(ConnectRequest),
    Word(Word),
}

/// What a connection waited for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Woken {
    Bell,
    Bytes,
}

impl Connection {
    /// A connection that just came up. The host knows of it from now on.
    pub(crate) fn new(shared: Arc<Shared>, stream: TcpStream, address: SocketAddr) -> Self {
        let (conn, bell) = shared.with_host(|host| host.accept(shared.clock.now(), address));
        let inbox = Inbox::new(shared.options.frame_max);
        Self {
            shared,
            stream,
            address,
            conn,
            bell,
            rung: false,
            inbox,
            requests: VecDeque::new(),
            outgoing: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Serves the client until one side has had enough. The host forgets it then.
    pub(crate) async fn attend(mut self) {
        let Err(end) = self.serve().await;
        end.log(&self.shared, self.address);
        self.shared.with_host(|host| {
            host.disconnect(self.shared.clock.now(), self.conn);
            match end {
                End::Failed(_) | End::Left => host.totals.drops += 1,
                End::Silent => host.totals.sessionless += 1,
                End::Answered
                | End::Closed
                | End::Frame(_)
                | End::Length(_)
                | End::Overflow { .. }
                | End::Stopped
                | End::Unread => {}
            }
        });
        match end {
            End::Answered | End::Closed | End::Stopped => self.linger().await,
            End::Failed(_)
            | End::Frame(_)
            | End::Left
            | End::Length(_)
            | End::Overflow { .. }
            | End::Silent
            | End::Unread => {}
        }
    }

    async fn serve(&mut self) -> Result<Infallible, End> {
        let first = timeout(HANDSHAKE, self.first()).await.map_err(|_| End::Silent)??;
        let mut since = self.shared.clock.steady();
        match first {
            First::Connect(request) => self.shared.with_host(|host| {
                host.connect(self.shared.clock.now(), self.conn, since, request);
            }),
            First::Word(word) => {
                self.bytes = four_letter::answer(&self.shared, self.conn, word).into_bytes();
                self.flush(Some(Closing::Done), Frames::default()).await?;
                return Err(End::Answered);
            }
        }
        loop {
            // What came before the bytes that broke the rules is still served.
            let hostile = self.decode().err();
            loop {
                let closing = self.exchange(since);
                if let Some(Closing::Overflow { events }) = closing {
                    return Err(End::Overflow { events });
                }
                self.write(closing).await?;
                match closing {
                    Some(Closing::Done) => return Err(End::Closed),
                    Some(Closing::Overflow { .. }) => unreachable!("ended before the write"),
                    Some(Closing::Stopping) => return Err(End::Stopped),
                    None if self.requests.is_empty() => break,
                    None if self.waits_for_disk() => self.heard_bell().await,
                    None => {}
                }
            }
            if let Some(end) = hostile {
                return Err(end);
            }
            self.wait().await?;
            since = self.shared.clock.steady();
        }
    }

    /// Waits for the first frame, or for a four-letter word in its place.
    async fn first(&mut self) -> Result<First, End> {
        loop {
            match self.inbox.bytes().split_first_chunk::<4>() {
                None => {}
                Some((head, rest)) => match Word::parse(*head, rest) {
                    Some(Some(word)) => return Ok(First::Word(word)),
                    Some(None) => {}
                    None => {
                        if let Some(payload) = self.inbox.next_frame()? {
                            return Ok(First::Connect(wire::decode_connect(payload)?));
                        }
                    }
                },
            }
            if self.wait().await? == Woken::Bell
                && self.shared.with_host(|host| host.client(self.conn).closing).is_some()
            {
                return Err(End::Stopped);
            }
        }
    }

    /// Waits for bytes, or for others to have something for this client.
    async fn wait(&mut self) -> Result<Woken, End> {
        if mem::take(&mut self.rung) {
            return Ok(Woken::Bell);
        }
        // Bytes first: serving them serves the bell too, but not the other way round.
        select! {
            biased;
            read = self.stream.read(self.inbox.space()) => match read? {
                0 => Err(End::Left),
                count => {
                    self.inbox.filled(count);
                    self.shared.sizes.received(count);
                    Ok(Woken::Bytes)
                }
            },
            () = self.bell.notified() => Ok(Woken::Bell),
        }
    }

    /// Takes all whole frames out of the inbox.
    fn decode(&mut self) -> Result<(), End> {
        let max = self.shared.options.frame_max;
        while let Some(payload) = self.inbox.next_frame()? {
            self.requests.push_back(wire::decode_request(payload, max)?);
        }
        Ok(())
    }

    /// Hands requests to the host, as many as may be answered at once, and takes what waits for
    /// the client.
    fn exchange(&mut self, since: Millis) -> Option<Closing> {
        let Self { shared, conn, requests, outgoing, .. } = self;
        shared.with_host(|host| {
            let now = shared.clock.now();
            host.look_ahead(requests.iter().map(|(_, request)| request));
            while host.client(*conn).outbox().weight() < BATCH_BYTES
                && host.client(*conn).pending_len() < UNANSWERED_MAX
                && let Some(request) = requests.pop_front()
            {
                host.request(now, *conn, since, request);
            }
            host.take(*conn, shared.clock.steady(), outgoing)
        })
    }

    /// Whether the host takes no more requests before others have been answered. Somebody rings
    /// the bell then.
    fn waits_for_disk(&self) -> bool {
        self.shared.with_host(|host| {
            let client = host.client(self.conn);
            client.closing.is_none()
                && client.outbox().is_empty()
                && client.pending_len() >= UNANSWERED_MAX
        })
    }

    async fn heard_bell(&mut self) {
        if !mem::take(&mut self.rung) {
            self.bell.notified().await;
        }
    }

    /// Writes what was taken from the host.
    async fn write(&mut self, closing: Option<Closing>) -> Result<(), End> {
        let mut outgoing = mem::take(&mut self.outgoing);
        let mut frames = Frames::default();
        for frame in outgoing.drain(..) {
            let before = self.bytes.len();
            frame.encode(&mut self.bytes);
            frames.add(self.bytes.len() - before);
            if self.bytes.len() >= WRITE_BYTES {
                self.flush(closing, mem::take(&mut frames)).await?;
            }
        }
        self.outgoing = outgoing;
        self.flush(closing, frames).await
    }

    /// Writes what was encoded.
    async fn flush(&mut self, closing: Option<Closing>, frames: Frames) -> Result<(), End> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let Self { shared, stream, conn, bell, rung, bytes, .. } = self;
        let written = async {
            stream.write_all(bytes).await?;
            stream.flush().await
        };
        select! {
            biased;
            written = written => written?,
            end = patience(shared, *conn, closing, bell, rung) => return Err(end),
        }
        shared.sizes.sent(bytes.len(), frames);
        bytes.clear();
        bytes.shrink_to(2 * WRITE_BYTES);
        Ok(())
    }

    /// Closes our side and lets the client close the other.
    async fn linger(&mut self) {
        let Self { stream, inbox, .. } = self;
        let closed = async {
            stream.shutdown().await?;
            loop {
                inbox.clear();
                if stream.read(inbox.space()).await? == 0 {
                    return Ok::<(), io::Error>(());
                }
            }
        };
        // However this ends, the connection is over.
        let _ = timeout(LINGER, closed).await;
    }
}

/// Waits until a client that does not read has been waited for long enough.
async fn patience(
    shared: &Shared,
    conn: ConnId,
    mut closing: Option<Closing>,
    bell: &Notify,
    rung: &mut bool,
) -> End {
    loop {
        match closing {
            None => {}
            Some(Closing::Overflow { events }) => return End::Overflow { events },
            Some(Closing::Done | Closing::Stopping) => {
                sleep(LAST_WRITE).await;
                return End::Unread;
            }
        }
        bell.notified().await;
        *rung = true;
        closing = shared.with_host(|host| host.client(conn).closing);
    }
}

/// Why a connection ended.
#[derive(Debug)]
enum End {
    /// A four-letter word was answered.
    Answered,
    /// The core was done with it.
    Closed,
    /// The socket failed.
    Failed(io::Error),
    /// A frame could not be read.
    Frame(WireError),
    /// The client closed its side.
    Left,
    /// A length no frame may have.
    Length(LengthError),
    /// The client does not read its events.
    Overflow { events: usize },
    /// The client did not ask for a session in time.
    Silent,
    /// The server stops.
    Stopped,
    /// The client did not read what was left when the connection was to end.
    Unread,
}

impl End {
    /// One line; a loud one only if somebody should look at it.
    fn log(&self, shared: &Shared, address: SocketAddr) {
        match self {
            Self::Frame(_) | Self::Length(_) | Self::Overflow { .. } => {
                if let Some(unheard) = shared.complaints.may_speak(shared.clock.steady()) {
                    let unheard = (unheard > 0).then_some(unheard);
                    warn!(%address, unheard, "connection closed: {self}");
                }
            }
            Self::Answered
            | Self::Closed
            | Self::Failed(_)
            | Self::Left
            | Self::Silent
            | Self::Stopped
            | Self::Unread => debug!(%address, "connection closed: {self}"),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => write!(f, "answered a four-letter word"),
            Self::Closed => write!(f, "its session is over or goes on elsewhere"),
            Self::Failed(error) => write!(f, "{error}"),
            Self::Frame(error) => write!(f, "{error}"),
            Self::Left => write!(f, "the client left"),
            Self::Length(error) => write!(f, "{error}"),
            Self::Overflow { events } => {
                write!(f, "the client does not read; {events} events wait")
            }
            Self::Silent => write!(f, "no session asked for within {} s", HANDSHAKE.as_secs()),
            Self::Stopped => write!(f, "the server stops"),
            Self::Unread => write!(f, "the client did not read the last replies"),
        }
    }
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<LengthError> for End {
    fn from(error: LengthError) -> Self {
        Self::Length(error)
    }
}

impl From<WireError> for End {
    fn from(error: WireError) -> Self {
        Self::Frame(error)
    }
}
