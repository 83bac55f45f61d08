//! One elector, with a clock and answers that are given by hand.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::elector::{
    Begin, Cancel, Config, Election, Io, Name, Next, Notes, Observed, Record, Reply, Rest,
    StoreError, Stored, Turn, Version,
};
use crate::machine::{Cx, Operation, Step, Wakes};
use crate::runtime::{Ambient, Instant, WallTime};

#[derive(Default)]
pub(super) struct Clock {
    nanos: AtomicU64,
    entropy: AtomicU64,
}

impl Ambient for Clock {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.nanos.load(Ordering::Relaxed))
    }
    fn wall(&self) -> WallTime {
        WallTime::from_nanos(self.nanos.load(Ordering::Relaxed) as i64)
    }
    fn entropy(&self) -> u64 {
        self.entropy.load(Ordering::Relaxed)
    }
}

pub(super) const BEGIN: Begin = Begin { cancelled: false };
/// Cancels the first run.
pub(super) const CANCEL: Cancel = Cancel { run: 1 };

pub(super) struct Bench {
    pub(super) election: Election,
    clock: Clock,
    pub(super) notes: Notes,
}

/// Seconds.
pub(super) fn s(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// Returns the content of a store in which `holder` renewed at a given second.
pub(super) fn stored(holder: &str, renewed: f64, version: u64) -> Stored {
    let time = crate::elector::Timestamp::from_micros((renewed * 1e6) as i64);
    Stored {
        record: Record {
            holder: Name::new(holder),
            duration_seconds: 15,
            acquire_time: Some(time),
            renew_time: Some(time),
            transitions: 7,
            ..Record::default()
        },
        version: Version::Number(version),
        uid: Name::new("uid"),
    }
}

impl Bench {
    pub(super) fn new(config: Config) -> Self {
        let election = Election::new(config).expect("a valid set-up");
        let bench = Self { election, clock: Clock::default(), notes: Notes::default() };
        bench.pass(s(1_000.0)); // long enough that nothing was seen before
        bench
    }

    pub(super) fn usual() -> Self {
        Self::new(Config::new("me"))
    }

    pub(super) fn pass(&self, time: Duration) {
        self.clock.nanos.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Sets the clock back.
    pub(super) fn back(&self, time: Duration) {
        self.clock.nanos.fetch_sub(time.as_nanos() as u64, Ordering::Relaxed);
    }

    pub(super) fn set_entropy(&self, entropy: u64) {
        self.clock.entropy.store(entropy, Ordering::Relaxed);
    }

    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(super) fn step<O: Operation<Election>>(&mut self, op: O) -> Step<O::Ret> {
        self.step_and_wakes(op).0
    }

    pub(super) fn step_and_wakes<O: Operation<Election>>(
        &mut self,
        mut op: O,
    ) -> (Step<O::Ret>, Wakes) {
        let mut cx = Cx::new(&self.clock);
        let step = op.step(&mut self.election, &mut cx);
        crate::machine::Machine::assert_valid(&self.election);
        (step, cx.wakes)
    }

    pub(super) fn call<O: Operation<Election>>(&mut self, op: O) -> O::Ret {
        match self.step(op) {
            Step::Done(ret) => ret,
            Step::Held(_) => panic!("nothing is held here"),
            Step::Wait { until, .. } => panic!("waits until {until:?}"),
        }
    }

    /// Makes a step and returns the next order; keeps the notes.
    pub(super) fn turn(&mut self, op: impl Operation<Election, Ret = Turn>) -> Next {
        let turn = self.call(op);
        self.notes = turn.notes;
        turn.next
    }

    /// Makes a step and returns the call that it orders.
    pub(super) fn io(&mut self, op: impl Operation<Election, Ret = Turn>) -> Io {
        match self.turn(op) {
            Next::Call { io, .. } => io,
            next => panic!("a call was expected, not {next:?}"),
        }
    }

    pub(super) fn reply(&mut self, reply: Result<Stored, StoreError>) -> Next {
        self.turn(Reply(Some(reply)))
    }

    pub(super) fn reply_io(&mut self, reply: Result<Stored, StoreError>) -> Io {
        self.io(Reply(Some(reply)))
    }

    /// Answers a write: the store accepted it with this version.
    pub(super) fn accept(&mut self, io: Io, version: u64) -> Next {
        let record = written(io);
        self.reply(Ok(Stored { record, version: Version::Number(version), uid: "uid".into() }))
    }

    /// Returns how long the run sleeps from now on.
    pub(super) fn sleeps(&mut self) -> Duration {
        match self.step(Rest) {
            Step::Wait { until: Some(until), .. } => until.since(self.now()),
            other => panic!("a sleep was expected, not {other:?}"),
        }
    }

    /// Returns how long the run sleeps, or `None` if it makes a call at once.
    pub(super) fn sleeps_or_io(&mut self) -> Option<Duration> {
        match self.step(Rest) {
            Step::Wait { until: Some(until), .. } => Some(until.since(self.now())),
            _ => None,
        }
    }

    /// Sleeps until something is due.
    pub(super) fn rest(&mut self) -> Next {
        loop {
            match self.step(Rest) {
                Step::Wait { until: Some(until), .. } => self.pass(until.since(self.now())),
                Step::Done(turn) => {
                    self.notes = turn.notes;
                    return turn.next;
                }
                other => panic!("an end was expected, not {other:?}"),
            }
        }
    }

    pub(super) fn rest_io(&mut self) -> Io {
        match self.rest() {
            Next::Call { io, .. } => io,
            next => panic!("a call was expected, not {next:?}"),
        }
    }

    pub(super) fn observed(&self) -> &Observed {
        self.election.observed()
    }
}

pub(super) fn written(io: Io) -> Record {
    match io {
        Io::Create(record) | Io::Update(record, _) => record,
        Io::Get => panic!("a write was expected"),
    }
}
