//! What a client is still to be told, as values. They become bytes outside of the host's lock.

use std::sync::Arc;

use zoolab_core::Reply;
use zoolab_core::request::{Body, ConnectResponse, Event, OpResult};
use zoolab_core::wire;

/// One frame to be sent.
#[derive(Clone, Debug)]
pub(crate) enum Outgoing {
    /// The answer to the first frame.
    Connected(ConnectResponse),
    /// A watch fired.
    Event(Arc<Event>),
    /// The answer to a request.
    Reply(Reply),
}

impl Outgoing {
    /// Appends the frame.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Connected(response) => wire::encode_connected(response, bytes),
            Self::Event(event) => wire::encode_event(event, bytes),
            Self::Reply(reply) => wire::encode_reply(reply, bytes),
        }
    }

    /// About how many bytes it will be. Only what has no bound of its own is counted.
    fn weight(&self) -> usize {
        const SMALL: usize = 100;
        SMALL
            + match self {
                Self::Connected(_) => 0,
                Self::Event(event) => event.path.len(),
                Self::Reply(reply) => weight_of(&reply.body),
            }
    }
}

fn weight_of(body: &Body) -> usize {
    /// A name or path is rarely longer, and its place in a list is not free either.
    const NAME: usize = 40;
    const STAT: usize = 68;
    match body {
        Body::Children { names, .. } => names.len() * NAME,
        Body::Data { data, .. } => data.as_ref().map_or(0, |data| data.len()),
        Body::Multi(results) => results
            .iter()
            .map(|result| match result {
                OpResult::Children(names) => names.len() * NAME,
                OpResult::Data { data, .. } => data.as_ref().map_or(STAT, |data| STAT + data.len()),
                OpResult::Check
                | OpResult::Created { .. }
                | OpResult::Deleted
                | OpResult::Error(_)
                | OpResult::Set(_) => STAT,
            })
            .sum(),
        Body::Paths(paths) => paths.len() * NAME,
        Body::Users(users) => users.len() * NAME,
        Body::Acl { .. }
        | Body::Count(_)
        | Body::Created { .. }
        | Body::None
        | Body::Stat(_)
        | Body::Synced(_)
        | Body::Token => 0,
    }
}

/// What waits to be sent to one client, in the order it was put out.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: Vec<Outgoing>,
    weight: usize,
    events: usize,
}

impl Outbox {
    /// Adds one frame.
    pub(crate) fn push(&mut self, outgoing: Outgoing) {
        self.weight += outgoing.weight();
        self.events += usize::from(matches!(outgoing, Outgoing::Event(_)));
        self.waiting.push(outgoing);
    }

    /// Whether there is nothing to send.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// About how many bytes wait.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// How many events wait.
    pub(crate) fn events(&self) -> usize {
        self.events
    }

    /// Moves everything into `out`, which is empty; its room is used for what comes next.
    pub(crate) fn take(&mut self, out: &mut Vec<Outgoing>) {
        assert!(out.is_empty(), "the last frames were not sent yet");
        std::mem::swap(&mut self.waiting, out);
        self.weight = 0;
        self.events = 0;
    }
}
