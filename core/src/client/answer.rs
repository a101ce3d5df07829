//! What servers say, once the handshake is over.

use crate::ids::{Xid, Zxid};
use crate::request::{Body, Create, CreateOp, Event, Reply, Request};

/// A frame other than the first.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Answer {
    /// Something happened to a watched node.
    Event(Event),
    /// The answer to a request.
    Reply(Reply),
    /// A request was refused with a code that has no name here.
    Unnamed {
        /// The request's.
        xid: Xid,
        /// The newest transaction of the server.
        zxid: Zxid,
        /// The code.
        number: i32,
    },
}

/// What the body of a reply must be. The bytes do not say: one has to know what was asked.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Shape {
    /// [`Body::Acl`].
    Acl,
    /// [`Body::Children`].
    Children {
        /// With a stat.
        stat: bool,
    },
    /// [`Body::Count`].
    Count,
    /// [`Body::Created`].
    Created {
        /// With a stat.
        stat: bool,
    },
    /// [`Body::Data`].
    Data,
    /// [`Body::Multi`].
    Multi,
    /// [`Body::None`].
    #[default]
    None,
    /// [`Body::Paths`].
    Paths,
    /// [`Body::Stat`].
    Stat,
    /// [`Body::Synced`].
    Synced,
    /// [`Body::Token`].
    Token,
    /// [`Body::Users`].
    Users,
}

impl Shape {
    /// Of the answer to this.
    #[must_use]
    pub const fn of(request: &Request) -> Self {
        match request {
            Request::AddWatch { .. } | Request::GetAllChildrenNumber { .. } => Self::Count,
            Request::Create(Create { op, .. }) | Request::CreateNowhere { op, .. } => {
                Self::Created { stat: !matches!(op, CreateOp::Create) }
            }
            Request::Exists { .. } | Request::SetAcl { .. } | Request::SetData { .. } => Self::Stat,
            Request::GetAcl { .. } => Self::Acl,
            Request::GetChildren { stat, .. } => Self::Children { stat: *stat },
            Request::GetData { .. } | Request::Reconfig { .. } => Self::Data,
            Request::GetEphemerals { .. } => Self::Paths,
            Request::Multi(_) | Request::MultiRead(_) | Request::MultiReadBroken(_) => Self::Multi,
            Request::Sasl => Self::Token,
            Request::Sync { .. } => Self::Synced,
            Request::WhoAmI => Self::Users,
            Request::Auth { .. }
            | Request::CheckWatches { .. }
            | Request::CloseSession
            | Request::Delete { .. }
            | Request::Ping
            | Request::RemoveWatches { .. }
            | Request::SetWatches(_)
            | Request::Unknown { .. }
            | Request::Unreadable { .. } => Self::None,
        }
    }

    /// Whether a body is of this shape.
    #[must_use]
    pub fn fits(self, body: &Body) -> bool {
        let found = match body {
            Body::Acl { .. } => Self::Acl,
            Body::Children { stat, .. } => Self::Children { stat: stat.is_some() },
            Body::Count(_) => Self::Count,
            Body::Created { stat, .. } => Self::Created { stat: stat.is_some() },
            Body::Data { .. } => Self::Data,
            Body::Multi(_) => Self::Multi,
            Body::None => Self::None,
            Body::Paths(_) => Self::Paths,
            Body::Stat(_) => Self::Stat,
            Body::Synced(_) => Self::Synced,
            Body::Token => Self::Token,
            Body::Users(_) => Self::Users,
        };
        found == self
    }
}
