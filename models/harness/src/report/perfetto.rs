//! Executions as a timeline, in the trace event format that Perfetto and Chrome open.
//!
//! Steps take no time of their own, so the axis counts them: one microsecond a step. The clock of
//! the runtime is among each step's arguments.

use serde_json::{Value, json};

use super::{Report, Row};
use crate::outcome::Line;
use crate::picture::conflict;

/// Renders every execution that the report carries: a process each, its threads inside.
pub fn perfetto(report: &Report) -> Value {
    let mut events = Vec::new();
    let drawn = report.rows.iter().filter(|row| !row.history.is_empty());
    for (number, row) in drawn.enumerate() {
        timeline(row, number as u64 + 1, &mut events);
    }
    json!({
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"program": report.program, "commit": report.commit},
    })
}

fn timeline(row: &Row, process: u64, events: &mut Vec<Value>) {
    let name = format!("{} on {}: {}", row.case(), row.engine, row.invariant);
    events.push(meta(process, 0, "process_name", &name));
    let mut named = Vec::new();
    for (at, line) in row.history.iter().enumerate() {
        if !named.contains(&line.thread) {
            named.push(line.thread);
            events.push(meta(process, line.thread, "thread_name", &line.name));
        }
        events.push(step(process, at, line));
        events.extend(rest(process, at, &row.history));
    }
    if let Some(at) = row.at {
        events.extend(marks(row, process, at));
    }
}

/// Names a process or a thread.
fn meta(process: u64, thread: u8, what: &str, name: &str) -> Value {
    json!({"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}})
}

fn step(process: u64, at: usize, line: &Line) -> Value {
    let mut arguments = json!({"clock_nanos": line.at_nanos});
    if let Some(object) = line.object {
        arguments["lock_of"] = json!(object);
    }
    json!({
        "ph": "X", "cat": "step", "name": line.text, "pid": process, "tid": line.thread,
        "ts": at, "dur": 1, "args": arguments,
    })
}

/// Draws what a thread does from the end of a step to its next one: it sleeps, or keeps a lock.
fn rest(process: u64, at: usize, history: &[Line]) -> Option<Value> {
    let line = &history[at];
    let what = match (line.sleeps, line.keeps_lock) {
        (true, _) => "asleep",
        (false, true) => "keeps the lock",
        _ => return None,
    };
    let next = history[at + 1..].iter().position(|later| later.thread == line.thread);
    let length = next.unwrap_or(history.len() - at - 1);
    (length > 0).then(|| {
        json!({
            "ph": "X", "cat": "state", "name": what, "pid": process, "tid": line.thread,
            "ts": at + 1, "dur": length,
        })
    })
}

/// Marks the violation, and draws an arrow to it from the step that it conflicts with.
fn marks(row: &Row, process: u64, at: usize) -> Vec<Value> {
    let Some(line) = row.history.get(at) else { return Vec::new() };
    let because = row.because.as_deref().unwrap_or("violated");
    let mut events = vec![json!({
        "ph": "i", "s": "p", "cat": "violation", "name": format!("{}: {because}", row.invariant),
        "pid": process, "tid": line.thread, "ts": at,
    })];
    if let Some(from) = conflict(&row.history, Some(at)) {
        let end = |ph: &str, at: usize| {
            json!({
                "ph": ph, "bp": "e", "id": process, "cat": "conflict", "name": "conflict",
                "pid": process, "tid": row.history[at].thread, "ts": at,
            })
        };
        events.extend([end("s", from), end("f", at)]);
    }
    events
}
