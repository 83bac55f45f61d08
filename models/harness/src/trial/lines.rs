//! A history as text.

use std::fmt::Write as _;

use seatrial_core::machine::Step;

use crate::author::{Component, EventOf, HistoryOf, What};
use crate::outcome::Line;

/// Turns a history into text.
pub(crate) fn lines<C: Component>(
    history: &HistoryOf<C>,
    thread_name: &dyn Fn(u8) -> String,
) -> Vec<Line> {
    let line = |event: &EventOf<C>| Line {
        thread: event.thread,
        name: thread_name(event.thread),
        at_nanos: event.at.as_nanos(),
        text: describe::<C>(event),
        sleeps: matches!(&event.what, What::Step { outcome: Step::Wait { .. }, .. }),
        object: matches!(event.what, What::Step { .. } | What::Cancel { .. })
            .then_some(event.object),
        keeps_lock: matches!(&event.what, What::Step { outcome: Step::Held(_), .. }),
    };
    history.events.iter().map(line).collect()
}

fn describe<C: Component>(event: &EventOf<C>) -> String {
    let mut text = match &event.what {
        What::Step { op, outcome, .. } => C::describe(op, outcome),
        What::Cancel { op } => format!("gives up {op:?}"),
        What::Note { label, value } => format!("notes {label} {value}"),
        What::Quiet => "nobody else can move".to_owned(),
    };
    if event.object > 0 {
        let _infallible = write!(text, " (object {})", event.object);
    }
    text
}
