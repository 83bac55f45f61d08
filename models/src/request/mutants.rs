//! The bugs: one changed line each, in a second implementation of the rules.

use super::Request;
use super::mistaken::Mistaken;
use crate::shared::Mistake;
use crate::trial::{MachineOf, Mutant, mutants};

fn mistaken(&[mistake]: &[Mistake; 1]) -> MachineOf<Request> {
    Box::new(Mistaken::new(mistake))
}

pub(super) fn all() -> Vec<Mutant<Request>> {
    [of_repeating(), of_waiting(), of_telling()].concat()
}

fn of_repeating() -> Vec<Mutant<Request>> {
    mutants! { mistaken:
        Seeded "lost_is_final" from "museum R8: after a lost connection, no other attempt is made"
            breaks ["repeats_what_may_help"];
        Seeded "retries_once_more" from "election:RQ-65: one attempt too many is made"
            breaks ["attempts_are_bounded"];
        Seeded "retries_once_less" from "election:RQ-65: the first attempt counts as a repetition"
            breaks ["repeats_what_may_help"];
        Seeded "counts_nothing" from "election:RQ-64: attempts are not counted"
            breaks ["attempts_are_bounded"];
        Seeded "retries_in_silence"
            from "election:RQ-64: another attempt is made even if the server does not ask for it"
            breaks ["repeats_what_may_help"];
        Seeded "retries_any_status" from "election:RQ-64: another attempt is made after any status"
            breaks ["repeats_what_may_help"];
        Seeded "only_too_many_requests"
            from "election:RQ-64: another attempt is made only after 429"
            breaks ["repeats_what_may_help"];
        Seeded "above_five_hundred" from "own: status 500 itself is left out"
            breaks ["repeats_what_may_help"];
        Seeded "date_is_now" from "election:RQ-64: a date is read as \"now\""
            breaks ["repeats_what_may_help"];
        Seeded "negative_is_none" from "election:RQ-64: a negative number of seconds is ignored"
            breaks ["repeats_what_may_help"];
        Seeded "writes_are_repeated" from "election:RINV-4: writes are repeated as well"
            breaks ["writes_are_sent_once"];
        Seeded "streams_are_repeated" from "election:RQ-66: streams are repeated as well"
            breaks ["repeats_what_may_help"];
        Seeded "watch_times_out" from "election:RQ-66: a watch that timed out is not repeated"
            breaks ["repeats_what_may_help"];
        Seeded "read_times_out" from "election:RQ-66: a read that timed out is repeated"
            breaks ["repeats_what_may_help"];
        Seeded "refused_is_repeated"
            from "election:RQ-66: a request to a server that refuses connections is repeated"
            breaks ["repeats_what_may_help"];
        Seeded "lost_watch_is_repeated"
            from "election:RQ-66: a watch over a lost connection is repeated"
            breaks ["repeats_what_may_help"];
        Seeded "untrusted_is_repeated"
            from "election:RQ-66: a request to an untrusted server is repeated"
            breaks ["repeats_what_may_help"];
    }
}

fn of_waiting() -> Vec<Mutant<Request>> {
    mutants! { mistaken:
        Seeded "adds_delays" from "museum F7: delays of earlier attempts add up"
            breaks ["pauses_are_kept"];
        Seeded "ignores_delay" from "election:RQ-62: the server's delay is ignored"
            breaks ["pauses_are_kept"];
        Seeded "milliseconds" from "own: seconds are read as milliseconds"
            breaks ["pauses_are_kept"];
        Seeded "negative_waits"
            from "election:RQ-64: a negative number of seconds counts as the positive number"
            breaks ["pauses_are_kept"];
        Seeded "keeps_first_delay" from "election:RQ-63: later pauses are as long as the first one"
            breaks ["pauses_are_kept"];
        Seeded "failure_waits_for_nothing" from "election:RQ-64: there is no pause after a failure"
            breaks ["pauses_are_kept"];
        Seeded "no_first_pause" from "election:RQ-62: there is no pause before the first attempt"
            breaks ["pauses_are_kept"];
        Seeded "sends_at_once"
            from "election:RQ-60: the next attempt is sent at once, before the last answer is \
                  closed"
            breaks ["answers_are_closed", "pauses_are_kept", "turns_are_taken", "retries_say_why"];
        Seeded "days" from "own: seconds are read as days"
            breaks ["calls_return", "pauses_are_kept"];
        Seeded "no_first_turn" from "election:RQ-41: the first attempt takes no turn"
            breaks ["turns_are_taken"];
        Seeded "watch_takes_a_turn" from "election:RQ-43: the first attempt of a watch takes a turn"
            breaks ["turns_are_taken"];
        Seeded "no_turn_again" from "election:RQ-62: repetitions take no turn"
            breaks ["turns_are_taken", "retries_say_why"];
        Seeded "turn_before_pause"
            from "election:RQ-62: repetitions take their turn before the pause"
            breaks ["pauses_are_kept"];
    }
}

fn of_telling() -> Vec<Mutant<Request>> {
    mutants! { mistaken:
        Seeded "forgets_previous" from "museum R16: the earlier failure is forgotten"
            breaks ["the_last_counts"];
        Seeded "previous_is_last" from "museum R16: the earlier failure is reported as the last one"
            breaks ["the_last_counts"];
        Seeded "says_it_twice" from "election:RQ-68: the same failure is reported twice"
            breaks ["the_last_counts"];
        Seeded "failure_outlives_answer"
            from "election:RQ-64: a failure counts even after a later answer"
            breaks ["the_last_counts"];
        Seeded "watch_fails" from "election:RQ-101: a watch that cannot begin counts as failed"
            breaks ["the_last_counts"];
        Seeded "watch_hides_refusal"
            from "election:RQ-101: a watch whose server refuses connections counts as ended"
            breaks ["the_last_counts"];
        Seeded "counts_from_nothing" from "election:RQ-67: attempts are counted from zero"
            breaks ["retries_say_why"];
        Seeded "first_cause" from "election:RQ-67: the first cause is reported for all attempts"
            breaks ["retries_say_why"];
        Seeded "says_no_delay" from "election:RQ-67: the delay is not reported"
            breaks ["retries_say_why"];
        Seeded "says_nothing" from "election:RQ-67: another attempt is not reported"
            breaks ["retries_say_why"];
        Equivalent("they are the rules that the mutants are made from, without a mistake")
            "written_down_again" from "own: the base of the mutants, without a mistake" breaks [];
    }
}
