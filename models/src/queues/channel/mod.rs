//! The page of channels.
//!
//! Messages are small numbers: they must be `Clone`, because a checker repeats steps; the channels
//! themselves never clone one. Sends, receives and selects are one kind of call of the machine. So
//! one ledger (`book`) knows the messages in each channel and the calls that wait, and the
//! invariants ask it. Random calls of one thread are compared with a simple construction (`op`,
//! `reference`).
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | a message is received once | `received_once` | `two_producers` | `first_comes_twice` |
//! | it is received, or dropped with the last receiver | `nothing_lost` | `closes_while_full`, `given_up_hand` | `last_receiver_leaves_all`, `given_up_loses_all` |
//! | messages come in order | `in_order` | `closes_while_full`, `two_pairs`, `two_give_up` | `newest_comes_first`, `newest_is_met`, `back_comes_first` |
//! | a channel holds no more than fits | `capacity_is_kept` | `two_producers` | `one_more_fits` |
//! | in a rendezvous, a sender waits for a receiver | `rendezvous_meets` | `two_pairs` | `rendezvous_keeps_one` |
//! | a message that is not sent never comes | `withdrawn_stays_so` | `given_up_offer`, `one_of_two_sends` | `given_up_stays`, `select_sends_all` |
//! | len counts the messages in the channel | `len_counts` | `counted` | `len_forgets_one` |
//! | the end comes after all messages and all senders | `ends_when_empty` | `closes_while_full` | `last_sender_takes_all`, `first_sender_ends` |
//! | a send fails when nobody can receive | `fails_without_receivers` | `receivers_go` | `first_receiver_ends`, `sends_to_nobody` |
//! | a select does one case | `one_arm` | `selects_meet`, `one_of_two_sends` | `select_says_first`, `unsent_is_forgotten` |
//! | a call that gets nothing could get nothing | `unready_only_when_so` | `deadline_and_message` | `deadline_looks_no_more` |
//! | deadlines come in time | `never_early`, `nothing_late` | `deadlines_pass` | `deadline_is_early`, `sleeps_without_time` |
//! | no wake-up is lost | `no_lost_wakeup` | `given_up_receive`, `group_of_two`, `hands_in_a_group` | `given_up_swallows_wake`, `group_wakes_one`, `meeting_wakes_one` |
//! | no caller is woken without a reason | `wakes_no_crowd` | `senders_go` | `message_wakes_all` |

mod book;
mod invariants;
mod mutants;
mod op;
mod reference;
mod scenarios;
mod states;
#[cfg(test)]
mod tests;

use seatrial_core::channel::{Act, Chosen, Group, Op as Call, Ret};
use seatrial_core::machine::Step;

use crate::engine::Engine;
use crate::single_step::Behind;
use crate::trial::{
    Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property,
    RetOf, Simulation, component_tests,
};

pub use op::{Op, check, check_on, decode};

/// Channels, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Channel;

type Event = EventOf<Channel>;
type History = HistoryOf<Channel>;

impl Component for Channel {
    type Machine = Group<u8>;

    const NAME: &'static str = "channel";
    const SAYS: &'static str =
        "channels, bounded, unbounded or without a buffer, and select over them";

    fn machine() -> MachineOf<Self> {
        Box::new(Group::<u8>::default())
    }

    fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
        scenarios::all()
    }

    fn simulations() -> Vec<Box<dyn Simulation<Self>>> {
        states::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    /// Three calls must wait, and the middle one must give up; loom's search reaches that late.
    fn shows_mutant(engine: Engine, mutant: &str) -> bool {
        engine != Engine::Loom || mutant != "back_is_not_told"
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match (op, outcome) {
            (Call::Open(open), Step::Done(Ret::Open(pipe))) => {
                format!("opens {} for {:?}", pipe.0, open.0)
            }
            (Call::Hold(hold), _) => format!("one more at {}, {:?}", hold.0.0, hold.1),
            (Call::Leave(leave), Step::Done(Ret::Leave(left))) => {
                format!("one less at {}, {:?}; left is {left:?}", leave.0.0, leave.1)
            }
            (Call::Choose(call), Step::Wait { until: None, .. }) => {
                format!("{} sleeps", cases(&call.acts))
            }
            (Call::Choose(call), Step::Wait { until: Some(until), .. }) => {
                format!("{} sleeps until {until:?}", cases(&call.acts))
            }
            (Call::Choose(call), Step::Done(Ret::Choose(chosen))) => {
                format!("{} -> {}", cases(&call.acts), came_of(chosen))
            }
            (op, outcome) => format!("{op:?} -> {outcome:?}"),
        }
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        Some(Box::new(move |bytes| check_on(&decode(bytes), Behind(make()))))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}

/// Describes the cases of a call. Once the call has waited, the group has its acts.
fn cases(acts: &[Act<u8>]) -> String {
    let word = |act: &Act<u8>| match act {
        Act::Send(pipe, Some(message)) => format!("send {message} into {}", pipe.0),
        act => format!("receive from {}", act.pipe().0),
    };
    match acts {
        [] => "the call".to_owned(),
        acts => acts.iter().map(word).collect::<Vec<_>>().join(" or "),
    }
}

fn came_of(chosen: &Chosen<u8>) -> String {
    match &chosen.done {
        Some((0, outcome)) if chosen.unsent.is_empty() => format!("{outcome:?}"),
        Some((case, outcome)) => format!("case {case}, {outcome:?}"),
        None => "nothing".to_owned(),
    }
}

component_tests! {
    Channel;
    scenarios:
        two_producers,
        threads_and_tasks,
        closes_while_full,
        counted,
        receivers_go,
        senders_go,
        two_pairs,
        given_up_hand,
        two_give_up,
        given_up_offer,
        given_up_receive,
        given_up_send,
        given_up_select,
        select_of_two,
        selects_meet,
        one_of_two_sends,
        group_of_two,
        hands_in_a_group,
        deadline_and_message,
        deadlines_pass;
    also: mutants, fuzz
}
