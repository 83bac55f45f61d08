//! The way from the server to the reconciled key, as one machine. It runs the shipped rules:
//! reflector, `apply`, and the rate-limiting queue, which also holds the keys to retry. The
//! informer's loop, the handler and the pool's worker connect them; here each of these is one step.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use seatrial_core::limited_queue::{Limited, Op as QueueOp, Outcome, Ret as QueueRet, Settle};
use seatrial_core::limiter::{Exponential, Item, Limiter as _};
use seatrial_core::machine::{Channel, Cx, Machine, Operation, Step};
use seatrial_core::queue::{Add, Fifo, Get, Token};

use super::storing;
use crate::engine::state::At;
use crate::reflector::{self, Follower, Given, Happen, RESTERS, Setting, Turn, Turned};
use crate::single_step::hash;

/// The channel that workers sleep on. The reflector's own channels are passed through unchanged.
const WORKERS: Channel = 2;
/// The delay before the first retry of a key that failed.
const RETRY: Duration = Duration::from_secs(1);
/// The longest delay before a retry.
const LONGEST: Duration = Duration::from_secs(1000);

/// Starts a run: the number of objects, and the number of reconciles that fail.
#[derive(Clone, Copy, Debug)]
pub struct Begin(pub u8, pub u32);

/// The informer takes a step: the reflector's step, or a change of the store by what it gave.
#[derive(Clone, Debug)]
pub struct Inform;

/// A worker takes a key and reads the store.
#[derive(Clone, Debug)]
pub struct Take;

/// A worker has finished the reconcile of a key that it took.
#[derive(Clone, Copy, Debug)]
pub struct Finish(pub Work);

/// Something happens at the server.
#[derive(Clone, Copy, Debug)]
pub struct Occur(pub Happen);

/// Stops everything once this many things have happened and everything is at rest.
#[derive(Clone, Debug)]
pub struct StopAtRest(pub u32);

/// The work that a worker holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// The key.
    pub key: u8,
    /// The version that the store had; zero for none.
    pub saw: u64,
    token: Token,
}

/// A step of an informer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Informed {
    /// The reflector asked something.
    Asked(Box<Turned>),
    /// The store was changed. These keys must be reconciled, in these versions.
    Stored(Vec<(u8, u64)>),
    /// It has stopped.
    Stopped,
}

seatrial_core::operations! {
    [] Chain: Call, Answer {
        Begin(Begin) -> (),
        Inform(Inform) -> Informed,
        Take(Take) -> Option<Work>,
        Finish(Finish) -> bool,
        Occur(Occur) -> u64,
        StopAtRest(StopAtRest) -> (),
    }
}

/// Everything between a server and the reconciled key.
#[derive(Clone, Debug)]
pub struct Chain {
    mistake: &'static str,
    follower: Follower,
    /// Objects and events from the reflector, on their way to the store.
    given: VecDeque<Given>,
    store: BTreeMap<u8, u64>,
    /// The store's next content, while keys are told too early: a mistake.
    late: Option<BTreeMap<u8, u64>>,
    queue: Limited<u8, Exponential<u8>>,
    /// How many more reconciles fail.
    fails: u32,
    /// The version that the store had when a key was told: for a mistake.
    told: BTreeMap<u8, u64>,
    held: BTreeSet<u8>,
    /// The version that was seen last, for each key that was reconciled.
    pub(super) reconciled: BTreeMap<u8, u64>,
    happened: u32,
    stopped: bool,
}

fn add(key: u8) -> QueueOp<u8> {
    QueueOp::Add(Add { key: Some(key), hash: hash(&key) })
}

impl Chain {
    pub(super) fn new(mistake: &'static str) -> Self {
        Self {
            mistake,
            follower: Follower::ships(),
            given: VecDeque::new(),
            store: BTreeMap::new(),
            late: None,
            queue: Limited::new(Exponential::new(RETRY, LONGEST), Fifo::default()),
            fails: 0,
            told: BTreeMap::new(),
            held: BTreeSet::new(),
            reconciled: BTreeMap::new(),
            happened: 0,
            stopped: false,
        }
    }

    fn has(&self, mistake: &'static str) -> bool {
        self.mistake == mistake
    }

    /// Whether nothing is in progress any more.
    pub(super) fn is_at_rest(&self) -> bool {
        let (queue, delayed) = (self.queue.delaying().queue(), self.queue.delaying().delayed());
        let reconciles = !queue.is_empty() || queue.in_flight() > 0;
        let late = !self.given.is_empty() || self.late.is_some() || delayed > 0;
        self.follower.is_at_rest() && !reconciles && !late
    }

    /// Keys whose last reconcile saw a version that differs from the server's.
    pub(super) fn differences(&self) -> Vec<u8> {
        let newest = self.follower.newest();
        let keys: BTreeSet<u8> = newest.keys().chain(self.reconciled.keys()).copied().collect();
        let seen = |key: &u8| self.reconciled.get(key).copied().unwrap_or(0);
        keys.into_iter().filter(|key| seen(key) != newest.get(key).copied().unwrap_or(0)).collect()
    }

    /// The whole state that decides the next steps, as text.
    pub(super) fn form(&self) -> String {
        let (queue, retries) = (self.queue.delaying().queue(), self.queue.delaying().later());
        let waiting: Vec<_> = queue.waiting().collect();
        let mut processing: Vec<_> = queue.processing().collect();
        processing.sort_unstable();
        let failed = |key: u8| self.queue.limiter().num_requeues(Item::new(&key, hash(&key)));
        let failures: Vec<u32> = (0..reflector::KEYS).map(failed).collect();
        let rest = (retries, failures, self.fails, &self.told, &self.reconciled);
        let ends = (self.happened, self.stopped, &self.late, &self.held);
        let stored = (&self.given, &self.store);
        format!("{} {stored:?} {waiting:?} {processing:?} {rest:?} {ends:?}", self.follower.form())
    }

    fn queued(&mut self, op: QueueOp<u8>, cx: &mut Cx<'_>) -> Step<QueueRet<u8>> {
        let (clock, mut op) = (At(cx.now()), op);
        let mut own = Cx::new(&clock);
        let step = self.queue.step(&mut op, &mut own);
        let forgets = match op {
            QueueOp::Settle(_) => self.has("retries_wake_nobody"),
            _ => self.has("new_work_wakes_nobody"),
        };
        if own.wakes.any() && !forgets {
            cx.wakes.all(WORKERS);
        }
        step
    }

    /// Tells the queue that a key must be reconciled.
    fn tell(&mut self, key: u8, version: u64, cx: &mut Cx<'_>) {
        let known = self.reconciled.contains_key(&key);
        let forgets = (self.has("deletions_are_not_told") && version == 0)
            || (self.has("changes_are_told_once") && known && version > 0)
            || (self.has("busy_keys_are_not_told") && self.held.contains(&key))
            || (self.has("keys_that_failed_are_not_told") && self.is_to_be_retried(key));
        if !forgets {
            self.told.entry(key).or_insert(version);
            drop(self.queued(add(key), cx));
        }
    }

    /// Whether a key that failed waits for its next try.
    fn is_to_be_retried(&self, key: u8) -> bool {
        self.queue.delaying().later().iter().any(|(later, _)| **later == key)
    }

    /// Changes the store by what the reflector gave, then tells the changed keys.
    fn change(&mut self, given: &Given, cx: &mut Cx<'_>) -> Vec<(u8, u64)> {
        let (after, changes) = storing::change(&self.store, given);
        if self.has("told_before_it_is_stored") {
            self.late = Some(after);
        } else {
            self.store = after;
        }
        let is_list = matches!(given, Given::All(..));
        let mut told = Vec::new();
        // An informer does the same for handlers that skip unchanged objects (`cache:SI-20`).
        for (key, before, version) in changes.into_iter().filter(|(_, old, new)| old != new) {
            let forgets = is_list
                && ((self.has("lists_tell_no_deletions") && version == 0)
                    || (self.has("lists_tell_no_changes") && before > 0));
            told.push((key, version));
            if !forgets {
                self.tell(key, version, cx);
            }
        }
        told
    }

    fn inform(&mut self, cx: &mut Cx<'_>) -> Step<Informed> {
        if self.stopped {
            return Step::Done(Informed::Stopped);
        }
        if let Some(store) = self.late.take() {
            self.store = store;
            cx.wakes.all(RESTERS);
            return Step::Done(Informed::Stored(Vec::new()));
        }
        if let Some(given) = self.given.pop_front() {
            let told = self.change(&given, cx);
            cx.wakes.all(RESTERS);
            return Step::Done(Informed::Stored(told));
        }
        Turn.step(&mut self.follower, cx).map(|turned| match turned {
            Some(turned) => {
                self.given.extend(turned.given.clone().filter(|_| !turned.refused));
                Informed::Asked(turned)
            }
            None => Informed::Stopped,
        })
    }

    fn take(&mut self, cx: &mut Cx<'_>) -> Step<Option<Work>> {
        if self.stopped {
            return Step::Done(None);
        }
        match self.queued(QueueOp::Get(Get), cx) {
            Step::Done(QueueRet::Get(Some((token, key)))) => {
                self.held.insert(key);
                let told = self.told.remove(&key);
                let saw = self.store.get(&key).copied().unwrap_or(0);
                let stale = told.filter(|_| self.has("reads_what_was_told"));
                Step::Done(Some(Work { key, saw: stale.unwrap_or(saw), token }))
            }
            Step::Wait { until, .. } => Step::Wait { on: WORKERS, until },
            _ => Step::Done(None),
        }
    }

    /// Ends a reconcile; tells whether it succeeded.
    fn finish(&mut self, work: Work, cx: &mut Cx<'_>) -> bool {
        let fails = self.fails > 0;
        self.held.remove(&work.key);
        let outcome = if !fails {
            self.reconciled.insert(work.key, work.saw);
            Outcome::Success
        } else if self.forgets_failures() {
            Outcome::GiveUp
        } else {
            Outcome::Retry
        };
        self.fails = self.fails.saturating_sub(1);
        drop(self.queued(QueueOp::Settle(Settle::new(work.token, outcome)), cx));
        cx.wakes.all(RESTERS);
        !fails
    }

    fn forgets_failures(&self) -> bool {
        let waits = self.queue.delaying().delayed() > 0;
        self.has("failures_are_forgotten") || (self.has("one_retry_at_a_time") && waits)
    }
}

impl Operation<Chain> for Begin {
    fn step(&mut self, chain: &mut Chain, cx: &mut Cx<'_>) -> Step<()> {
        chain.fails = self.1;
        let setting = Setting { objects: self.0, ..Setting::default() };
        reflector::Begin(setting).step(&mut chain.follower, cx)
    }
}

impl Operation<Chain> for Inform {
    fn step(&mut self, chain: &mut Chain, cx: &mut Cx<'_>) -> Step<Informed> {
        chain.inform(cx)
    }
}

impl Operation<Chain> for Take {
    fn step(&mut self, chain: &mut Chain, cx: &mut Cx<'_>) -> Step<Option<Work>> {
        chain.take(cx)
    }
}

impl Operation<Chain> for Finish {
    fn step(&mut self, chain: &mut Chain, cx: &mut Cx<'_>) -> Step<bool> {
        Step::Done(chain.finish(self.0, cx))
    }
}

impl Operation<Chain> for Occur {
    fn step(&mut self, chain: &mut Chain, cx: &mut Cx<'_>) -> Step<u64> {
        chain.happened += 1;
        self.0.step(&mut chain.follower, cx)
    }
}

impl Operation<Chain> for StopAtRest {
    fn step(&mut self, chain: &mut Chain, cx: &mut Cx<'_>) -> Step<()> {
        if chain.happened < self.0 || !chain.is_at_rest() {
            return Step::Wait { on: RESTERS, until: None };
        }
        chain.stopped = true;
        cx.wakes.all(WORKERS);
        reflector::Stop.step(&mut chain.follower, cx)
    }
}
