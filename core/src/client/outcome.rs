//! How calls end, and what follows from it: results, watches, the end of the session.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::answer::Answer;
use super::call::After;
use super::calls::Asked;
use super::error::Failed;
use super::events::{Notice, Removed, SessionState};
use super::io::{Output, WatcherId};
use super::session::Client;
use super::state::End;
use super::watches::{Kind, WatcherKind};
use crate::Text;
use crate::code::Code;
use crate::ids::{Millis, Xid, Zxid};
use crate::request::{Body, Event, Reply};

impl Client {
    /// Takes a frame other than the first.
    pub(super) fn on_answer(&mut self, now: Millis, answer: Answer, out: &mut Vec<Output>) {
        let (xid, zxid, result) = match answer {
            Answer::Event(event) => return self.on_event(event, out),
            Answer::Reply(Reply { xid, zxid, err: None, body }) => (xid, zxid, Ok(body)),
            Answer::Reply(Reply { xid, zxid, err: Some(code), .. }) => {
                (xid, zxid, Err(Failed::Code(code)))
            }
            Answer::Unnamed { xid, zxid, number } => (xid, zxid, Err(Failed::Unknown(number))),
        };
        if xid == Xid::PING {
            return;
        }
        if xid == Xid::AUTH {
            if result == Err(Failed::Code(Code::AuthFailed)) {
                self.tell(SessionState::AuthFailed, out);
                self.over(End::AuthFailed, out);
                self.tell_closed(out);
            }
            return;
        }
        // Answers come in the order of requests, and each is of the shape that was asked for.
        let fits = self.calls.expected().is_some_and(|(expected, shape)| {
            expected == xid && result.as_ref().map_or(true, |body| shape.fits(body))
        });
        if !fits {
            return self.hang_up(now, out);
        }
        let asked = self.calls.answered().expect("an answer was expected");
        if zxid > Zxid::ZERO {
            self.zxid_last = zxid;
        }
        let is_end = asked.after == After::Close;
        self.finish(asked, zxid, result, out);
        if is_end {
            self.over(End::Closed, out);
            self.tell(SessionState::Closed, out);
        }
    }

    fn on_event(&mut self, event: Event, out: &mut Vec<Output>) {
        let Event { kind, path, zxid } = event;
        let to: Vec<_> = self.watches.fire(kind, &path).into_iter().collect();
        if !to.is_empty() {
            let path = self.chroot.to_client(&path);
            out.push(Output::Deliver { notice: Notice::Node { kind, path, zxid }, to });
        }
    }

    /// A call is answered or fails: does what follows from it, and tells the application.
    pub(super) fn finish(
        &mut self,
        asked: Asked,
        zxid: Zxid,
        mut result: Result<Body, Failed>,
        out: &mut Vec<Output>,
    ) {
        let Asked { id, after, since: _ } = asked;
        match after {
            After::Close | After::Nothing => {}
            After::Created { stat: asked } => {
                if let Ok(Body::Created { path, stat }) = &mut result {
                    *path = self.chroot.to_client(path);
                    *stat = stat.filter(|_| asked);
                }
            }
            After::Synced => {
                if let Ok(Body::Synced(Some(path))) = &mut result {
                    *path = self.chroot.to_client(path);
                }
            }
            After::Unwatch { path, kind, watcher, local } => {
                result = self.unwatch(&path, kind, watcher, local, result.err(), out);
            }
            After::Watch { path, on, watcher } => {
                if let Some(kind) = on.kind(result.as_ref().err().copied()) {
                    self.watches.add(kind, path, watcher);
                }
            }
        }
        if let Some(id) = id {
            out.push(Output::Complete { id, zxid, result });
        }
    }

    /// Forgets watches and tells those whose they were. What the server says counts unless it is
    /// a matter of this client alone.
    fn unwatch(
        &mut self,
        path: &Text,
        kind: WatcherKind,
        watcher: Option<WatcherId>,
        local: bool,
        refused: Option<Failed>,
        out: &mut Vec<Output>,
    ) -> Result<Body, Failed> {
        if !self.watches.has(kind, path, watcher) {
            return Err(Code::NoWatcher.into());
        }
        if let Some(failed) = refused.filter(|_| !local) {
            return Err(failed);
        }
        let gone = [Failed::ConnectionLoss, Failed::Code(Code::SessionExpired)];
        let connected = refused.is_none_or(|failed| !gone.contains(&failed));
        let removed = self.watches.remove(kind, path, watcher);
        for kind in [Removed::Data, Removed::Child, Removed::Persistent] {
            let to = removed.iter().filter(|(of, _)| removed_kind(*of) == kind);
            let to: BTreeSet<_> = to.flat_map(|(_, watchers)| watchers).copied().collect();
            if !to.is_empty() {
                let path = self.chroot.to_client(path);
                let notice = Notice::WatchRemoved { kind, path, connected };
                out.push(Output::Deliver { notice, to: to.into_iter().collect() });
            }
        }
        Ok(Body::None)
    }

    /// The oldest call has waited long enough; the connection goes with it.
    pub(super) fn give_up_oldest(&mut self, now: Millis, out: &mut Vec<Output>) {
        let Some(asked) = self.calls.take_oldest() else { return };
        let is_end = asked.after == After::Close;
        self.finish(asked, Zxid::NONE, Err(Failed::RequestTimeout), out);
        if is_end {
            self.over(End::Closed, out);
            self.tell(SessionState::Closed, out);
        } else {
            self.hang_up(now, out);
        }
    }

    /// Fails whatever has no answer, sent or not, in the order in which it was asked.
    pub(super) fn fail_all(&mut self, failed: Failed, out: &mut Vec<Output>) {
        while let Some(asked) = self.calls.lost() {
            self.finish(asked, Zxid::NONE, Err(failed), out);
        }
    }
}

/// What the removal of a watch is called.
const fn removed_kind(kind: Kind) -> Removed {
    match kind {
        Kind::Child => Removed::Child,
        Kind::Data | Kind::Exist => Removed::Data,
        Kind::Persistent | Kind::Recursive => Removed::Persistent,
    }
}
