//! A ZooKeeper client for tokio.
//!
//! ```text
//!   Client, its clones --- calls ---> [ one task: the core's client machine, a socket, timers ]
//!        Call <---- results ----------+
//!        Watch, Events, States <------+   in the order in which the server sent them
//! ```
//!
//! What a client does of its own accord (finding a server, keeping a session alive, watching
//! again what was watched, giving up) is [`zoolab_core::client`], the same value that the
//! simulator of this project runs. Here it gets a socket and a clock.
//!
//! * **Calls are made when a method is called**, in that order, whether or not anybody waits for
//!   them. A [`Call`] is the way to its result, and dropping one loses nothing but that.
//! * **A [`Watch`] is a future** for the one event it waits for; [`Events`] and [`States`] are
//!   streams, also without [`Stream`](futures_core::Stream): they have a `next`.
//! * **Events come before the reply that shows the change.** Whoever has read a change finds its
//!   event already there, with [`Watch::try_now`] or [`Events::try_next`].
//! * **A lost connection is not the end.** Pending calls fail with [`Failed::ConnectionLoss`], and
//!   nobody knows whether they were performed. Session, ephemerals and watches go on. What a
//!   persistent watch missed meanwhile is missed; it says [`Notice::Session`] in its stream.
//! * **Dropping the last handle ends the connection, not the session.** That ends with
//!   [`Client::close`], or when its timeout is over; until then somebody else can go on with it,
//!   by [`Builder::resume`].
//!
//! # Example
//!
//! ```
//! use zoolab_client::{Client, CreateMode, Failed, Code, Notice, EventKind, WatchMode};
//!
//! # use zoolab_server::{Options, Serving};
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // A server of our own; any other will do.
//!     let serving = Serving::bind(Options::default()).await?;
//!     let address = serving.local_addr();
//!     tokio::spawn(serving.run(std::future::pending()));
//!
//!     let zk = Client::connect(&address.to_string()).await?;
//!     zk.create("/app", b"one", CreateMode::Persistent).await?;
//!
//!     // Read and watch; the watch is a future.
//!     let (node, changed) = zk.get_and_watch("/app").await?;
//!     assert_eq!(node.bytes(), b"one");
//!     let everything = zk.watch("/app", WatchMode::Recursive).await?;
//!
//!     // Calls are on their way when they are made: these three take one round trip.
//!     let set = zk.set("/app", b"two", node.stat.version);
//!     let member = zk.create("/app/member-", b"", CreateMode::EphemeralSequential);
//!     let again = zk.set("/app", b"three", node.stat.version);
//!     assert_eq!(set.await?.version, 1);
//!     assert_eq!(&*member.await?, "/app/member-0000000000");
//!     assert_eq!(again.await, Err(Failed::Code(Code::BadVersion)));
//!
//!     let notice = changed.await;
//!     assert!(matches!(notice, Notice::Node { kind: EventKind::DataChanged, .. }));
//!
//!     // A persistent watch is a stream.
//!     let mut everything = everything;
//!     for expected in ["/app", "/app/member-0000000000"] {
//!         let Some(Notice::Node { path, .. }) = everything.next().await else { panic!() };
//!         assert_eq!(&*path, expected);
//!     }
//!
//!     zk.close().await?;
//!     Ok(())
//! }
//! ```

mod builder;
mod call;
mod client;
mod command;
mod dial;
mod driver;
mod error;
mod line;
mod luck;
mod status;
mod watch;

pub use builder::Builder;
pub use call::Call;
pub use client::{Client, Content, Reconfig, WatchMode};
pub use error::ConnectError;
pub use status::{States, Status};
pub use watch::{Events, Watch};
pub use zoolab_core::client::{
    Change, CreateMode, Failed, NewNode, Notice, Removed, Session, SessionState, State, WatcherKind,
};
pub use zoolab_core::request::{EventKind, OpResult, ReadOp};
pub use zoolab_core::tree::Stat;
pub use zoolab_core::{Acl, AclList, Code, Data, Id, SessionId, Text, Zxid};
