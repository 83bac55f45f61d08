//! Generated inputs: the watch that ships tells the meaning of its bytes, and every mistake is
//! detected.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::regressions::tried;
use crate::watch::{Call, Spec, Watch, decode};
use crate::wire::fixtures::{check, every_mistake_is_noticed};

proptest! {
    #![proptest_config(tried!("watch", cases: 512))]

    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..150)) {
        check::<Watch, Spec>(&decode(&bytes));
    }

    fn events_may_be_cut_anywhere(sizes in vec(1..12_usize, 40)) {
        let text = "{\"type\":\"ADDED\",\"object\":\"\u{fc}\u{1f980}\"}\n\n \r\n\
                    {\"object\":{\"b\":[2]},\"type\":\"DELETED\"}\n{\"type\":\"ADDED\",\"object\":3}";
        let mut rest = text.as_bytes();
        let mut calls = Vec::new();
        for size in sizes {
            let (piece, left) = rest.split_at(size.min(rest.len()));
            calls.push(Call::Bytes(piece.to_vec()));
            rest = left;
        }
        calls.push(Call::Ends(None));
        check::<Watch, Spec>(&calls);
    }
}

fn calls_that_are_made_up_notice_every_mistake() {
    every_mistake_is_noticed::<Watch>();
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    whatever_bytes_say_the_two_agree,
    events_may_be_cut_anywhere,
    calls_that_are_made_up_notice_every_mistake
];
