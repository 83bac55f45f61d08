//! The promises of the mutation cache and the detector, as checks of a history.

use super::book::{Call, Ended};
use super::reference::Model;
use super::{History, MutationCache};
use crate::stores::fixtures::ended;
use crate::trial::{Invariant, Violation};

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<MutationCache>> {
    vec![
        Invariant::always(
            "handing_out_never_waits",
            "a caller that hands out an object never waits for a comparison",
            &["cache:MD-2"],
            handing_out_never_waits,
        ),
        Invariant::always(
            "one_moment",
            "every call takes effect at one moment between its beginning and its end",
            &[
                "cache:MC-1",
                "cache:MC-3",
                "cache:MC-4",
                "cache:MC-5",
                "cache:MC-6",
                "cache:MC-7",
                "cache:MC-8",
                "cache:MC-10",
            ],
            one_moment,
        ),
    ]
}

fn handing_out_never_waits(history: &History) -> Checked {
    for ended in ended(history).iter().filter(|it| it.call == Call::Watch) {
        let took = ended.at.since(ended.began);
        if !took.is_zero() {
            return Err(Violation::at(ended.to, format!("it took {took:?} to hand out an object")));
        }
    }
    Ok(())
}

/// Time passes only while no caller uses the cache, so the end of a call gives the time of its
/// effect.
fn one_moment(history: &History) -> Checked {
    let ended = ended(history);
    if explains(&ended, &mut vec![false; ended.len()], &Model::new(true, &[])) {
        return Ok(());
    }
    let is_wrong = |count: &usize| {
        !explains(&ended[..*count], &mut vec![false; *count], &Model::new(true, &[]))
    };
    let last = &ended[(1..=ended.len()).find(is_wrong).map_or(0, |count| count - 1)];
    Err(Violation::at(last.to, format!("no order of the calls explains {:?}", last.answer)))
}

/// Tells whether some order of the open calls explains every answer if no calls overlap; of two
/// calls that did not overlap, the earlier comes first.
fn explains(calls: &[Ended], done: &mut Vec<bool>, model: &Model) -> bool {
    let open: Vec<usize> = (0..calls.len()).filter(|number| !done[*number]).collect();
    let Some(first_end) = open.iter().map(|number| calls[*number].to).min() else { return true };
    for number in open {
        let (call, mut after) = (&calls[number], model.clone());
        if call.from > first_end || after.answer(&call.call, call.at) != call.answer {
            continue;
        }
        done[number] = true;
        if explains(calls, done, &after) {
            return true;
        }
        done[number] = false;
    }
    false
}
