//! How a process is driven: exactly as the blocking driver of `core` does it.

use seatrial_core::elector::{
    Begin, Io, Look, Next, Notes, Reply, Rest, StoreError, Stored, Turn, Version,
};
use seatrial_core::machine::Step;
use seatrial_core::runtime::Instant;

use super::due::Due;
use super::faults::{After, Attempted, Faults};
use super::run::{Answer, Verb, What};
use super::server::Writer;
use super::world::{Call, Simulated};

impl<F: Faults> Simulated<F> {
    pub(super) fn begin(&mut self, process: u16) {
        self.note(process, What::Begins);
        let runner = &mut self.runners[usize::from(process)];
        runner.running = true;
        runner.cancelled = false;
        let turn = self.ask_now(process, Begin { cancelled: false });
        self.carry_out(process, turn, true);
    }

    /// Carries out the orders of a process until it sleeps or calls; `first` says whether a call
    /// would be the first since it slept.
    pub(super) fn carry_out(&mut self, process: u16, mut turn: Turn, mut first: bool) {
        loop {
            self.tell(process, &turn.notes);
            if self.setup.probe {
                self.probe(process);
            }
            match turn.next {
                Next::Call { io, deadline, .. } => {
                    return self.call(process, io, deadline, first);
                }
                Next::Rest => {}
                Next::Lead { term, fence } => self.lead(process, term as u32, fence),
                Next::Ended { led } => return self.ended(process, led),
                Next::Done(_) | Next::Refused => unreachable!("a run goes on until it has ended"),
            }
            match self.ask(process, Rest) {
                Step::Done(next) | Step::Held(next) => turn = next,
                Step::Wait { until, .. } => return self.sleep(process, until),
            }
            first = true;
        }
    }

    pub(super) fn sleep(&mut self, process: u16, until: Option<Instant>) {
        let runner = &mut self.runners[usize::from(process)];
        let late = self.faults.lateness(runner.node);
        runner.sleep += 1;
        runner.sleeping = true;
        if let Some(until) = until {
            let clock = &self.nodes[usize::from(runner.node)].clock;
            let due = clock.when(until.as_nanos()).max(self.now).saturating_add(late);
            self.agenda.at(due, Due::Wake { process, sleep: runner.sleep });
        }
    }

    pub(super) fn wake(&mut self, process: u16, sleep: u32) {
        let runner = &mut self.runners[usize::from(process)];
        if !runner.sleeping || runner.sleep != sleep {
            return;
        }
        runner.sleeping = false;
        match self.ask(process, Rest) {
            Step::Done(turn) | Step::Held(turn) => self.carry_out(process, turn, true),
            Step::Wait { until, .. } => self.sleep(process, until),
        }
    }

    pub(super) fn tell(&mut self, process: u16, notes: &Notes) {
        if let Some(leader) = &notes.new_leader {
            let who = self.run.processes.iter().rposition(|other| other.identity() == leader);
            self.note(process, What::Reports(who.map(|index| index as u16)));
        }
        if notes.became_leader {
            self.note(process, What::Event { became: true });
            self.note(process, What::Metric(true));
        }
        if notes.metric_off {
            self.note(process, What::Metric(false));
        }
        if notes.stopped_leading {
            self.note(process, What::Event { became: false });
        }
    }

    pub(super) fn probe(&mut self, process: u16) {
        let observed = self.ask_now(process, Look).at.as_nanos();
        let runner = &mut self.runners[usize::from(process)];
        if runner.observed_at != observed {
            runner.observed_at = observed;
            self.note(process, What::Observes { at: observed });
        }
    }

    pub(super) fn call(&mut self, process: u16, io: Io, deadline: Option<Instant>, first: bool) {
        let runner = &self.runners[usize::from(process)];
        let attempted = Attempted {
            at: self.now,
            node: runner.node,
            process,
            io: &io,
            first,
            leads: runner.leads,
        };
        let fate = self.faults.fate(&attempted);
        let call = self.calls.len() as u32;
        let limit = self.gives_up_at(process, deadline);
        self.note(process, What::Calls { call, verb: verb(&io), first });
        self.calls.push(Call { process, io: Some(io), fate, answer: None });
        self.runners[usize::from(process)].call = Some(call);
        let arrives = fate.request.map(|delay| self.now.saturating_add(delay));
        let answers = arrives.zip(fate.reply).map(|(at, delay)| at.saturating_add(delay));
        if let Some(arrives) = arrives {
            self.agenda.at(arrives, Due::Arrives { call });
        }
        match (answers, limit) {
            (Some(at), None) => self.agenda.at(at, Due::Answers { call }),
            (Some(at), Some(limit)) if at <= limit => self.agenda.at(at, Due::Answers { call }),
            (_, Some(limit)) => self.agenda.at(limit, Due::GivesUp { call }),
            (None, None) => {} // it hangs until the run is cancelled
        }
    }

    pub(super) fn gives_up_at(&self, process: u16, deadline: Option<Instant>) -> Option<u64> {
        let clock = &self.nodes[usize::from(self.runners[usize::from(process)].node)].clock;
        let now = Instant::from_nanos(clock.read(self.now));
        let patience = self.setup.client_timeout.map(|timeout| now + timeout);
        let limit = match (deadline, patience) {
            (Some(deadline), Some(patience)) => Some(deadline.min(patience)),
            (deadline, patience) => deadline.or(patience),
        }?;
        Some(clock.when(limit.as_nanos()).max(self.now))
    }

    /// The server serves a call, even one that its caller has given up (`election:ENV-4`).
    pub(super) fn arrive(&mut self, call: u32) {
        let slot = &mut self.calls[call as usize];
        let Some(io) = slot.io.take() else { return };
        let (process, lag, at) = (slot.process, slot.fate.lag, self.now);
        let by = Writer::Process(process);
        let reads = io == Io::Get;
        let answer = match io {
            _ if slot.fate.refused => Err(StoreError::Other("refused".into())),
            Io::Get => self.server.read(lag),
            Io::Create(record) => self.server.create(record, by, at),
            Io::Update(record, version) => self.server.update(record, &version, by, at),
        };
        if !reads && answer.is_ok() {
            self.note(process, What::Applied { call, version: self.server.newest() });
        }
        self.calls[call as usize].answer = Some(answer);
    }

    pub(super) fn answer(&mut self, process: u16, call: u32) {
        if self.runners[usize::from(process)].call == Some(call)
            && let Some(answer) = self.calls[call as usize].answer.take()
        {
            self.learn(process, call, answer);
        }
    }

    pub(super) fn give_up(&mut self, process: u16, call: u32) {
        let runner = &self.runners[usize::from(process)];
        if runner.call == Some(call) {
            let error = if runner.cancelled { StoreError::Cancelled } else { StoreError::Timeout };
            self.learn(process, call, Err(error));
        }
    }

    pub(super) fn learn(&mut self, process: u16, call: u32, answer: Result<Stored, StoreError>) {
        self.note(process, What::Learns { call, answer: outcome(&answer) });
        self.runners[usize::from(process)].call = None;
        let turn = self.ask_now(process, Reply(Some(answer)));
        self.carry_out(process, turn, false);
    }

    pub(super) fn ended(&mut self, process: u16, led: bool) {
        self.note(process, What::Ended { led });
        let runner = &mut self.runners[usize::from(process)];
        runner.running = false;
        runner.leads = false;
        let node = runner.node;
        match self.faults.after(node) {
            After::Down => {}
            After::RunsAgain(delay) => {
                self.agenda.at(self.now.saturating_add(delay), Due::Begins { process });
            }
            After::Replaced(delay) => {
                let process = self.add_process(node, None);
                self.agenda.at(self.now.saturating_add(delay), Due::Begins { process });
            }
        }
    }
}

fn verb(io: &Io) -> Verb {
    match io {
        Io::Get => Verb::Get,
        Io::Create(_) => Verb::Create,
        Io::Update(record, version) => Verb::Update {
            version: match version {
                Version::Number(number) => *number,
                Version::Text(_) => 0,
            },
            releases: record.holder.is_empty(),
        },
    }
}

fn outcome(answer: &Result<Stored, StoreError>) -> Answer {
    match answer {
        Ok(Stored { version: Version::Number(number), .. }) => Answer::Version(*number),
        Err(StoreError::NotFound) => Answer::NotFound,
        Err(StoreError::Conflict | StoreError::AlreadyExists) => Answer::Conflict,
        Err(StoreError::Timeout | StoreError::Cancelled) => Answer::Unsure,
        Ok(_) | Err(_) => Answer::Refused,
    }
}
