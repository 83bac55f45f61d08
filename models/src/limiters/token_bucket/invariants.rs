//! The promises of a token bucket, as checks of a history.

use super::machine::{Ask, Call, Said};
use super::spec::{NEVER, Reserved};
use super::{BURST, Bucket, Event, History, RATE, Spec};
use crate::trial::{self, Invariant, Ledger as _, Violation};

type Checked = Result<(), Violation>;

/// The bucket computes in double precision, and its sequential object in whole nanoseconds.
const SLACK: i128 = 1_000;

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

/// The bucket in whole numbers, which gets the same calls.
#[derive(Clone, Debug)]
struct Led {
    spec: Spec,
    made: Vec<Reserved>,
}

impl Default for Led {
    fn default() -> Self {
        Self { spec: Spec::new(RATE, BURST), made: Vec::new() }
    }
}

impl Led {
    /// Makes a call; returns the time until the tokens may be used, if they are granted.
    fn ask(&mut self, call: &Call) -> Option<i128> {
        let t = i128::from(call.at.as_nanos());
        match call.ask {
            Ask::Allow(n) => self.spec.reserve(t, n, 0).map(|_| 0),
            Ask::Reserve(n, patience) => {
                let patience = i128::try_from(patience.as_nanos()).unwrap_or(NEVER).min(NEVER);
                let reserved = self.spec.reserve(t, n, patience)?;
                self.made.push(reserved);
                Some(reserved.delay_from(t))
            }
            Ask::Cancel(number) => {
                if let Some(reserved) = self.made.get(usize::from(number)) {
                    self.spec.cancel(t, reserved);
                }
                None
            }
            Ask::SetRate(rate) => {
                self.spec.set_rate(t, rate);
                None
            }
            Ask::SetBurst(burst) => {
                self.spec.set_burst(t, burst);
                None
            }
            Ask::Tokens => None,
        }
    }
}

impl trial::Ledger<Bucket> for Led {
    fn apply(&mut self, event: &Event) {
        if let Some((call, _)) = event.returned() {
            self.ask(call);
        }
    }
}

fn grants(history: &History, wrong: fn(bool, bool) -> bool) -> Checked {
    Led::at_every_event(history, |before, event| {
        let Some((call, said)) = event.returned() else { return Ok(()) };
        let got = match said {
            Said::Allowed(allowed) => *allowed,
            Said::Reserved(..) => true,
            Said::Refused => false,
            _ => return Ok(()),
        };
        let right = before.clone().ask(call).is_some();
        if !wrong(got, right) {
            return Ok(());
        }
        Err(format!("{:?} is {}", call.ask, if got { "granted" } else { "refused" }))
    })
}

fn delays(history: &History, wrong: fn(i128, i128) -> bool) -> Checked {
    Led::at_every_event(history, |before, event| {
        let Some((call, Said::Reserved(delay, _))) = event.returned() else { return Ok(()) };
        let got = i128::try_from(delay.as_nanos()).unwrap_or(NEVER);
        match before.clone().ask(call) {
            Some(right) if wrong(got, right) => {
                Err(format!("{delay:?} is told, and {right} ns are right"))
            }
            _ => Ok(()),
        }
    })
}

fn balance_is_told(before: &Led, event: &Event) -> Result<(), String> {
    let Some((call, Said::Tokens(got))) = event.returned() else { return Ok(()) };
    let right = before.spec.tokens_at(call.at.as_nanos().into());
    if (got - right).abs() <= SLACK {
        return Ok(());
    }
    Err(format!("{got} billionths of a token are told, and {right} are there"))
}
