//! A client's connection as the host sees it: what it asked, what it is still to be told.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::Notify;
use zoolab_core::{Millis, Now, Reply, Zxid};

use crate::op::Op;
use crate::outbox::{Outbox, Outgoing};
use crate::stats::{Counts, Totals};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Client {
    /// Where it comes from.
    pub(crate) address: SocketAddr,
    /// When it came.
    pub(crate) since: Now,
    /// What was agreed with its session; zero before.
    pub(crate) timeout_ms: i32,
    /// Whether it asked a four-letter word, and no session will come.
    pub(crate) word: bool,
    /// What it did.
    pub(crate) counts: Counts,
    /// Whether, and why, the connection is to end.
    pub(crate) closing: Option<Closing>,
    /// Rung when there is something for its task to do that its task cannot know.
    pub(crate) bell: Arc<Notify>,
    outbox: Outbox,
    /// Asked, not answered.
    pending: VecDeque<Pending>,
    answered: Answered,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    since: Millis,
    op: Op,
}

/// Answers to what came in together. They are counted when they leave.
#[derive(Clone, Copy, Debug, Default)]
struct Answered {
    since: Millis,
    reads: u64,
    writes: u64,
}

/// Why a connection is to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Closing {
    /// The core is done with it; what was put out before is still sent.
    Done,
    /// The client does not read its events.
    Overflow {
        /// So many wait.
        events: usize,
    },
    /// The server stops; what was put out before is still sent.
    Stopping,
}

impl Client {
    /// A connection that just came up.
    pub(crate) fn new(address: SocketAddr, since: Now) -> Self {
        Self {
            address,
            since,
            timeout_ms: 0,
            word: false,
            counts: Counts::default(),
            closing: None,
            bell: Arc::new(Notify::new()),
            outbox: Outbox::default(),
            pending: VecDeque::new(),
            answered: Answered::default(),
        }
    }

    /// How many requests are not answered.
    pub(crate) fn pending_len(&self) -> usize {
        self.pending.len()
    }

    /// What waits to be sent.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// It asked something, which came in at `since`.
    pub(crate) fn ask(&mut self, since: Millis, op: Op) {
        self.counts.received += 1;
        self.pending.push_back(Pending { since, op });
    }

    /// Its session begins, or goes on.
    pub(crate) fn connected(&mut self, at: Millis, zxid: Zxid, totals: &mut Totals) {
        if let Some(op) = self.answer(at, totals) {
            self.counts.last.op = op.name;
            self.counts.last.zxid = zxid;
        }
    }

    /// It is answered.
    pub(crate) fn replied(&mut self, at: Millis, reply: &Reply, totals: &mut Totals) {
        if let Some(op) = self.answer(at, totals) {
            self.counts.last.op = op.name;
            self.counts.last.zxid = reply.zxid;
            // A special number says less than the last real one.
            if reply.xid.0 >= 0 {
                self.counts.last.xid = Some(reply.xid);
            }
        }
    }

    fn answer(&mut self, at: Millis, totals: &mut Totals) -> Option<Op> {
        let Pending { since, op } = self.pending.pop_front()?;
        if since != self.answered.since {
            self.count_answered(at, totals);
            self.answered.since = since;
        }
        if op.write {
            self.answered.writes += 1;
        } else {
            self.answered.reads += 1;
        }
        Some(op)
    }

    fn count_answered(&mut self, at: Millis, totals: &mut Totals) {
        let Answered { since, reads, writes } = std::mem::take(&mut self.answered);
        if reads + writes == 0 {
            return;
        }
        let ms = u64::try_from(at.0 - since.0).expect("the steady clock does not go back");
        self.counts.latency.add(ms, reads + writes);
        self.counts.last.at = at;
        self.counts.last.latency_ms = ms;
        totals.latency.add(ms, reads + writes);
        totals.latency_reads.add(ms, reads);
        totals.latency_writes.add(ms, writes);
    }

    /// Has something to be sent. Tells whether nothing was waiting before.
    pub(crate) fn send(&mut self, outgoing: Outgoing) -> bool {
        let first = self.outbox.is_empty();
        self.outbox.push(outgoing);
        first
    }

    /// Gives up on a client that does not read. Nothing more is sent, also not what waits.
    pub(crate) fn overflow(&mut self) {
        self.closing = Some(Closing::Overflow { events: self.outbox.events() });
    }

    /// Moves what waits into `out`, which is empty.
    pub(crate) fn take(&mut self, at: Millis, out: &mut Vec<Outgoing>, totals: &mut Totals) {
        self.outbox.take(out);
        self.counts.sent += out.len() as u64;
        totals.sent += out.len() as u64;
        self.count_answered(at, totals);
    }
}
