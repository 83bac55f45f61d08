//! The tests of the pages. They are compiled with the library, which takes minutes, so that it is compiled
//! once: the target `check` runs them.

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::TestRunner;
use seatrial::tests::Tests;

use crate::catalogue::CATALOGUE;
use crate::regressions::configured;

/// All of them. One that is missing here is dead code, which the compiler refuses.
pub static TESTS: &[Tests] = &[
    OWN,
    crate::apiserver::config::tests::TESTS,
    crate::apiserver::drive::tests::TESTS,
    crate::cancel::tests::mistakes::TESTS,
    crate::cancel::tests::proptest::TESTS,
    crate::conformance::carried::tests::TESTS,
    crate::election::cluster::any_set_up::TESTS,
    crate::election::cluster::boundary::tests::TESTS,
    crate::election::cluster::going_back::TESTS,
    crate::election::cluster::invariants::tests::TESTS,
    crate::election::cluster::schedules::tests::TESTS,
    crate::election::cluster::tests::TESTS,
    crate::election::elector::conformance::tests::TESTS,
    crate::election::elector::records::tests::TESTS,
    crate::election::elector::tests::beside::TESTS,
    crate::election::elector::tests::laws::TESTS,
    crate::election::elector::tests::reference::TESTS,
    crate::election::elector::tests::simulations::TESTS,
    crate::election::elector::tests::told::TESTS,
    crate::election::elector::text::tests::TESTS,
    crate::events::delivery::tests::TESTS,
    crate::events::delta_fifo::states::tests::TESTS,
    crate::events::delta_fifo::tests::conformance::TESTS,
    crate::events::delta_fifo::tests::laws::TESTS,
    crate::events::fifo::tests::TESTS,
    crate::events::fixtures::doubt::TESTS,
    crate::events::ordered_fifo::tests::TESTS,
    crate::events::reflector::tests::plans::TESTS,
    crate::events::reflector::tests::states::TESTS,
    crate::events::replica_set::tests::TESTS,
    crate::limiters::backoff::tests::TESTS,
    crate::limiters::limiter::tests::TESTS,
    crate::limiters::token_bucket::tests::TESTS,
    crate::queues::channel::states::tests::TESTS,
    crate::queues::channel::tests::TESTS,
    crate::queues::delaying_queue::states::tests::TESTS,
    crate::queues::delaying_queue::tests::TESTS,
    crate::queues::limited_queue::tests::TESTS,
    crate::queues::priority_queue::tests::TESTS,
    crate::queues::queue::conformance::tests::TESTS,
    crate::queues::queue::proptest::TESTS,
    crate::queues::queue::states::tests::TESTS,
    crate::queues::tests::TESTS,
    crate::request::states::tests::TESTS,
    crate::request::tests::conformance::TESTS,
    crate::request::tests::doubts::TESTS,
    crate::request::tests::proptest::TESTS,
    crate::request::tests::text::TESTS,
    crate::stores::expiring_store::tests::TESTS,
    crate::stores::fixtures::tests::TESTS,
    crate::wire::address::tests::proptest::TESTS,
    crate::wire::client::tests::proptest::TESTS,
    crate::wire::leases::tests::proptest::TESTS,
    crate::wire::watch::tests::proptest::TESTS,
];

const OWN: Tests = seatrial::tests![failures_of_the_past_stay_mended];

/// Tries the property that fuzzers feed of every component that has one: first on exactly the bytes of
/// the fuzzers' seeds, which keep the failures of the past, then on a few others, of which the case
/// `made_up_calls` tries more. Where the crate is used alone, there are no seeds.
fn failures_of_the_past_stay_mended() {
    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    for subject in CATALOGUE.subjects {
        let Some(property) = subject.fuzz() else { continue };
        let seeds = std::fs::read_dir(format!("{ROOT}/fuzz/seeds/{}", subject.name()));
        for seed in seeds.into_iter().flatten() {
            property(&std::fs::read(seed.expect("an entry").path()).expect("it can be read"));
        }
        let path = format!("{ROOT}/proptest-regressions/{}.txt", subject.name()).leak();
        let tried = TestRunner::new(configured(32, path)).run(&vec(any::<u8>(), 0..200), |bytes| {
            property(&bytes);
            Ok(())
        });
        assert!(tried.is_ok(), "{}: {tried:?}", subject.name());
    }
}
