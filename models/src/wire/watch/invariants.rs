//! The promises of a watch, as checks of a history.

use super::machine::{Call, Said, Told};
use super::{History, Spec, Watch};
use crate::trial::{Invariant, Violation};
use crate::wire::fixtures;

type Checked = Result<(), Violation>;

pub(super) fn all() -> Vec<Invariant<Watch>> {
    vec![
        Invariant::always(
            "events_come_whole_and_once",
            "every event is delivered once and in order, however its bytes are cut",
            &["election:RQ-100"],
            |history| same(history, |told| matches!(told, Told::Event(..))),
        ),
        Invariant::always(
            "nonsense_is_told",
            "only invalid input and connections that break in unknown ways are reported as invalid",
            &["election:RQ-103"],
            |history| same(history, |told| *told == Told::Nonsense),
        ),
        Invariant::always(
            "errors_are_told_and_the_last",
            "an error of the server is reported, and the watch ends after any error",
            &["election:RQ-100", "election:RINV-14"],
            errors_are_told_and_the_last,
        ),
        Invariant::always(
            "lines_are_bounded",
            "a line is reported as too long if and only if it is, complete or not",
            &["election:RQ-100"],
            |history| same(history, |told| *told == Told::TooLong),
        ),
        Invariant::always(
            "ends_when_it_should",
            "a watch ends only with its body, its token, an error or the silence of its server",
            &["election:RQ-102", "election:RQ-103"],
            |history| same(history, |told| *told == Told::End),
        ),
        Invariant::always(
            "nothing_after_the_end",
            "a watch reports nothing after its end or the end of its token",
            &["election:RQ-102", "election:RINV-14"],
            nothing_after_the_end,
        ),
        Invariant::always(
            "open_until_the_end",
            "a watch keeps its connection while it goes on, and closes it when it ends",
            &["election:RINV-3"],
            open_until_the_end,
        ),
    ]
}

/// Checks every call against the expected result.
fn each(history: &History, check: impl Fn(&Call, &Said, &Said) -> bool) -> Checked {
    fixtures::each::<Watch, _>(history, |_: &Spec, call, said, right| check(call, said, right))
}

fn same(history: &History, looks: fn(&Told) -> bool) -> Checked {
    each(history, |_, said, right| {
        let some = |said: &Said| said.told.iter().filter(|told| looks(told)).cloned().collect();
        let (said, right): (Vec<Told>, Vec<Told>) = (some(said), some(right));
        said == right
    })
}

fn errors_are_told_and_the_last(history: &History) -> Checked {
    let is_error = |told: &Told| !matches!(told, Told::Event(..) | Told::End);
    each(history, |_, said, _| {
        let first = said.told.iter().position(is_error);
        first.is_none_or(|first| said.told[first + 1..] == [Told::End])
    })?;
    same(history, |told| matches!(told, Told::Refused(_)))
}

fn nothing_after_the_end(history: &History) -> Checked {
    each(history, |call, said, right| {
        let behind = said.told.iter().skip_while(|told| **told != Told::End).skip(1).count();
        let is_over = !right.open && right.told.is_empty() || matches!(call, Call::Cancel(_));
        behind == 0 && (!is_over || said.told.iter().all(|told| *told == Told::End))
    })
}

fn open_until_the_end(history: &History) -> Checked {
    each(history, |_, said, _| {
        let ends = said.told.contains(&Told::End);
        !(ends && said.open)
    })?;
    each(history, |_, said, right| said.open == right.open)
}
