//! Generated steps: the client that ships agrees with the sequential object, and every mistake is
//! detected.

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use ::proptest::test_runner::FileFailurePersistence;

use crate::client::{Client, check, decode};
use crate::single_step::doubt::notices;
use crate::trial::Component as _;

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../proptest-regressions/client.txt");

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(SEEDS))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_bytes_say_the_two_agree(bytes in vec(any::<u8>(), 0..60)) {
        check(&decode(&bytes));
    }
}

#[test]
fn calls_that_are_made_up_notice_every_mistake() {
    for mutant in Client::mutants() {
        let property = Client::fuzz_mutant(&mutant).expect("every mutant has one");
        assert_eq!(notices(property), mutant.name != "said_once_more", "{}", mutant.name);
    }
}
