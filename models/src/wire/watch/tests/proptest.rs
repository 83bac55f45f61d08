//! Generated inputs: the watch that ships tells the meaning of its bytes, and every mistake is
//! detected.

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use ::proptest::test_runner::FileFailurePersistence;

use crate::single_step::doubt::notices;
use crate::trial::Component as _;
use crate::watch::{Call, Watch, check, decode};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../proptest-regressions/watch.txt");

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(SEEDS))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..150)) {
        check(&decode(&bytes));
    }

    #[test]
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
        check(&calls);
    }
}

#[test]
fn calls_that_are_made_up_notice_every_mistake() {
    for mutant in Watch::mutants() {
        let property = Watch::fuzz_mutant(&mutant).expect("every mutant has one");
        assert_eq!(notices(property), mutant.name != "written_down_again", "{}", mutant.name);
    }
}
