//! Makes a failing schedule small enough for a person to read.
//!
//! 1. An execution without an end is mostly a way into a loop and a thread that goes round in it:
//!    the shortest beginning that leads into one is looked for, since all else is repetition.
//! 2. Runs of one thread are left out, half of them at a time, then fewer, then single ones.
//! 3. A thread that was stopped and goes on later goes on at once instead.
//! 4. After every success the execution is recorded anew and both begin again, until no single
//!    step makes it smaller, or the replays are spent.
//! 5. Every schedule with fewer preemptions is tried, if they are few enough: then the number of
//!    preemptions is *proved* to be the least.
//!
//! A candidate counts only if it was run and broke the same invariant. The budget
//! counts replays and their steps, not time, so the result does not depend on the machine. The steps
//! are for executions without an end, of which a few hundred would take minutes.

use crate::engine::{Choice, End, Route, Schedule};
use crate::outcome::Finding;

/// Replays that one minimisation may spend.
pub(super) const REPLAYS: u32 = 2_000;
/// Scheduling points that all of them, and the proof, may pass.
pub(super) const STEPS: u64 = 2_000_000;
/// Executions that the proof of a minimum may spend.
pub(super) const PROOF: u64 = 5_000;

/// Runs something near to a schedule; returns what it found if that breaks the same invariant.
pub(super) type Retry<'a> = dyn FnMut(&Schedule) -> Option<Finding> + 'a;

/// The measure to be made small: preemptions first, then switches, then length.
fn size(finding: &Finding) -> (u32, usize, usize) {
    let preemptions = finding.preemptions.unwrap_or(u32::MAX);
    match schedule_of(finding) {
        Some(schedule) => (preemptions, runs(&schedule.choices).len(), schedule.choices.len()),
        None => (preemptions, usize::MAX, usize::MAX),
    }
}

fn schedule_of(finding: &Finding) -> Option<&Schedule> {
    finding.route.as_ref().and_then(Route::schedule)
}

/// Cuts a schedule into runs of equal decisions.
fn runs(choices: &[Choice]) -> Vec<&[Choice]> {
    choices.chunk_by(|a, b| a == b).collect()
}

/// Makes a finding as small as it goes.
pub(super) fn minimise(found: Finding, retry: &mut Retry<'_>) -> Finding {
    let mut replays = 0;
    let mut best = cut(found, &mut replays, retry);
    while let Some(smaller) = smaller(&best, &mut replays, retry) {
        best = recorded_anew(&best, smaller);
    }
    best
}

/// Takes a smaller finding for a former one. The number of the execution that found it says how
/// long the search took: it stays.
fn recorded_anew(former: &Finding, smaller: Finding) -> Finding {
    Finding { execution: former.execution, ..smaller }
}

/// Cuts an execution without an end down to a beginning from which it is still without one.
fn cut(found: Finding, replays: &mut u32, retry: &mut Retry<'_>) -> Finding {
    let Some(schedule) = schedule_of(&found).filter(|_| matches!(found.end, End::Endless(_)))
    else {
        return found;
    };
    let runs = runs(&schedule.choices);
    let lengths = (0..usize::BITS).map(|doublings| (1 << doublings) - 1);
    let mut beginnings = lengths.take_while(|length| *length < runs.len()).map(|length| {
        *replays += 1;
        retry(&Schedule { choices: runs[..length].concat() })
    });
    match beginnings.find_map(|found_again| found_again.filter(|again| size(again) < size(&found)))
    {
        Some(shorter) => recorded_anew(&found, shorter),
        None => found,
    }
}

/// Returns the first candidate that is smaller and still fails.
fn smaller(best: &Finding, replays: &mut u32, retry: &mut Retry<'_>) -> Option<Finding> {
    let schedule = schedule_of(best)?;
    let runs = runs(&schedule.choices);
    for candidate in shortened(&runs).chain(joined(&runs)) {
        if *replays >= REPLAYS {
            return None;
        }
        *replays += 1;
        match retry(&candidate) {
            Some(found) if size(&found) < size(best) => return Some(found),
            _ => {}
        }
    }
    None
}

/// Returns the schedule without half of its runs, a quarter of them, and so on to single ones.
fn shortened<'a>(runs: &'a [&'a [Choice]]) -> impl Iterator<Item = Schedule> + 'a {
    let halves = std::iter::successors(Some(runs.len() / 2), |size| Some(size / 2));
    halves.take_while(|size| *size > 0).flat_map(move |size| {
        (0..runs.len().div_ceil(size)).map(move |part| {
            let (from, to) = (part * size, (part + 1) * size);
            let kept = runs.iter().enumerate().filter(|(at, _)| *at < from || *at >= to);
            Schedule { choices: kept.flat_map(|(_, run)| run.iter().copied()).collect() }
        })
    })
}

/// Returns the schedule with one run moved up to the one before it of the same thread.
fn joined<'a>(runs: &'a [&'a [Choice]]) -> impl Iterator<Item = Schedule> + 'a {
    (0..runs.len()).filter_map(move |first| {
        let next = (first + 2..runs.len()).find(|next| runs[*next][0] == runs[first][0])?;
        let mut order: Vec<usize> = (0..runs.len()).filter(|at| *at != next).collect();
        order.insert(first + 1, next);
        let choices = order.into_iter().flat_map(|at| runs[at].iter().copied()).collect();
        Some(Schedule { choices })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Violation;

    fn finding(schedule: &Schedule) -> Finding {
        let switches = runs(&schedule.choices).len() as u32;
        Finding {
            invariant: "test",
            violation: Violation::overall("fails"),
            execution: 7,
            preemptions: Some(switches.saturating_sub(1)),
            proved_minimum: None,
            route: Some(schedule.clone().into()),
            lines: Vec::new(),
            end: End::Finished,
            compared: None,
        }
    }

    /// Fails if some `b` comes between two `a`.
    fn fails(schedule: &Schedule) -> bool {
        let text = schedule.to_string();
        let first = text.find('a');
        let b = first.and_then(|first| text[first..].find('b').map(|at| at + first));
        b.is_some_and(|b| text[b..].contains('a'))
    }

    #[test]
    fn a_long_schedule_shrinks_to_what_matters() {
        let long: Schedule = "c3a2d4b2c1a1b7d2a5c2b1a1d9".parse().unwrap();
        assert!(fails(&long));
        let small =
            minimise(finding(&long), &mut |candidate| fails(candidate).then(|| finding(candidate)));
        let schedule = schedule_of(&small).unwrap();
        assert!(fails(schedule));
        assert_eq!(runs(&schedule.choices).len(), 3, "{schedule}");
        assert_eq!(small.execution, 7);
    }

    #[test]
    fn a_way_into_a_loop_is_found_in_few_replays() {
        let long: Schedule = "abc".repeat(5_000).parse().unwrap();
        let endless = |schedule: &Schedule| Finding {
            end: End::Endless("spins".to_owned()),
            ..finding(schedule)
        };
        let mut replays = 0;
        let small = minimise(endless(&long), &mut |candidate| {
            replays += 1;
            fails(candidate).then(|| endless(candidate))
        });
        assert_eq!(runs(&schedule_of(&small).unwrap().choices).len(), 3);
        assert!(replays < 30, "{replays}");
    }

    #[test]
    fn nothing_is_believed_that_was_not_run() {
        let long: Schedule = "abababab".parse().unwrap();
        let kept = minimise(finding(&long), &mut |_| None);
        assert_eq!(schedule_of(&kept), Some(&long));
    }
}
