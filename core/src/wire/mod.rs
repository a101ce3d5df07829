//! Bytes in, values out, and back; nothing else knows bytes.
//!
//! A frame is a length and a payload; cutting a stream into payloads is the host's part. No
//! bytes make anything here panic: they decode, or give an error that ends their connection, or
//! a [`Request`](crate::Request) that says it could not be read and is answered as such.

//!
//! Servers read with `decode.rs` and write with `encode.rs`; clients write with `ask.rs` and read
//! with `answer.rs`.

mod answer;
mod ask;
mod decode;
mod encode;
mod inbox;
pub mod jute;

pub use answer::{decode_answer, decode_connected, is_read_write};
pub use ask::{ISRO, encode_connect, encode_frame, encode_request};
pub use decode::{decode_connect, decode_request};
pub use encode::{encode_connected, encode_event, encode_reply};
pub use inbox::{Inbox, LengthError};
pub use jute::WireError;

/// The largest payload a server takes unless told otherwise: ZooKeeper's `jute.maxbuffer`.
pub const MAX_FRAME: usize = 0xF_FFFF;
