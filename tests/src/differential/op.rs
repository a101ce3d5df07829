//! One step of a sequence: something done to both servers alike.
//!
//! Steps name sessions by slot and zxids by distance, never by number, because the numbers differ
//! from server to server.

use std::fmt;

use crate::raw::request::Texts;
use crate::raw::{Request, WatchLists, opcode};

/// A request that may need numbers of the server it goes to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ask {
    /// As it stands.
    Plain(Request),
    /// A request whose body ends too early.
    Cut {
        /// The whole one.
        request: Request,
        /// How many bytes of its body are sent.
        keep: usize,
    },
    /// A request with bytes behind its body, which servers ignore.
    Padded(Request),
    /// setWatches, or setWatches2 if `two`.
    SetWatches {
        /// Whether all five lists are sent.
        two: bool,
        /// How many transactions before the last one the client claims to have stopped listening.
        back: i64,
        /// The watches.
        lists: WatchLists,
    },
}

impl Ask {
    /// The opcode it is sent under.
    pub fn opcode(&self) -> i32 {
        match self {
            Self::Plain(request) | Self::Cut { request, .. } | Self::Padded(request) => {
                request.opcode()
            }
            Self::SetWatches { two: false, .. } => opcode::SET_WATCHES,
            Self::SetWatches { two: true, .. } => opcode::SET_WATCHES2,
        }
    }

    /// The request, if it is whole and needs no numbers of a server.
    pub fn request(&self) -> Option<&Request> {
        match self {
            Self::Plain(request) | Self::Padded(request) => Some(request),
            Self::Cut { .. } | Self::SetWatches { .. } => None,
        }
    }

    /// What is sent to a server on which `zxid_back` transactions ago has that zxid.
    pub fn lower(&self, zxid_back: impl Fn(i64) -> i64) -> Request {
        match self {
            Self::Plain(request) => request.clone(),
            Self::Cut { request, keep } => {
                let mut body = request.body();
                body.truncate(*keep);
                Request::Raw { opcode: request.opcode(), body }
            }
            Self::Padded(request) => {
                let body = [request.body(), vec![1, 2, 3]].concat();
                Request::Raw { opcode: request.opcode(), body }
            }
            Self::SetWatches { two, back, lists } => {
                let (relative_zxid, lists) = (zxid_back(*back), lists.clone());
                if *two {
                    Request::SetWatches2 { relative_zxid, lists }
                } else {
                    Request::SetWatches { relative_zxid, lists }
                }
            }
        }
    }

    /// Whether a server gives it a zxid of its own, even if it fails.
    pub fn is_write(&self) -> bool {
        matches!(
            self.opcode(),
            opcode::CREATE
                | opcode::CREATE2
                | opcode::CREATE_CONTAINER
                | opcode::CREATE_TTL
                | opcode::DELETE
                | opcode::SET_DATA
                | opcode::SET_ACL
                | opcode::CHECK
                | opcode::MULTI
                | opcode::RECONFIG
                | opcode::CLOSE_SESSION
        )
    }

    /// Whether a server hangs up on whoever is refused this.
    pub fn may_close(&self) -> bool {
        opcode::name(self.opcode()) == "?" || self.opcode() == opcode::AUTH
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(request) => request.fmt(f),
            Self::Cut { request, keep } => {
                write!(f, "{request} cut after {keep} of {} bytes", request.body().len())
            }
            Self::Padded(request) => write!(f, "{request} and three bytes more"),
            Self::SetWatches { two, back, lists } => {
                let WatchLists { data, exist, child, persistent, persistent_recursive } = lists;
                write!(f, "{} {back} back", opcode::name(self.opcode()))?;
                write!(f, " data={} exist={}", Texts(data), Texts(exist))?;
                write!(f, " child={}", Texts(child))?;
                if *two {
                    write!(f, " persistent={}", Texts(persistent))?;
                    write!(f, " recursive={}", Texts(persistent_recursive))?;
                }
                Ok(())
            }
        }
    }
}

/// How a second connection presents itself for a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Claim {
    /// With the session's password.
    Right,
    /// With the password, but without the readOnly byte.
    Old,
    /// With another password.
    Wrong,
    /// With no password.
    Null,
    /// With the password, and having seen a transaction the server has not.
    Ahead,
}

/// Bytes after which a server hangs up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Nonsense {
    /// A frame of negative length.
    Negative,
    /// A frame one byte longer than allowed.
    TooLong,
    /// A frame too short for a header.
    Headless(usize),
    /// An auth packet that ends inside its scheme.
    HalfAuth,
}

/// One step. A slot holds one session at a time; a slot that is needed and has none, or whose
/// connection is gone, connects first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Op {
    /// Requests, all sent before the first answer is read.
    Ask {
        /// Whose.
        slot: usize,
        /// Which; usually one.
        asks: Vec<Ask>,
        /// The xid of the first, if not simply the next.
        xid: Option<i32>,
    },
    /// closeSession.
    Close {
        /// Whose.
        slot: usize,
    },
    /// The client leaves without a word; its session goes on.
    Leave {
        /// Whose.
        slot: usize,
    },
    /// Bytes that make no sense.
    Nonsense {
        /// Whose.
        slot: usize,
        /// Which.
        what: Nonsense,
    },
    /// Another connection asks for the slot's session.
    Steal {
        /// Whose.
        slot: usize,
        /// How.
        claim: Claim,
    },
    /// Someone asks for a session that does not exist.
    Stranger {
        /// Whether with the password such a session would have.
        password: bool,
    },
    /// A session that opens, asks and closes, everything sent in one go.
    Visit {
        /// The timeout it wishes.
        timeout_ms: i32,
        /// Its readOnly byte.
        read_only: Option<bool>,
        /// What it asks between hello and goodbye.
        asks: Vec<Ask>,
    },
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask { slot, asks, xid } => {
                write!(f, "s{slot} ")?;
                if let Some(xid) = xid {
                    write!(f, "(xid {xid}) ")?;
                }
                if asks.len() > 1 {
                    write!(f, "pipelined: ")?;
                }
                lines(f, asks)
            }
            Self::Close { slot } => write!(f, "s{slot} closes its session"),
            Self::Leave { slot } => write!(f, "s{slot} leaves its connection"),
            Self::Nonsense { slot, what } => write!(f, "s{slot} sends nonsense: {what:?}"),
            Self::Steal { slot, claim } => {
                write!(f, "s{slot} connects a second time: {claim:?}")
            }
            Self::Stranger { password: true } => {
                write!(f, "a stranger asks for an unknown session with its password")
            }
            Self::Stranger { password: false } => {
                write!(f, "a stranger asks for an unknown session without its password")
            }
            Self::Visit { timeout_ms, read_only, asks } => {
                write!(f, "a visit of {timeout_ms} ms, readOnly {read_only:?}: ")?;
                lines(f, asks)
            }
        }
    }
}

fn lines(f: &mut fmt::Formatter<'_>, asks: &[Ask]) -> fmt::Result {
    for (index, ask) in asks.iter().enumerate() {
        write!(f, "{}{ask}", if index == 0 { "" } else { " | " })?;
    }
    Ok(())
}
