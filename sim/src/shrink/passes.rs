//! What is tried, in which order.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use zoolab_core::zab::MessageKind;
use zoolab_core::{Note, Zxid};

use super::coarse::Telling;
use super::fingerprint::{Fingerprint, Roles};
use super::perform::{perform, read};
use super::wish::Wish;
use super::{Case, Limits, NotShrunk, Progress};
use crate::drive::{self, Done, End, Onlooker, Report};
use crate::seen::Seen;
use crate::setting::Setting;
use crate::step::{Instant, Step};
use crate::swarm::Plan;
use crate::trace::{Ending, Header};

/// Up to so many wishes, single ones are left out until none can be.
const AGAIN_MOST: usize = 400;
/// Up to so many, all pairs of them are left out.
const PAIRS_MOST: usize = 160;
/// Up to so many, all three of them.
const TRIPLES_MOST: usize = 40;

/// See the [module](self).
pub(super) struct Shrinker<'a> {
    pub(super) best: Case,
    pub(super) runs: u64,
    /// Whether no more may be tried.
    pub(super) over: bool,
    pub(super) wanted: Fingerprint,
    seed: u64,
    limits: Limits,
    pub(super) pass: &'static str,
    progress: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
}

impl<'a> Shrinker<'a> {
    pub(super) fn new(
        wanted: Fingerprint,
        header: &Header,
        limits: Limits,
        progress: &'a mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Self {
        let report = Report {
            end: End::Held,
            hash: crate::hash::RunningHash::default(),
            figures: crate::figures::Figures::default(),
        };
        let best = Case {
            plan: header.plan.clone(),
            wishes: Vec::new(),
            steps: Vec::new(),
            ending: Ending::of(&report),
        };
        let over = false;
        Self { best, runs: 0, over, wanted, seed: header.seed, limits, pass: "", progress }
    }

    /// Shrinks a list of steps that fails.
    pub(super) fn steps(
        &mut self,
        wishes: Vec<Wish>,
        mut steps: Vec<(Instant, Step)>,
        report: &Report,
    ) {
        steps.truncate(wishes.len());
        self.best.wishes = wishes;
        self.best.steps = steps;
        self.best.ending = Ending::of(report);
        if self.best.plan.setting.search.is_none() {
            self.draw_less();
        }
        self.servers();
        self.kinds();
        self.tell_coarsely();
        self.transactions();
        self.fewer();
        self.tell_coarsely();
        loop {
            let before = self.best.steps.len();
            self.fewer();
            self.tail();
            self.sets();
            if self.over || self.best.steps.len() == before {
                break;
            }
        }
        self.plainer();
        self.bounds();
    }

    /// Counts one more candidate. False if there may be no more.
    pub(super) fn more(&mut self) -> bool {
        if self.over || self.limits.runs.is_some_and(|most| self.runs >= most) {
            self.over = true;
            return false;
        }
        self.runs += 1;
        let (runs, steps, pass) = (self.runs, self.best.steps.len(), self.pass);
        self.over = (self.progress)(&Progress { runs, steps, pass }).is_break();
        !self.over
    }

    /// What comes of a candidate, if it fails in the same way.
    fn test(&mut self, setting: &Setting, wishes: &[Wish]) -> Option<Case> {
        if !self.more() {
            return None;
        }
        let done = perform(setting, wishes).ok()?;
        if done.fingerprint.as_ref() != Some(&self.wanted) {
            return None;
        }
        let mut plan = self.best.plan.clone();
        plan.setting = setting.clone();
        let ending = Ending::of(&done.report);
        Some(Case { plan, wishes: done.wishes, steps: done.steps, ending })
    }

    /// Goes on with a candidate if it fails in the same way.
    pub(super) fn accept(&mut self, setting: &Setting, wishes: &[Wish]) -> bool {
        let case = self.test(setting, wishes);
        let found = case.is_some();
        if let Some(case) = case {
            self.best = case;
        }
        found
    }

    fn without(&self, left_out: impl Fn(usize) -> bool) -> Vec<Wish> {
        let kept = self.best.wishes.iter().enumerate().filter(|(place, _)| !left_out(*place));
        kept.map(|(_, wish)| wish.clone()).collect()
    }

    fn leave_out(&mut self, left_out: impl Fn(usize) -> bool) -> bool {
        let wishes = self.without(left_out);
        let setting = self.best.plan.setting.clone();
        wishes.len() < self.best.wishes.len() && self.accept(&setting, &wishes)
    }

    /// Everything that leaves something out.
    fn fewer(&mut self) {
        loop {
            let before = self.best.steps.len();
            self.servers();
            self.kinds();
            self.chunks();
            if self.over || self.best.steps.len() == before {
                break;
            }
        }
    }

    /// Without a server, or with fewer clients.
    fn servers(&mut self) {
        self.pass = "servers";
        let setting = self.best.plan.setting.clone();
        let voters = setting.voters.iter().flatten().map(|(id, _)| *id);
        let all: Vec<u8> = setting.observers.iter().copied().chain(voters).collect();
        for id in all.into_iter().rev() {
            let Some(setting) = without_server(&self.best.plan.setting, id) else { continue };
            let wishes = self.best.wishes.clone();
            self.accept(&setting, &wishes);
        }
        self.pass = "clients";
        let Setting { clients, apps, .. } = self.best.plan.setting;
        for client in (0..clients.max(apps)).rev() {
            let name = format!("c{client}");
            let its: Vec<bool> = self
                .best
                .wishes
                .iter()
                .map(|wish| wish.step.to_string().split(' ').nth(1) == Some(&name))
                .collect();
            self.leave_out(|place| its[place]);
            let mut setting = self.best.plan.setting.clone();
            if client + 1 == setting.clients.max(setting.apps) {
                setting.clients = setting.clients.min(client);
                setting.apps = setting.apps.min(client);
                let wishes = self.best.wishes.clone();
                self.accept(&setting, &wishes);
            }
        }
    }

    /// Without any step of a kind.
    fn kinds(&mut self) {
        self.pass = "kinds of steps";
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for wish in &self.best.wishes {
            *kinds.entry(kind(&wish.step)).or_default() += 1;
        }
        let mut kinds: Vec<(usize, String)> =
            kinds.into_iter().map(|(kind, count)| (count, kind)).collect();
        kinds.sort();
        for (_, kind_) in kinds.into_iter().rev() {
            let its: Vec<bool> =
                self.best.wishes.iter().map(|wish| kind(&wish.step) == kind_).collect();
            if its.contains(&true) {
                self.leave_out(|place| its[place]);
            }
        }
    }

    /// Without pieces of the list, large ones first and the last ones first.
    fn chunks(&mut self) {
        self.pass = "pieces";
        let mut size = self.best.wishes.len() / 2;
        while size > 0 && !self.over {
            let mut end = self.best.wishes.len();
            let mut changed = false;
            while end > 0 && !self.over {
                let begin = end.saturating_sub(size);
                changed |= self.leave_out(|place| (begin..end).contains(&place));
                end = begin.min(self.best.wishes.len());
            }
            let again = size == 1 && changed && self.best.wishes.len() <= AGAIN_MOST;
            size = if again { 1 } else { size / 2 };
        }
    }

    /// Without whole transactions: what proposes one, and all that is said of it. Left out one by
    /// one, what is said of one would be taken for what is said of the next.
    fn transactions(&mut self) {
        self.pass = "transactions";
        let mut size = usize::MAX;
        while size > 0 && !self.over {
            let setting = &self.best.plan.setting;
            let Ok(read) = read(setting, &self.best.steps, true) else { return };
            let all = transactions(&read.wishes, &read.seen);
            let zxids: Vec<Zxid> =
                all.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
            size = size.min(zxids.len() / 2);
            let mut changed = false;
            for chunk in zxids.chunks(size.max(1)).rev() {
                let its = |zxid: &Option<Zxid>| zxid.is_some_and(|zxid| chunk.contains(&zxid));
                if self.leave_out(|place| all.get(place).is_some_and(its)) {
                    // What is left has other numbers now.
                    changed = true;
                    break;
                }
            }
            if !changed {
                size /= 2;
            }
        }
    }

    /// Without any two, or any three, that are no chunk.
    fn sets(&mut self) {
        self.pass = "pairs";
        'again: loop {
            let count = self.best.wishes.len();
            if count > PAIRS_MOST {
                return;
            }
            for one in (0..count).rev() {
                for two in (0..one).rev() {
                    if self.leave_out(|place| place == one || place == two) {
                        continue 'again;
                    }
                    if self.over {
                        return;
                    }
                }
            }
            break;
        }
        self.pass = "triples";
        'more: loop {
            let count = self.best.wishes.len();
            if count > TRIPLES_MOST {
                return;
            }
            for one in (0..count).rev() {
                for two in (0..one).rev() {
                    for three in (0..two).rev() {
                        if self.leave_out(|place| [one, two, three].contains(&place)) {
                            continue 'more;
                        }
                        if self.over {
                            return;
                        }
                    }
                }
            }
            break;
        }
    }

    /// Tells it in the steps of a search, if it fails in the same way there.
    fn tell_coarsely(&mut self) {
        if self.limits.fine || self.best.plan.setting.search.is_some() {
            return;
        }
        self.pass = "elections in one step";
        let own = &self.best.plan.setting;
        let Ok(read) = read(own, &self.best.steps, true) else { return };
        for telling in Telling::ALL {
            let setting = telling.setting(&self.best.plan.setting);
            let wishes = telling.wishes(&read.wishes, &read.seen);
            if self.accept(&setting, &wishes) {
                break;
            }
        }
    }

    /// Nothing that says more than it has to: times, luck, limits.
    fn plainer(&mut self) {
        self.pass = "times";
        let soon = |wish: &Wish| Wish { at: Instant(0), ..wish.clone() };
        let setting = self.best.plan.setting.clone();
        let wishes: Vec<Wish> = self.best.wishes.iter().map(soon).collect();
        if wishes != self.best.wishes && !self.accept(&setting, &wishes) {
            for place in 0..self.best.wishes.len() {
                let mut wishes = self.best.wishes.clone();
                if let Some(wish) = wishes.get_mut(place).filter(|wish| wish.at > Instant(0)) {
                    wish.at = Instant(0);
                    self.accept(&setting, &wishes);
                }
            }
        }
        self.pass = "luck";
        for place in 0..self.best.wishes.len() {
            for luck in 0..3 {
                let mut wishes = self.best.wishes.clone();
                let plain = wishes.get_mut(place).is_some_and(|wish| with_luck(wish, luck));
                if plain && self.accept(&setting, &wishes) {
                    break;
                }
            }
        }
        self.pass = "setting";
        for change in PLAIN {
            let mut setting = self.best.plan.setting.clone();
            change(&mut setting);
            if setting != self.best.plan.setting {
                let wishes = self.best.wishes.clone();
                self.accept(&setting, &wishes);
            }
        }
        self.best.plan.faults.clear();
        self.best.plan.disks_lost = 0;
    }

    /// In the world of a search: nothing more is allowed than what happens.
    fn bounds(&mut self) {
        self.pass = "bounds";
        let mut setting = self.best.plan.setting.clone();
        let Some(bounds) = &mut setting.search else { return };
        let wishes = self.best.wishes.clone();
        let Ok(done) = perform(&self.best.plan.setting, &wishes) else { return };
        let left = done.world.budget();
        for (bound, left) in [
            (&mut bounds.crashes, left.crashes),
            (&mut bounds.power_losses, left.power_losses),
            (&mut bounds.breaks, left.breaks),
            (&mut bounds.timeouts, left.timeouts),
            (&mut bounds.writes, left.writes),
            (&mut bounds.calls, left.calls),
        ] {
            *bound -= left;
        }
        let elects = |wish: &&Wish| matches!(wish.step, Step::Elect { .. });
        let least = wishes.iter().filter(elects).count() as u8;
        for epochs in least..least.saturating_add(3) {
            if let Some(bounds) = &mut setting.search {
                bounds.epochs = epochs;
            }
            if self.accept(&setting, &wishes) {
                break;
            }
        }
    }

    /// The same seed with less in its plan, as long as it fails in the same way.
    fn draw_less(&mut self) {
        self.pass = "less from the seed";
        let Some(first) = self.run(&self.best.plan.clone(), u64::MAX) else { return };
        let mut plan = self.best.plan.clone();
        let mut most = first.steps.len() as u64;
        for less in lesser(&plan) {
            let mut other = plan.clone();
            less(&mut other);
            if other == plan {
                continue;
            }
            if let Some(case) = self.run(&other, most) {
                most = case.steps.len() as u64;
                plan = other;
                self.best = case;
            }
        }
    }

    /// A run from the seed that is no longer than this, if it fails in the same way.
    fn run(&mut self, plan: &Plan, most: u64) -> Option<Case> {
        if !self.more() {
            return None;
        }
        let plan = plan.clone().checked().ok()?;
        let mut steps = Steps { most, steps: Vec::new() };
        let report = drive::run(&plan, self.seed, &mut steps).ok()?;
        let steps = steps.steps;
        if let End::Stuck(_) = report.end {
            let stuck = Fingerprint::of(&report.end, &Roles::default());
            let ending = Ending::of(&report);
            return (stuck.as_ref() == Some(&self.wanted)).then_some(Case {
                plan,
                wishes: Vec::new(),
                steps,
                ending,
            });
        }
        if matches!(report.end, End::Held) {
            return None;
        }
        let read = read(&plan.setting, &steps, false).ok()?;
        (read.fingerprint.as_ref() == Some(&self.wanted)).then(|| {
            let ending = Ending::of(&read.report);
            Case { plan, wishes: read.wishes, steps, ending }
        })
    }

    /// What got stuck is only known from its seed: less is drawn from it.
    pub(super) fn stuck(&mut self) -> Result<(), NotShrunk> {
        self.pass = "from the seed";
        let first = self.run(&self.best.plan.clone(), u64::MAX).ok_or(NotShrunk::NotStuck)?;
        self.best = first;
        loop {
            let before = self.best.plan.clone();
            self.draw_less();
            if self.over || self.best.plan == before {
                return Ok(());
            }
        }
    }
}

/// Remembers steps, as long as there are not too many.
struct Steps {
    most: u64,
    steps: Vec<(Instant, Step)>,
}

impl Onlooker for Steps {
    fn before(&mut self, _: u64, at: Instant, step: &Step) {
        self.steps.push((at, step.clone()));
    }

    fn after(&mut self, done: &Done<'_>) -> bool {
        done.place < self.most
    }
}

type Less = Box<dyn Fn(&mut Plan)>;

/// What may be less in a plan.
fn lesser(plan: &Plan) -> Vec<Less> {
    let mut all: Vec<Less> = Vec::new();
    for (family, _) in plan.faults.clone() {
        all.push(Box::new(move |plan| plan.faults.retain(|(other, _)| *other != family)));
    }
    all.push(Box::new(|plan| {
        plan.setting.clients = plan.setting.clients.min(1);
        plan.setting.apps = plan.setting.apps.min(1);
    }));
    for _ in 1..plan.setting.clients.max(plan.setting.apps) {
        all.push(Box::new(|plan| {
            let Setting { clients, apps, .. } = &mut plan.setting;
            let most = clients.saturating_sub(1).max(apps.saturating_sub(1)).max(1);
            (*clients, *apps) = (most.min(*clients), most.min(*apps));
        }));
    }
    let voters = plan.setting.voters.iter().flatten().map(|(id, _)| *id);
    for id in plan.setting.observers.iter().copied().chain(voters).rev() {
        all.push(Box::new(move |plan| {
            if let Some(setting) = without_server(&plan.setting, id) {
                plan.setting = setting;
            }
        }));
    }
    for _ in 0..4 {
        all.push(Box::new(|plan| plan.trouble_ms /= 2));
    }
    all.push(Box::new(|plan| plan.depth = 1));
    all
}

/// The setting without one of its servers, if there can be one.
fn without_server(setting: &Setting, id: u8) -> Option<Setting> {
    let mut setting = setting.clone();
    let mut ids: Vec<u8> = setting.voters.iter().flatten().map(|(id, _)| *id).collect();
    ids.extend(&setting.observers);
    ids.sort_unstable();
    let place = ids.iter().position(|other| *other == id)?;
    if place < setting.skew_ms.len() {
        setting.skew_ms.remove(place);
    }
    setting.voters.iter_mut().for_each(|group| group.retain(|(other, _)| *other != id));
    setting.voters.retain(|group| !group.is_empty());
    setting.observers.retain(|other| *other != id);
    (ids.len() > 1 && setting.ensemble().is_ok()).then_some(setting)
}

/// The transaction that each wish is about, if it is about one.
#[expect(clippy::wildcard_enum_match_arm, reason = "all others are about none, or about many")]
fn transactions(wishes: &[Wish], seen: &[Vec<Seen>]) -> Vec<Option<Zxid>> {
    let of = |(place, wish): (usize, &Wish)| match wish.step {
        Step::Deliver { zxid, kind, .. }
            if matches!(
                kind,
                MessageKind::Ack
                    | MessageKind::Commit
                    | MessageKind::Inform
                    | MessageKind::Proposal
            ) && zxid.counter() > 0 =>
        {
            Some(zxid)
        }
        _ => seen.get(place)?.iter().find_map(|event| match event {
            Seen::Note { note: Note::Proposed(txn), .. } => Some(txn.stamp.zxid),
            _ => None,
        }),
    };
    wishes.iter().enumerate().map(of).collect()
}

/// What a setting is if nobody has wished for anything else.
const PLAIN: [fn(&mut Setting); 9] = [
    |setting| {
        let old = setting.clone();
        let Setting { voters, observers, clients, apps, nodes, .. } = old;
        let Setting { disks, search, bugs, promises, .. } = old;
        let plain = Setting::plain(3);
        *setting = Setting {
            voters,
            observers,
            clients,
            apps,
            nodes,
            disks,
            search,
            bugs,
            promises,
            ..plain
        };
    },
    |setting| setting.skew_ms.clear(),
    |setting| setting.preallocate = 0,
    |setting| setting.snapshot_every = 0,
    |setting| setting.counter_max = Setting::plain(3).counter_max,
    |setting| setting.recent = Setting::plain(3).recent,
    |setting| setting.nodes = setting.nodes.min(1),
    |setting| {
        let all = setting.voters.concat();
        setting.voters = vec![all];
    },
    |setting| setting.voters.iter_mut().flatten().for_each(|(_, weight)| *weight = 1),
];

/// Which kind of step it is: the same first word, or the same message.
#[expect(clippy::wildcard_enum_match_arm, reason = "all others are told apart by a word")]
fn kind(step: &Step) -> String {
    match step {
        Step::Deliver { kind, .. } => format!("deliver {kind}"),
        Step::Timeout { timer, .. } => format!("timeout {timer:?}"),
        step => step.to_string().split(' ').next().unwrap_or_default().to_owned(),
    }
}

/// Gives a fault another luck. False if it has none, or less already.
#[expect(clippy::wildcard_enum_match_arm, reason = "all others have none")]
fn with_luck(wish: &mut Wish, plain: u64) -> bool {
    match &mut wish.step {
        Step::Crash { luck, .. }
        | Step::PowerLoss { luck, .. }
        | Step::DiskFails { luck, .. }
        | Step::Rot { luck, .. } => {
            let more = *luck > plain;
            *luck = plain;
            more
        }
        _ => false,
    }
}
