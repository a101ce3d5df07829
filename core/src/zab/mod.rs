//! The order of all writes. One type per role and phase.
//!
//! ```text
//!   Election -+-> Leading: Discovery -> Establishing -> Broadcast (Leader) -+-> Election …
//!             +-> Joining ------------------------------> Follower ---------+
//! ```

pub(crate) mod discovery;
pub(crate) mod follower;
pub(crate) mod joining;
pub(crate) mod journal;
pub(crate) mod leader;
pub(crate) mod leading;
pub(crate) mod learner;
mod message;
pub(crate) mod recent;
pub(crate) mod stream;

pub use message::{Ask, Forwarded, Message, MessageKind};
