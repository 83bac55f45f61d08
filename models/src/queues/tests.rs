//! The recorded traces of queues and limiters from which the machines that ship never depart, and
//! doubts of the made-up calls of a lone caller: they must notice the mutants.

use crate::conformance::every_trace_replays;
use crate::delaying_queue::DelayingQueue;
use crate::limited_queue::LimitedQueue;
use crate::priority_queue::PriorityQueue;
use crate::single_step::doubt::notices;
use crate::trial::Component;

fn replay<C: Component>() {
    let all = C::conformance();
    assert!(!all.is_empty(), "{} has no recorded traces", C::NAME);
    all.iter().for_each(every_trace_replays);
}

fn every_recorded_trace_replays() {
    replay::<crate::backoff::Backoff>();
    replay::<crate::limiter::Limiter>();
    replay::<crate::token_bucket::Bucket>();
    replay::<DelayingQueue>();
    replay::<LimitedQueue>();
    replay::<PriorityQueue>();
}

/// Sees that made-up calls notice every mutant that has a property, but these and those that differ
/// only in whom they wake.
fn all_but<C: Component>(unseen: &[&str]) {
    let mutants = C::mutants();
    let is_one = |name: &&str| mutants.iter().any(|mutant| mutant.name == *name);
    assert!(unseen.iter().all(is_one), "{unseen:?} are mutants");
    for mutant in mutants.iter().filter(|mutant| !C::is_of_waking(mutant)) {
        let Some(property) = C::fuzz_mutant(mutant) else { continue };
        assert_eq!(notices(property), !unseen.contains(&mutant.name), "{}", mutant.name);
    }
}

/// Two need another caller, who sleeps. The made-up calls take all items before they shut down, so a
/// shutdown never finds more due items than one step adds.
fn delaying_queue() {
    all_but::<DelayingQueue>(&[
        "earlier_time_wakes_nobody",
        "second_shutdown_is_nothing",
        "shutdown_adds_a_part",
    ]);
}

/// They end one delivery after the other.
fn limited_queue() {
    all_but::<LimitedQueue>(&["done_all_leaves_the_last"]);
}

/// They end one delivery after the other, and with the newest token of its item.
fn priority_queue() {
    all_but::<PriorityQueue>(&["done_all_is_denied", "done_by_value", "hands_out_of_a_part"]);
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![every_recorded_trace_replays, delaying_queue, limited_queue, priority_queue];
