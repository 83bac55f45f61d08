//! The promises of a limiter, as checks of a history.

use super::machine::{Call, Said};
use super::{Event, History, Limiter, Plain, shape};
use crate::trial::{self, Invariant, Ledger as _, Violation};

type Checked = Result<(), Violation>;

/// The bucket computes in double precision, and its sequential object in whole nanoseconds.
const SLACK: u128 = 1_000;

pub(super) fn all() -> Vec<Invariant<Limiter>> {
    vec![
        Invariant::always(
            "never_too_short",
            "no item waits for less than its failures and the shared rate require",
            &["workqueue:RL-2", "workqueue:RL-15", "workqueue:RL-20"],
            |history| delays(history, |got, right| got + SLACK < right),
        ),
        Invariant::always(
            "never_too_long",
            "no item waits for more than its failures, the shared rate and the maximum allow",
            &["workqueue:RL-3", "workqueue:RL-5"],
            |history| delays(history, |got, right| got > right + SLACK),
        ),
        Invariant::at_every_event(
            "failures_are_counted",
            "the failures of each item are counted by themselves, since it was last forgotten",
            &["workqueue:RL-4", "workqueue:RL-10"],
            failures_are_counted,
        ),
    ]
}

/// The plain limiter, which gets the same questions.
#[derive(Clone, Debug)]
struct Asked(Plain);

impl Default for Asked {
    fn default() -> Self {
        Self(Plain::new(&shape()))
    }
}

impl trial::Ledger<Limiter> for Asked {
    fn apply(&mut self, event: &Event) {
        match event.returned() {
            Some((Call::When(key), _)) => {
                self.0.when(*key, event.at.as_nanos());
            }
            Some((Call::Forget(key), _)) => self.0.forget(*key),
            _ => {}
        }
    }
}

fn delays(history: &History, wrong: fn(u128, u128) -> bool) -> Checked {
    Asked::at_every_event(history, |before, event| {
        let Some((Call::When(key), Said::Delay(got))) = event.returned() else { return Ok(()) };
        let right = before.0.clone().when(*key, event.at.as_nanos());
        if !wrong(got.as_nanos(), right) {
            return Ok(());
        }
        Err(format!("item {key} is to wait for {got:?}, and {right} ns are right"))
    })
}

fn failures_are_counted(before: &Asked, event: &Event) -> Result<(), String> {
    let Some((Call::NumRequeues(key), Said::Count(got))) = event.returned() else {
        return Ok(());
    };
    let right = before.0.num_requeues(*key);
    if *got == right {
        return Ok(());
    }
    Err(format!("item {key} failed {right} times, and {got} are told"))
}
