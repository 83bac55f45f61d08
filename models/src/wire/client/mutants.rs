//! The bugs: one changed line each, in the sequential object.

use super::mistake::Mistake::{self, *};
use super::{Client, Spec};
use crate::trial::{MachineOf, Mutant, mutants};

/// A client with a mistake.
fn mistaken(mistake: Mistake) -> MachineOf<Client> {
    Box::new(Spec::with(mistake))
}

pub(super) fn all() -> Vec<Mutant<Client>> {
    [of_bodies(), of_sharing(), of_ends(), of_telling()].concat()
}

fn of_bodies() -> Vec<Mutant<Client>> {
    mutants! { mistaken:
        Seeded "body_goes_once" from "museum F9":
            (BodyGoesOnce) breaks ["bodies_go_whole"];
        Seeded "used_up_is_empty" from "museum F9":
            (UsedUpIsEmpty) breaks ["bodies_go_whole"];
        Seeded "stream_has_no_body" from "museum R22":
            (StreamHasNoBody) breaks ["bodies_go_whole"];
        Seeded "watch_has_no_body" from "own: a watch is sent without the body of its request":
            (WatchHasNoBody) breaks ["bodies_go_whole"];
        Seeded "made_while_it_is_read" from "museum R2":
            (MadeWhileItIsRead) breaks ["bodies_are_made_in_time"];
        Seeded "made_once" from "election:RQ-28":
            (MadeOnce) breaks ["bodies_are_made_in_time"];
        Seeded "made_before_its_turn" from "election:RQ-28":
            (MadeBeforeItsTurn) breaks ["bodies_are_made_in_time"];
    }
}

fn of_sharing() -> Vec<Mutant<Client>> {
    mutants! { mistaken:
        Seeded "attempts_pile_up" from "museum R4":
            (AttemptsPileUp) breaks ["calls_begin_anew"];
        Seeded "memory_is_of_a_request" from "museum H17":
            (MemoryIsOfARequest) breaks ["attempts_come_when_due"];
        Seeded "failures_are_remembered" from "election:RQ-72":
            (FailuresAreRemembered) breaks ["attempts_come_when_due"];
        Seeded "failures_count" from "election:RQ-72":
            (FailuresCount) breaks ["attempts_come_when_due"];
        Seeded "backs_off_for_ever" from "election:RINV-8":
            (BacksOffForEver) breaks ["attempts_come_when_due"];
        Seeded "keeps_a_turn" from "election:RINV-6":
            (KeepsATurn) breaks ["attempts_come_when_due"];
    }
}

fn of_ends() -> Vec<Mutant<Client>> {
    mutants! { mistaken:
        Seeded "pause_cannot_be_ended" from "museum R6":
            (PauseCannotBeEnded) breaks ["ends_at_once"];
        Seeded "back_off_cannot_be_ended" from "museum R6":
            (BackOffCannotBeEnded) breaks ["ends_at_once"];
        Seeded "turn_cannot_be_ended" from "museum F1":
            (TurnCannotBeEnded) breaks ["ends_at_once"];
        Seeded "silence_cannot_be_ended" from "election:RINV-5":
            (SilenceCannotBeEnded) breaks ["ends_at_once"];
        Seeded "last_moment_is_too_late"
            from "own: the end of a call is asked for before its answer, which is thrown away":
            (LastMomentIsTooLate) breaks ["calls_begin_anew"];
        Seeded "goes_on_after_the_end" from "election:RINV-5":
            (GoesOnAfterTheEnd) breaks ["ends_at_once"];
        Seeded "waits_for_ever" from "own: a call waits for ever for a silent server":
            (WaitsForEver) breaks ["causes_are_kept"];
    }
}

fn of_telling() -> Vec<Mutant<Client>> {
    mutants! { mistaken:
        Seeded "half_is_words" from "museum R14":
            (HalfIsWords) breaks ["causes_are_kept"];
        Seeded "turn_is_words" from "museum R14":
            (TurnIsWords) breaks ["causes_are_kept"];
        Seeded "no_body_is_words" from "museum R14":
            (NoBodyIsWords) breaks ["causes_are_kept"];
        Seeded "half_is_an_answer" from "election:RQ-80":
            (HalfIsAnAnswer) breaks ["causes_are_kept"];
        Seeded "pieces_are_measured_alone"
            from "own: a server makes the client hold any amount of memory":
            (PiecesAreMeasuredAlone) breaks ["causes_are_kept"];
        Seeded "end_is_a_refusal" from "election:RQ-52":
            (EndIsARefusal) breaks ["ends_at_once"];
        Seeded "answers_stay_open" from "election:RINV-3":
            (AnswersStayOpen) breaks ["answers_are_closed"];
        Seeded "half_stays_open" from "election:RINV-3":
            (HalfStaysOpen) breaks ["answers_are_closed"];
        Equivalent("it is the object that the mutants are made from, without a mistake")
            "said_once_more" from "own: the base of the mutants, without a mistake":
            (Nothing) breaks [];
    }
}
