//! ZooKeeper as a value.
//!
//! ```text
//!        Input                              Output
//!   -----------------> [ Server: a value ] ----------------->
//!   a client asks                            answer a client
//!   the disk is done                         write to the disk
//!   a timer ran out                          arm a timer
//! ```
//!
//! A [`Server`] changes only in [`Server::step`]: it is handed one [`Input`] and says in
//! [`Output`]s what it wants done. It knows no socket, file, clock, thread or random number;
//! `#![no_std]` lets the compiler keep them out. Equal servers have equal futures.
//!
//! A request's way through a server:
//!
//! ```text
//!   Input::Request -> session touched -> write? -- prepare -> propose -> Persist
//!                                          |                              |
//!                                          | read                     Persisted
//!                                          v                              v
//!                            waits behind its session's writes <---- commit, apply
//!                                          |                              |
//!                                          +--------> Output::Reply <-----+
//! ```
//!
//! `prepare` decides and may refuse; `apply` obeys and cannot fail.
//!
//! At the other end of a connection is a [`client::Client`], a value as well.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod acl;
pub mod auth;
pub mod bugs;
pub mod client;
pub mod code;
pub mod config;
pub mod election;
pub mod ids;
pub mod io;
pub mod lookup;
pub mod members;
pub mod note;
pub mod path;
pub mod pipeline;
pub mod quorum;
pub mod quota;
pub mod request;
pub mod server;
pub mod session;
pub mod storage;
pub mod tree;
pub mod txn;
pub mod unordered;
pub mod watch;
pub mod wire;
pub mod zab;

pub use acl::{Acl, AclList, Id};
pub use bugs::{Bug, Bugs};
pub use code::Code;
pub use config::{Boot, Ensemble, LocalSessions, Settings};
pub use ids::{ConnId, Epoch, LinkId, Millis, Now, ServerId, SessionId, Ticks, Token, Xid, Zxid};
pub use io::{Input, Output, Persist, Timer};
pub use lookup::Lookup;
pub use note::{Branch, Note, Why};
pub use request::{Reply, Request};
pub use server::Server;
pub use txn::Txn;

/// Text that is shared rather than copied: paths, schemes, ids.
pub type Text = alloc::sync::Arc<str>;

/// A node's data: null and empty are different values, and both are returned as written.
pub type Data = Option<alloc::sync::Arc<[u8]>>;
