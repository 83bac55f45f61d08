//! The bugs: one changed line each, in a second implementation of the rules.

use super::Request;
use super::mistaken::Mistake::{self, *};
use super::mistaken::Mistaken;
use crate::trial::{MachineOf, Mutant, mutants};

fn mistaken(mistake: Mistake) -> MachineOf<Request> {
    Box::new(Mistaken::new(mistake))
}

pub(super) fn all() -> Vec<Mutant<Request>> {
    [of_repeating(), of_waiting(), of_telling()].concat()
}

fn of_repeating() -> Vec<Mutant<Request>> {
    mutants! { mistaken:
        Seeded "lost_is_final" from "museum R8":
            (LostIsFinal) breaks ["repeats_what_may_help"];
        Seeded "retries_once_more" from "election:RQ-65":
            (RetriesOnceMore) breaks ["attempts_are_bounded"];
        Seeded "retries_once_less" from "election:RQ-65":
            (RetriesOnceLess) breaks ["repeats_what_may_help"];
        Seeded "counts_nothing" from "election:RQ-64":
            (CountsNothing) breaks ["attempts_are_bounded"];
        Seeded "retries_in_silence" from "election:RQ-64":
            (RetriesInSilence) breaks ["repeats_what_may_help"];
        Seeded "retries_any_status" from "election:RQ-64":
            (RetriesAnyStatus) breaks ["repeats_what_may_help"];
        Seeded "only_too_many_requests" from "election:RQ-64":
            (OnlyTooManyRequests) breaks ["repeats_what_may_help"];
        Seeded "above_five_hundred" from "own: status 500 itself is left out":
            (AboveFiveHundred) breaks ["repeats_what_may_help"];
        Seeded "date_is_now" from "election:RQ-64":
            (DateIsNow) breaks ["repeats_what_may_help"];
        Seeded "negative_is_none" from "election:RQ-64":
            (NegativeIsNone) breaks ["repeats_what_may_help"];
        Seeded "writes_are_repeated" from "election:RINV-4":
            (WritesAreRepeated) breaks ["writes_are_sent_once"];
        Seeded "streams_are_repeated" from "election:RQ-66":
            (StreamsAreRepeated) breaks ["repeats_what_may_help"];
        Seeded "watch_times_out" from "election:RQ-66":
            (WatchTimesOut) breaks ["repeats_what_may_help"];
        Seeded "read_times_out" from "election:RQ-66":
            (ReadTimesOut) breaks ["repeats_what_may_help"];
        Seeded "refused_is_repeated" from "election:RQ-66":
            (RefusedIsRepeated) breaks ["repeats_what_may_help"];
        Seeded "lost_watch_is_repeated" from "election:RQ-66":
            (LostWatchIsRepeated) breaks ["repeats_what_may_help"];
        Seeded "untrusted_is_repeated" from "election:RQ-66":
            (UntrustedIsRepeated) breaks ["repeats_what_may_help"];
    }
}

fn of_waiting() -> Vec<Mutant<Request>> {
    mutants! { mistaken:
        Seeded "adds_delays" from "museum F7":
            (AddsDelays) breaks ["pauses_are_kept"];
        Seeded "ignores_delay" from "election:RQ-62":
            (IgnoresDelay) breaks ["pauses_are_kept"];
        Seeded "milliseconds" from "own: seconds are read as milliseconds":
            (Milliseconds) breaks ["pauses_are_kept"];
        Seeded "negative_waits" from "election:RQ-64":
            (NegativeWaits) breaks ["pauses_are_kept"];
        Seeded "keeps_first_delay" from "election:RQ-63":
            (KeepsFirstDelay) breaks ["pauses_are_kept"];
        Seeded "failure_waits_for_nothing" from "election:RQ-64":
            (FailureWaitsForNothing) breaks ["pauses_are_kept"];
        Seeded "no_first_pause" from "election:RQ-62":
            (NoFirstPause) breaks ["pauses_are_kept"];
        Seeded "sends_at_once" from "election:RQ-60":
            (SendsAtOnce) breaks [
                "answers_are_closed", "pauses_are_kept", "turns_are_taken", "retries_say_why"
            ];
        Seeded "days" from "own: seconds are read as days":
            (Days) breaks ["calls_return", "pauses_are_kept"];
        Seeded "no_first_turn" from "election:RQ-41":
            (NoFirstTurn) breaks ["turns_are_taken"];
        Seeded "watch_takes_a_turn" from "election:RQ-43":
            (WatchTakesATurn) breaks ["turns_are_taken"];
        Seeded "no_turn_again" from "election:RQ-62":
            (NoTurnAgain) breaks ["turns_are_taken", "retries_say_why"];
        Seeded "turn_before_pause" from "election:RQ-62":
            (TurnBeforePause) breaks ["pauses_are_kept"];
    }
}

fn of_telling() -> Vec<Mutant<Request>> {
    mutants! { mistaken:
        Seeded "forgets_previous" from "museum R16":
            (ForgetsPrevious) breaks ["the_last_counts"];
        Seeded "previous_is_last" from "museum R16":
            (PreviousIsLast) breaks ["the_last_counts"];
        Seeded "says_it_twice" from "election:RQ-68":
            (SaysItTwice) breaks ["the_last_counts"];
        Seeded "failure_outlives_answer" from "election:RQ-64":
            (FailureOutlivesAnswer) breaks ["the_last_counts"];
        Seeded "watch_fails" from "election:RQ-101":
            (WatchFails) breaks ["the_last_counts"];
        Seeded "watch_hides_refusal" from "election:RQ-101":
            (WatchHidesRefusal) breaks ["the_last_counts"];
        Seeded "counts_from_nothing" from "election:RQ-67":
            (CountsFromNothing) breaks ["retries_say_why"];
        Seeded "first_cause" from "election:RQ-67":
            (FirstCause) breaks ["retries_say_why"];
        Seeded "says_no_delay" from "election:RQ-67":
            (SaysNoDelay) breaks ["retries_say_why"];
        Seeded "says_nothing" from "election:RQ-67":
            (SaysNothing) breaks ["retries_say_why"];
        Equivalent("they are the rules that the mutants are made from, without a mistake")
            "written_down_again" from "own: the base of the mutants, without a mistake":
            (Nothing) breaks [];
    }
}
