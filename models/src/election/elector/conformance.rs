//! The reference's recorded traces of the elector, replayed.
//!
//! The exhibit has the reference's defects, so it replays every trace without a difference. What
//! ships replays those of its traces in which no defect shows.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seatrial_core::elector::{
    Call, Check, Config, Election, GiveUp, Io, IsLeader, Leader, LeaseLock, LeaseSpec, Lock,
    MemoryStore, Next, Object, ObjectName, ObjectStore, Reply, Report, StoreError, Timestamp,
    Timing, Try, Turn, validate_nanos,
};
use seatrial_core::machine::{Cx, Host, Operation, Step as Stepped};
use seatrial_core::runtime::{Ambient, Instant, System, WallTime};
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::election::plain;

/// 2026-01-01T00:00:00Z: the virtual start of every trace.
const START_SECONDS: i64 = 1_767_225_600;
/// How far the monotonic clocks have run at the virtual start, so that a negative offset fits.
const CLOCK_AT_START_MS: i64 = 1_000_000_000;

/// Lists how the traces of the elector are replayed.
#[must_use]
pub fn all() -> Vec<Conformance> {
    vec![
        Conformance { traces_of: "leader_election", carried: TRACES, replay, faithful: None },
        Conformance {
            traces_of: "leader_election_config",
            carried: TRACES,
            replay: replay_config,
            faithful: None,
        },
    ]
}

/// Replays a trace of `leader_election` on the exhibit.
///
/// # Errors
/// The first step that has another result, or that is not understood.
pub fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    replay_on(trace, |config| plain::elector(plain::by_reference(config)))
}

/// As [`replay`], on electors that `make` makes.
///
/// # Errors
/// As [`replay`].
pub fn replay_on<H: Host<Election>>(
    trace: &Trace,
    make: impl Fn(Config) -> H,
) -> Result<Replayed, TraceError> {
    let mut retold = Retold::new(&trace.config, make);
    trace.replay(|step| retold.step(step).map(Gives::Same))
}

/// Replays a trace of `leader_election_config`.
///
/// # Errors
/// As [`replay`].
pub fn replay_config(trace: &Trace) -> Result<Replayed, TraceError> {
    trace.replay(|step| {
        if step.op != "validate" {
            return Err(format!("a set-up has no call '{}'", step.op));
        }
        let nanos = |name| step.args.integer(name).map(|ms| ms.saturating_mul(1_000_000));
        let durations = validate_nanos(
            nanos("lease_duration_ms")?,
            nanos("renew_deadline_ms")?,
            nanos("retry_period_ms")?,
        );
        let named = plain::reference(step.args.text("identity")?);
        let error = durations.and_then(|()| plain::validate(&named)).err();
        Ok(Gives::Same(error.map_or(Value::Null, |error| json!(error.to_string()))))
    })
}

/// The electors of one trace, their clocks and the server that they share.
struct Retold<H> {
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

impl<H: Host<Election>> Retold<H> {
    fn new(config: &Value, make: impl Fn(Config) -> H) -> Self {
        let server = Arc::new(Server::new(&System::new()));
        let number = |value: &Value| value.as_i64().unwrap_or(0);
        let timing = Timing {
            lease: millis(number(&config["lease_duration_ms"])),
            renew: millis(number(&config["renew_deadline_ms"])),
            retry: millis(number(&config["retry_period_ms"])),
        };
        let electors = (0..number(&config["electors"]))
            .map(|index| {
                let line = Arc::new(Mutex::new(Line::default()));
                let connection =
                    Connection { server: Arc::clone(&server), line: Arc::clone(&line) };
                Participant {
                    host: make(Config::new(&format!("e{index}")).timing(timing)),
                    lock: LeaseLock::new(connection, LEASE.0, LEASE.1),
                    line,
                    offset_ms: number(&config["clock_offset_ms"][index as usize]),
                }
            })
            .collect();
        Self { server, electors, elapsed_ms: 0 }
    }

    fn step(&mut self, step: &Step) -> Result<Value, String> {
        match step.op.as_str() {
            "advance" => {
                self.elapsed_ms = self.elapsed_ms.saturating_add(step.args.integer("ms")?);
                return Ok(Value::Null);
            }
            "delete_lease" => {
                self.server.delete(&ObjectName::new(LEASE.0, LEASE.1));
                return Ok(Value::Null);
            }
            _ => {}
        }
        let index = step.args.integer("elector")?;
        let elector = usize::try_from(index).ok().and_then(|index| self.electors.get_mut(index));
        let elector = elector.ok_or_else(|| format!("there is no elector {index}"))?;
        let clock = Clock { ms: self.elapsed_ms.saturating_add(elector.offset_ms) };
        match step.op.as_str() {
            "step" => {
                let success = elector.drive(Try, &clock);
                Ok(elector.state(success, &clock, &self.server))
            }
            "release" => {
                let success = elector.drive(GiveUp, &clock);
                Ok(elector.state(success, &clock, &self.server))
            }
            "check" => {
                let tolerance = millis(step.args.integer("tolerance_ms")?);
                Ok(json!(elector.ask(Check { tolerance }, &clock)))
            }
            "fail_next" => {
                let fault =
                    (step.args.text("verb")?.to_owned(), step.args.text("kind")?.to_owned());
                elector.line.lock().expect("no replay panics here").faults.push_back(fault);
                Ok(Value::Null)
            }
            other => Err(format!("an elector has no call '{other}'")),
        }
    }
}

fn millis(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

impl<H: Host<Election>> Participant<H> {
    fn ask<O: Operation<Election>>(&mut self, mut op: O, clock: &Clock) -> O::Ret {
        match self.host.run(&mut op, &mut Cx::new(clock)) {
            Stepped::Done(ret) | Stepped::Held(ret) => ret,
            Stepped::Wait { .. } => unreachable!("single attempts and releases do not sleep"),
        }
    }

    /// Makes the calls that an attempt or a release orders, until it is over.
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

/// The server's copy, in the form that the traces use.
fn record(server: &Server) -> Value {
    let Ok(lease) = server.get(&ObjectName::new(LEASE.0, LEASE.1), Call::default()) else {
        return Value::Null;
    };
    let record = lease.content.to_record();
    let since_start = |time: Option<Timestamp>| {
        time.map(|time| time.as_micros().div_euclid(1_000).saturating_sub(START_SECONDS * 1_000))
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
        let ms = u64::try_from(self.ms.saturating_add(CLOCK_AT_START_MS)).unwrap_or(0);
        Instant::from_nanos(ms.saturating_mul(1_000_000))
    }

    fn wall(&self) -> WallTime {
        let ms = (START_SECONDS * 1_000).saturating_add(self.ms);
        WallTime::from_nanos(ms.saturating_mul(1_000_000))
    }

    fn entropy(&self) -> u64 {
        0
    }
}

/// The faults on one elector's way to the server, and the calls that it made.
#[derive(Default)]
struct Line {
    /// Verb and kind of each fault; the next call of that verb uses it up.
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
    fn get(&self, name: &ObjectName, call: Call<'_>) -> Result<Object<LeaseSpec>, StoreError> {
        self.carry("get", || self.server.get(name, call))
    }

    fn create(
        &self,
        object: &Object<LeaseSpec>,
        call: Call<'_>,
    ) -> Result<Object<LeaseSpec>, StoreError> {
        self.carry("create", || self.server.create(object, call))
    }

    fn update(
        &self,
        object: &Object<LeaseSpec>,
        call: Call<'_>,
    ) -> Result<Object<LeaseSpec>, StoreError> {
        self.carry("update", || self.server.update(object, call))
    }
}

pub(crate) mod tests {
    use super::*;
    use crate::conformance::carried;

    fn traces(name: &str) -> Vec<Trace> {
        let text = carried(name).expect("the traces are carried");
        text.lines().map(|line| Trace::parse(line).expect("a trace")).collect()
    }

    fn every_recorded_trace_replays_without_a_departure() {
        for conformance in all() {
            for trace in traces(conformance.traces_of) {
                let replayed = (conformance.replay)(&trace);
                let whole = Replayed { steps: trace.steps.len(), departure: None };
                assert_eq!(replayed, Ok(whole), "{}", trace.id);
            }
        }
    }

    fn an_inline_trace_shows_the_form() {
        let line = r#"{"id":"x","config":{"electors":1,"clock_offset_ms":[-5],
            "lease_duration_ms":3500,"renew_deadline_ms":2000,"retry_period_ms":400},"steps":[
            {"op":"fail_next","args":{"elector":0,"verb":"create","kind":"timeout_after_apply"},
             "out":null},
            {"op":"step","args":{"elector":0},"out":{"calls":["get:not_found","create:timeout"],
             "is_leader":false,"leader":"","reported":[],"ret":false,"record":{"acquire_ms":-5,
             "renew_ms":-5,"duration_s":3,"holder":"e0","rv":1,"transitions":0}}},
            {"op":"check","args":{"elector":0,"tolerance_ms":0},"out":true},
            {"op":"step","args":{"elector":0},"out":{"calls":["get:ok","update:ok"],
             "is_leader":true,"leader":"e0","reported":["e0"],"ret":true,"record":{"acquire_ms":-5,
             "renew_ms":-5,"duration_s":3,"holder":"e0","rv":2,"transitions":0}}}]}"#;
        let trace = Trace::parse(line).unwrap();
        assert_eq!(replay(&trace), Ok(Replayed { steps: 4, departure: None }));
    }

    fn a_trace_that_asks_for_nonsense_is_an_error() {
        for line in [
            r#"{"id":"x","steps":[{"op":"step","args":{"elector":0},"out":null}]}"#,
            r#"{"id":"x","config":{"electors":1},"steps":[{"op":"fly","args":{"elector":0}}]}"#,
            r#"{"id":"x","config":{"electors":1},"steps":[{"op":"step","args":{"elector":-1}}]}"#,
            r#"{"id":"x","config":{"electors":1},"steps":[{"op":"advance"}]}"#,
        ] {
            let replayed = replay(&Trace::parse(line).unwrap());
            assert!(matches!(replayed, Err(TraceError::Malformed { .. })), "{replayed:?}");
        }
    }

    fn every_kind_of_output_is_compared() {
        let trace = traces("leader_election").swap_remove(0);
        let index = trace.steps.iter().position(|step| step.op == "step").unwrap();
        for (name, wrong) in [
            ("ret", json!(false)),
            ("is_leader", json!(false)),
            ("leader", json!("e9")),
            ("reported", json!([])),
            ("calls", json!([])),
            ("record", Value::Null),
        ] {
            let mut changed = trace.clone();
            changed.steps[index].out[name] = wrong;
            let replayed = replay(&changed);
            assert!(matches!(replayed, Err(TraceError::Different { .. })), "{name}");
        }
    }

    /// It leaves the others where the reference's defects show.
    fn what_ships_replays_the_traces_in_which_no_defect_shows() {
        let ships = |trace: &Trace| replay_on(trace, Election::unchecked).is_ok();
        let traces = traces("leader_election");
        let replayed = traces.iter().filter(|trace| ships(trace)).count();
        assert_eq!((traces.len(), replayed), (400, 100));
    }

    pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
        every_recorded_trace_replays_without_a_departure,
        an_inline_trace_shows_the_form,
        a_trace_that_asks_for_nonsense_is_an_error,
        every_kind_of_output_is_compared,
        what_ships_replays_the_traces_in_which_no_defect_shows
    ];
}
