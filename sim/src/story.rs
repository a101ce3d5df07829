//! A trace in words: one sentence for each step that matters, with who does it and what comes of
//! it.
//!
//! ```text
//!   13  Server 3, following, loses power.
//!   14  Server 2, joining, hears NEWLEADER 2:0 from server 1: its disk has epoch 2.
//! ```

use std::fmt;
use std::sync::Arc;

use zoolab_core::storage::EpochKind;
use zoolab_core::zab::MessageKind;
use zoolab_core::{Branch, Note, ServerId, Timer};

use crate::checker::Checkers;
use crate::drive::{End, Nobody, drive};
use crate::seen::Seen;
use crate::setting::SettingError;
use crate::step::{Instant, Step};
use crate::strategy::replay::Replay;
use crate::strategy::{Choice, Strategy};
use crate::trace::Trace;
use crate::world::{Outcome, Pending, World};

/// See the [module](self).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Story {
    /// Which step, counted from one, and what it is in words.
    pub lines: Vec<(usize, String)>,
    /// How it ends.
    pub end: String,
}

impl Story {
    /// What a trace tells.
    ///
    /// # Errors
    /// If its world cannot be set up.
    pub fn of(trace: &Trace) -> Result<Self, SettingError> {
        let setting = &trace.header.plan.setting;
        let mut world = World::new(setting.clone())?;
        let mut checkers = Checkers::new(Arc::clone(world.ensemble()), &setting.promises);
        let mut teller = Teller { replay: Replay::new(&trace.steps), before: Vec::new() };
        let report = drive(&mut world, &mut teller, &mut checkers, &mut Nobody);
        // Once more, now that it is known what each does: a run of its own, for a strategy sees no
        // outcome.
        let mut world = World::new(setting.clone())?;
        let mut outcome = Outcome::default();
        let mut lines = Vec::new();
        let last = teller.before.len();
        for (place, (at, step, roles)) in teller.before.into_iter().enumerate() {
            outcome.seen.clear();
            outcome.fresh.clear();
            let ends = place + 1 == last;
            if ends && matches!(report.end, End::Panicked(_)) {
                lines.push((place + 1, sentence(&step, &roles, Vec::new())));
                break;
            }
            world.step(at, &step, &mut outcome);
            let comes = outcome.seen.iter().filter_map(consequence).collect::<Vec<_>>();
            if ends || matters(&step, &comes) {
                lines.push((place + 1, sentence(&step, &roles, comes)));
            }
        }
        let end = match (&report.end, &trace.ending) {
            (End::Held, Some(ending)) if ending.what.is_some() => {
                format!("It does not get well again: {}.", ending.what.clone().unwrap_or_default())
            }
            (end, _) => {
                let end = end.to_string();
                let mut letters = end.chars();
                let first = letters.next().map(|letter| letter.to_uppercase().to_string());
                format!("{}{}.", first.unwrap_or_default(), letters.as_str())
            }
        };
        Ok(Self { lines, end })
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (count, line) in &self.lines {
            writeln!(f, "{count:>5}  {line}")?;
        }
        write!(f, "       {}", self.end)
    }
}

/// What each server does, in one word.
type Doing = Vec<(ServerId, &'static str)>;

/// Follows a trace, and notes what everybody did before each step.
struct Teller<'a> {
    replay: Replay<'a>,
    before: Vec<(Instant, Step, Doing)>,
}

impl Strategy for Teller<'_> {
    fn choose(&mut self, world: &World) -> Choice {
        let choice = self.replay.choose(world);
        if let Choice::Take(at, step) = &choice {
            let doing = world.servers().iter().map(|id| {
                let server = world.host(*id).server.as_ref();
                (*id, server.map_or("down", |server| server.doing()))
            });
            self.before.push((*at, step.clone(), doing.collect()));
        }
        choice
    }

    fn learn(&mut self, _: &World, _: &[Pending]) {}
}

/// Whether a step is part of the story: faults and what clients do always are, and everything that
/// something comes of.
#[expect(clippy::wildcard_enum_match_arm, reason = "all others are faults, or somebody's will")]
fn matters(step: &Step, comes: &[String]) -> bool {
    match step {
        Step::Deliver { kind: MessageKind::Ping | MessageKind::Pong, .. } => !comes.is_empty(),
        Step::Answer { .. }
        | Step::Ask { .. }
        | Step::Dialled { .. }
        | Step::Disk { .. }
        | Step::Free(_)
        | Step::Timeout { .. }
        | Step::Vote { .. } => !comes.is_empty(),
        _ => true,
    }
}

fn sentence(step: &Step, doing: &Doing, comes: Vec<String>) -> String {
    let mut text = what(step, doing);
    if !comes.is_empty() {
        text.push_str(": ");
        text.push_str(&comes.join(", "));
    }
    text.push('.');
    text
}

fn what(step: &Step, doing: &Doing) -> String {
    let who = |server: &ServerId| match doing.iter().find(|(id, _)| id == server) {
        Some((_, doing)) => format!("server {server}, {doing},"),
        None => format!("server {server}"),
    };
    let upper = |text: String| {
        let mut letters = text.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string());
        first.unwrap_or_default() + letters.as_str()
    };
    let list = |servers: &[ServerId]| {
        let all: Vec<String> = servers.iter().map(ToString::to_string).collect();
        match all.split_last() {
            None => "nobody".to_owned(),
            Some((only, [])) => format!("server {only}"),
            Some((last, others)) => format!("servers {} and {last}", others.join(", ")),
        }
    };
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are told by their own line")]
    upper(match step {
        Step::Deliver { from, to, kind, zxid, .. } if zxid.0 < 0 => {
            format!("{} hears {kind} from server {from}", who(to))
        }
        Step::Deliver { from, to, kind, zxid, .. } => {
            format!("{} hears {kind} {zxid} from server {from}", who(to))
        }
        Step::Closed { at, .. } => format!("{} finds that a connection is over", who(at)),
        Step::Dialled { from, to } => format!("{} tries to reach server {to}", who(from)),
        Step::Vote { from, to } => format!("{} hears the vote of server {from}", who(to)),
        Step::Disk { server, .. } => format!("the disk of {} is done", who(server)),
        Step::Reload { server } => format!("{} reads its disk again", who(server)),
        Step::Timeout { server, timer } => match timer {
            Timer::Silent => format!("{} loses patience with its leader", who(server)),
            Timer::Settle => format!("{} has waited long enough for votes", who(server)),
            Timer::HalfTick => format!("{} looks around who is still there", who(server)),
            timer => format!("{} has its timer {timer:?} run out", who(server)),
        },
        Step::Elect { leader, followers } => {
            format!("{} find that server {leader} is to lead", list(followers))
        }
        Step::Join { leader, server } => format!("{} finds its leader, {leader}", who(server)),
        Step::Write { server, .. } => format!("{} is asked for a write", who(server)),
        Step::Change { server, .. } => format!("{} is asked for another ensemble", who(server)),
        Step::Dial { client, server } => format!("client {client} connects to {}", who(server)),
        Step::Ask { client } => format!("what client {client} says arrives"),
        Step::Answer { client } => format!("client {client} hears an answer"),
        Step::Call { client, call } => format!("client {client} calls: {call}"),
        Step::HangUp { client } => format!("client {client} drops its connection"),
        Step::Cut { from, to } => format!("nothing gets from server {from} to {to} any more"),
        Step::Heal { from, to } => format!("messages get from server {from} to {to} again"),
        Step::Break { .. } => "a connection breaks".to_owned(),
        Step::Crash { server, .. } => format!("{} dies", who(server)),
        Step::Doom { server, outputs } => {
            format!("{} will die after {outputs} more outputs", who(server))
        }
        Step::PowerLoss { servers, .. } => format!("power is lost at {}", list(servers)),
        Step::Restart { server } => format!("server {server} starts"),
        Step::DiskFails { server, .. } => format!("the disk of {} fails", who(server)),
        Step::Rot { server, .. } => format!("a bit flips on the disk of {}", who(server)),
        Step::Full { server, full: true } => format!("the disk of {} is full", who(server)),
        Step::Full { server, full: false } => format!("the disk of {} has room", who(server)),
        Step::Wipe { server } => format!("the disk of {} is replaced", who(server)),
        Step::Pause { server } => format!("{} stands still", who(server)),
        Step::Resume { server } => format!("{} goes on", who(server)),
        step => step.to_string(),
    })
}

/// What comes of a step, as far as a person wants to know.
#[expect(clippy::wildcard_enum_match_arm, reason = "all others are said by the step itself")]
fn consequence(seen: &Seen) -> Option<String> {
    let server = |server: &ServerId| format!("server {server}");
    Some(match seen {
        Seen::Appended { server: id, txn } => {
            format!("{} logs {}", server(id), txn.stamp.zxid)
        }
        Seen::Sent { from, to, message } if message.zxid.0 >= 0 => {
            format!("{} says {} {} to {to}", server(from), message.kind, message.zxid)
        }
        Seen::Sent { from, to, message } => {
            format!("{} says {} to {to}", server(from), message.kind)
        }
        Seen::EpochWritten { server: id, kind: EpochKind::Accepted, epoch } => {
            format!("{} has promised itself to epoch {epoch} on disk", server(id))
        }
        Seen::EpochWritten { server: id, kind: EpochKind::Current, epoch } => {
            format!("{} has noted epoch {epoch} on disk", server(id))
        }
        Seen::Halted { server: id } => format!("{} stops for good", server(id)),
        Seen::Installed { server: id, zxid } => {
            format!("{} has a snapshot up to {zxid} and nothing else", server(id))
        }
        Seen::Refused { server: id, why } => format!("{} does not start, {why}", server(id)),
        Seen::Started { saved, .. } => {
            format!("its disk has epoch {} and {}", saved.current_epoch, saved.zxid_last)
        }
        Seen::Synced { server: id, zxid } => format!("{} has {zxid} safe", server(id)),
        Seen::Truncated { server: id, to } => format!("{} has cut its log at {to}", server(id)),
        Seen::Note { server: id, note } => match note {
            Note::Applied { txn, .. } => format!("{} applies {}", server(id), txn.stamp.zxid),
            Note::Committed(zxid) => format!("{} commits {zxid}", server(id)),
            Note::Discovered { epoch, zxid } => {
                format!("{} begins epoch {epoch} with {zxid}", server(id))
            }
            Note::Elected { leader, .. } => format!("{} is for {leader}", server(id)),
            Note::Established(epoch) => format!("{} leads epoch {epoch}", server(id)),
            Note::Joined(members) => {
                format!("{} is in the ensemble of {}", server(id), members.version())
            }
            Note::Left(why) => format!("{} leaves, {why}", server(id)),
            Note::Proposed(txn) => format!("{} proposes {}", server(id), txn.stamp.zxid),
            Note::Serving(epoch) => format!("{} serves in epoch {epoch}", server(id)),
            Note::Reached(Branch::Rollover) => format!("{} has no more numbers", server(id)),
            Note::Reached(_) | Note::CaughtUp { .. } | Note::Looking { .. } => return None,
        },
        _ => return None,
    })
}
