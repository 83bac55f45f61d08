//! Generated calls on a feed, by proptest.

use ::proptest::collection::vec;
use ::proptest::prelude::*;
use ::proptest::test_runner::FileFailurePersistence;

use crate::feed::{check, decode};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../proptest-regressions/feed.txt");

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(SEEDS))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_called_the_promises_are_kept(bytes in vec(any::<u8>(), 0..80)) {
        check(&decode(&bytes));
    }
}
