//! A server's history, told by zxids alone: which transaction a zxid stands for is agreed upon,
//! so two histories agree where their zxids do. Without holes a history is known by where its
//! epochs end, so it is short however long it is.

use zoolab_core::Zxid;

/// Where each epoch of a history ends, oldest first. Counters begin at one and leave no gap.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct History(Vec<Zxid>);

impl History {
    pub(super) fn last(&self) -> Zxid {
        self.0.last().copied().unwrap_or(Zxid::ZERO)
    }

    /// Where its epochs end.
    pub(super) fn ends(&self) -> &[Zxid] {
        &self.0
    }

    pub(super) fn has(&self, zxid: Zxid) -> bool {
        let same = |end: &&Zxid| end.epoch() == zxid.epoch();
        zxid == Zxid::ZERO
            || zxid.counter() > 0 && self.0.iter().rev().find(same).is_some_and(|end| zxid <= *end)
    }

    /// Whether this one may come next.
    pub(super) fn may_push(&self, zxid: Zxid) -> bool {
        let last = self.last();
        if !self.0.is_empty() && last.epoch() == zxid.epoch() {
            last.next() == zxid
        } else {
            last.epoch() < zxid.epoch() && zxid.counter() == 1
        }
    }

    /// One more, if it may come next or not.
    pub(super) fn push(&mut self, zxid: Zxid) {
        match self.0.last_mut() {
            Some(end) if end.epoch() == zxid.epoch() => *end = zxid.max(*end),
            Some(_) | None => self.0.push(zxid),
        }
    }

    /// Whether one of its transactions comes right after another.
    pub(super) fn follows(&self, one: Zxid, other: Zxid) -> bool {
        if one != Zxid::ZERO && one.epoch() == other.epoch() {
            return one.next() == other;
        }
        let place = self.0.iter().position(|end| end.epoch() == other.epoch());
        let before = match place {
            Some(0) => Some(Zxid::ZERO),
            Some(place) => self.0.get(place - 1).copied(),
            None => None,
        };
        other.counter() == 1 && before == Some(one)
    }

    /// What is left up to here.
    pub(super) fn cut(&mut self, zxid: Zxid) {
        self.0.retain(|end| end.epoch() <= zxid.epoch());
        if let Some(end) = self.0.last_mut()
            && end.epoch() == zxid.epoch()
        {
            *end = (*end).min(zxid);
        }
    }

    pub(super) fn is_prefix_of(&self, other: &Self) -> bool {
        let Some((end, whole)) = self.0.split_last() else { return true };
        let there = other.0.get(whole.len());
        other.0.starts_with(whole)
            && there.is_some_and(|theirs| theirs.epoch() == end.epoch() && end <= theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zxid(epoch: i64, counter: i64) -> Zxid {
        Zxid(epoch << 32 | counter)
    }

    fn history(zxids: &[(i64, i64)]) -> History {
        let mut history = History::default();
        for (epoch, counter) in zxids {
            assert!(history.may_push(zxid(*epoch, *counter)), "{epoch} {counter}");
            history.push(zxid(*epoch, *counter));
        }
        history
    }

    #[test]
    fn a_history_is_known_by_where_its_epochs_end() {
        let mut all = history(&[(1, 1), (1, 2), (3, 1), (3, 2), (3, 3)]);
        assert_eq!(all.ends(), [zxid(1, 2), zxid(3, 3)]);
        assert!(all.has(zxid(1, 1)) && all.has(zxid(3, 2)));
        assert!(!all.has(zxid(1, 3)) && !all.has(zxid(2, 1)) && !all.has(zxid(3, 0)));
        assert!(
            !all.may_push(zxid(3, 5)) && !all.may_push(zxid(4, 2)) && !all.may_push(zxid(2, 1))
        );
        assert!(all.follows(zxid(1, 2), zxid(3, 1)) && all.follows(Zxid::ZERO, zxid(1, 1)));
        assert!(!all.follows(zxid(1, 1), zxid(3, 1)) && !all.follows(zxid(3, 1), zxid(3, 3)));
        assert!(history(&[(1, 1), (1, 2), (3, 1)]).is_prefix_of(&all));
        assert!(!history(&[(1, 1), (3, 1)]).is_prefix_of(&all));
        assert!(!all.is_prefix_of(&history(&[(1, 1), (1, 2), (3, 1)])));
        all.cut(zxid(2, 7));
        assert_eq!(all.ends(), [zxid(1, 2)]);
        all.cut(zxid(1, 1));
        assert_eq!(all, history(&[(1, 1)]));
        assert!(History::default().is_prefix_of(&all));
    }
}
