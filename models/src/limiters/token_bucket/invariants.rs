//! The promises of a token bucket, as checks of a history.

use std::time::Duration;

use super::machine::Said;
use super::{Bucket, Event, History, Plain};
use crate::trial::{self, Invariant, Ledger as _, Violation};

type Checked = Result<(), Violation>;

/// The bucket computes in double precision, and its sequential object in whole nanoseconds.
const SLACK: Duration = Duration::from_micros(1);

pub(super) fn all() -> Vec<Invariant<Bucket>> {
    vec![
        Invariant::always(
            "grants_no_more",
            "no caller is granted tokens that do not come in time or exceed the burst",
            &[
                "workqueue:TB-2",
                "workqueue:TB-5",
                "workqueue:TB-11",
                "workqueue:TB-12",
                "workqueue:TB-23",
            ],
            |history| grants(history, |got, right| got && !right),
        ),
        Invariant::always(
            "grants_what_there_is",
            "a caller is granted tokens that are there or come in time",
            &["workqueue:TB-1", "workqueue:TB-8"],
            |history| grants(history, |got, right| !got && right),
        ),
        Invariant::always(
            "nobody_goes_early",
            "no reservation may be used before its tokens have come",
            &["workqueue:TB-6", "workqueue:TB-10", "workqueue:TB-24"],
            |history| delays(history, |got, right| got + SLACK < right),
        ),
        Invariant::always(
            "nobody_goes_late",
            "every reservation may be used as soon as its tokens have come",
            &["workqueue:TB-4", "workqueue:TB-14"],
            |history| delays(history, |got, right| got > right + SLACK),
        ),
        Invariant::at_every_event(
            "balance_is_told",
            "the balance counts all tokens that came, were taken and were given back",
            &[
                "workqueue:TB-16",
                "workqueue:TB-17",
                "workqueue:TB-18",
                "workqueue:TB-20",
                "workqueue:TB-21",
            ],
            balance_is_told,
        ),
    ]
}

impl trial::Ledger<Bucket> for Plain {
    fn apply(&mut self, event: &Event) {
        if let Some((call, _)) = event.returned() {
            self.ask(*call);
        }
    }
}

/// Tells whether an answer grants tokens, if it is one to a caller that wants some.
fn granted(said: &Said) -> Option<bool> {
    match said {
        Said::Allowed(allowed) => Some(*allowed),
        Said::Reserved(..) => Some(true),
        Said::Refused => Some(false),
        _ => None,
    }
}

fn grants(history: &History, wrong: fn(bool, bool) -> bool) -> Checked {
    Plain::at_every_event(history, |before, event| {
        let Some((call, said)) = event.returned() else { return Ok(()) };
        match (granted(said), granted(&before.clone().ask(*call))) {
            (Some(got), Some(right)) if wrong(got, right) => {
                Err(format!("{:?} is {}", call.ask, if got { "granted" } else { "refused" }))
            }
            _ => Ok(()),
        }
    })
}

fn delays(history: &History, wrong: fn(Duration, Duration) -> bool) -> Checked {
    Plain::at_every_event(history, |before, event| {
        let Some((call, Said::Reserved(got, _))) = event.returned() else { return Ok(()) };
        match before.clone().ask(*call) {
            Said::Reserved(right, _) if wrong(*got, right) => {
                Err(format!("{got:?} is told, and {right:?} is right"))
            }
            _ => Ok(()),
        }
    })
}

fn balance_is_told(before: &Plain, event: &Event) -> Result<(), String> {
    let Some((call, Said::Tokens(got))) = event.returned() else { return Ok(()) };
    let right = before.tokens_at(call.at.as_nanos().into());
    if (got - right).unsigned_abs() <= SLACK.as_nanos() {
        return Ok(());
    }
    Err(format!("{got} billionths of a token are told, and {right} are there"))
}
