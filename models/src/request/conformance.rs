//! The reference's recorded traces of request URLs, replayed.

use std::sync::Arc;

use seatrial_core::request::{Base, Request, Verb};
use serde_json::{Value, json};

use crate::conformance::{
    Arguments, Conformance, Gives, Replayed, Step, TRACES, Trace, TraceError,
};

/// How the recorded traces of request URLs are replayed.
#[must_use]
pub fn conformance() -> Conformance {
    Conformance { traces_of: "request_url", carried: TRACES, replay, faithful: None }
}

fn replay(trace: &Trace) -> Result<Replayed, TraceError> {
    let malformed = |why| TraceError::Malformed { step: 0, why };
    let mut request = begun(&Arguments(trace.config.clone())).map_err(malformed)?;
    trace.replay(|step| {
        let (next, gives) = stepped(request.clone(), step)?;
        request = next;
        Ok(Gives::Same(gives))
    })
}

/// The request before the first step; its first timeout is the timeout of its client.
fn begun(config: &Arguments) -> Result<Request, String> {
    let base = Base::parse(config.text("base")?).map_err(|error| error.to_string())?;
    let verb = Verb::from(config.text("verb")?);
    let request = Request::new(&Arc::new(base), verb, config.text("api_path")?);
    Ok(request.timeout_nanos(nanos(config.integer("client_timeout_ms")?)?))
}

fn stepped(request: Request, step: &Step) -> Result<(Request, Value), String> {
    let args = &step.args;
    let segments = || -> Result<Vec<&str>, String> {
        let list = args.0["segments"].as_array().ok_or("argument 'segments' is missing")?;
        list.iter().map(|segment| segment.as_str().ok_or("a segment is no text".into())).collect()
    };
    let next = match step.op.as_str() {
        "url" => {
            let gives = match request.url() {
                Ok(url) => json!({ "url": url }),
                Err(error) => json!({ "err": error.to_string() }),
            };
            return Ok((request, gives));
        }
        "namespace" => request.namespace(args.text("s")?),
        "namespace_if_scoped" => {
            let scoped = args.0["scoped"].as_bool().ok_or("argument 'scoped' is missing")?;
            request.namespace_if_scoped(args.text("s")?, scoped)
        }
        "resource" => request.resource(args.text("s")?),
        "name" => request.name(args.text("s")?),
        "sub_resource" => request.sub_resource(&segments()?),
        "suffix" => request.suffix(&segments()?),
        "prefix" => request.prefix(&segments()?),
        "abs_path" => request.abs_path(&segments()?),
        "request_uri" => request.request_uri(args.text("s")?),
        "param" => request.param(args.text("key")?, args.text("value")?),
        "timeout" => request.timeout_nanos(nanos(args.integer("ms")?)?),
        other => return Err(format!("a request has no call '{other}'")),
    };
    Ok((next, Value::Null))
}

fn nanos(millis: i64) -> Result<i64, String> {
    millis.checked_mul(1_000_000).ok_or_else(|| format!("{millis} ms is too long"))
}
