//! The server of a run, the network in front of it, and the faults of the plan.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::garbage::Garbage;
use super::learn::Learned;
use super::network::{Pace, Silence, TRAVEL, journey};
use super::orders::Gate;
use super::plan::{Fault, Plan};
use super::rights::{Granted, Needs};
use super::rules::Rules;
use super::state::State;
use super::trace::{Asked, Entry, What, Who};
use super::webhooks::Hooks;
use crate::apiserver::{
    Answer, Attempt, Random, Request, Server, Step, WatchId, WebhookCall, Written,
};
use crate::tower::{Backend, Told};

/// How many requests between two steps are more than any controller needs: a number of them, and some more for
/// each object that there is.
const MOST: [u64; 2] = [20_000, 20];

/// A replica that lags.
#[derive(Clone, Debug)]
pub(crate) struct Lag {
    pub(crate) resource: String,
    pub(crate) revision: u64,
    pub(crate) until: Duration,
}

/// A process' way to the server: a service of tower, such as `kube::Client::new` takes.
pub type Connection = crate::tower::Service<Outside>;

/// Everything of a run that outlives the controller's process.
#[derive(Debug)]
pub struct Outside {
    pub(crate) server: Server,
    pub(crate) trace: Vec<Entry>,
    pub(crate) changes: Vec<Written>,
    /// When each request arrived, and of which process.
    pub(crate) requests: Vec<(usize, Duration)>,
    pub(crate) last_change: Duration,
    pub(crate) broken_rule: Option<String>,
    /// The controller's process is to be ended.
    pub(crate) is_fenced: bool,
    pub(crate) signal: Arc<Notify>,
    /// Requests since the last step.
    pub(super) busy: u64,
    /// How many are more than any controller needs.
    most: u64,
    pub(crate) steps: u32,
    pub(super) begins_at: Duration,
    pub(super) rules: Arc<Rules>,
    learned: Arc<Learned>,
    /// The state after the last change, if there are rules about changes.
    before: Option<State>,
    pub(crate) faults: Vec<Fault>,
    /// The names of the processes: one that is empty if there is one alone.
    pub(crate) names: Vec<Arc<str>>,
    /// The process that runs now.
    pub(crate) current: usize,
    /// How often each has begun.
    pub(crate) lives: Vec<u32>,
    /// The writes of each.
    writes: BTreeMap<usize, u32>,
    pub(crate) seen: u64,
    pub(super) travelling: BTreeMap<u64, (usize, Request)>,
    next: u64,
    pub(crate) watches: BTreeMap<WatchId, (usize, String)>,
    /// What the watches of a process do not tell.
    pub(crate) silences: BTreeMap<(usize, String), Silence>,
    pub(crate) lags: BTreeMap<usize, Lag>,
    pub(crate) pace: Pace,
    pub(crate) garbage: Garbage,
    pub(crate) chance: Option<Random>,
    /// What decides about the order, if it is chosen.
    pub(crate) gate: Option<Gate>,
    /// What the controller may do, if not everything.
    pub(crate) granted: Option<Arc<Granted>>,
    pub(crate) needs: Needs,
    pub(crate) hooks: Hooks,
}

impl Outside {
    pub(crate) fn new(
        server: Server,
        plan: &Plan,
        rules: Arc<Rules>,
        learned: Arc<Learned>,
    ) -> Self {
        let (now, seen) = (server.now(), server.revision());
        let is_slow = plan.faults.iter().any(|it| matches!(it, Fault::Jitter { .. }));
        let chance = is_slow.then(|| Random::new(plan.seed()));
        let state = State::of(&server);
        let mut garbage = Garbage::default();
        state.objects().for_each(|it| garbage.owners.note(it.2, true));
        let most = most(&state);
        let before = (!rules.steps.is_empty()).then_some(state);
        Self {
            server,
            trace: Vec::new(),
            changes: Vec::new(),
            requests: Vec::new(),
            last_change: now,
            broken_rule: None,
            is_fenced: false,
            signal: Arc::default(),
            busy: 0,
            most,
            steps: 0,
            begins_at: now,
            rules,
            learned,
            before,
            faults: plan.faults.clone(),
            names: vec!["".into()],
            current: 0,
            lives: vec![0],
            writes: BTreeMap::new(),
            seen,
            travelling: BTreeMap::new(),
            next: 0,
            watches: BTreeMap::new(),
            silences: BTreeMap::new(),
            lags: BTreeMap::new(),
            garbage,
            pace: Pace::default(),
            chance,
            gate: None,
            granted: None,
            needs: Needs::new(),
            hooks: Hooks::default(),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.server.now()
    }

    pub(crate) fn note(&mut self, what: What) {
        let entry = self.entry(what);
        self.trace.push(entry);
    }

    pub(super) fn entry(&self, what: What) -> Entry {
        let is_own = match &what {
            What::Changed { who, .. } => *who == Who::Controller,
            What::Told { .. } | What::Asked { .. } | What::Life { .. } => true,
            What::Step { .. } | What::Struck { .. } => false,
        };
        let process = if is_own { self.names[self.current].clone() } else { "".into() };
        Entry { at: self.server.now().saturating_sub(self.begins_at), process, what }
    }

    /// The process that a fault strikes, and how; none if there is no such process.
    pub(crate) fn target<'a>(&self, fault: &'a Fault) -> Option<(usize, &'a Fault)> {
        let (name, fault) = fault.parts();
        let index = match (name, self.names.len()) {
            ("", 1) => Some(0),
            _ => self.names.iter().position(|it| **it == *name),
        };
        index.map(|it| (it, fault))
    }

    /// Takes out the faults that strike a process in this way.
    pub(crate) fn take_faults(
        &mut self,
        is_due: impl Fn(&Self, usize, &Fault) -> bool,
    ) -> Vec<(usize, Fault)> {
        let (mut due, mut rest) = (Vec::new(), Vec::new());
        for fault in std::mem::take(&mut self.faults) {
            match self.target(&fault).filter(|(index, it)| is_due(self, *index, it)) {
                Some((index, it)) => {
                    self.note(What::Struck { text: fault.to_string() });
                    due.push((index, it.clone()));
                }
                None => rest.push(fault),
            }
        }
        self.faults = rest;
        due
    }

    /// Sends a request of the user, and returns the answer; no webhook is reached.
    #[cfg(test)]
    pub(crate) fn user(&mut self, request: &Request) -> Answer {
        let request = request.clone().by(crate::apiserver::User::admin());
        let now = self.now();
        let answer = self.settle(|world, attempt| world.server.attempt(now, &request, attempt));
        self.absorb(Who::User);
        answer
    }

    /// The watches of a process that is dead end.
    pub(crate) fn close_all(&mut self, own: usize) {
        let closed = self.watches.iter().filter(|it| it.1.0 == own).map(|it| *it.0);
        for id in closed.collect::<Vec<_>>() {
            self.close(id);
        }
        self.is_fenced = false;
    }

    /// The controller sends more requests than any needs.
    pub(crate) fn is_endless(&self) -> bool {
        self.busy > self.most
    }

    /// Counts requests anew.
    pub(crate) fn next_step(&mut self) {
        (self.busy, self.most) = (0, most(&State::of(&self.server)));
    }

    /// The requests since then, each with its process.
    pub(crate) fn requests_since(&self) -> &[(usize, Duration)] {
        &self.requests[self.requests.len().saturating_sub(self.busy as usize)..]
    }

    /// Takes note of what was written since it was last asked, and lets faults strike that wait for it.
    pub(crate) fn absorb(&mut self, who: Who) -> bool {
        let before = self.changes.len();
        for written in self.server.writes_after(self.seen) {
            for (object, is_there) in [(&written.old, false), (&written.new, true)] {
                object.iter().for_each(|it| self.garbage.owners.note(it, is_there));
            }
            if !Rules::is_noise(&written.resource) {
                self.change(written, who);
            }
        }
        self.seen = self.server.revision();
        let has_changed = self.changes.len() > before;
        if has_changed {
            self.look_for_garbage(before..self.changes.len());
            self.judge();
        }
        has_changed
    }

    /// Asks the rules of the test.
    fn judge(&mut self) {
        if self.broken_rule.is_some() {
            return;
        }
        let state = State::of(&self.server);
        self.broken_rule = self.rules.always(&state);
        if let Some(before) = self.before.as_mut() {
            let before = std::mem::replace(before, state.clone());
            let broken = self.rules.step(&before, &state);
            self.broken_rule = self.broken_rule.take().or(broken);
        }
    }

    fn change(&mut self, written: Written, who: Who) {
        let number = self.changes.len() as u32 + 1;
        let verb = match (&written.old, &written.new) {
            (None, _) => "create",
            (_, None) => "delete",
            _ => "change",
        };
        let text = format!("{verb} {} {}", written.resource, written.key);
        let beat = who == Who::Controller && self.learned.is_beat(&written);
        self.note(What::Changed { who, number, beat, text });
        if !beat && !self.rules.is_left_out(&written.resource) {
            self.last_change = self.now();
        }
        self.delay_watches(&written);
        self.end_silences(&written);
        self.strike_change(number, &written);
        self.changes.push(written);
    }

    /// Describes a request, and numbers it if it is a write.
    pub(super) fn look(&mut self, request: &Request) -> Asked {
        let mut asked = Asked::of(&self.server, request);
        if !matches!(&*asked.method, "GET" | "HEAD") && !Rules::is_noise(&asked.resource) {
            let writes = self.writes.entry(self.current).or_default();
            *writes += 1;
            asked.write = *writes;
        }
        asked
    }
}

/// How many requests are more than any controller needs in such a state.
fn most(state: &State) -> u64 {
    MOST[0] + MOST[1] * state.len() as u64
}

impl Backend for Outside {
    fn depart(&mut self, now: Duration, request: Request) -> Option<(Duration, u64)> {
        if self.is_fenced {
            return None;
        }
        self.next += 1;
        if let Some(gate) = &mut self.gate {
            gate.hold(self.next, now);
        }
        self.travelling.insert(self.next, (self.current, request));
        let travel = self.chance.as_mut().map_or(TRAVEL, journey);
        Some((travel, self.next))
    }

    fn sets_out(&mut self, number: u64) -> bool {
        !self.gate.as_ref().is_some_and(|it| it.holds(number))
    }

    fn arrive(&mut self, now: Duration, number: u64) -> Option<Answer> {
        let pending = self.begin(now, number)?;
        let answer = self.settle(|world, attempt| world.answer(now, &pending, attempt));
        self.end(now, pending, answer)
    }

    fn attempt(&mut self, now: Duration, number: u64, attempt: &mut Attempt) -> Option<Step> {
        let pending = match self.hooks.pending.remove(&number) {
            Some(pending) => Some(pending).filter(|_| !self.is_fenced)?,
            None => self.begin(now, number)?,
        };
        match self.answer(now, &pending, attempt) {
            Step::Answered(answer) => self.end(now, pending, answer).map(Step::Answered),
            waits @ Step::Waits(_) => {
                self.hooks.pending.insert(number, pending);
                Some(waits)
            }
        }
    }

    fn unconverted(
        &mut self,
        now: Duration,
        id: WatchId,
        attempt: &mut Attempt,
    ) -> Vec<WebhookCall> {
        self.server.advance(now);
        match self.lag_of(now, id) {
            Some((revision, _)) => {
                self.server.late(revision, |server| server.unconverted(id, attempt))
            }
            None => self.server.unconverted(id, attempt),
        }
    }

    fn tell(&mut self, now: Duration, id: WatchId) -> Told {
        self.server.advance(now);
        let of = self.watches.get(&id).cloned().unwrap_or_default();
        if let Some(silence) = self.silences.get(&of) {
            if now < silence.until {
                return Told { again_at: Some(silence.until), ..Told::default() };
            }
            self.silences.remove(&of);
        }
        let resource = of.1;
        let (news, until) = match self.lag_of(now, id) {
            Some((revision, until)) => {
                (self.server.late(revision, |server| server.events(id)), Some(until))
            }
            None if self.is_held(id) => return Told::default(),
            None => (self.server.events(id), None),
        };
        for event in news.events.iter().filter(|it| it.kind != "BOOKMARK") {
            let metadata = &event.object["metadata"];
            let namespace = metadata["namespace"].as_str().map(|it| format!("{it}/"));
            let name = metadata["name"].as_str().unwrap_or_default();
            let namespace = namespace.unwrap_or_default();
            let text = format!("{} {resource} {namespace}{name}", event.kind);
            self.note(What::Told { text });
        }
        let due = self.server.due(id);
        let again_at = due.into_iter().chain(until).min();
        Told { events: news.events, has_ended: news.has_ended, again_at }
    }

    fn close(&mut self, id: WatchId) {
        self.watches.remove(&id);
        self.server.close(id);
    }
}
