//! The promises of the shell, as checks of the notes of calls.

use std::collections::BTreeSet;

use super::{History, Shell};
use crate::trial::{Invariant, Violation, What};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<Shell>> {
    vec![
        Invariant::always(
            "nobody_sleeps_on",
            "no thread or task sleeps while an item waits or after the end, whatever panics",
            &["shell:SH-1", "shell:SH-2", "shell:SH-3"],
            nobody_sleeps_on,
        ),
        Invariant::always(
            "callers_are_not_hurt",
            "a call panics only if its own step does",
            &["shell:SH-4"],
            callers_are_not_hurt,
        ),
        Invariant::always(
            "first_come_first_woken",
            "the longest sleeper is woken first, however often it or others are polled",
            &["shell:SH-5", "shell:SH-6"],
            first_come_first_woken,
        ),
        Invariant::always(
            "memory_returns",
            "the memory for many sleepers is released when they are gone",
            &["shell:SH-7"],
            memory_returns,
        ),
    ]
}

fn nobody_sleeps_on(history: &History) -> Checked {
    let (mut items, mut is_shut, mut sleepers, mut givers) = (0, false, BTreeSet::new(), 0);
    for (number, event) in history.events.iter().enumerate() {
        match &event.what {
            What::Note { label: "puts", value } => items += value,
            What::Note { label: "shuts", .. } => is_shut = true,
            What::Note { label: "takes", value } => drop(sleepers.insert(*value)),
            What::Note { label: "took", value } => {
                sleepers.remove(value);
                items = items.saturating_sub(1);
            }
            What::Note { label: "ended", value } => drop(sleepers.remove(value)),
            What::Note { label: "hands", .. } => givers += 1,
            What::Note { label: "handed", .. } => givers -= 1,
            What::Quiet if items == 0 && givers > 0 => {
                return Err(Violation::at(number, "who handed an item over sleeps on".to_owned()));
            }
            What::Quiet if (items > 0 || is_shut) && !sleepers.is_empty() => {
                let says = format!("{sleepers:?} sleep on beside {items} items, shut: {is_shut}");
                return Err(Violation::at(number, says));
            }
            _ => {}
        }
    }
    Ok(())
}

fn callers_are_not_hurt(history: &History) -> Checked {
    match history.events.iter().position(|event| event.noted("hurt").is_some()) {
        Some(number) => {
            Err(Violation::at(number, "a call does not end as its step did".to_owned()))
        }
        None => Ok(()),
    }
}

/// Looks at the tasks that are polled by hand: they sleep once they have made their call.
fn first_come_first_woken(history: &History) -> Checked {
    let mut line = Vec::new();
    for (number, event) in history.events.iter().enumerate() {
        let What::Note { label, value } = event.what else { continue };
        match label {
            "asks" => line.push(value),
            "took" | "ended" => line.retain(|other| *other != value),
            "rings" if line.contains(&value) => {
                if line[0] != value {
                    let says = format!("task {value} is woken, and {} came before it", line[0]);
                    return Err(Violation::at(number, says));
                }
                line.remove(0);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The number of sleepers for which memory may always be reserved.
const FEW: u64 = 64;

fn memory_returns(history: &History) -> Checked {
    for (number, event) in history.events.iter().enumerate() {
        if let Some(seats) = event.noted("seats").filter(|seats| *seats > FEW) {
            let says = format!("there is memory for {seats} sleepers, and next to none sleep");
            return Err(Violation::at(number, says));
        }
    }
    Ok(())
}
