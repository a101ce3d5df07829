//! The client library as a value: what ZooKeeper's own client does, without sockets, threads,
//! clock or chance.
//!
//! ```text
//!        Input                               Output
//!   ------------------> [ Client: a value ] ------------------>
//!   the application calls                     send a frame, dial, hang up
//!   a line is up, or gone                     start a timer
//!   a frame came                              complete a call
//!   a timer ran out                           deliver an event
//! ```
//!
//! A [`Client`] changes only in [`Client::step`]. Equal clients have equal futures. Calls are
//! completed in the order in which they were made, and events are delivered where they belong
//! among them: both are [`Output`]s, in the order in which the application is to hear of them.
//!
//! * [`Call`] is what one can ask for; [`Config`] and [`ConnectString`] are how one begins.
//! * [`Client::expected`] tells whoever reads bytes what they must be: a reply does not say so
//!   itself. [`Client::read`] does both.
//! * Chance comes with [`Chance`], or is left to whoever keeps the timers
//!   ([`Output::Wake`]'s spread).
//!
//! It follows the Java client of ZooKeeper 3.9 (`ClientCnxn`, `StaticHostProvider`,
//! `ZKWatchManager`). Where it does not, the place says so.
//!
//! # Example
//!
//! Played by hand: connect, create a node, read it and watch it, hear of a change.
//!
//! ```
//! use zoolab_core::client::{
//!     Answer, Call, CallId, Chance, Client, Config, ConnectString, CreateMode, Frame, Input,
//!     NewNode, Notice, Output, SessionState, WatcherId,
//! };
//! use zoolab_core::request::{Body, ConnectResponse, Event, EventKind, Reply, Request};
//! use zoolab_core::tree::Stat;
//! use zoolab_core::{Millis, SessionId, Zxid};
//!
//! let connect = ConnectString::parse("zk1,zk2:2182/app")?;
//! let config = Config::new(connect, 10_000)?;
//! let mut client = Client::new(config, Chance::none());
//! let mut now = 0;
//! let mut step = |input| {
//!     let mut out = Vec::new();
//!     now += 1;
//!     client.step(Millis(now), input, &mut out);
//!     out
//! };
//!
//! // It dials the first server, and greets it once the line is up.
//! let out = step(Input::Start);
//! let Some(Output::Dial { line, host }) = out.first() else { panic!("{out:?}") };
//! assert_eq!(host.to_string(), "zk1:2181");
//! let line = *line;
//! let out = step(Input::Connected { line });
//! let sent = out.iter().find(|output| matches!(output, Output::Send { .. }));
//! assert!(matches!(sent, Some(Output::Send { frame: Frame::Connect(_), .. })));
//!
//! // The server opens a session.
//! let response = ConnectResponse {
//!     timeout_ms: 10_000,
//!     session: SessionId(0x100),
//!     password: [7; 16],
//!     read_only: Some(false),
//! };
//! let out = step(Input::Greeted { line, response });
//! let notice = Notice::Session(SessionState::SyncConnected);
//! assert!(out.contains(&Output::Deliver { notice, to: vec![] }));
//!
//! // A node is made: the server sees it below the chroot, the application does not.
//! let node = NewNode::open("/a", b"1", CreateMode::Persistent);
//! let out = step(Input::Call { id: CallId(1), call: Call::Create { node, stat: false } });
//! let Some(Output::Send { frame: Frame::Request(xid, Request::Create(wish)), .. }) = out.first()
//! else {
//!     panic!("{out:?}")
//! };
//! assert_eq!(&*wish.path, "/app/a");
//! let body = Body::Created { path: wish.path.clone(), stat: None };
//! let reply = Reply { xid: *xid, zxid: Zxid(3), err: None, body };
//! let out = step(Input::Answered { line, answer: Answer::Reply(reply) });
//! let created = Ok(Body::Created { path: "/a".into(), stat: None });
//! assert!(out.contains(&Output::Complete { id: CallId(1), zxid: Zxid(3), result: created }));
//!
//! // It is read and watched ...
//! let call = Call::GetData { path: "/a".into(), watch: Some(WatcherId(5)) };
//! let out = step(Input::Call { id: CallId(2), call });
//! let Some(Output::Send { frame: Frame::Request(xid, _), .. }) = out.first() else {
//!     panic!("{out:?}")
//! };
//! let body = Body::Data { data: Some(b"1"[..].into()), stat: Stat::default() };
//! let reply = Reply { xid: *xid, zxid: Zxid(3), err: None, body };
//! step(Input::Answered { line, answer: Answer::Reply(reply) });
//!
//! // ... and somebody changes it.
//! let kind = EventKind::DataChanged;
//! let event = Event { kind, path: "/app/a".into(), zxid: Zxid(4) };
//! let out = step(Input::Answered { line, answer: Answer::Event(event) });
//! let notice = Notice::Node { kind, path: "/a".into(), zxid: Zxid(4) };
//! assert_eq!(out[0], Output::Deliver { notice, to: vec![WatcherId(5)] });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod answer;
mod call;
mod calls;
mod chance;
mod chroot;
mod config;
mod connection;
mod create;
mod error;
mod events;
mod hosts;
mod io;
mod outcome;
mod pace;
mod probe;
mod session;
mod state;
mod watches;

pub use address::{Address, AddressError, ConnectString, DEFAULT_PORT, ServerList};
pub use answer::{Answer, Shape};
pub use call::{CONFIG_NODE, Call, Change};
pub use chance::Chance;
pub use chroot::Chroot;
pub use config::{Config, ConfigError, Session};
pub use create::{CreateMode, NewNode};
pub use error::Failed;
pub use events::{Notice, Removed, SessionState};
pub use hosts::Hosts;
pub use io::{CallId, Frame, Input, Line, Output, ProbeId, Timer, WatcherId};
pub use session::Client;
pub use state::{Expected, State};
pub use watches::{BATCH_BYTES, WatcherKind};
