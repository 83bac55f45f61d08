//! The bugs: one changed line each, in the sequential object.

use super::{Client, Spec};
use crate::shared::Mistake;
use crate::trial::{MachineOf, Mutant, mutants};

/// A client with a mistake.
fn mistaken(&[mistake]: &[Mistake; 1]) -> MachineOf<Client> {
    Box::new(Spec::with(mistake))
}

pub(super) fn all() -> Vec<Mutant<Client>> {
    [of_bodies(), of_sharing(), of_ends(), of_telling()].concat()
}

fn of_bodies() -> Vec<Mutant<Client>> {
    mutants! { mistaken:
        Seeded "body_goes_once" from "museum F9: only the first attempt has the body"
            breaks ["bodies_go_whole"];
        Seeded "used_up_is_empty" from "museum F9: a used-up reader gives an empty body"
            breaks ["bodies_go_whole"];
        Seeded "stream_has_no_body"
            from "museum R22: a request for a stream is sent without its body"
            breaks ["bodies_go_whole"];
        Seeded "watch_has_no_body" from "own: a watch is sent without the body of its request"
            breaks ["bodies_go_whole"];
        Seeded "made_while_it_is_read"
            from "museum R2: the body of the next attempt is made before the last answer is closed"
            breaks ["bodies_are_made_in_time"];
        Seeded "made_once" from "election:RQ-28: the body is made once for all attempts"
            breaks ["bodies_are_made_in_time"];
        Seeded "made_before_its_turn"
            from "election:RQ-28: the body is made before the first attempt has its turn"
            breaks ["bodies_are_made_in_time"];
    }
}

fn of_sharing() -> Vec<Mutant<Client>> {
    mutants! { mistaken:
        Seeded "attempts_pile_up" from "museum R4: attempts are counted per request, not per call"
            breaks ["calls_begin_anew"];
        Seeded "memory_is_of_a_request" from "museum H17: the state of a host is kept per request"
            breaks ["attempts_come_when_due"];
        Seeded "failures_are_remembered"
            from "election:RQ-72: a failure without an answer does not reset the back-off of a host"
            breaks ["attempts_come_when_due"];
        Seeded "failures_count"
            from "election:RQ-72: an attempt without an answer counts as an answer of a busy host"
            breaks ["attempts_come_when_due"];
        Seeded "backs_off_for_ever" from "election:RINV-8: no attempt resets the back-off of a host"
            breaks ["attempts_come_when_due"];
        Seeded "keeps_a_turn"
            from "election:RINV-6: a call that is cancelled before its turn keeps the turn"
            breaks ["attempts_come_when_due"];
    }
}

fn of_ends() -> Vec<Mutant<Client>> {
    mutants! { mistaken:
        Seeded "pause_cannot_be_ended"
            from "museum R6: a pause that the server asks for does not end with the token"
            breaks ["ends_at_once"];
        Seeded "back_off_cannot_be_ended"
            from "museum R6: a pause of the back-off does not end with the token"
            breaks ["ends_at_once"];
        Seeded "turn_cannot_be_ended"
            from "museum F1: a wait for a turn does not end with the token" breaks ["ends_at_once"];
        Seeded "silence_cannot_be_ended"
            from "election:RINV-5: a wait for an answer does not end with the token"
            breaks ["ends_at_once"];
        Seeded "last_moment_is_too_late"
            from "own: the end of a call is asked for before its answer, which is thrown away"
            breaks ["calls_begin_anew"];
        Seeded "goes_on_after_the_end"
            from "election:RINV-5: the call goes on after a pause that the token has ended"
            breaks ["ends_at_once"];
        Seeded "waits_for_ever" from "own: a call waits for ever for a silent server"
            breaks ["causes_are_kept"];
    }
}

fn of_telling() -> Vec<Mutant<Client>> {
    mutants! { mistaken:
        Seeded "half_is_words" from "museum R14: the cause of a broken answer becomes a mere text"
            breaks ["causes_are_kept"];
        Seeded "turn_is_words"
            from "museum R14: the limiter's cause for a refusal becomes a mere text"
            breaks ["causes_are_kept"];
        Seeded "no_body_is_words" from "museum R14: the cause of a missing body becomes a mere text"
            breaks ["causes_are_kept"];
        Seeded "half_is_an_answer" from "election:RQ-80: half an answer counts as a whole one"
            breaks ["causes_are_kept"];
        Seeded "pieces_are_measured_alone"
            from "own: a server makes the client hold any amount of memory"
            breaks ["causes_are_kept"];
        Seeded "end_is_a_refusal"
            from "election:RQ-52: the end of a token is reported as a refusal of the limiter"
            breaks ["ends_at_once"];
        Seeded "answers_stay_open"
            from "election:RINV-3: answers are closed only at the end of the call"
            breaks ["answers_are_closed"];
        Seeded "half_stays_open"
            from "election:RINV-3: the last answer is not closed when it breaks off"
            breaks ["answers_are_closed"];
    }
}
