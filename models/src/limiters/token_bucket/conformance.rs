//! The reference's recorded traces of the token bucket, replayed.

use std::time::Duration;

use seatrial_core::limiter::{FOREVER, Rate, Reservation, TokenBucket};
use seatrial_core::runtime::Instant;
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};

/// Replays the traces of `token_bucket`.
///
/// A second cancel of a reservation is computed anew, as in the reference, so no trace departs
/// (`workqueue:TB-28`).
pub const fn conformance() -> Conformance {
    Conformance { traces_of: "token_bucket", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let mut driven = Driven::new(&trace.config).map_err(TraceError::Unreadable)?;
    trace.replay(|step| driven.step(step).map(Gives::Same))
}

/// Reads a number, whole or not.
pub(crate) fn number(value: &Value, name: &str) -> Result<f64, String> {
    value[name].as_f64().ok_or_else(|| format!("'{name}' is no number: {}", value[name]))
}

/// Reads a whole number that is not negative.
pub(crate) fn whole(value: &Value, name: &str) -> Result<u64, String> {
    value[name].as_u64().ok_or_else(|| format!("'{name}' is no whole number: {}", value[name]))
}

/// Writes a number as the traces do: whole numbers without a point.
fn written(number: f64) -> Value {
    let whole = number as i64;
    if whole as f64 == number { json!(whole) } else { json!(number) }
}

/// A bucket, driven by the steps of a trace.
struct Driven {
    bucket: TokenBucket,
    /// The rate of the configuration, as written; `None` for a bucket with explicit times.
    client_qps: Option<Value>,
    now: Instant,
    made: Vec<Reservation>,
}

impl Driven {
    fn new(config: &Value) -> Result<Self, String> {
        let (qps, client_qps) = match config["kind"].as_str() {
            // A client's rate has single precision.
            Some("flowcontrol") => {
                let qps = number(config, "qps_f32")? as f32;
                (f64::from(qps), Some(config["qps_f32"].clone()))
            }
            Some("limiter") => (number(config, "qps")?, None),
            _ => return Err(format!("no kind of token bucket: {config}")),
        };
        let bucket = TokenBucket::new(Rate::per_second(qps), whole(config, "burst")?);
        Ok(Self { bucket, client_qps, now: Instant::from_nanos(1 << 60), made: Vec::new() })
    }

    fn advance(&mut self, by: Duration) {
        self.now = self.now + by;
    }

    fn step(&mut self, step: &Step) -> Result<Value, String> {
        let (now, args) = (self.now, &step.args.0);
        match (step.op.as_str(), &self.client_qps) {
            ("advance", _) => {
                self.advance(Duration::from_millis(whole(args, "ms")?));
                Ok(Value::Null)
            }
            ("try_accept", Some(_)) => Ok(json!(self.bucket.allow(now, 1))),
            ("accept", Some(_)) => {
                let slept = self.bucket.reserve(now, 1, FOREVER).delay_from(now);
                self.advance(slept);
                Ok(json!({ "slept_ns": nanos(slept) }))
            }
            ("qps", Some(qps)) => Ok(qps.clone()),
            (_, None) => self.step_limiter(step),
            (other, Some(_)) => Err(format!("a client's limiter has no call '{other}'")),
        }
    }

    fn step_limiter(&mut self, step: &Step) -> Result<Value, String> {
        let (now, args) = (self.now, &step.args.0);
        match step.op.as_str() {
            "allow_n" => Ok(json!(self.bucket.allow(now, whole(args, "n")?))),
            "reserve_n" => {
                let reservation = self.bucket.reserve(now, whole(args, "n")?, FOREVER);
                if !reservation.is_granted() {
                    return Ok(json!({ "ok": false }));
                }
                self.made.push(reservation);
                Ok(json!({ "ok": true, "delay_ns": nanos(reservation.delay_from(now)) }))
            }
            "cancel" => {
                let id = usize::try_from(whole(args, "id")?).map_err(|error| error.to_string())?;
                let reservation = self.made.get(id).ok_or("no reservation has this id")?;
                self.bucket.cancel(now, reservation);
                Ok(json!({ "tokens": written(self.bucket.tokens_at(now)) }))
            }
            "tokens" => Ok(written(self.bucket.tokens_at(now))),
            "set_limit" => {
                self.bucket.set_rate(now, Rate::per_second(number(args, "qps")?));
                Ok(Value::Null)
            }
            "set_burst" => {
                self.bucket.set_burst(now, whole(args, "burst")?);
                Ok(Value::Null)
            }
            other => Err(format!("a token bucket has no call '{other}'")),
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
