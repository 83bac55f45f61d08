//! Sequences of attempts and releases under faults, and the property that the elector agrees with
//! the sequential object.

use std::time::Duration;

use seatrial_core::elector::{
    Check, Config, Election, GiveUp, Holds, Io, IsLeader, Look, Next, Record, Reply, Report, Rest,
    StoreError, Stored, Timestamp, Try, Turn,
};
use seatrial_core::machine::{Boxed, Cx, Host, Operation, Step};
use seatrial_core::runtime::{Ambient, Instant, WallTime};

use super::spec::{self, Spec};
use crate::cluster::{Server, Writer};
use crate::events::fixtures::Checked;
use crate::single_step::each_call;

/// The fate of one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallFate {
    /// How long it takes, in milliseconds.
    pub takes_ms: u16,
    /// The fault of the call.
    pub fault: Fault,
}

/// A fault that may happen to a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The call is served.
    None,
    /// The call is not served, and times out.
    Lost,
    /// The call is served, and times out nevertheless.
    ReplyLost,
    /// The store says that the object changed or exists, whether or not it did.
    Conflict,
    /// The store says that there is no object, whether or not there is.
    NotFound,
    /// A read shows the object as it was this many versions ago.
    Lagging(u8),
}

/// A call on one of the electors, or a change of the world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// The elector makes an attempt; its calls have these fates, one after another.
    Attempt(u8, [CallFate; 3]),
    /// The elector gives up the lease.
    Release(u8, [CallFate; 3]),
    /// This many milliseconds pass.
    Advance(u16),
    /// The lock object is deleted.
    Delete,
    /// An administrator clears the holder.
    ClearHolder,
    /// The duration of the lease becomes this many seconds; zero is allowed.
    SetDuration(u8),
    /// The elector's health is asked for, with a tolerance in milliseconds, or a limitless one.
    Check(u8, u16),
}

/// How many electors take part. The last two share an identity.
pub const ELECTORS: u8 = 3;

/// Runs calls on the elector that ships and on the sequential object, in both profiles.
///
/// # Panics
/// If the two disagree, or the machine breaks a rule of its own.
pub fn check(ops: &[Op]) {
    check_on(ops, |machine| Boxed(Box::new(Checked(machine))));
}

/// As [`check`], on machines with which `change` may replace the one that ships.
///
/// # Panics
/// As [`check`].
pub fn check_on(ops: &[Op], change: impl Fn(Election) -> Boxed<Election>) {
    for config in [Config::classic(""), Config::new("")] {
        let mut pair = Pair::new(&config, &change);
        for op in each_call(ops) {
            pair.step(*op);
            pair.compare();
        }
    }
}

/// Two worlds that must stay alike: one with the machine's electors, one with the spec's.
struct Pair {
    electors: Vec<(Boxed<Election>, Spec)>,
    ours: Place,
    theirs: Place,
}

/// A server, the time, and the fates of the next calls.
struct Place {
    server: Server,
    nanos: u64,
    fates: Vec<CallFate>,
    writer: u16,
}

/// The time at which every sequence starts; it is not zero, which stands for "never observed".
const START: u64 = 1_000_000_000_000;

impl Pair {
    fn new(config: &Config, change: &impl Fn(Election) -> Boxed<Election>) -> Self {
        let electors = (0..ELECTORS).map(|index| {
            let identity = ["a", "b", "b"][usize::from(index)].into();
            let config = config.clone().identity(identity);
            (change(Election::unchecked(config.clone())), Spec::new(config))
        });
        let place =
            || Place { server: Server::new(false), nanos: START, fates: Vec::new(), writer: 0 };
        Self { electors: electors.collect(), ours: place(), theirs: place() }
    }

    fn step(&mut self, op: Op) {
        match op {
            Op::Attempt(elector, fates) => self.attempt(elector, fates, Try, Spec::attempt),
            Op::Release(elector, fates) => self.attempt(elector, fates, GiveUp, |spec, place| {
                spec.release(place, |place, deadline| {
                    place.nanos = place.nanos.max(deadline.min(place.nanos + PAUSE));
                })
            }),
            Op::Advance(ms) => self.both(|place| place.pass(ms)),
            Op::Delete => self.both(|place| {
                place.server.delete(place.nanos);
            }),
            Op::ClearHolder => self.edit(|record| record.holder = "".into()),
            Op::SetDuration(seconds) => {
                self.edit(|record| record.duration_seconds = seconds.into());
            }
            Op::Check(elector, tolerance_ms) => {
                let tolerance = match tolerance_ms {
                    u16::MAX => Duration::MAX,
                    millis => Duration::from_millis(millis.into()),
                };
                let (machine, spec) = &mut self.electors[usize::from(elector % ELECTORS)];
                let ours = ask(machine, Check { tolerance }, &self.ours);
                let nanos = u64::try_from(tolerance.as_nanos()).unwrap_or(u64::MAX);
                let healthy = spec.is_healthy(nanos, self.theirs.nanos);
                assert_eq!(ours, healthy, "health of {elector}");
            }
        }
    }

    fn both(&mut self, change: impl Fn(&mut Place)) {
        change(&mut self.ours);
        change(&mut self.theirs);
    }

    fn edit(&mut self, change: impl Fn(&mut Record)) {
        self.both(|place| {
            place.server.edit(place.nanos, |record| change(record));
        });
    }

    fn attempt(
        &mut self,
        elector: u8,
        fates: [CallFate; 3],
        begin: impl Operation<Election, Ret = Turn>,
        spec_does: impl Fn(&mut Spec, &mut Place) -> bool,
    ) {
        let index = elector % ELECTORS;
        self.both(|place| {
            place.fates = fates.to_vec();
            place.writer = index.into();
        });
        let (machine, spec) = &mut self.electors[usize::from(index)];
        let ours = drive(machine, begin, &mut self.ours);
        let expected = spec_does(spec, &mut self.theirs);
        assert_eq!(ours, expected, "success of {elector}");
        let report = ask(machine, Report, &self.ours);
        assert_eq!(report, spec.report(), "report of {elector}");
        assert_eq!(self.ours.fates, self.theirs.fates, "calls of {elector}");
    }

    fn compare(&mut self) {
        assert_eq!(self.ours.nanos, self.theirs.nanos, "time passed");
        assert_eq!(self.ours.server.current(), self.theirs.server.current(), "the record");
        assert_eq!(self.ours.server.newest(), self.theirs.server.newest(), "the version");
        for (index, (machine, spec)) in self.electors.iter_mut().enumerate() {
            let leads = ask(machine, IsLeader, &self.ours);
            assert_eq!(leads, spec.is_leader(self.theirs.nanos), "leadership of {index}");
            let observed = ask(machine, Look, &self.ours);
            if observed.at == Instant::ZERO {
                continue; // it has observed no record
            }
            let observed = (observed.record, observed.at.as_nanos());
            assert_eq!(observed, spec.observed, "what {index} observed");
        }
    }
}

/// How long the strict profile pauses between two tries of a release when nothing is random: a
/// twentieth of the retry period.
const PAUSE: u64 = 100_000_000;

impl Place {
    fn pass(&mut self, ms: u16) {
        self.nanos += u64::from(ms) * 1_000_000;
    }
}

impl Ambient for Place {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.nanos)
    }

    fn wall(&self) -> WallTime {
        WallTime::from_nanos(self.nanos as i64)
    }

    fn entropy(&self) -> u64 {
        0
    }
}

impl spec::Surroundings for Place {
    fn call(&mut self, io: Io) -> Result<Stored, StoreError> {
        let quick = CallFate { takes_ms: 1, fault: Fault::None };
        let fate = if self.fates.is_empty() { quick } else { self.fates.remove(0) };
        let (at, by) = (self.nanos, Writer::Process(self.writer));
        let lag = if let Fault::Lagging(lag) = fate.fault { lag.into() } else { 0 };
        let serve = || match io {
            Io::Get => self.server.read(lag),
            Io::Create(record) => self.server.create(record, by, at),
            Io::Update(record, version) => self.server.update(record, &version, by, at),
        };
        let answer = match fate.fault {
            Fault::None | Fault::Lagging(_) => serve(),
            Fault::Lost => Err(StoreError::Timeout),
            Fault::ReplyLost => serve().and(Err(StoreError::Timeout)),
            Fault::Conflict => Err(StoreError::Conflict),
            Fault::NotFound => Err(StoreError::NotFound),
        };
        self.pass(fate.takes_ms);
        answer
    }

    fn now(&self) -> u64 {
        self.nanos
    }

    fn wall(&self) -> Timestamp {
        Ambient::wall(self).into()
    }
}

fn ask<O: Operation<Election>>(machine: &mut Boxed<Election>, mut op: O, place: &Place) -> O::Ret {
    match machine.run(&mut op, &mut Cx::new(place)) {
        Step::Done(ret) | Step::Held(ret) => ret,
        Step::Wait { .. } => panic!("only a rest waits"),
    }
}

/// Drives the machine through a single attempt or release.
fn drive(
    machine: &mut Boxed<Election>,
    begin: impl Operation<Election, Ret = Turn>,
    place: &mut Place,
) -> bool {
    let mut turn = ask(machine, begin, place);
    loop {
        turn = match turn.next {
            Next::Call { io, .. } => {
                let reply = spec::Surroundings::call(place, io);
                ask(machine, Reply(Some(reply)), place)
            }
            Next::Rest => rest(machine, place),
            Next::Done(success) => return success,
            next => panic!("a single attempt or release does not end with {next:?}"),
        };
        // A term that never began is never live.
        assert!(!ask(machine, Holds { term: 0 }, place));
        machine.0.assert_valid();
    }
}

fn rest(machine: &mut Boxed<Election>, place: &mut Place) -> Turn {
    loop {
        match machine.run(&mut Rest, &mut Cx::new(place)) {
            Step::Done(turn) | Step::Held(turn) => return turn,
            Step::Wait { until, .. } => {
                let until = until.expect("a rest is over some time").as_nanos();
                assert!(until > place.nanos, "a rest that is due does not wait");
                place.nanos = until;
            }
        }
    }
}

/// Reads calls from the bytes of a fuzzer; every input is valid.
#[must_use]
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let mut bytes = bytes.iter().copied();
    std::iter::from_fn(|| decode_op(&mut bytes)).collect()
}

/// The property on the bytes of a fuzzer.
pub fn check_bytes(bytes: &[u8]) {
    check(&decode(bytes));
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let elector = code / 16 % ELECTORS;
    Some(match code % 16 {
        0..7 => Op::Attempt(elector, fates(bytes)?),
        7 | 8 => Op::Release(elector, fates(bytes)?),
        9..13 => Op::Advance(u16::from(bytes.next()?) * 100),
        13 if code < 64 => Op::Delete,
        13 if code < 128 => Op::ClearHolder,
        13 => Op::SetDuration(bytes.next()? % 20),
        _ => Op::Check(elector, u16::from(bytes.next()?).saturating_mul(300)),
    })
}

/// One byte gives all three fates; most fates are good, so that attempts make progress.
fn fates(bytes: &mut impl Iterator<Item = u8>) -> Option<[CallFate; 3]> {
    let mut code = bytes.next()?;
    let quick = CallFate { takes_ms: 1, fault: Fault::None };
    let mut fates = [quick; 3];
    if code < 128 {
        return Some(fates);
    }
    for fate in &mut fates {
        fate.fault = match code % 8 {
            0 => Fault::Lost,
            1 => Fault::ReplyLost,
            2 => Fault::Conflict,
            3 => Fault::NotFound,
            4 => Fault::Lagging(1 + code / 8 % 4),
            _ => Fault::None,
        };
        code = bytes.next()?;
        fate.takes_ms = u16::from(code) * if code > 240 { 70 } else { 5 };
    }
    Some(fates)
}
