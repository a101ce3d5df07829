//! What was seen, in words: a few of them, with the one to whom it happened left out.

use zoolab_core::storage::EpochKind;
use zoolab_core::txn::{Change, NodeChange};
use zoolab_core::{Branch, Note, ServerId, Txn};

use super::cast::Who;
use crate::heard::Heard;
use crate::seen::Seen;

/// What is left to be seen along a lane.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[expect(missing_docs, reason = "each is what the step or the event of that name leaves")]
pub enum Mark {
    Apply,
    Branch,
    Break,
    Client,
    Clock,
    Closed,
    Commit,
    Crash,
    Cut,
    DiskFails,
    Doom,
    Elected,
    Epoch,
    Full,
    Halt,
    Heal,
    Install,
    Leads,
    Leaves,
    Looks,
    Pause,
    PowerLoss,
    Propose,
    Refused,
    Reload,
    Resume,
    Rot,
    Serves,
    Slow,
    Snapshot,
    Start,
    Sync,
    Timer,
    Truncate,
    Wipe,
    Write,
}

impl Mark {
    /// All of them, in order.
    pub const ALL: [Self; 36] = [
        Self::Apply,
        Self::Branch,
        Self::Break,
        Self::Client,
        Self::Clock,
        Self::Closed,
        Self::Commit,
        Self::Crash,
        Self::Cut,
        Self::DiskFails,
        Self::Doom,
        Self::Elected,
        Self::Epoch,
        Self::Full,
        Self::Halt,
        Self::Heal,
        Self::Install,
        Self::Leads,
        Self::Leaves,
        Self::Looks,
        Self::Pause,
        Self::PowerLoss,
        Self::Propose,
        Self::Refused,
        Self::Reload,
        Self::Resume,
        Self::Rot,
        Self::Serves,
        Self::Slow,
        Self::Snapshot,
        Self::Start,
        Self::Sync,
        Self::Timer,
        Self::Truncate,
        Self::Wipe,
        Self::Write,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> String {
        format!("{self:?}").to_ascii_lowercase()
    }
}

/// What happened to whom, if it is worth a word. Messages are not: they have arrows.
#[must_use]
pub fn facts_of(seen: &Seen) -> Option<(Who, Mark, String)> {
    let of = |server: &ServerId, mark, text: String| Some((Who::Server(*server), mark, text));
    match seen {
        Seen::Sent { .. } | Seen::Delivered { .. } => None,
        Seen::Appended { server, txn } => {
            of(server, Mark::Write, format!("logs {}", txn.stamp.zxid))
        }
        Seen::Client { client, heard } => {
            said(heard).map(|text| (Who::Client(*client), Mark::Client, text))
        }
        Seen::Crashed { server, power: false } => of(server, Mark::Crash, "crashes".into()),
        Seen::Crashed { server, power: true } => of(server, Mark::PowerLoss, "loses power".into()),
        Seen::EpochWritten { server, kind, epoch } => {
            let kind = match kind {
                EpochKind::Accepted => "accepted",
                EpochKind::Current => "current",
            };
            of(server, Mark::Epoch, format!("has {kind} epoch {epoch} safe"))
        }
        Seen::Halted { server } => of(server, Mark::Halt, "stops: its disk has failed".into()),
        Seen::Installed { server, zxid } => {
            of(server, Mark::Install, format!("has the leader's snapshot of {zxid} safe"))
        }
        Seen::MembersWritten { server, members } => {
            let version = members.version();
            of(server, Mark::Epoch, format!("has the members of {version} safe"))
        }
        Seen::Note { server, note } => noted(note).and_then(|(mark, text)| of(server, mark, text)),
        Seen::Refused { server, why } => {
            of(server, Mark::Refused, format!("does not start: {why}"))
        }
        Seen::Reloaded { server, saved } => {
            of(server, Mark::Reload, format!("reads its disk again: {}", saved.zxid_last))
        }
        Seen::Rotten { server } => of(server, Mark::Rot, "has a flipped bit on its disk".into()),
        Seen::Snapshotted { server, zxid } => {
            of(server, Mark::Snapshot, format!("writes a snapshot of {zxid}"))
        }
        Seen::Started { server, saved, .. } => {
            let (accepted, current) = (saved.accepted_epoch, saved.current_epoch);
            let last = saved.zxid_last;
            let text = format!("starts with {last}, accepted epoch {accepted}, current {current}");
            of(server, Mark::Start, text)
        }
        Seen::Synced { server, zxid } => of(server, Mark::Sync, format!("has {zxid} safe")),
        Seen::Truncated { server, to } => {
            of(server, Mark::Truncate, format!("has cut its log at {to}"))
        }
        Seen::Wiped { server } => of(server, Mark::Wipe, "gets an empty disk".into()),
    }
}

fn noted(note: &Note) -> Option<(Mark, String)> {
    Some(match note {
        Note::Applied { txn, .. } => {
            (Mark::Apply, format!("applies {}: {}", txn.stamp.zxid, change(txn)))
        }
        Note::CaughtUp { zxid, .. } => (Mark::Apply, format!("has its log in its tree: {zxid}")),
        Note::Committed(zxid) => (Mark::Commit, format!("commits {zxid}")),
        Note::Discovered { epoch, zxid } => {
            (Mark::Leads, format!("is promised epoch {epoch}, to begin with {zxid}"))
        }
        Note::Elected { leader, round } => {
            (Mark::Elected, format!("decides for server {leader} in round {round}"))
        }
        Note::Established(epoch) => (Mark::Leads, format!("leads epoch {epoch}")),
        Note::Joined(members) => {
            let (voters, version) = (members.quorum().voters(), members.version());
            let voters: Vec<String> = voters.iter().map(ToString::to_string).collect();
            let voters = voters.join(", ");
            (Mark::Epoch, format!("is in an ensemble of voters {voters}, since {version}"))
        }
        Note::Left(why) => (Mark::Leaves, format!("gives up its role: {why}")),
        Note::Looking { ballot: Some(ballot) } => {
            let (zxid, epoch) = (ballot.zxid, ballot.epoch);
            (Mark::Looks, format!("looks for a leader, has {zxid} of epoch {epoch}"))
        }
        Note::Looking { ballot: None } => {
            (Mark::Looks, "looks for a leader, without a vote".into())
        }
        Note::Proposed(txn) => {
            (Mark::Propose, format!("proposes {}: {}", txn.stamp.zxid, change(txn)))
        }
        Note::Reached(branch) => (Mark::Branch, branch_in_words(*branch).into()),
        Note::Serving(epoch) => (Mark::Serves, format!("serves epoch {epoch}")),
    })
}

const fn branch_in_words(branch: Branch) -> &'static str {
    match branch {
        Branch::AcksTakenBack => "takes acknowledgements of a learner back",
        Branch::ChangeCommitted => "commits a change of members",
        Branch::ChangeProposed => "proposes a change of members",
        Branch::ChangeRefused => "refuses a change of members",
        Branch::ContainerCleaned => "removes a node whose time is over",
        Branch::DataMissing => "lets a server join without a vote, its data may be lost",
        Branch::Diff => "sends a learner what it lacks",
        Branch::DiffEmpty => "finds that a learner lacks nothing",
        Branch::EpochRaised => "has transactions of an epoch that it had not noted",
        Branch::EpochUncounted => "does not count a server of an older promise",
        Branch::HandedOver => "hands over to another leader",
        Branch::LateJoiner => "lets a learner join late",
        Branch::LinkReplaced => "replaces a learner's earlier connection",
        Branch::MembersLearned => "learns that the ensemble has changed",
        Branch::MembersPending => "completes a change of members",
        Branch::OutstandingSent => "sends a learner a proposal that is not committed",
        Branch::ReadOnlyServed => "serves a client without a leader",
        Branch::RevalidationRefused => "refuses a client whose session is over",
        Branch::Rollover => "runs out of numbers",
        Branch::SessionHandedOver => "hands a session over to another server",
        Branch::SessionMoved => "refuses a late write of a session that has moved",
        Branch::Snap => "sends a learner everything",
        Branch::SnapshotFuzzy => "writes a snapshot while the tree changes",
        Branch::Trunc => "has a learner cut its log",
        Branch::TruncDiff => "has a learner cut its log, and sends it what others have",
        Branch::SessionUpgraded => "makes a local session known to all",
        Branch::WriteRefused => "refuses to write without a leader",
        Branch::UpgradeRace => "makes a local session known whose client has gone",
        Branch::TruncRefused => "cannot cut its log, and asks for everything",
        Branch::VoterJoined => "gives a server a vote",
        Branch::VoterLeft => "takes a server its vote",
    }
}

/// What a transaction does.
fn change(txn: &Txn) -> String {
    let node = |change: &NodeChange| match change {
        NodeChange::Check { path, .. } => format!("check {path}"),
        NodeChange::Create { path, .. } => format!("create {path}"),
        NodeChange::Delete { path, .. } => format!("delete {path}"),
        NodeChange::SetAcl { path, .. } => format!("set the ACL of {path}"),
        NodeChange::SetData { path, .. } => format!("set {path}"),
    };
    match &txn.change {
        Change::CloseSession { .. } => "close a session".into(),
        Change::CreateSession { .. } => "open a session".into(),
        Change::Error(_) => "refuse a request".into(),
        Change::Multi(parts) => format!("{} changes as one", parts.len()),
        Change::Node(one) => node(one),
    }
}

/// What a client said or heard; frames have arrows.
fn said(heard: &Heard) -> Option<String> {
    Some(match heard {
        Heard::Began { .. } => "begins".into(),
        Heard::Called { what, .. } => format!("calls {}", first_word(&format!("{what:?}"))),
        Heard::Closing { .. } => "wants its session to end".into(),
        Heard::Connected { server, .. } => format!("is connected to server {server}"),
        Heard::GaveUp { .. } => "no longer waits for an answer".into(),
        Heard::Gone => "is gone".into(),
        Heard::Notified { .. } => "is told of an event".into(),
        Heard::Parted { .. } => "has lost its connection".into(),
        Heard::Returned { result: Ok(_), .. } => "has an answer".into(),
        Heard::Returned { result: Err(_), .. } => "has an error for an answer".into(),
        Heard::Said { .. } | Heard::Told { .. } => return None,
    })
}

/// The name of a variant, as one writes words.
pub(super) fn first_word(debug: &str) -> String {
    let end = debug.find(|c: char| !c.is_alphanumeric()).unwrap_or(debug.len());
    let mut word = String::new();
    for letter in debug[..end].chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_at_the_places_their_numbers_say() {
        for (place, mark) in Mark::ALL.into_iter().enumerate() {
            assert_eq!(mark as usize, place, "{}", mark.name());
        }
    }
}
