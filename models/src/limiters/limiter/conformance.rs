//! The reference's recorded traces of the limiters, replayed.

use std::time::Duration;

use seatrial_core::limiter::{
    Bucket, Exponential, FastSlow, Item, Limiter, MaxOf, Rate, WithMaxWait, default_controller,
    default_item_based,
};
use seatrial_core::runtime::Instant;
use serde_json::{Value, json};

use crate::conformance::{Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError};
use crate::single_step::hash;
use crate::token_bucket::{number, whole};

type Boxed = Box<dyn Limiter<String>>;

/// Replays the traces of `rate_limiters`.
pub(super) const fn conformance() -> Conformance {
    Conformance { traces_of: "rate_limiters", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let mut limiter = limiter_of(&trace.config["limiter"]).map_err(TraceError::Unreadable)?;
    let mut now = Instant::from_nanos(1 << 60);
    trace.replay(|recorded| step(&mut limiter, &mut now, recorded).map(Gives::Same))
}

fn step(limiter: &mut Boxed, now: &mut Instant, step: &Step) -> Result<Value, String> {
    if step.op == "advance" {
        *now = *now + Duration::from_millis(whole(&step.args.0, "ms")?);
        return Ok(Value::Null);
    }
    let key = step.args.text("item")?.to_owned();
    let item = Item::new(&key, hash(&key));
    match step.op.as_str() {
        "when" => {
            let delay = limiter.when(item, *now).as_nanos();
            Ok(json!(u64::try_from(delay).map_err(|error| error.to_string())?))
        }
        "forget" => {
            limiter.forget(item, &mut Vec::new());
            Ok(Value::Null)
        }
        "num_requeues" => Ok(json!(limiter.num_requeues(item))),
        other => Err(format!("a limiter has no call '{other}'")),
    }
}

/// Makes the limiter that a configuration describes.
pub(crate) fn limiter_of(config: &Value) -> Result<Boxed, String> {
    Ok(match config["kind"].as_str().unwrap_or_default() {
        "exponential" => {
            Box::new(Exponential::new(duration(config, "base")?, duration(config, "max")?))
        }
        "fast_slow" => {
            let max_fast = u32::try_from(whole(config, "max_fast_attempts")?);
            let (fast, slow) = (duration(config, "fast")?, duration(config, "slow")?);
            Box::new(FastSlow::new(fast, slow, max_fast.map_err(|error| error.to_string())?))
        }
        "bucket" => {
            let rate = Rate::per_second(number(config, "qps")?);
            Box::new(Bucket::new(rate, whole(config, "burst")?))
        }
        "max_of" => {
            let parts = config["limiters"].as_array().ok_or("'limiters' is no list")?;
            let parts: Result<Vec<_>, _> = parts.iter().map(limiter_of).collect();
            Box::new(MaxOf(parts?))
        }
        "with_max_wait" => {
            let limiter = limiter_of(&config["limiter"])?;
            Box::new(WithMaxWait::new(limiter, duration(config, "max")?))
        }
        "default_controller" => Box::new(default_controller()),
        "default_item_based" => Box::new(default_item_based()),
        _ => return Err(format!("no kind of limiter: {config}")),
    })
}

/// Reads a duration that is written in nanoseconds or in milliseconds.
fn duration(config: &Value, name: &str) -> Result<Duration, String> {
    let millis = format!("{name}_ms");
    if config.get(&millis).is_some() {
        return whole(config, &millis).map(Duration::from_millis);
    }
    whole(config, &format!("{name}_ns")).map(Duration::from_nanos)
}
