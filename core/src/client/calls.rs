//! Calls on their way: waiting for a connection, or for an answer.

use alloc::collections::VecDeque;

use super::answer::Shape;
use super::call::After;
use super::io::CallId;
use crate::ids::{Millis, Xid};
use crate::request::Request;

/// Something asked that has no answer yet.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Asked {
    /// Whose; `None` if the client itself asks.
    pub(super) id: Option<CallId>,
    pub(super) after: After,
    /// Since when it waits.
    pub(super) since: Millis,
}

impl Asked {
    /// Something that the client itself wants, whatever becomes of it.
    pub(super) const fn by_client() -> Self {
        Self { id: None, after: After::Nothing, since: Millis(0) }
    }
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Pending {
    xid: Xid,
    shape: Shape,
    asked: Asked,
}

/// See the [module](self).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Calls {
    /// Sent, in the order in which they are answered.
    pending: VecDeque<Pending>,
    /// To be sent as soon as there is a connection.
    queued: VecDeque<(Request, Asked)>,
    /// The number of the next request. Invariant: positive; what is not has a meaning of its own.
    next: i32,
}

impl Calls {
    pub(super) const fn new() -> Self {
        Self { pending: VecDeque::new(), queued: VecDeque::new(), next: 1 }
    }

    /// Keeps a call until there is a connection.
    pub(super) fn queue(&mut self, request: Request, asked: Asked) {
        self.queued.push_back((request, asked));
    }

    /// The call to send next, of those that waited for a connection.
    pub(super) fn unqueue(&mut self) -> Option<(Request, Asked)> {
        self.queued.pop_front()
    }

    /// A call is sent now, as this.
    pub(super) fn send(&mut self, request: &Request, asked: Asked) -> Xid {
        if self.next == i32::MAX {
            self.next = 1;
        }
        let xid = Xid(self.next);
        self.next += 1;
        self.pending.push_back(Pending { xid, shape: Shape::of(request), asked });
        xid
    }

    /// What the next answer must look like.
    pub(super) fn expected(&self) -> Option<(Xid, Shape)> {
        self.pending.front().map(|pending| (pending.xid, pending.shape))
    }

    /// The next answer is here.
    pub(super) fn answered(&mut self) -> Option<Asked> {
        self.pending.pop_front().map(|pending| pending.asked)
    }

    /// The next call to fail once the connection is lost: those sent before those not sent, though
    /// there are never both, for a client that has a connection keeps nothing back.
    pub(super) fn lost(&mut self) -> Option<Asked> {
        self.answered().or_else(|| self.unqueue().map(|(_, asked)| asked))
    }

    fn of_application(&self) -> impl Iterator<Item = &Asked> {
        let sent = self.pending.iter().map(|pending| &pending.asked);
        let queued = self.queued.iter().map(|(_, asked)| asked);
        sent.chain(queued).filter(|asked| asked.id.is_some())
    }

    /// Since when the oldest call of the application waits.
    pub(super) fn oldest(&self) -> Option<Millis> {
        self.of_application().next().map(|asked| asked.since)
    }

    /// Forgets the oldest call of the application.
    pub(super) fn take_oldest(&mut self) -> Option<Asked> {
        if let Some(at) = self.pending.iter().position(|pending| pending.asked.id.is_some()) {
            return self.pending.remove(at).map(|pending| pending.asked);
        }
        let at = self.queued.iter().position(|(_, asked)| asked.id.is_some())?;
        self.queued.remove(at).map(|(_, asked)| asked)
    }

    /// How many of the application's calls have no answer yet.
    pub(super) fn count(&self) -> usize {
        self.of_application().count()
    }

    /// Whether anything was sent that has no answer.
    pub(super) fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Whether anything waits to be sent.
    pub(super) fn is_queueing(&self) -> bool {
        !self.queued.is_empty()
    }

    pub(super) fn assert_invariants(&self) {
        assert!(self.next > 0, "a request number with another meaning");
        let since = self.of_application().map(|asked| asked.since);
        assert!(since.is_sorted(), "calls out of order");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_greatest_number_comes_one() {
        let mut calls = Calls { next: i32::MAX - 1, ..Calls::new() };
        let mut send = || calls.send(&Request::WhoAmI, Asked::by_client());
        assert_eq!([send(), send(), send()], [Xid(i32::MAX - 1), Xid(1), Xid(2)]);
    }
}
