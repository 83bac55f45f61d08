//! A history of threads, retold as a run of the simulated cluster. So a promise is stated once and
//! judged on every engine.
//!
//! The clock of the checkers stands still while a thread can move. Each event is placed a
//! nanosecond after the one before it, so that the order of events is also their order in time.

use seatrial_core::elector::{
    Config, Fence, Io, LeaseSpec, Next, Notes, Object, Op, Ret, StoreError, Stored, Turn, Version,
};
use seatrial_core::machine::Step;

use super::asked::{Asked, Numbers, asked, claims_the_lease, is_strict};
use super::part::{Answer as Answered, Call, Request, Serve};
use super::{Elector as Page, Event};
use crate::cluster::invariants::Terms;
use crate::cluster::{Answer, Entry, Happening, Process, Run, Verb, What as Told, Writer};
use crate::trial::{Ledger, What};

/// The state of an elector while its history is retold.
#[derive(Debug, Default)]
struct Elector {
    calls: u32,
    running: bool,
    /// The number of its runs.
    runs: u64,
    /// When its attempt began, and whether its last call claims the lease.
    attempt: Option<(u64, bool)>,
    /// The time until which its last success lets it act, in the strict profile.
    valid_until: u64,
    /// The term that it believes in.
    term: Option<u32>,
    /// The last term that ended, and the index of the happening that says so.
    ended: Option<(u32, usize)>,
}

/// A history as a run.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// The run so far.
    pub(super) run: Run,
    /// The assumptions that the promises of a cluster may make, once there is an elector.
    pub(super) terms: Option<Terms>,
    numbers: Numbers,
    electors: Vec<Elector>,
    epochs: u32,
    interfered: bool,
    now: u64,
    index: u64,
}

impl Ledger<Page> for Timeline {
    fn apply(&mut self, event: &Event) {
        self.now = event.at.as_nanos();
        self.tell(event);
        self.index += 1;
        self.run.end = self.now.saturating_add(self.index);
    }
}

impl Timeline {
    /// Tells whether the safety invariants are promised despite the faults: nothing interfered, and
    /// no two electors share an identity.
    pub(super) fn is_safe(&self) -> bool {
        let processes = &self.run.processes;
        let unique = (1..processes.len()).all(|index| {
            let name = processes[index].identity();
            processes[..index].iter().all(|other| other.identity() != name)
        });
        let gives_away =
            |process: &Process| !is_strict(&process.config) && process.config.release_on_cancel;
        unique && !self.interfered && !processes.iter().any(gives_away)
    }

    fn say(&mut self, number: u8, what: Told) {
        let at = self.now + self.index;
        let process = u16::from(number);
        self.run.happenings.push(Happening { at, local: at, process, what });
    }

    fn elector(&mut self, number: u8) -> &mut Elector {
        &mut self.electors[usize::from(number)]
    }

    fn config(&self, number: u8) -> &Config {
        &self.run.processes[usize::from(number)].config
    }

    fn tell(&mut self, event: &Event) {
        self.end_what_is_over();
        if let Some((number, config)) = self.numbers.note(event) {
            self.terms.get_or_insert_with(|| Terms { config: config.clone(), drift_ppm: 0 });
            self.run.processes.push(Process {
                node: number,
                config: config.clone(),
                fences: Vec::new(),
            });
            self.electors.push(Elector::default());
            return;
        }
        if let What::Step { op: Call::Serve(serve), outcome, .. } = &event.what {
            if let Step::Done(Answered::Serve(Ok(lease))) = outcome {
                self.applied(serve, lease);
            }
            return;
        }
        if let Some(asked) = asked(event, &self.numbers) {
            self.asked(asked);
        }
    }

    /// In the strict profile a term is over for every caller once its time has passed.
    fn end_what_is_over(&mut self) {
        for number in 0..self.electors.len() as u8 {
            let over = self.elector(number).valid_until <= self.now;
            if over && is_strict(self.config(number)) {
                self.end_term(number);
            }
        }
    }

    fn end_term(&mut self, number: u8) {
        if let Some(term) = self.elector(number).term.take() {
            self.elector(number).ended = Some((term, self.run.happenings.len()));
            self.say(number, Told::Revoked { term });
        }
    }

    /// A caller was told that the elector leads, so its term was not over yet.
    fn claimed(&mut self, number: u8, claimed: Option<u64>) {
        let Some((term, told)) = self.elector(number).ended else { return };
        if self.elector(number).term.is_none() && claimed.is_none_or(|of| of == u64::from(term)) {
            self.run.happenings[told].what = Told::Frozen; // the term had not ended there
            self.end_later(number, term);
        }
    }

    fn end_later(&mut self, number: u8, term: u32) {
        self.elector(number).ended = Some((term, self.run.happenings.len()));
        self.say(number, Told::Revoked { term });
    }

    /// The store carried out a request.
    fn applied(&mut self, serve: &Serve, lease: &Object<LeaseSpec>) {
        let (over, record) = match &serve.request {
            Request::Get => return,
            Request::Create(_) => (0, Some(lease.content.to_record())),
            Request::Update(sent) => {
                (number_of(&sent.meta.version), Some(lease.content.to_record()))
            }
            Request::Delete => (self.run.versions.len() as u64, None),
            Request::Edit(_) => (self.run.versions.len() as u64, Some(lease.content.to_record())),
        };
        self.epochs += u32::from(over == 0);
        let by = serve.by.map_or(Writer::Outside, |number| Writer::Process(number.into()));
        let at = self.now + self.index;
        self.run.versions.push(Entry { at, by, over, record, epoch: self.epochs });
        let version = self.run.versions.len() as u64;
        match serve.by {
            Some(number) => {
                self.say(number, Told::Applied { call: call_id(number, serve.call), version });
            }
            None => {
                self.interfered = true;
                self.say(0, Told::Outside { version });
            }
        }
    }

    fn asked(&mut self, asked: Asked<'_>) {
        let number = asked.number;
        if let Some(learned) = asked.learned() {
            self.learned(number, learned);
        }
        if let Some(turn) = asked.turn()
            && turn.next != Next::Refused
        {
            self.turned(asked, turn);
        }
        let strict = is_strict(self.config(number));
        if let Some(claimed) = asked.claims(strict) {
            self.claimed(number, claimed);
        }
        match (asked.op, asked.outcome) {
            (Op::Cancel(cancel), _) => self.cancelled(number, cancel.run),
            (Op::Abort(_), Some(Ret::Abort(notes))) => {
                self.told(number, notes);
                self.ended(number, false);
            }
            (Op::WorkEnded(work), _) => {
                let term = work.term as u32;
                self.say(number, Told::WorkEnded { term });
                let ends = work.panicked || self.config(number).work_ends_term;
                if ends && self.elector(number).term == Some(term) {
                    let run = self.elector(number).runs;
                    self.cancelled(number, run);
                }
            }
            _ => {}
        }
        if let Some(over) = asked.over()
            && self.elector(number).term.map(u64::from) == Some(over)
        {
            self.end_term(number);
        }
    }

    fn learned(&mut self, number: u8, learned: &Result<Stored, StoreError>) {
        let call = call_id(number, self.elector(number).calls.saturating_sub(1));
        self.say(number, Told::Learns { call, answer: answer(learned) });
        if let (Ok(_), Some((began, true))) = (learned, self.elector(number).attempt) {
            let acting = u64::try_from(self.config(number).acting().as_nanos());
            self.elector(number).valid_until = began.saturating_add(acting.unwrap_or(u64::MAX));
        }
    }

    fn turned(&mut self, asked: Asked<'_>, turn: &Turn) {
        let number = asked.number;
        if let Op::Begin(begin) = asked.op {
            self.say(number, Told::Begins);
            self.elector(number).running = true;
            self.elector(number).runs += 1;
            if begin.cancelled {
                self.say(number, Told::Cancelled);
            }
        }
        // A single attempt or release is a short run without a leader.
        if let Op::Try(_) | Op::GiveUp(_) = asked.op {
            self.say(number, Told::Begins);
            self.elector(number).ended = None;
        }
        self.told(number, &turn.notes);
        match &turn.next {
            Next::Call { io, .. } => {
                let first = asked.learned().is_none();
                let (now, elector) = (self.now, self.elector(number));
                let began = match elector.attempt {
                    Some((began, _)) if !first => began,
                    _ => now,
                };
                elector.attempt = Some((began, claims_the_lease(io)));
                let call = call_id(number, elector.calls);
                elector.calls += 1;
                self.say(number, Told::Calls { call, verb: verb(io), first });
            }
            Next::Lead { term, fence } => self.leads(number, *term as u32, fence),
            Next::Ended { led } => self.ended(number, *led),
            Next::Done(_) => self.say(number, Told::Ended { led: false }),
            Next::Rest | Next::Refused => {}
        }
    }

    fn told(&mut self, number: u8, notes: &Notes) {
        if let Some(leader) = &notes.new_leader {
            let processes = &self.run.processes;
            let who = processes.iter().rposition(|process| process.identity() == leader);
            self.say(number, Told::Reports(who.map(|index| index as u16)));
        }
        if notes.became_leader {
            self.say(number, Told::Event { became: true });
            self.say(number, Told::Metric(true));
        }
        if notes.metric_off {
            if is_strict(self.config(number)) {
                self.end_term(number); // the work is cancelled before anything else (LE-46)
            }
            self.say(number, Told::Metric(false));
        }
        if notes.stopped_leading {
            self.say(number, Told::Event { became: false });
        }
    }

    fn leads(&mut self, number: u8, term: u32, fence: &Fence) {
        self.run.processes[usize::from(number)].fences.push((term, fence.clone()));
        self.say(number, Told::Leads { term });
        self.elector(number).term = Some(term);
        self.end_what_is_over();
    }

    fn cancelled(&mut self, number: u8, run: u64) {
        let elector = self.elector(number);
        if elector.running && elector.runs == run {
            self.say(number, Told::Cancelled);
            self.end_term(number);
        }
    }

    fn ended(&mut self, number: u8, led: bool) {
        self.end_term(number);
        self.elector(number).running = false;
        self.say(number, Told::Ended { led });
    }
}

fn call_id(number: u8, call: u32) -> u32 {
    u32::from(number) << 24 | call
}

pub(super) fn number_of(version: &Version) -> u64 {
    match version {
        Version::Number(number) => *number,
        Version::Text(_) => 0,
    }
}

fn verb(io: &Io) -> Verb {
    match io {
        Io::Get => Verb::Get,
        Io::Create(_) => Verb::Create,
        Io::Update(record, version) => {
            Verb::Update { version: number_of(version), releases: record.holder.is_empty() }
        }
    }
}

fn answer(learned: &Result<Stored, StoreError>) -> Answer {
    match learned {
        Ok(stored) => Answer::Version(number_of(&stored.version)),
        Err(StoreError::NotFound) => Answer::NotFound,
        Err(StoreError::Conflict | StoreError::AlreadyExists) => Answer::Conflict,
        Err(StoreError::Timeout | StoreError::Cancelled) => Answer::Unsure,
        Err(_) => Answer::Refused,
    }
}
