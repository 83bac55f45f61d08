//! Generated calls of the builder, in any order: the first mistake sticks, and the address is that
//! of the reference's algorithm. Every mistake in that algorithm is detected.

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use ::proptest::sample::select;

use crate::address::words::{TIMEOUTS, URIS, VERBS, WORDS};
use crate::address::{Address, Call, Spec, decode};
use crate::regressions::tried;
use crate::wire::fixtures::{check, every_mistake_is_noticed};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => select(&WORDS[..]).prop_map(str::to_owned), 1 => "[ -~]{0,5}"]
}

fn call() -> impl Strategy<Value = Call> {
    let texts = || vec(text(), 0..4);
    prop_oneof![
        text().prop_map(Call::Namespace),
        (text(), any::<bool>()).prop_map(|(text, scoped)| Call::Scoped(text, scoped)),
        text().prop_map(Call::Resource),
        text().prop_map(Call::Name),
        texts().prop_map(Call::SubResource),
        texts().prop_map(Call::Prefix),
        texts().prop_map(Call::Suffix),
        texts().prop_map(Call::AbsPath),
        (0..URIS.len()).prop_map(|at| Call::Uri(&URIS[at])),
        (text(), text()).prop_map(|(key, value)| Call::Param(key, value)),
        (0..TIMEOUTS.len()).prop_map(|at| Call::Timeout(&TIMEOUTS[at])),
    ]
}

proptest! {
    #![proptest_config(tried!("address", cases: 2048))]

    fn any_calls_in_any_order_give_the_address_of_the_reference(
        base in 0..3_u8,
        verb in select(&VERBS[..]),
        mut calls in vec(call(), 0..12),
    ) {
        calls.insert(0, Call::Begin(base, verb));
        check::<Address, Spec>(&calls);
    }

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..200)) {
        check::<Address, Spec>(&decode(&bytes));
    }
}

fn calls_that_set_other_parts_may_come_in_any_order() {
    let calls = [
        Call::Namespace("default".to_owned()),
        Call::Resource("Deployments".to_owned()),
        Call::Name("web".to_owned()),
        Call::SubResource(vec!["status".to_owned()]),
        Call::Timeout(&TIMEOUTS[2]),
    ];
    let right =
        "https://h:6443/apis/apps/v1/namespaces/default/deployments/web/status?timeout=1.5s";
    for first in 0..calls.len() {
        let mut turned = calls.to_vec();
        turned.rotate_left(first);
        for calls in [turned.clone(), turned.into_iter().rev().collect()] {
            check::<Address, Spec>(&calls);
            let mut request = Spec::new(0, "GET");
            let said: Vec<_> = calls.iter().map(|call| request.call(call)).collect();
            assert_eq!(said[4].url.as_deref(), Ok(right), "{calls:?}");
        }
    }
}

fn calls_that_are_made_up_notice_every_mistake() {
    every_mistake_is_noticed::<Address>();
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    any_calls_in_any_order_give_the_address_of_the_reference,
    whatever_bytes_say_the_two_agree,
    calls_that_set_other_parts_may_come_in_any_order,
    calls_that_are_made_up_notice_every_mistake
];
