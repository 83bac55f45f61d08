//! The bugs: one changed line each, in the sequential object.

use super::{Spec, Watch};
use crate::shared::Mistake;
use crate::trial::{MachineOf, Mutant, mutants};

fn mistaken(&[mistake]: &[Mistake; 1]) -> MachineOf<Watch> {
    Box::new(Spec::with(mistake))
}

pub(super) fn all() -> Vec<Mutant<Watch>> {
    [of_lines(), of_events(), of_ends()].concat()
}

fn of_lines() -> Vec<Mutant<Watch>> {
    mutants! { mistaken:
        Seeded "parts_are_lost" from "own: the rest of a piece is lost when the next piece comes"
            breaks ["events_come_whole_and_once"];
        Seeded "text_of_each_piece"
            from "own: each piece is decoded alone, so a letter that is cut is lost"
            breaks ["events_come_whole_and_once"];
        Seeded "first_of_a_piece" from "own: only the first event of a piece is reported"
            breaks ["events_come_whole_and_once"];
        Seeded "line_stays" from "own: a line stays in the buffer after it was read"
            breaks ["events_come_whole_and_once"];
        Seeded "empty_is_nonsense" from "own: an empty line counts as invalid"
            breaks ["nonsense_is_told"];
        Seeded "empty_is_the_end" from "own: an empty line ends the watch"
            breaks ["ends_when_it_should"];
        Seeded "last_is_lost" from "own: a last line without a line end is lost"
            breaks ["events_come_whole_and_once"];
        Seeded "cut_is_nonsense" from "election:RQ-103: a last line that was cut off makes no sense"
            breaks ["nonsense_is_told"];
        Seeded "no_limit" from "own: the length of a line is not limited"
            breaks ["lines_are_bounded"];
        Seeded "only_whole_lines" from "own: only complete lines are checked for their length"
            breaks ["lines_are_bounded"];
        Seeded "one_too_few" from "own: a line of exactly the longest allowed length is too long"
            breaks ["lines_are_bounded"];
        Seeded "limit_of_a_piece" from "own: the limit also applies to each piece"
            breaks ["lines_are_bounded"];
    }
}

fn of_events() -> Vec<Mutant<Watch>> {
    mutants! { mistaken:
        Seeded "nonsense_is_dropped"
            from "museum R12: input without sense is dropped, and the watch goes on"
            breaks ["nonsense_is_told"];
        Seeded "nonsense_ends_quietly"
            from "museum R12: input without sense ends the watch without an error"
            breaks ["nonsense_is_told"];
        Seeded "unknown_is_dropped" from "election:RQ-100: an event of an unknown type is skipped"
            breaks ["nonsense_is_told"];
        Seeded "deleted_is_modified" from "election:RQ-100: a deletion is told as a modification"
            breaks ["events_come_whole_and_once"];
        Seeded "type_must_come_first"
            from "own: the type of an event must come first, as one server sends it"
            breaks ["events_come_whole_and_once"];
        Seeded "errors_are_dropped" from "election:RQ-100: an error of the server is skipped"
            breaks ["errors_are_told_and_the_last"];
        Seeded "goes_on_after_errors"
            from "election:RINV-14: the watch goes on after an error of the server"
            breaks ["errors_are_told_and_the_last"];
    }
}

fn of_ends() -> Vec<Mutant<Watch>> {
    mutants! { mistaken:
        Seeded "lost_is_quiet" from "election:RQ-103: a lost connection is told as a normal end"
            breaks ["nonsense_is_told"];
        Seeded "broken_is_told"
            from "election:RQ-103: every broken connection is reported as an error"
            breaks ["nonsense_is_told"];
        Seeded "never_idle" from "own: a watch waits for ever for a silent server"
            breaks ["ends_when_it_should"];
        Seeded "idle_from_the_start" from "own: the silence counts from the start of the watch"
            breaks ["ends_when_it_should"];
        Seeded "idle_from_the_wait"
            from "own: the silence counts from the start of the caller's wait"
            breaks ["ends_when_it_should"];
        Seeded "deaf_between_waits"
            from "own: what comes between a wait that is given up and the next ends no silence"
            breaks ["ends_when_it_should"];
        Seeded "only_events_are_heard" from "own: only a complete event ends the silence"
            breaks ["ends_when_it_should"];
        Seeded "tells_after_cancel"
            from "election:RINV-14: input that has come is told although the token has ended"
            breaks ["nothing_after_the_end"];
        Seeded "hears_after_the_end" from "election:RQ-102: input after the end is told"
            breaks ["nothing_after_the_end"];
        Seeded "closes_too_early"
            from "museum R10: the connection is closed as soon as the watch has begun"
            breaks ["open_until_the_end"];
        Seeded "stays_open" from "election:RINV-3: the connection stays open after the end"
            breaks ["open_until_the_end"];
    }
}
