//! A store around the machine that ships, with a shell that makes two steps of one call.

use std::panic::catch_unwind;

use crate::check::check;
use crate::engine::Engine;
use crate::expiring_store::scenarios::expired_beside_add;

const SEARCHES: &[Engine] = &[Engine::Loom, Engine::Trace, Engine::Sample];

fn looking_and_removing_apart_is_convicted() {
    let convicted = catch_unwind(|| check(expired_beside_add(true)).on(SEARCHES));
    let text = convicted.expect_err("it is convicted").downcast::<String>().expect("it is a text");
    assert!(text.contains("one_step_a_call"), "{text}");
}

fn looking_and_removing_at_once_is_not() {
    check(expired_beside_add(false)).on(SEARCHES);
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![looking_and_removing_apart_is_convicted, looking_and_removing_at_once_is_not];
