//! The promises of a watch, as checks of a history.

use super::machine::{Call, Said, Told};
use super::{Spec, Watch};
use crate::trial::Invariant;
use crate::wire::fixtures::at_every_call;

pub(super) fn all() -> Vec<Invariant<Watch>> {
    vec![
        at_every_call::<Watch, Spec>(
            "events_come_whole_and_once",
            "every event is delivered once and in order, however its bytes are cut",
            &["election:RQ-100"],
            |_, _, said, right| same(said, right, |told| matches!(told, Told::Event(..))),
        ),
        at_every_call::<Watch, Spec>(
            "nonsense_is_told",
            "only invalid input and connections that break in unknown ways are reported as invalid",
            &["election:RQ-103"],
            |_, _, said, right| same(said, right, |told| *told == Told::Nonsense),
        ),
        at_every_call::<Watch, Spec>(
            "errors_are_told_and_the_last",
            "an error of the server is reported, and the watch ends after any error",
            &["election:RQ-100", "election:RINV-14"],
            |_, _, said, right| errors_are_told_and_the_last(said, right),
        ),
        at_every_call::<Watch, Spec>(
            "lines_are_bounded",
            "a line is reported as too long if and only if it is, complete or not",
            &["election:RQ-100"],
            |_, _, said, right| same(said, right, |told| *told == Told::TooLong),
        ),
        at_every_call::<Watch, Spec>(
            "ends_when_it_should",
            "a watch ends only with its body, its token, an error or the silence of its server",
            &["election:RQ-102", "election:RQ-103"],
            |_, _, said, right| same(said, right, |told| *told == Told::End),
        ),
        at_every_call::<Watch, Spec>(
            "nothing_after_the_end",
            "a watch reports nothing after its end or the end of its token",
            &["election:RQ-102", "election:RINV-14"],
            |_, call, said, right| nothing_after_the_end(call, said, right),
        ),
        at_every_call::<Watch, Spec>(
            "open_until_the_end",
            "a watch keeps its connection while it goes on, and closes it when it ends",
            &["election:RINV-3"],
            |_, _, said, right| {
                said.open == right.open && !(said.open && said.told.contains(&Told::End))
            },
        ),
    ]
}

fn same(said: &Said, right: &Said, looks: fn(&Told) -> bool) -> bool {
    let some = |said: &Said| -> Vec<Told> {
        said.told.iter().filter(|told| looks(told)).cloned().collect()
    };
    some(said) == some(right)
}

fn errors_are_told_and_the_last(said: &Said, right: &Said) -> bool {
    let is_error = |told: &Told| !matches!(told, Told::Event(..) | Told::End);
    let first = said.told.iter().position(is_error);
    first.is_none_or(|first| said.told[first + 1..] == [Told::End])
        && same(said, right, |told| matches!(told, Told::Refused(_)))
}

fn nothing_after_the_end(call: &Call, said: &Said, right: &Said) -> bool {
    let behind = said.told.iter().skip_while(|told| **told != Told::End).skip(1).count();
    let is_over = !right.open && right.told.is_empty() || matches!(call, Call::Cancel(_));
    behind == 0 && (!is_over || said.told.iter().all(|told| *told == Told::End))
}
