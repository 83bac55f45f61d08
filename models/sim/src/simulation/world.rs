//! The server of a run, the network in front of it, and the faults of the plan.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::garbage::Garbage;
use super::learn::Learned;
use super::network::{Pace, Silence, TRAVEL, journey};
use super::plan::{Fault, Plan};
use super::rights::{Granted, Needs};
use super::rules::Rules;
use super::state::State;
use super::trace::{Asked, Entry, What, Who};
use crate::apiserver::{
    self, Answer, Point, Random, Request, Server, Trouble, User, WatchId, Written,
};
use crate::tower::{Backend, Told};

/// How many requests between two steps are more than any controller needs.
const MOST: u64 = 20_000;

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
    /// When each request of the controller arrived.
    pub(crate) requests: Vec<Duration>,
    pub(crate) last_change: Duration,
    pub(crate) broken_rule: Option<String>,
    /// The controller's process is to be ended.
    pub(crate) is_fenced: bool,
    pub(crate) signal: Arc<Notify>,
    /// Requests since the last step.
    pub(crate) busy: u64,
    pub(crate) steps: u32,
    begins_at: Duration,
    rules: Arc<Rules>,
    learned: Arc<Learned>,
    /// The state after the last change, if there are rules about changes.
    before: Option<State>,
    pub(crate) faults: Vec<Fault>,
    writes: u32,
    pub(crate) seen: u64,
    travelling: BTreeMap<u64, Request>,
    next: u64,
    watches: BTreeMap<WatchId, String>,
    silences: BTreeMap<String, Silence>,
    pub(crate) lag: Option<Lag>,
    pub(crate) pace: Pace,
    pub(crate) garbage: Garbage,
    pub(crate) chance: Option<Random>,
    /// What the controller may do, if not everything.
    pub(crate) granted: Option<Arc<Granted>>,
    pub(crate) needs: Needs,
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
        let before = (!rules.steps.is_empty()).then(|| State::of(&server));
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
            steps: 0,
            begins_at: now,
            rules,
            learned,
            before,
            faults: plan.faults.clone(),
            writes: 0,
            seen,
            travelling: BTreeMap::new(),
            next: 0,
            watches: BTreeMap::new(),
            silences: BTreeMap::new(),
            lag: None,
            garbage: Garbage::default(),
            pace: Pace::default(),
            chance,
            granted: None,
            needs: Needs::new(),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.server.now()
    }

    pub(crate) fn note(&mut self, what: What) {
        let at = self.server.now().saturating_sub(self.begins_at);
        self.trace.push(Entry { at, what });
    }

    /// Sends a request of the user, and returns the answer.
    pub(crate) fn user(&mut self, request: &Request) -> Answer {
        let request = request.clone().by(User::admin());
        let answer = self.server.handle(self.now(), &request);
        self.absorb(Who::User);
        answer
    }

    /// The process is dead. Requests that it had sent arrive all the same.
    pub(crate) fn bury(&mut self) {
        while let Some((&number, _)) = self.travelling.first_key_value() {
            drop(self.arrive(self.now(), number));
        }
        for id in std::mem::take(&mut self.watches).into_keys() {
            self.server.close(id);
        }
        self.is_fenced = false;
    }

    /// How long a lag lasts; for the end of a run also silences and a collector that is late, for which the
    /// user does not wait.
    pub(crate) fn disturbed_until(&self, is_over: bool) -> Option<Duration> {
        let late = self.silences.values().map(|it| it.until).chain(self.garbage.due());
        late.filter(|_| is_over).chain(self.lag.iter().map(|it| it.until)).max()
    }

    /// The controller sends more requests than any needs.
    pub(crate) fn is_endless(&self) -> bool {
        self.busy > MOST
    }

    /// Takes note of what was written since it was last asked, and lets faults strike that wait for it.
    pub(crate) fn absorb(&mut self, who: Who) -> bool {
        let before = self.changes.len();
        for written in self.server.writes_after(self.seen) {
            if !Rules::is_noise(&written.resource) {
                self.change(written, who);
            }
        }
        self.seen = self.server.revision();
        let has_changed = self.changes.len() > before;
        if has_changed {
            let state = State::of(&self.server);
            self.look_for_garbage(&state, before..self.changes.len());
            self.judge(state);
        }
        has_changed
    }

    /// Asks the rules of the test.
    fn judge(&mut self, state: State) {
        if self.broken_rule.is_some() {
            return;
        }
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
        if let Some(chance) = &mut self.chance {
            let until = self.server.now() + journey(chance);
            self.silences
                .entry(written.resource.to_string())
                .or_insert(Silence { until, opposite: None });
        }
        if let Some(silence) = self.silences.get(&*written.resource)
            && silence.ends_with(&written)
        {
            self.relist(&written.resource);
        }
        self.strike_change(number, &written);
        self.changes.push(written);
    }

    /// The watches of a resource end, and are too old to go on.
    fn relist(&mut self, resource: &str) {
        self.silences.remove(resource);
        self.cut(resource);
        self.server.compact(self.server.revision());
        let text = format!("the watches of {resource} are too old: they list anew");
        self.note(What::Struck { text });
    }

    fn cut(&mut self, resource: &str) {
        for (id, _) in self.watches.iter().filter(|(_, it)| **it == resource) {
            self.server.close(*id);
        }
    }

    /// Lets the faults strike that wait for a change.
    fn strike_change(&mut self, number: u32, written: &Written) {
        let is_due = |fault: &Fault| match fault {
            Fault::Unobserved { resource, change }
            | Fault::Cut { resource, change }
            | Fault::Silent { resource, change, .. } => {
                *change == number && **resource == *written.resource
            }
            _ => false,
        };
        let (due, rest) = std::mem::take(&mut self.faults).into_iter().partition(is_due);
        self.faults = rest;
        for fault in due {
            self.note(What::Struck { text: fault.to_string() });
            match fault {
                Fault::Cut { resource, .. } => self.cut(&resource),
                Fault::Silent { resource, seconds, .. } => {
                    let until = self.now() + Duration::from_secs(seconds.into());
                    let silence = Silence { until, opposite: None };
                    self.silences.insert(resource, silence);
                }
                Fault::Unobserved { resource, .. } => {
                    let silence = Silence::until_opposite(self.now() + self.pace.patience, written);
                    self.silences.insert(resource, silence);
                }
                _ => {}
            }
        }
    }

    /// Injects the faults that strike a write. True: the controller dies after it.
    fn strike_write(&mut self, number: u32) -> bool {
        let is_due = |fault: &Fault| match fault {
            Fault::Crash { write } | Fault::Lost { write } | Fault::Refused { write, .. } => {
                *write == number
            }
            _ => false,
        };
        let (due, rest): (Vec<_>, _) =
            std::mem::take(&mut self.faults).into_iter().partition(is_due);
        self.faults = rest;
        let mut dies = false;
        for fault in due {
            self.note(What::Struck { text: fault.to_string() });
            let what = match fault {
                Fault::Lost { .. } => Trouble::LoseAnswer,
                Fault::Refused { status, .. } => Trouble::Refuse { status, retry_after: None },
                _ => {
                    dies = true;
                    continue;
                }
            };
            let fault = apiserver::Fault { at: Point::default(), after: 0, times: 1, what };
            self.server.inject(fault);
        }
        dies
    }

    /// Describes a request, and numbers it if it is a write.
    fn look(&mut self, request: &Request) -> Asked {
        let mut asked = Asked::of(&self.server, request);
        if !matches!(&*asked.method, "GET" | "HEAD") && !Rules::is_noise(&asked.resource) {
            self.writes += 1;
            asked.write = self.writes;
        }
        asked
    }

    /// Answers, from the replica that lags if that is allowed.
    fn answer(&mut self, now: Duration, request: &Request, asked: &Asked) -> Answer {
        self.server.advance(now);
        let may_lag = asked.takes_any || asked.is_watch;
        match self.lag.as_ref().filter(|lag| may_lag && lag.resource == asked.resource) {
            Some(lag) if now < lag.until => {
                self.server.late(lag.revision, |server| server.handle(now, request))
            }
            _ => self.server.handle(now, request),
        }
    }
}

impl Backend for Outside {
    fn depart(&mut self, _: Duration, request: Request) -> Option<(Duration, u64)> {
        if self.is_fenced {
            return None;
        }
        self.next += 1;
        self.travelling.insert(self.next, request);
        let travel = self.chance.as_mut().map_or(TRAVEL, journey);
        Some((travel, self.next))
    }

    fn arrive(&mut self, now: Duration, number: u64) -> Option<Answer> {
        let mut request = self.travelling.remove(&number)?;
        request.by = self.granted.as_ref().map(|it| it.user.clone()).or(request.by);
        self.server.advance(now);
        self.requests.push(now);
        self.busy += 1;
        let mut asked = self.look(&request);
        let dies = asked.write > 0 && self.strike_write(asked.write);
        let answer = self.answer(now, &request, &asked);
        match &answer {
            Answer::Response(response) => asked.learn(response),
            Answer::Watch { id, head } => {
                self.watches.insert(*id, asked.resource.clone());
                asked.status = head.status;
            }
            Answer::Lost => {}
        }
        if let Some(granted) = &self.granted {
            let noted = self.server.noted();
            granted.learn(&mut self.needs, noted, &asked.text());
        }
        let at = self.trace.len();
        asked.has_changed = self.absorb(Who::Controller);
        let time = now.saturating_sub(self.begins_at);
        if dies {
            asked.status = 0;
        }
        let what = What::Asked { request: asked };
        self.trace.insert(at, Entry { at: time, what });
        if dies || self.is_endless() {
            self.is_fenced = true;
            self.signal.notify_one();
            return None;
        }
        Some(answer)
    }

    fn tell(&mut self, now: Duration, id: WatchId) -> Told {
        self.server.advance(now);
        let resource = self.watches.get(&id).cloned().unwrap_or_default();
        if let Some(silence) = self.silences.get(&resource) {
            if now < silence.until {
                return Told { again_at: Some(silence.until), ..Told::default() };
            }
            self.silences.remove(&resource);
        }
        let lag = self.lag.as_ref().filter(|lag| lag.resource == resource && now < lag.until);
        let (news, until) = match lag {
            Some(lag) => {
                let until = lag.until;
                (self.server.late(lag.revision, |server| server.events(id)), Some(until))
            }
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
