//! The promises of a keyed back-off, as checks of a history.

use std::collections::BTreeMap;
use std::time::Duration;

use super::machine::{Call, Said};
use super::{Backoff, Event, History, INITIAL, JITTER, MAX};
use crate::trial::{self, Invariant, Ledger as _, Violation};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<Backoff>> {
    vec![
        Invariant::always(
            "never_too_short",
            "a key that goes on failing waits at least twice as long as before, up to the maximum",
            &["workqueue:BO-2", "workqueue:BO-4", "workqueue:BO-12"],
            |history| delays(history, |got, least, _| got < least),
        ),
        Invariant::always(
            "never_too_long",
            "a key waits at most twice as long as before plus its jitter, and never longer than \
             the maximum; after a long time without a failure it starts over",
            &["workqueue:BO-2", "workqueue:BO-5", "workqueue:BO-12"],
            |history| delays(history, |got, _, most| got > most),
        ),
        Invariant::always(
            "spreads_out",
            "keys that fail equally often get different delays",
            &["workqueue:BO-5"],
            |history| delays(history, |got, least, most| got == least && most > least),
        ),
        Invariant::at_every_event(
            "tells_what_it_gave",
            "the delay that is read for a key is the last one that it was given, at any time",
            &["workqueue:BO-1", "workqueue:BO-5"],
            tells_what_it_gave,
        ),
        Invariant::at_every_event(
            "backs_off_so_long",
            "a key backs off for its delay and no longer, from the event or from the update",
            &["workqueue:BO-6", "workqueue:BO-7", "workqueue:BO-14"],
            backs_off_so_long,
        ),
        Invariant::at_every_event(
            "forgets_what_it_says",
            "a reset or a collection of garbage returns the right number of forgotten keys",
            &["workqueue:BO-8"],
            forgets_what_it_says,
        ),
    ]
}

/// The delay that every key was given, and when. Times are in nanoseconds.
#[derive(Clone, Debug, Default)]
struct Given(BTreeMap<u8, (i128, i128)>);

fn nanos(time: Duration) -> i128 {
    time.as_nanos().cast_signed()
}

fn expired(event: i128, given: i128) -> bool {
    event - given > 2 * nanos(MAX)
}

impl Given {
    fn stale(&self, now: i128) -> usize {
        self.0.values().filter(|(_, given)| expired(now, *given)).count()
    }

    /// Returns the shortest and the longest next delay of a key.
    fn range(&self, key: u8, event: i128) -> (i128, i128) {
        let (plain, jitter) = match self.0.get(&key) {
            Some((delay, given)) if !expired(event, *given) => (2 * delay, *delay),
            _ => (nanos(INITIAL), nanos(INITIAL)),
        };
        let most = plain + (jitter as f64 * JITTER) as i128;
        (plain.min(nanos(MAX)), most.min(nanos(MAX)))
    }
}

impl trial::Ledger<Backoff> for Given {
    fn apply(&mut self, event: &Event) {
        let now = i128::from(event.at.as_nanos());
        match event.returned() {
            Some((Call::Next(key, _), Said::Delay(delay))) => {
                self.0.insert(*key, (nanos(*delay), now));
            }
            Some((Call::Reset(key), _)) => drop(self.0.remove(key)),
            Some((Call::CollectGarbage, _)) => self.0.retain(|_, (_, given)| !expired(now, *given)),
            _ => {}
        }
    }
}

fn delays(history: &History, wrong: fn(i128, i128, i128) -> bool) -> Checked {
    Given::at_every_event(history, |before, event| {
        let Some((Call::Next(key, at), Said::Delay(got))) = event.returned() else {
            return Ok(());
        };
        let (least, most) = before.range(*key, at.as_nanos().into());
        if !wrong(nanos(*got), least, most) {
            return Ok(());
        }
        Err(format!("key {key} waits for {got:?}, and {least} to {most} ns are right"))
    })
}

fn tells_what_it_gave(before: &Given, event: &Event) -> Result<(), String> {
    let Some((Call::Get(key), Said::Delay(got))) = event.returned() else { return Ok(()) };
    let given = before.0.get(key).map_or(0, |(delay, _)| *delay);
    if nanos(*got) == given {
        return Ok(());
    }
    Err(format!("key {key} was given {given} ns, and {got:?} are told"))
}

fn backs_off_so_long(before: &Given, event: &Event) -> Result<(), String> {
    let Some((call, Said::BacksOff(got))) = event.returned() else { return Ok(()) };
    let now = i128::from(event.at.as_nanos());
    let right = match call {
        Call::Since(key, at) | Call::SinceUpdate(key, at) => {
            let at = i128::from(at.as_nanos());
            before.0.get(key).is_some_and(|&(delay, given)| {
                let from_update = matches!(call, Call::SinceUpdate(..));
                let passed = if from_update { at - given } else { now - at };
                !expired(at, given) && passed < delay
            })
        }
        _ => return Ok(()),
    };
    if *got == right {
        return Ok(());
    }
    Err(format!("{call:?} says {got}"))
}

fn forgets_what_it_says(before: &Given, event: &Event) -> Result<(), String> {
    let Some((call, Said::Forgotten(got))) = event.returned() else { return Ok(()) };
    let right = match call {
        Call::Reset(key) => usize::from(before.0.contains_key(key)),
        _ => before.stale(event.at.as_nanos().into()),
    };
    if usize::from(*got) == right {
        return Ok(());
    }
    Err(format!("{got} keys are forgotten, and {right} are right"))
}
