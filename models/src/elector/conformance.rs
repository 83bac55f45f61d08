//! Replays recorded traces of the reference's elector against ours.
//!
//! The classic profile replays every trace without a departure, defects of the reference included.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use seatrial_core::elector::{
    Call, Check, Config, Election, GiveUp, Io, IsLeader, Leader, LeaseLock, LeaseSpec, Lock,
    MemoryStore, Next, Object, ObjectName, ObjectStore, Profile, Reply, Report, StoreError, Timing,
    Try, Turn, validate_nanos,
};
use seatrial_core::machine::{Cx, Host, Operation, Step};
use seatrial_core::runtime::{Ambient, Instant, System, WallTime};
use serde_json::{Value, json};

/// 2026-01-01T00:00:00Z: the virtual start of every trace.
const START_SECONDS: i64 = 1_767_225_600;
/// How far the monotonic clocks have run at the virtual start. A negative offset must fit.
const CLOCK_AT_START_MS: i64 = 1_000_000_000;

/// Where a replay differs from the recorded trace, or why it could not be done.
#[derive(Clone, PartialEq, Debug)]
pub struct Departure {
    /// The trace.
    pub id: String,
    /// The step, counted from zero.
    pub step: usize,
    /// What was recorded there.
    pub expected: Value,
    /// What our code did.
    pub found: Value,
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, step, expected, found } = self;
        write!(f, "{id} departs at step {step}: expected {expected}, found {found}")
    }
}

impl std::error::Error for Departure {}

/// Replays one line of `leader_election` in the classic profile; returns the number of steps.
///
/// # Errors
/// The first step whose result differs, or which cannot be understood.
pub fn replay(line: &str) -> Result<usize, Box<Departure>> {
    replay_with(line, Election::unchecked)
}

/// As [`replay`], on electors that `make` makes: a mutant, for example.
///
/// # Errors
/// As [`replay`].
pub fn replay_with<H: Host<Election>>(
    line: &str,
    make: impl Fn(Config) -> H,
) -> Result<usize, Box<Departure>> {
    let trace = parse(line)?;
    let mut world = World::new(&trace["config"], make);
    compare(&trace, |op, args| world.apply(op, args))
}

/// Replays one line of `leader_election_config`; returns the number of steps.
///
/// # Errors
/// As [`replay`].
pub fn replay_config(line: &str) -> Result<usize, Box<Departure>> {
    let trace = parse(line)?;
    compare(&trace, |op, args| {
        if op != "validate" {
            return Value::from(format!("unknown operation {op}"));
        }
        let nanos = |name: &str| number(args, name).saturating_mul(1_000_000);
        let checked = validate_nanos(
            nanos("lease_duration_ms"),
            nanos("renew_deadline_ms"),
            nanos("retry_period_ms"),
        );
        let identity = args["identity"].as_str().unwrap_or_default();
        let whole = Config { timing: Timing::DEFAULT, ..Config::classic(identity) };
        match checked.and_then(|()| whole.validate()) {
            Ok(()) => Value::Null,
            Err(error) => Value::from(error.to_string()),
        }
    })
}

fn parse(line: &str) -> Result<Value, Box<Departure>> {
    let trace: Value =
        serde_json::from_str(line).map_err(|error| unreadable(&error.to_string()))?;
    if trace["steps"].is_array() { Ok(trace) } else { Err(unreadable("no steps")) }
}

fn unreadable(why: &str) -> Box<Departure> {
    let expected = Value::from("a trace");
    Box::new(Departure { id: String::new(), step: 0, expected, found: Value::from(why) })
}

fn compare(
    trace: &Value,
    mut apply: impl FnMut(&str, &Value) -> Value,
) -> Result<usize, Box<Departure>> {
    let steps = trace["steps"].as_array().map_or(&[][..], Vec::as_slice);
    for (index, step) in steps.iter().enumerate() {
        let found = apply(step["op"].as_str().unwrap_or_default(), &step["args"]);
        if found != step["out"] {
            return Err(Box::new(Departure {
                id: trace["id"].as_str().unwrap_or_default().to_owned(),
                step: index,
                expected: step["out"].clone(),
                found,
            }));
        }
    }
    Ok(steps.len())
}

fn number(args: &Value, name: &str) -> i64 {
    args[name].as_i64().unwrap_or_default()
}

/// The electors of one trace, their clocks and the server that they share.
struct World<H> {
    server: Arc<Server>,
    electors: Vec<Participant<H>>,
    elapsed_ms: i64,
}

struct Participant<H> {
    host: H,
    lock: LeaseLock<Connection>,
    line: Arc<Mutex<Line>>,
    offset_ms: i64,
}

type Server = MemoryStore<System, LeaseSpec>;

impl<H: Host<Election>> World<H> {
    fn new(config: &Value, make: impl Fn(Config) -> H) -> Self {
        let server = Arc::new(Server::new(&System::new()));
        let millis = |name: &str| std::time::Duration::from_millis(number(config, name) as u64);
        let electors = (0..config["electors"].as_u64().unwrap_or(0))
            .map(|index| {
                let line = Arc::new(Mutex::new(Line::default()));
                let connection =
                    Connection { server: Arc::clone(&server), line: Arc::clone(&line) };
                Participant {
                    host: make(Config {
                        profile: Profile::Classic,
                        timing: Timing {
                            lease: millis("lease_duration_ms"),
                            renew: millis("renew_deadline_ms"),
                            retry: millis("retry_period_ms"),
                        },
                        ..Config::classic(&format!("e{index}"))
                    }),
                    lock: LeaseLock::new(connection, LEASE.0, LEASE.1),
                    line,
                    offset_ms: config["clock_offset_ms"][index as usize].as_i64().unwrap_or(0),
                }
            })
            .collect();
        Self { server, electors, elapsed_ms: 0 }
    }

    fn apply(&mut self, op: &str, args: &Value) -> Value {
        match op {
            "advance" => {
                self.elapsed_ms += number(args, "ms");
                return Value::Null;
            }
            "delete_lease" => {
                self.server.delete(&ObjectName::new(LEASE.0, LEASE.1));
                return Value::Null;
            }
            _ => {}
        }
        let Some(elector) = self.electors.get_mut(number(args, "elector") as usize) else {
            return Value::from("no such elector");
        };
        let clock = Clock { ms: self.elapsed_ms + elector.offset_ms };
        match op {
            "step" => {
                let success = elector.drive(Try, &clock);
                elector.state(success, &clock, &self.server)
            }
            "release" => {
                let success = elector.drive(GiveUp, &clock);
                elector.state(success, &clock, &self.server)
            }
            "check" => {
                let tolerance = millis(number(args, "tolerance_ms"));
                Value::from(elector.ask(Check { tolerance }, &clock))
            }
            "fail_next" => {
                let text = |name: &str| args[name].as_str().unwrap_or_default().to_owned();
                let fault = (text("verb"), text("kind"));
                elector.line.lock().expect("no replay panics here").faults.push_back(fault);
                Value::Null
            }
            _ => Value::from(format!("unknown operation {op}")),
        }
    }
}

fn millis(ms: i64) -> std::time::Duration {
    std::time::Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

impl<H: Host<Election>> Participant<H> {
    fn ask<O: Operation<Election>>(&mut self, mut op: O, clock: &Clock) -> O::Ret {
        match self.host.run(&mut op, &mut Cx::new(clock)) {
            Step::Done(ret) | Step::Held(ret) => ret,
            Step::Wait { .. } => unreachable!("single attempts and releases do not sleep"),
        }
    }

    /// Makes the calls that an attempt or a release wants, until it is over.
    fn drive(&mut self, begin: impl Operation<Election, Ret = Turn>, clock: &Clock) -> bool {
        let mut turn = self.ask(begin, clock);
        loop {
            let io = match turn.next {
                Next::Call { io, .. } => io,
                Next::Done(success) => return success,
                _ => return false,
            };
            let call = Call::default();
            let reply = match io {
                Io::Get => self.lock.get(call),
                Io::Create(record) => self.lock.create(&record, call),
                Io::Update(record, version) => self.lock.update(&record, &version, call),
            };
            turn = self.ask(Reply(Some(reply)), clock);
        }
    }

    fn state(&mut self, success: bool, clock: &Clock, server: &Server) -> Value {
        let reported = self.ask(Report, clock).map(|leader| leader.to_string());
        let calls = std::mem::take(&mut self.line.lock().expect("no replay panics here").calls);
        json!({
            "ret": success,
            "is_leader": self.ask(IsLeader, clock),
            "leader": self.ask(Leader, clock).as_str(),
            "record": record(server),
            "reported": Vec::from_iter(reported),
            "calls": calls,
        })
    }
}

/// The server's copy, as the traces show it.
fn record(server: &Server) -> Value {
    let Ok(lease) = server.get(&ObjectName::new(LEASE.0, LEASE.1), Call::default()) else {
        return Value::Null;
    };
    let record = lease.content.to_record();
    let since_start = |time: Option<seatrial_core::elector::Timestamp>| {
        time.map(|time| time.as_micros().div_euclid(1_000) - START_SECONDS * 1_000)
    };
    json!({
        "holder": record.holder.as_str(),
        "duration_s": record.duration_seconds,
        "acquire_ms": since_start(record.acquire_time),
        "renew_ms": since_start(record.renew_time),
        "transitions": record.transitions,
        "rv": lease.meta.version.to_string().parse::<u64>().ok(),
    })
}

const LEASE: (&str, &str) = ("default", "lease");

/// One elector's clock, stopped for the time of a step.
struct Clock {
    ms: i64,
}

impl Ambient for Clock {
    fn now(&self) -> Instant {
        let ms = u64::try_from(self.ms + CLOCK_AT_START_MS).unwrap_or(0);
        Instant::from_nanos(ms.saturating_mul(1_000_000))
    }

    fn wall(&self) -> WallTime {
        WallTime::from_nanos((START_SECONDS * 1_000 + self.ms) * 1_000_000)
    }

    fn entropy(&self) -> u64 {
        0
    }
}

/// What goes wrong on one elector's way to the server, and what it called.
#[derive(Default)]
struct Line {
    /// Verb and kind; each is used up by the next call of that verb.
    faults: VecDeque<(String, String)>,
    calls: Vec<String>,
}

struct Connection {
    server: Arc<Server>,
    line: Arc<Mutex<Line>>,
}

impl Connection {
    fn carry<T>(
        &self,
        verb: &str,
        serve: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut line = self.line.lock().expect("no replay panics here");
        let index = line.faults.iter().position(|(fails, _)| fails == verb);
        let fault = index.and_then(|index| line.faults.remove(index)).map(|(_, kind)| kind);
        let answer = match fault.as_deref() {
            None => serve(),
            Some("timeout_after_apply") => serve().and(Err(StoreError::Timeout)),
            Some("not_found") => Err(StoreError::NotFound),
            Some("conflict") => Err(StoreError::Conflict),
            Some(_) => Err(StoreError::Timeout),
        };
        let outcome = match &answer {
            Ok(_) => "ok",
            Err(StoreError::NotFound) => "not_found",
            Err(StoreError::AlreadyExists) => "already_exists",
            Err(StoreError::Conflict) => "conflict",
            Err(StoreError::Timeout) => "timeout",
            Err(_) => "error",
        };
        line.calls.push(format!("{verb}:{outcome}"));
        answer
    }
}

impl ObjectStore<LeaseSpec> for Connection {
    fn get(&self, name: &ObjectName, call: Call) -> Result<Object<LeaseSpec>, StoreError> {
        self.carry("get", || self.server.get(name, call))
    }

    fn create(
        &self,
        object: &Object<LeaseSpec>,
        call: Call,
    ) -> Result<Object<LeaseSpec>, StoreError> {
        self.carry("create", || self.server.create(object, call))
    }

    fn update(
        &self,
        object: &Object<LeaseSpec>,
        call: Call,
    ) -> Result<Object<LeaseSpec>, StoreError> {
        self.carry("update", || self.server.update(object, call))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    #[ignore]
    fn dev_all() {
        let mut bad = 0;
        for (f, c) in [("leader_election", false), ("leader_election_config", true)] {
            let text =
                std::fs::read_to_string(format!("/work/shared/conformance/{f}.jsonl")).unwrap();
            let mut n = 0;
            let mut steps = 0;
            for l in text.lines() {
                match if c { super::replay_config(l) } else { super::replay(l) } {
                    Ok(s) => {
                        n += 1;
                        steps += s;
                    }
                    Err(d) => {
                        bad += 1;
                        if bad < 5 {
                            println!("{d}");
                        }
                    }
                }
            }
            println!("{f}: {n} replayed, {steps} steps");
        }
        assert_eq!(bad, 0);
    }
}
