//! Generated plans of a reflector's server, by proptest.

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use ::proptest::test_runner::FileFailurePersistence;

use crate::reflector::{check, decode};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../proptest-regressions/reflector.txt");

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(SEEDS))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_the_promises_are_kept(bytes in vec(any::<u8>(), 0..120)) {
        check(&decode(&bytes));
    }
}
