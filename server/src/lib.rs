//! The core behind real sockets.
//!
//! ```text
//!   socket <-> connection task --+
//!   socket <-> connection task --+--> [ Host: the core, behind one lock ]
//!   socket <-> connection task --+
//!   listener and timers ---------+
//!   data directory <-> keeper ---+
//! ```
//!
//! A connection's task reads what is there, decodes it, holds the lock while the core steps
//! through all of it, encodes what came out and writes it at once. The core never waits, so the
//! lock is never held for long.
//!
//! So far a server stands alone. It keeps everything in memory, and that is gone when the process
//! ends; or in a [`Directory`] as well, and then nothing is answered before it is safe there.
//!
//! The sockets, timers and tasks are tokio's by way of `madsim-tokio`: built with `--cfg madsim`
//! the same source runs in a simulated network. That is why every write is flushed, and why
//! there are no threads here.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use zoolab_server::{Options, Serving};
//!
//! let serving = Serving::bind(Options::default()).await?;
//! println!("connect to {}", serving.local_addr());
//! serving.run(std::future::pending()).await
//! # }
//! ```

mod client;
mod clock;
mod complaints;
mod connection;
#[cfg_attr(madsim, allow(deprecated, reason = "simulations keep their files elsewhere"))]
mod data_dir;
mod directory;
mod four_letter;
mod host;
mod keeper;
mod limits;
mod listener;
mod op;
mod options;
mod outbox;
mod shared;
mod stats;
mod timers;

pub use data_dir::DataDir;
pub use directory::{Directory, Performing};
pub use four_letter::{Whitelist, WhitelistError, Word};
pub use listener::Serving;
pub use options::Options;
