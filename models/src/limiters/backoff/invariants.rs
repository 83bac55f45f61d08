//! The promises of a keyed back-off, as checks of a history.

use super::machine::{Call, Said};
use super::plain::nanos;
use super::{Backoff, Event, History, Plain};
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
            |before, event| answers(before, event, |call| matches!(call, Call::Get(_))),
        ),
        Invariant::at_every_event(
            "backs_off_so_long",
            "a key backs off for its delay and no longer, from the event or from the update",
            &["workqueue:BO-6", "workqueue:BO-7", "workqueue:BO-14"],
            |before, event| {
                let asks = |call: &Call| matches!(call, Call::Since(..) | Call::SinceUpdate(..));
                answers(before, event, asks)
            },
        ),
        Invariant::at_every_event(
            "forgets_what_it_says",
            "a reset or a collection of garbage returns the right number of forgotten keys",
            &["workqueue:BO-8"],
            |before, event| {
                let forgets = |call: &Call| matches!(call, Call::Reset(_) | Call::CollectGarbage);
                answers(before, event, forgets)
            },
        ),
    ]
}

impl trial::Ledger<Backoff> for Plain {
    fn apply(&mut self, event: &Event) {
        let now = i128::from(event.at.as_nanos());
        match event.returned() {
            // Chance decides about the jitter: what was told counts.
            Some((Call::Next(key, _), Said::Delay(delay))) => {
                self.entries.insert(*key, (nanos(*delay), now));
            }
            Some((call, _)) => _ = self.ask(*call, now, 0.0),
            None => {}
        }
    }
}

fn delays(history: &History, wrong: fn(i128, i128, i128) -> bool) -> Checked {
    Plain::at_every_event(history, |before, event| {
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

/// Compares the answers to some calls with those of the plain table.
fn answers(before: &Plain, event: &Event, asks: fn(&Call) -> bool) -> Result<(), String> {
    let Some((call, said)) = event.returned().filter(|(call, _)| asks(call)) else {
        return Ok(());
    };
    let right = before.clone().ask(*call, event.at.as_nanos().into(), 0.0);
    if *said == right {
        return Ok(());
    }
    Err(format!("{call:?} -> {said:?}, and {right:?} is right"))
}
