//! What a request is called where people look at a server.

use zoolab_core::Request;

/// A kind of request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Op {
    /// In ZooKeeper's own letters.
    pub(crate) name: &'static str,
    /// Whether it would change something.
    pub(crate) write: bool,
}

impl Op {
    /// Asking for a session.
    pub(crate) const CONNECT: Self = Self { name: "SESS", write: true };

    /// What kind of request this is.
    pub(crate) const fn of(request: &Request) -> Self {
        let (name, write) = match request {
            Request::AddWatch { .. } => ("ADDW", false),
            Request::Auth { .. } | Request::Sasl => ("AUTH", false),
            Request::CheckWatches { .. } => ("CHKW", false),
            Request::CloseSession => ("CLOS", true),
            Request::Create(_) | Request::CreateNowhere { .. } => ("CREA", true),
            Request::Delete { .. } => ("DELE", true),
            Request::Exists { .. } => ("EXIS", false),
            Request::GetAcl { .. } => ("GETA", false),
            Request::GetAllChildrenNumber { .. } => ("GETACN", false),
            Request::GetChildren { .. } => ("GETC", false),
            Request::GetData { .. } => ("GETD", false),
            Request::GetEphemerals { .. } => ("GETE", false),
            Request::Multi(_) => ("MULT", true),
            Request::MultiRead(_) | Request::MultiReadBroken(_) => ("MLTR", false),
            Request::Ping => ("PING", false),
            Request::Reconfig { .. } => ("RECO", true),
            Request::RemoveWatches { .. } => ("REMW", false),
            Request::SetAcl { .. } => ("SETA", true),
            Request::SetData { .. } => ("SETD", true),
            Request::SetWatches(_) => ("SETW", false),
            Request::Sync { .. } => ("SYNC", false),
            Request::Unknown { .. } | Request::Unreadable { .. } => ("NA", false),
            Request::WhoAmI => ("HOMI", false),
        };
        Self { name, write }
    }
}
