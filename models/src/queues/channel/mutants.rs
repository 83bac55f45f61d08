//! The bugs of channels: one changed rule or one changed wake each.

use seatrial_core::channel::{Group, MEETING, Op, RECEIVERS, SENDERS};
use seatrial_core::machine::Passed;

use super::Channel;
use super::plain::Lists;
use crate::shared::Mistakes;
use crate::trial::{MachineOf, Mutant, at_most, mutants};

pub(super) fn all() -> Vec<Mutant<Channel>> {
    [messages(), ends(), selects(), times(), given_up(), wakes(), of_shells(), equivalents()]
        .concat()
}

/// Tells whether a mutant only wakes the wrong callers.
pub(super) fn is_of_waking(mutant: &Mutant<Channel>) -> bool {
    let of_wakes = [wakes(), of_shells(), equivalents()].concat();
    let mistakes_of_waking = ["back_is_not_told", "receive_wakes_if_full"];
    mistakes_of_waking.contains(&mutant.name)
        || of_wakes.iter().any(|other| other.name == mutant.name)
}

/// The simple construction, with mistakes.
fn mistaken(mistakes: Mistakes) -> MachineOf<Channel> {
    Box::new(Lists::with(mistakes))
}

fn messages() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Seeded "first_comes_twice" from "own: a message is read, but not removed"
            breaks ["received_once"];
        Seeded "newest_comes_first" from "own: a receive takes the message that was sent last"
            breaks ["in_order"];
        Seeded "newest_is_met" from "own: waiting callers are kept in a stack, not in a queue"
            breaks ["in_order"];
        Seeded "one_more_fits" from "own: `<=` instead of `<` in the comparison with the capacity"
            breaks ["capacity_is_kept"];
        Seeded "one_less_fits" from "own: one place stays free, as in a ring buffer"
            breaks ["no_lost_wakeup"];
        Seeded "rendezvous_keeps_one" from "own: a capacity of zero counts as a capacity of one"
            breaks ["rendezvous_meets"];
        Seeded "receive_wakes_if_full"
            from "own: a receive wakes a sender only if the channel was full before it"
            breaks ["no_lost_wakeup"];
        Seeded "len_forgets_one" from "own: len leaves out the message that is received next"
            breaks ["len_counts"];
    }
}

fn ends() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Seeded "last_sender_takes_all"
            from "own: the last sender empties the channel when it leaves"
            breaks ["ends_when_empty"];
        Seeded "first_sender_ends" from "own: copies of a sender are not counted"
            breaks ["ends_when_empty"];
        Seeded "first_receiver_ends" from "own: copies of a receiver are not counted"
            breaks ["fails_without_receivers"];
        Seeded "sends_to_nobody" from "own: send does not check whether there are receivers"
            breaks ["fails_without_receivers"];
        Seeded "another_comes_back" from "own: a failed send gives back another message"
            breaks ["fails_without_receivers"];
        Seeded "last_receiver_leaves_all"
            from "own: the messages that the last receiver leaves are kept, not dropped"
            breaks ["nothing_lost"];
    }
}

fn selects() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Seeded "select_takes_all"
            from "own: the loop over the cases does not stop at the first ready one"
            breaks ["no_lost_wakeup"];
        Seeded "select_sends_all"
            from "own: the loop over the cases does not stop at the first ready one"
            breaks ["withdrawn_stays_so"];
        Seeded "select_says_first" from "own: the index of the case counts only the ready cases"
            breaks ["one_arm"];
        Seeded "unsent_is_forgotten" from "own: the messages of the other cases are dropped"
            breaks ["one_arm"];
    }
}

fn times() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Seeded "deadline_looks_no_more"
            from "own: a sleep that timed out ends the call without another try"
            breaks ["unready_only_when_so"];
        Seeded "deadline_is_early" from "own: deadlines are rounded down" breaks ["never_early"];
        Seeded "deadline_is_late" from "own: deadlines are rounded up" breaks ["nothing_late"];
        Seeded "sleeps_without_time" from "museum W6" breaks ["nothing_late"];
    }
}

fn given_up() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Seeded "given_up_stays" from "own: a dropped future stays among the waiters"
            breaks ["withdrawn_stays_so"];
        Seeded "given_up_loses_all"
            from "own: a message that was handed to a future is dropped with it"
            breaks ["nothing_lost"];
        Seeded "back_comes_first" from "own: a message that comes back is put in front"
            breaks ["in_order"];
        Seeded "back_is_not_told" from "own: a message that comes back wakes no receiver"
            breaks ["no_lost_wakeup"];
    }
}

fn wakes() -> Vec<Mutant<Channel>> {
    mutants! { Edited(Group::<u8>::default()):
        Seeded "send_wakes_nobody" from "own: send wakes no receiver":
            (at_most!(0, RECEIVERS, Op::Choose(_))) breaks ["no_lost_wakeup"];
        Seeded "receive_wakes_nobody" from "own: receive wakes no sender":
            (at_most!(0, SENDERS, Op::Choose(_))) breaks ["no_lost_wakeup"];
        Seeded "group_wakes_one"
            from "own: one waiter of a group is woken, and it waits at another channel":
            (at_most!(1, RECEIVERS, Op::Choose(_))) breaks ["no_lost_wakeup"];
        Seeded "meeting_is_not_told" from "own: a waiter that was met is not woken":
            (at_most!(0, MEETING, Op::Choose(_))) breaks ["no_lost_wakeup"];
        Seeded "meeting_wakes_one" from "own: one waiter is woken, and another was met":
            (at_most!(1, MEETING, Op::Choose(_))) breaks ["no_lost_wakeup"];
        Seeded "last_sender_wakes_one"
            from "own: the last sender wakes one receiver instead of all":
            (at_most!(1, RECEIVERS, Op::Leave(_))) breaks ["no_lost_wakeup"];
        Seeded "last_receiver_wakes_one"
            from "own: the last receiver wakes one sender instead of all":
            (at_most!(1, SENDERS, Op::Leave(_))) breaks ["no_lost_wakeup"];
        Seeded "selects_are_not_told_of_the_end"
            from "own: the last sender or receiver wakes no select":
            (at_most!(0, MEETING, Op::Leave(_))) breaks ["no_lost_wakeup"];
        Seeded "message_wakes_all" from "own: a message wakes all receivers where one is enough":
            (|op, wakes, _| if matches!(op, Op::Choose(_)) && wakes.get(RECEIVERS) == 1 {
                wakes.all(RECEIVERS);
            }) breaks ["wakes_no_crowd"];
    }
}

fn of_shells() -> Vec<Mutant<Channel>> {
    mutants! { Forgetful(Group::<u8>::default()):
        Seeded "given_up_swallows_wake"
            from "museum P1, a call that is given up without passing its wake-up on":
            (Passed::WakeUp) breaks ["no_lost_wakeup"];
    }
}

fn equivalents() -> Vec<Mutant<Channel>> {
    mutants! { mistaken:
        Equivalent("one execution cannot distinguish a random choice from a fixed order")
        "first_case_wins" from "own: the cases are always tried in their order":
            (&["first_case_wins"]) breaks [];
    }
}
