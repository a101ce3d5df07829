//! A client that shows the wire as it is: one socket, no thread, no help.
//!
//! ```no_run
//! use zoolab_tests::raw::{Raw, open_acl};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut c = Raw::connect("127.0.0.1:2181")?;
//! let reply = c.create("/a", b"x", &open_acl(), 0)?; // `Err` means: no answer
//! assert_eq!(reply.err, 0); //                          the server's own error is a value
//! c.exists("/a", true)?;
//! c.delete("/a", -1)?;
//! assert_eq!(c.events()[0].path, "/a"); //              in the order of the wire
//! # Ok(())
//! # }
//! ```
//!
//! Three layers, each usable alone: [`Raw::write`] sends any bytes; [`Raw::send`] sends any
//! [`Request`] under any xid and [`Raw::receive`] takes the next [`Frame`]; [`Raw::call`] and the
//! methods named after opcodes do both and put events aside. Nothing waits for ever: after
//! [`Raw::patience`] of silence there is an error that says what was being waited for.
//!
//! It shares no code with the core, so that agreement between the two means something.

mod calls;
pub mod handshake;
pub mod jute;
pub mod numbers;
pub mod reply;
pub mod request;

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

pub use handshake::{Hello, Welcome, derived_password};
pub use jute::{Garbled, Reader, Text, Writer};
pub use numbers::{code, event, flag, opcode, perm, watcher};
pub use reply::{Body, Event, Frame, OpResult, Refused, Reply, Stat};
pub use request::{Acl, Request, WatchLists, acl, open_acl};

/// How long a silence may last unless told otherwise.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Longest frame this client accepts; a real server's largest is little more than 1 MiB.
const FRAME_MAX: usize = 16 << 20;

/// Why there is no answer.
#[derive(Debug)]
pub enum Error {
    /// No connection could be made.
    Unreachable {
        /// To where.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The server closed or reset the connection.
    Closed {
        /// What was being done.
        during: String,
    },
    /// Silence.
    Timeout {
        /// What was being waited for.
        during: String,
        /// For how long.
        after: Duration,
    },
    /// Bytes that are not the protocol.
    Garbled {
        /// What was being read.
        during: String,
        /// What is wrong with them.
        source: Garbled,
    },
    /// A frame with an impossible length.
    FrameLength {
        /// The length.
        got: i32,
    },
    /// A reply whose xid answers nothing that was asked.
    Unasked {
        /// Its xid.
        xid: i32,
        /// The xids that were due, oldest first.
        due: Vec<i32>,
    },
    /// The server knows no such session.
    Expired {
        /// The session asked for.
        session_id: i64,
    },
    /// The server refused what a helper needs.
    Refused(Refused),
    /// Anything else the system says.
    Io {
        /// What was being done.
        during: String,
        /// What the system says.
        source: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { address, source } => write!(f, "cannot reach {address}: {source}"),
            Self::Closed { during } => write!(f, "connection closed during {during}"),
            Self::Timeout { during, after } => {
                write!(f, "nothing came for {} ms during {during}", after.as_millis())
            }
            Self::Garbled { during, source } => write!(f, "{during}: {source}"),
            Self::FrameLength { got } => write!(f, "frame of length {got}"),
            Self::Unasked { xid, due } => write!(f, "reply with xid {xid} where {due:?} were due"),
            Self::Expired { session_id } => write!(f, "session {session_id:#x} is not known"),
            Self::Refused(refused) => refused.fmt(f),
            Self::Io { during, source } => write!(f, "{during}: {source}"),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// What the system says, sorted into silence, the end, and the rest.
    fn from_io(during: String, after: Duration, source: io::Error) -> Self {
        const ENDED: [ErrorKind; 3] =
            [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted];
        if ENDED.contains(&source.kind()) {
            Self::Closed { during }
        } else if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&source.kind()) {
            Self::Timeout { during, after }
        } else {
            Self::Io { during, source }
        }
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// An answer, or why there is none.
pub type Result<T> = std::result::Result<T, Error>;

/// One connection to a server, with or without a session.
#[derive(Debug)]
pub struct Raw {
    stream: TcpStream,
    address: SocketAddr,
    /// Bytes received that are not a whole frame yet; a timeout within a frame loses nothing.
    inbox: Vec<u8>,
    /// Sent and not answered: xid as the reply will show it, opcode.
    due: VecDeque<(i32, i32)>,
    /// Events seen and not asked for yet.
    events: VecDeque<Event>,
    xid_last: i32,
    patience: Duration,
    welcome: Option<Welcome>,
}

impl Raw {
    /// Connects and opens a new session.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self> {
        Self::connect_with(address, &Hello::default())
    }

    /// Connects and opens the session `hello` asks for; an error if the server knows none such.
    pub fn connect_with(address: impl ToSocketAddrs, hello: &Hello) -> Result<Self> {
        let mut raw = Self::dial(address)?;
        if raw.greet(hello)?.is_expired() {
            return Err(Error::Expired { session_id: hello.session_id });
        }
        Ok(raw)
    }

    /// Connects and says nothing.
    pub fn dial(address: impl ToSocketAddrs) -> Result<Self> {
        let unreachable = |address: String| |source| Error::Unreachable { address, source };
        let address = address
            .to_socket_addrs()
            .and_then(|mut all| all.next().ok_or_else(|| ErrorKind::NotFound.into()))
            .map_err(unreachable("an address that does not resolve".to_owned()))?;
        let stream = TcpStream::connect_timeout(&address, PATIENCE)
            .and_then(|stream| {
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Ok(stream)
            })
            .map_err(unreachable(address.to_string()))?;
        Ok(Self {
            stream,
            address,
            inbox: vec![],
            due: VecDeque::new(),
            events: VecDeque::new(),
            xid_last: 0,
            patience: PATIENCE,
            welcome: None,
        })
    }

    /// Says `hello` and waits for the answer, which may be that there is no such session.
    pub fn greet(&mut self, hello: &Hello) -> Result<Welcome> {
        self.write_frame(&hello.encode())?;
        self.welcomed()
    }

    /// Waits for the answer to a hello sent by [`Raw::write_frame`].
    pub fn welcomed(&mut self) -> Result<Welcome> {
        let during = format!("the handshake with {}", self.address);
        let bytes = self.read_frame(&during)?;
        let welcome =
            Welcome::decode(&bytes).map_err(|source| Error::Garbled { during, source })?;
        self.welcome = Some(welcome.clone());
        Ok(welcome)
    }

    /// A second connection for the same session, to the same server, which then drops the first.
    pub fn reconnect(&self) -> Result<Self> {
        let hello = self.welcome.as_ref().map(Welcome::again).unwrap_or_default();
        Self::connect_with(self.address, &hello)
    }

    /// What the server said to our hello, if it has.
    pub fn welcome(&self) -> Option<&Welcome> {
        self.welcome.as_ref()
    }

    /// The session's id; 0 before there is a session.
    pub fn session_id(&self) -> i64 {
        self.welcome.as_ref().map_or(0, |welcome| welcome.session_id)
    }

    /// The server's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How long a silence may last before it is an error.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Sets how long a silence may last before it is an error.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience.max(Duration::from_millis(1));
    }

    /// Sends bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).map_err(|source| {
            let during = format!("writing {} bytes to {}", bytes.len(), self.address);
            Error::from_io(during, PATIENCE, source)
        })
    }

    /// Sends one frame: its length and its bytes.
    pub fn write_frame(&mut self, payload: &[u8]) -> Result<()> {
        self.write(&Writer::new().buffer(Some(payload)).finish())
    }

    /// Sends a request under the next xid, and says which that is.
    pub fn send(&mut self, request: &Request) -> Result<i32> {
        let xid = match request.opcode() {
            opcode::PING => -2,
            opcode::AUTH => -4,
            _ => {
                self.xid_last += 1;
                self.xid_last
            }
        };
        self.send_as(xid, request)?;
        Ok(xid)
    }

    /// Sends a request under an xid of the caller's choice.
    ///
    /// −1 is a poor choice: its reply cannot be told from a watch event.
    pub fn send_as(&mut self, xid: i32, request: &Request) -> Result<()> {
        let opcode = request.opcode();
        // A server answers pings with −2 whatever they were sent under.
        let xid_due = if opcode == opcode::PING { -2 } else { xid };
        self.due.push_back((xid_due, opcode));
        self.write_frame(&Writer::new().i32(xid).i32(opcode).raw(&request.body()).finish())
    }

    /// Takes the next frame off the wire; events are handed out, not put aside.
    pub fn receive(&mut self) -> Result<Frame> {
        let due = self.due.front().map(|(xid, opcode)| (*xid, opcode::name(*opcode)));
        let during = match due {
            Some((xid, name)) => format!("the reply to {name} (xid {xid}) from {}", self.address),
            None => format!("the next event from {}", self.address),
        };
        let bytes = self.read_frame(&during)?;
        let garbled = |source| Error::Garbled { during: during.clone(), source };
        let mut reader = Reader::new(&bytes);
        let xid = reader.i32().map_err(garbled)?;
        let zxid = reader.i64().map_err(garbled)?;
        let err = reader.i32().map_err(garbled)?;
        if xid == -1 {
            return Event::decode(zxid, err, reader.rest()).map(Frame::Event).map_err(garbled);
        }
        // Usually the first; a reply to auth may overtake.
        let Some(position) = self.due.iter().position(|(due, _)| *due == xid) else {
            let due = self.due.iter().map(|(xid, _)| *xid).collect();
            return Err(Error::Unasked { xid, due });
        };
        let (_, opcode) = self.due.remove(position).expect("it was just found there");
        Ok(Frame::Reply(Reply::decode(xid, zxid, err, opcode, reader.rest())))
    }

    /// Takes the next reply off the wire, putting events before it aside.
    pub fn reply(&mut self) -> Result<Reply> {
        loop {
            match self.receive()? {
                Frame::Event(event) => self.events.push_back(event),
                Frame::Reply(reply) => return Ok(reply),
            }
        }
    }

    /// Sends a request and waits for its reply.
    pub fn call(&mut self, request: &Request) -> Result<Reply> {
        self.send(request)?;
        self.reply()
    }

    /// The events seen up to now and not asked for yet, in the order of the wire.
    ///
    /// Reads nothing: what is still under way is not among them; see [`Raw::fence`].
    pub fn events(&mut self) -> Vec<Event> {
        self.events.drain(..).collect()
    }

    /// The next event, waiting for it if need be.
    pub fn next_event(&mut self) -> Result<Event> {
        if let Some(event) = self.events.pop_front() {
            return Ok(event);
        }
        match self.receive()? {
            Frame::Event(event) => Ok(event),
            Frame::Reply(reply) => Err(Error::Unasked { xid: reply.xid, due: vec![-1] }),
        }
    }

    /// A ping, and every event the server had queued for us before it.
    pub fn fence(&mut self) -> Result<Vec<Event>> {
        self.ping()?;
        Ok(self.events())
    }

    /// Waits for the server to close the connection; frames that still come are returned.
    ///
    /// An error if the connection is still open after the patience is over.
    pub fn closed(&mut self) -> Result<Vec<Frame>> {
        let mut frames = vec![];
        loop {
            match self.receive() {
                Ok(frame) => frames.push(frame),
                Err(Error::Closed { .. }) => return Ok(frames),
                Err(error) => return Err(error),
            }
        }
    }

    /// Everything the server still sends, as bytes, until it closes the connection.
    pub fn read_to_end(&mut self) -> Result<Vec<u8>> {
        let during = format!("the end of what {} says", self.address);
        loop {
            match self.fill(&during) {
                Ok(()) => {}
                Err(Error::Closed { .. }) => return Ok(std::mem::take(&mut self.inbox)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Leaves without closing the session, and waits until the server has noticed.
    pub fn hang_up(mut self) -> Result<()> {
        match self.stream.shutdown(Shutdown::Write) {
            Ok(()) => self.read_to_end().map(drop),
            // The server was first.
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
            Err(source) => Err(Error::Io { during: "hanging up".to_owned(), source }),
        }
    }

    fn read_frame(&mut self, during: &str) -> Result<Vec<u8>> {
        loop {
            if let Some((length, rest)) = self.inbox.split_first_chunk() {
                let got = i32::from_be_bytes(*length);
                let Some(length) = usize::try_from(got).ok().filter(|n| *n <= FRAME_MAX) else {
                    return Err(Error::FrameLength { got });
                };
                if rest.len() >= length {
                    let frame = rest[..length].to_vec();
                    self.inbox.drain(..4 + length);
                    return Ok(frame);
                }
            }
            self.fill(during)?;
        }
    }

    /// One read from the socket into the inbox.
    fn fill(&mut self, during: &str) -> Result<()> {
        let failed = |source| Error::from_io(during.to_owned(), self.patience, source);
        self.stream.set_read_timeout(Some(self.patience)).map_err(failed)?;
        let mut chunk = [0; 64 << 10];
        match self.stream.read(&mut chunk) {
            Ok(0) => Err(Error::Closed { during: during.to_owned() }),
            Ok(count) => {
                self.inbox.extend(&chunk[..count]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }
}

/// What a server answers to a four-letter word.
pub fn four_letter_word(address: impl ToSocketAddrs, word: &str) -> Result<String> {
    let mut raw = Raw::dial(address)?;
    raw.write(word.as_bytes())?;
    let answer = raw.read_to_end()?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A server that says `answer` to whoever comes, and then `end`s.
    fn serve(answer: &'static [u8], end: impl FnOnce(TcpStream) + Send + 'static) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(answer).unwrap();
            end(stream);
        });
        address
    }

    /// Keeps the connection open until the client has left.
    fn stay(mut stream: TcpStream) {
        let _ = stream.read_to_end(&mut vec![]);
    }

    #[test]
    fn silence_is_an_error_that_says_what_was_due() {
        let mut raw = Raw::dial(serve(b"", stay)).unwrap();
        raw.set_patience(Duration::from_millis(20));
        let error = raw.exists("/a", false).unwrap_err().to_string();
        assert!(error.starts_with("nothing came for 20 ms during the reply to exists (xid 1)"));
    }

    #[test]
    fn a_timeout_inside_a_frame_loses_nothing() {
        let mut raw = Raw::dial(serve(&[0, 0, 0, 16, 255, 255], stay)).unwrap();
        raw.set_patience(Duration::from_millis(20));
        assert!(matches!(raw.receive(), Err(Error::Timeout { .. })));
        assert_eq!(raw.inbox, [0, 0, 0, 16, 255, 255]);
    }

    #[test]
    fn events_are_kept_in_order_and_apart_from_replies() {
        let event = Writer::new().i32(-1).i64(9).i32(0).i32(2).i32(3).text(&"/a".into()).finish();
        let reply = Writer::new().i32(-2).i64(9).i32(0).finish();
        let frames = Writer::new().buffer(Some(&event)).buffer(Some(&reply)).finish();
        let mut raw = Raw::dial(serve(frames.leak(), stay)).unwrap();
        let reply = raw.ping().unwrap();
        assert_eq!((reply.xid, reply.zxid, reply.err), (-2, 9, 0));
        let events = raw.events();
        assert_eq!(events.len(), 1);
        assert_eq!((events[0].kind, events[0].zxid), (event::NODE_DELETED, 9));
        assert_eq!(events[0].path, "/a");
    }

    #[test]
    fn a_reply_nobody_asked_for_is_an_error() {
        const REPLY: &[u8] = &[0, 0, 0, 16, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0];
        let mut raw = Raw::dial(serve(REPLY, stay)).unwrap();
        let error = raw.exists("/a", false).unwrap_err().to_string();
        assert_eq!(error, "reply with xid 7 where [1] were due");
    }

    #[test]
    fn the_end_of_a_connection_is_seen() {
        let mut raw = Raw::dial(serve(b"", drop)).unwrap();
        assert!(matches!(raw.receive(), Err(Error::Closed { .. })));
    }

    #[test]
    fn nobody_there_is_an_error_with_the_address() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = Raw::connect(address).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot reach {address}: ")), "{error}");
    }
}
