//! What a service may do wrong, to be planted in a generated history.

use std::fmt;
use std::str::FromStr;

/// Something that a service does wrong, once.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Defect {
    /// A write is acknowledged and has no effect.
    AckedLost,
    /// A session is opened as new that another client has.
    DuplicateSession,
    /// A server says that its tree has another digest.
    DigestDiffers,
    /// A session ends right after it was heard from.
    EarlyExpiry,
    /// An ephemeral goes while its session goes on.
    EphemeralEarly,
    /// An ephemeral stays when its session ends.
    EphemeralLeft,
    /// An event comes after a reply that shows more.
    EventLate,
    /// An event does not come.
    EventMissed,
    /// Two events of a connection change places.
    EventsSwapped,
    /// An event comes twice.
    EventTwice,
    /// A client is told twice that it is connected.
    ConnectedTwice,
    /// A session goes on at a server that has seen less.
    FailoverBehind,
    /// One server applies no more transactions.
    Frozen,
    /// A session that nobody hears from does not end.
    LateExpiry,
    /// One server applies only the first part of a multi.
    MultiHalf,
    /// An event comes that nothing explains.
    PhantomEvent,
    /// An event for a watch that stays does not come.
    PersistentMissed,
    /// Two writes that one client has sent change places.
    PipelineSwapped,
    /// A read shows a later state than it claims.
    ReadLater,
    /// A read claims a newer state than it shows, and what it shows differs.
    ReadNewerDiffers,
    /// A read claims a newer state than it shows, and what it shows is the same.
    ReadNewerSame,
    /// Two writes that do not overlap change places.
    RealTimeSwapped,
    /// An event of something far below a watch does not come.
    RecursiveMissed,
    /// A client that comes back is not told what it missed.
    RestoreMissed,
    /// A name is given that is not the next.
    SequenceSkips,
    /// An ACL is set and acknowledged, and has no effect.
    SetAclLost,
    /// A write with an old version is done.
    StaleVersion,
    /// A sync does not wait for anything.
    SyncNothing,
    /// Two writes have one position.
    TwoShare,
    /// A write has its effect twice.
    TwiceApplied,
    /// One server has other data for a node.
    ValueDiffers,
    /// A write of a session is done after its end.
    Zombie,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 32] = [
        Self::AckedLost,
        Self::DuplicateSession,
        Self::DigestDiffers,
        Self::EarlyExpiry,
        Self::EphemeralEarly,
        Self::EphemeralLeft,
        Self::EventLate,
        Self::EventMissed,
        Self::EventsSwapped,
        Self::EventTwice,
        Self::ConnectedTwice,
        Self::FailoverBehind,
        Self::Frozen,
        Self::LateExpiry,
        Self::MultiHalf,
        Self::PhantomEvent,
        Self::PersistentMissed,
        Self::PipelineSwapped,
        Self::ReadLater,
        Self::ReadNewerDiffers,
        Self::ReadNewerSame,
        Self::RealTimeSwapped,
        Self::RecursiveMissed,
        Self::RestoreMissed,
        Self::SequenceSkips,
        Self::SetAclLost,
        Self::StaleVersion,
        Self::SyncNothing,
        Self::TwoShare,
        Self::TwiceApplied,
        Self::ValueDiffers,
        Self::Zombie,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> String {
        let mut name = String::new();
        for c in format!("{self:?}").chars() {
            if c.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl FromStr for Defect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|defect| defect.name() == text);
        found.ok_or_else(|| {
            let all: Vec<String> = Self::ALL.iter().map(|defect| defect.name()).collect();
            format!("{text:?} is no defect, expected one of {}", all.join(", "))
        })
    }
}
