//! A store around the machine that ships, with a shell that makes two steps of one call.

use crate::check::check;
use crate::engine::Engine;
use crate::expiring_store::scenarios::ExpiredBesideAdd;

const SEARCHES: &[Engine] = &[Engine::Loom, Engine::Trace, Engine::Sample];

#[test]
#[should_panic(expected = "one_step_a_call")]
fn looking_and_removing_apart_is_convicted() {
    check(ExpiredBesideAdd { split: true }).on(SEARCHES);
}

#[test]
fn looking_and_removing_at_once_is_not() {
    check(ExpiredBesideAdd { split: false }).on(SEARCHES);
}
