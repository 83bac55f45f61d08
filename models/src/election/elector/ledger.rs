//! Follows a history event by event: what each elector has asked, what it has learned, and what its
//! owner was told.

use std::borrow::Cow;

use seatrial_core::elector::{
    Config, Fence, Io, LeaseSpec, Name, Next, Object, Observed, Op, Record, StoreError, Stored,
    Turn, WorkEnded,
};
use seatrial_core::machine::Step;
use seatrial_core::runtime::Instant;

use super::asked::{Asked, Numbers, asked, claims_the_lease, is_strict};
use super::part::{Answer, Call, Request};
use super::scene;
use super::{Elector as Page, Event, History};
use crate::engine::End;
use crate::trial::{Ledger, What};

/// A call on its way.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) io: Io,
    pub(super) deadline: Option<Instant>,
    /// Whether it was the first call of its attempt.
    pub(super) first: bool,
}

/// A term that an elector was told to lead.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) number: u64,
    pub(super) fence: Fence,
    /// Why it is over, once it is.
    pub(super) over: Option<&'static str>,
    /// Whether the elector has read that the lease is not its own any more.
    pub(super) lost: bool,
}

/// A thread that sleeps in a call.
#[derive(Clone, Debug)]
pub(super) struct Sleeper {
    pub(super) thread: u8,
    /// The term whose end the thread awaits; `None` for a run.
    pub(super) term: Option<u64>,
    /// The first reason to wake, and the time since which it holds.
    pub(super) called: Option<(Instant, &'static str)>,
}

/// The state of an elector before an event.
#[derive(Clone, Debug)]
pub(super) struct Elector {
    pub(super) config: Config,
    /// The number of its runs.
    pub(super) runs: u64,
    pub(super) running: bool,
    pub(super) cancelled: bool,
    /// Whether the work of its run has ended, and the run is to end with it.
    pub(super) idle: bool,
    /// Whether this run has led.
    pub(super) led: bool,
    /// Whether its owner was told in this run that it leads no more, and the lease is to be freed.
    pub(super) winding_down: bool,
    /// Until when its work may go on, while the lease is to be freed.
    pub(super) patience: Option<Instant>,
    pub(super) call: Option<Sent>,
    /// When its attempt began.
    pub(super) began: Instant,
    /// The time until which the last success lets it act, in the strict profile.
    pub(super) valid_until: Option<Instant>,
    /// The beginning of the last attempt that succeeded.
    pub(super) renewed: Option<Instant>,
    /// The token of the last write that the store accepted.
    pub(super) accepted: Option<Fence>,
    pub(super) term: Option<Term>,
    /// The count of transitions in the last record that it sent in order to hold the lease.
    pub(super) written: Option<i64>,
    /// Whether its last attempt sent a write that may have been applied.
    pub(super) unsure: bool,
    pub(super) sleepers: Vec<Sleeper>,
    /// The states that it has learned, each with the time at which it did, the latest last.
    pub(super) learned: Vec<(Stored, Instant)>,
    /// The pairs that may be observed.
    pub(super) pairs: Vec<Observed>,
    /// Leaders that it decided to report, and leaders that its callback was told.
    pub(super) reports: Vec<Name>,
    pub(super) told: Vec<u64>,
    /// Terms that it was ordered to lead, and how often the work has started.
    pub(super) terms: u32,
    pub(super) starts: u32,
    /// Calls of the stop callback in this run.
    pub(super) stops: u32,
}

impl Elector {
    fn new(config: &Config) -> Self {
        Self {
            config: config.clone(),
            runs: 0,
            running: false,
            cancelled: false,
            idle: false,
            led: false,
            winding_down: false,
            patience: None,
            call: None,
            began: Instant::ZERO,
            valid_until: None,
            renewed: None,
            accepted: None,
            term: None,
            written: None,
            unsure: false,
            sleepers: Vec::new(),
            learned: Vec::new(),
            pairs: vec![Observed::default()],
            reports: Vec::new(),
            told: Vec::new(),
            terms: 0,
            starts: 0,
            stops: 0,
        }
    }

    pub(super) fn is_strict(&self) -> bool {
        is_strict(&self.config)
    }

    /// Returns the newest record that it knows, and when it first learned of that state.
    pub(super) fn newest(&self) -> Option<(&Record, Instant)> {
        let (newest, _) = self.learned.last()?;
        let same = |(stored, _): &&(Stored, Instant)| {
            stored.version == newest.version && stored.uid == newest.uid
        };
        let first = self.learned.iter().find(same);
        first.map(|(stored, at)| (&stored.record, *at))
    }

    /// Tells whether a strict elector reads in a step that its lease is no longer held in its term.
    pub(super) fn reads_its_loss(&self, asked: &Asked<'_>) -> bool {
        let reads = matches!(&self.call, Some(sent) if sent.io == Io::Get);
        let Some(term) = self.term.as_ref().filter(|_| reads && self.running && self.is_strict())
        else {
            return false;
        };
        match asked.learned() {
            Some(Ok(Stored { record, uid, .. })) => {
                record.holder != self.config.identity
                    || record.transitions != term.fence.transitions
                    || *uid != term.fence.uid
            }
            answer => matches!(answer, Some(Err(StoreError::NotFound))),
        }
    }

    /// Tells whether its run ends because this work has ended.
    fn ends_with(&self, work: &WorkEnded) -> bool {
        let works = |term: &Term| term.number == work.term && term.over.is_none();
        self.running
            && self.term.as_ref().is_some_and(works)
            && (work.panicked || self.config.work_ends_term)
    }

    fn end_term(&mut self, now: Instant, because: &'static str) {
        let Some(term) = &mut self.term else { return };
        if term.over.is_none() {
            term.over = Some(because);
            let number = term.number;
            self.call_sleepers(Some(number), now, because);
        }
    }

    fn call_sleepers(&mut self, of: Option<u64>, now: Instant, because: &'static str) {
        for sleeper in &mut self.sleepers {
            if sleeper.term == of {
                sleeper.called.get_or_insert((now, because));
            }
        }
    }
}

/// The state before an event.
#[derive(Clone, Debug, Default)]
pub(super) struct ElectorLedger {
    pub(super) electors: Vec<Elector>,
    /// The lease in the store.
    pub(super) lease: Option<Object<LeaseSpec>>,
    /// The tokens of all terms, in the order in which they were given.
    pub(super) fences: Vec<Fence>,
    pub(super) numbers: Numbers,
}

impl Ledger<Page> for ElectorLedger {
    fn apply(&mut self, event: &Event) {
        if let Some((_, config)) = self.numbers.note(event) {
            self.electors.push(Elector::new(config));
            return;
        }
        match &event.what {
            What::Step { op: Call::Serve(serve), outcome, .. } => {
                if let (true, Step::Done(Answer::Serve(Ok(lease)))) =
                    (!matches!(serve.request, Request::Get), outcome)
                {
                    let deleted = matches!(serve.request, Request::Delete);
                    self.lease = (!deleted).then(|| lease.clone());
                }
            }
            What::Note { label, value } => self.note(label, *value),
            What::Cancel { .. } => {
                let all = self.electors.iter_mut();
                all.for_each(|elector| elector.sleepers.retain(|it| it.thread != event.thread));
            }
            _ => {}
        }
        if let Some(asked) = asked(event, &self.numbers) {
            self.fences.extend(lead(&asked).cloned());
            let elector = &mut self.electors[usize::from(asked.number)];
            step(elector, event.thread, event.at, &asked);
        }
    }
}

impl ElectorLedger {
    fn note(&mut self, label: &str, value: u64) {
        let number = if label == scene::IS_TOLD { value >> 8 } else { value };
        let Some(elector) = self.electors.get_mut(number as usize) else { return };
        match label {
            scene::STARTS => elector.starts += 1,
            scene::STOPS => elector.stops += 1,
            scene::IS_TOLD => elector.told.push(value),
            _ => {}
        }
    }

    /// Returns the state at the end, without the steps in which sleepers break down when a deadlock is
    /// given up.
    pub(super) fn of_calls(&self, history: &History) -> Cow<'_, Self> {
        if !matches!(history.end, End::Deadlock(_)) {
            return Cow::Borrowed(self);
        }
        let mut ledger = Self::default();
        for event in &history.events {
            let breaks_down = ledger.asked(event).is_some_and(|(elector, asked)| {
                let sleeps = elector.sleepers.iter().any(|sleeper| sleeper.thread == event.thread);
                matches!(asked.op, Op::Abort(_)) || sleeps && matches!(asked.op, Op::WorkEnded(_))
            });
            if !breaks_down {
                ledger.apply(event);
            }
        }
        Cow::Owned(ledger)
    }

    /// Returns the elector that made a step, and the step.
    pub(super) fn asked<'a>(&self, event: &'a Event) -> Option<(&Elector, Asked<'a>)> {
        let asked = asked(event, &self.numbers)?;
        Some((&self.electors[usize::from(asked.number)], asked))
    }
}

/// Returns the token of the term, if a step orders to lead.
pub(super) fn lead<'a>(asked: &Asked<'a>) -> Option<&'a Fence> {
    match &asked.turn()?.next {
        Next::Lead { fence, .. } => Some(fence),
        _ => None,
    }
}

fn step(elector: &mut Elector, thread: u8, now: Instant, asked: &Asked<'_>) {
    elector.sleepers.retain(|sleeper| sleeper.thread != thread);
    let out_of_time = elector.valid_until.is_some_and(|until| until <= now);
    if out_of_time && elector.is_strict() {
        elector.end_term(now, "its time is over");
    }
    if let Some(answer) = asked.learned() {
        let lost = elector.reads_its_loss(asked);
        elector.term.iter_mut().for_each(|term| term.lost |= lost);
        learn(elector, now, answer);
    }
    if let Some(turn) = asked.turn()
        && turn.next != Next::Refused
    {
        if let Op::Begin(begin) = asked.op {
            elector.runs += 1;
            elector.running = true;
            elector.cancelled = begin.cancelled;
            (elector.led, elector.winding_down, elector.unsure) = (false, false, false);
            elector.idle = false;
            elector.stops = 0;
            elector.patience = None;
        }
        if let Op::Try(_) = asked.op {
            // From now on it holds the lease by single attempts, in no term of a run.
            elector.term = None;
            elector.led = false;
        }
        turned(elector, now, asked, turn);
    }
    if let Some(over) = asked.over()
        && elector.term.as_ref().is_some_and(|term| term.number == over)
    {
        elector.end_term(now, "somebody was told so");
    }
    match (asked.op, asked.outcome) {
        (Op::Cancel(cancel), _) if elector.running && cancel.run == elector.runs => {
            elector.cancelled = true;
            elector.end_term(now, "it was cancelled");
            elector.call_sleepers(None, now, "it was cancelled");
        }
        (Op::Abort(_), _) => {
            elector.running = false;
            elector.cancelled = false;
            elector.end_term(now, "its run broke down");
        }
        (Op::WorkEnded(work), _) if elector.ends_with(work) => {
            (elector.cancelled, elector.idle) = (true, true);
            elector.end_term(now, "its work has ended");
            elector.call_sleepers(None, now, "its work has ended");
        }
        (Op::WorkEnded(_), _) if elector.winding_down => {
            elector.call_sleepers(None, now, "its work has ended");
        }
        (Op::Rest(_), None) => {
            elector.sleepers.push(Sleeper { thread, term: None, called: None });
        }
        (Op::Watch(watch), None) => {
            elector.sleepers.push(Sleeper { thread, term: Some(watch.term), called: None });
        }
        _ => {}
    }
}

fn learn(elector: &mut Elector, now: Instant, answer: &Result<Stored, StoreError>) {
    let Some(sent) = elector.call.take() else { return };
    let claims = claims_the_lease(&sent.io);
    match answer {
        Ok(stored) => {
            elector.learned.push((stored.clone(), now));
            elector.pairs.push(Observed::new(stored.record.clone(), now));
            if let Io::Create(written) | Io::Update(written, _) = &sent.io {
                elector.pairs.push(Observed::new(written.clone(), now));
                if claims {
                    elector.renewed = Some(elector.began);
                    elector.valid_until = Some(elector.began + elector.config.acting());
                    elector.accepted = Some(Fence::new(
                        stored.uid.clone(),
                        written.transitions,
                        stored.version.clone(),
                    ));
                }
            }
        }
        Err(error) => elector.unsure |= claims && error.may_have_been_applied(),
    }
}

fn turned(elector: &mut Elector, now: Instant, asked: &Asked<'_>, turn: &Turn) {
    if let Some(leader) = &turn.notes.new_leader {
        elector.reports.push(leader.clone());
    }
    if turn.notes.metric_off && elector.is_strict() {
        elector.end_term(now, "its term was ended");
        elector.winding_down = elector.config.release_on_cancel;
        elector.patience = elector.winding_down.then_some(now + elector.config.bounds.work);
    }
    match &turn.next {
        Next::Call { io, deadline, .. } => {
            let first = asked.learned().is_none();
            if first {
                elector.began = now;
                elector.unsure = false;
            }
            elector.unsure &= *io != Io::Get;
            if let (true, Io::Create(record) | Io::Update(record, _)) = (claims_the_lease(io), io) {
                elector.written = Some(record.transitions);
            }
            elector.patience = None;
            elector.call = Some(Sent { io: io.clone(), deadline: *deadline, first });
        }
        Next::Lead { term, fence } => {
            elector.led = true;
            elector.terms += 1;
            elector.term =
                Some(Term { number: *term, fence: fence.clone(), over: None, lost: false });
            if elector.cancelled {
                elector.end_term(now, "it was cancelled before");
            }
        }
        Next::Ended { .. } => {
            elector.running = false;
            elector.cancelled = false;
            elector.end_term(now, "its run has ended");
        }
        Next::Rest | Next::Done(_) | Next::Refused => {}
    }
}
