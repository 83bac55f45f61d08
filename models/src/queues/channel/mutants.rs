//! The bugs of channels: one changed rule or one changed wake each.

use seatrial_core::channel::{Group, MEETING, Op, RECEIVERS, SENDERS};
use seatrial_core::machine::Passed;

use super::Channel;
use super::reference::Lists;
use super::reference::Mistake::{self, *};
use crate::trial::{Edit, Edited, Forgetful, MachineOf, Mutant, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<Channel>> {
    [messages(), ends(), selects(), times(), given_up(), wakes(), of_shells(), equivalents()]
        .concat()
}

/// Tells whether a mutant only wakes the wrong callers.
pub(super) fn is_of_waking(mutant: &Mutant<Channel>) -> bool {
    let of_wakes = [wakes(), of_shells(), equivalents()].concat();
    mutant.name == "back_is_not_told" || of_wakes.iter().any(|other| other.name == mutant.name)
}

/// The simple construction, with mistakes.
fn mistaken(mistakes: &'static [Mistake]) -> MachineOf<Channel> {
    Box::new(Lists::with(mistakes))
}

/// The machine that ships; the wakes of each step are edited.
fn edited(edit: Edit<Group<u8>>) -> MachineOf<Channel> {
    Box::new(Edited { machine: Group::default(), edit })
}

/// The machine that ships, under a shell that forgets to pass something on.
fn forgets(what: Passed) -> MachineOf<Channel> {
    Box::new(Forgetful { machine: Group::<u8>::default(), forgets: what })
}

fn messages() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Seeded "first_comes_twice" from "own: read, and not removed":
            (&[FirstComesTwice]) breaks ["received_once"];
        Seeded "newest_comes_first" from "own: taken from the end where it was put":
            (&[NewestComesFirst]) breaks ["in_order"];
        Seeded "newest_is_met" from "own: the list of those who wait is a stack":
            (&[NewestIsMet]) breaks ["in_order"];
        Seeded "one_more_fits" from "own: not more than, where less than is meant":
            (&[OneMoreFits]) breaks ["capacity_is_kept"];
        Seeded "one_less_fits" from "own: a place is kept free, as in a ring":
            (&[OneLessFits]) breaks ["no_lost_wakeup"];
        Seeded "rendezvous_keeps_one" from "own: no capacity is taken for a capacity of one":
            (&[RendezvousKeepsOne]) breaks ["rendezvous_meets"];
        Seeded "len_forgets_one" from "own: what is about to be received is not counted":
            (&[LenForgetsOne]) breaks ["len_counts"];
    }
}

fn ends() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Seeded "last_sender_takes_all" from "own: an end empties the channel":
            (&[LastSenderTakesAll]) breaks ["ends_when_empty"];
        Seeded "first_sender_ends" from "own: copies are not counted":
            (&[FirstSenderEnds]) breaks ["ends_when_empty"];
        Seeded "first_receiver_ends" from "own: copies are not counted":
            (&[FirstReceiverEnds]) breaks ["fails_without_receivers"];
        Seeded "sends_to_nobody" from "own: the first test forgotten in send":
            (&[SendsToNobody]) breaks ["fails_without_receivers"];
        Seeded "another_comes_back" from "own: an error with a message that is not its own":
            (&[AnotherComesBack]) breaks ["fails_without_receivers"];
        Seeded "last_receiver_leaves_all" from "own: what is left is forgotten, not dropped":
            (&[LastReceiverLeavesAll]) breaks ["nothing_lost"];
    }
}

fn selects() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Seeded "select_takes_all" from "own: the loop does not end with the first case":
            (&[SelectTakesAll]) breaks ["no_lost_wakeup"];
        Seeded "select_sends_all" from "own: the loop does not end with the first case":
            (&[SelectSendsAll]) breaks ["withdrawn_stays_so"];
        Seeded "select_says_first" from "own: counted among those that are ready":
            (&[SelectSaysFirst]) breaks ["one_arm"];
        Seeded "unsent_is_forgotten" from "own: messages of the other cases are dropped":
            (&[UnsentIsForgotten]) breaks ["one_arm"];
    }
}

fn times() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Seeded "deadline_looks_no_more" from "own: a sleep that timed out ends the call":
            (&[DeadlineLooksNoMore]) breaks ["unready_only_when_so"];
        Seeded "deadline_is_early" from "own: times are rounded down":
            (&[DeadlineIsEarly]) breaks ["never_early"];
        Seeded "deadline_is_late" from "own: times are rounded up":
            (&[DeadlineIsLate]) breaks ["nothing_late"];
        Seeded "sleeps_without_time" from "museum W6":
            (&[SleepsWithoutTime]) breaks ["nothing_late"];
    }
}

fn given_up() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Seeded "given_up_stays" from "own: a future that is dropped stays in line":
            (&[GivenUpStays]) breaks ["withdrawn_stays_so"];
        Seeded "given_up_loses_all" from "own: what was handed over goes with the future":
            (&[GivenUpLosesAll]) breaks ["nothing_lost"];
        Seeded "back_comes_first" from "own: what comes back is put in front":
            (&[BackComesFirst]) breaks ["in_order"];
        Seeded "back_is_not_told" from "own: the signal forgotten where a message comes back":
            (&[BackIsNotTold]) breaks ["no_lost_wakeup"];
    }
}

fn wakes() -> Vec<Mutant<Channel>> {
    mutants! { edited:
        Seeded "send_wakes_nobody" from "own: the signal forgotten in send":
            (at_most!(0, RECEIVERS, Op::Choose(_))) breaks ["no_lost_wakeup"];
        Seeded "receive_wakes_nobody" from "own: the signal forgotten in receive":
            (at_most!(0, SENDERS, Op::Choose(_))) breaks ["no_lost_wakeup"];
        Seeded "group_wakes_one" from "own: one is woken, and it waits for another channel":
            (at_most!(1, RECEIVERS, Op::Choose(_))) breaks ["no_lost_wakeup"];
        Seeded "meeting_is_not_told" from "own: who was met is not woken":
            (at_most!(0, MEETING, Op::Choose(_))) breaks ["no_lost_wakeup"];
        Seeded "meeting_wakes_one" from "own: one is woken, and another was met":
            (at_most!(1, MEETING, Op::Choose(_))) breaks ["no_lost_wakeup"];
        Seeded "last_sender_wakes_one" from "own: signalled where all must wake":
            (at_most!(1, RECEIVERS, Op::Leave(_))) breaks ["no_lost_wakeup"];
        Seeded "last_receiver_wakes_one" from "own: signalled where all must wake":
            (at_most!(1, SENDERS, Op::Leave(_))) breaks ["no_lost_wakeup"];
        Seeded "selects_are_not_told_of_the_end" from "own: the signal forgotten for selects":
            (at_most!(0, MEETING, Op::Leave(_))) breaks ["no_lost_wakeup"];
        Seeded "message_wakes_all" from "own: all are woken where one is enough":
            (|op, wakes, _| if matches!(op, Op::Choose(_)) && wakes.get(RECEIVERS) == 1 {
                wakes.all(RECEIVERS);
            }) breaks ["wakes_no_crowd"];
    }
}

fn of_shells() -> Vec<Mutant<Channel>> {
    mutants! { forgets:
        Seeded "given_up_swallows_wake"
            from "museum P1, a call that is given up without passing its wake-up on":
            (Passed::WakeUp) breaks ["no_lost_wakeup"];
    }
}

fn equivalents() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Equivalent("one execution does not tell chance from an order")
        "first_case_wins" from "own: the cases are tried in their order":
            (&[FirstCaseWins]) breaks [];
    }
}
