//! Many generated plans: no promise is broken. The number of plans per second is printed.

use std::time::{Duration, Instant};

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_core::informer::SourceKind;
use seatrial_core::informer::reflector::{Config, Got};

use crate::engine::quietly;
use crate::random::Random;
use crate::reflector::follower::Setting;
use crate::reflector::mutants::hears;
use crate::reflector::server::error;
use crate::reflector::{check, check_on, decode};

/// The number of plans, unless `SEATRIAL_PLANS` asks for more.
const PLANS: u64 = 2_000;

fn made_up_plans_break_nothing() {
    let asked = std::env::var("SEATRIAL_PLANS").ok();
    let plans = asked.map_or(PLANS, |asked| asked.parse().expect("a number"));
    let (began, mut random) = (Instant::now(), Random::new(1));
    for _ in 0..plans {
        let length = 4 + random.bits() % 80;
        let bytes: Vec<u8> = (0..length).map(|_| (random.bits() >> 24) as u8).collect();
        check(&decode(&bytes));
    }
    let rate = plans as f64 / began.elapsed().as_secs_f64();
    println!("{plans} plans of a reflector, {rate:.0} plans/s");
}

fn a_reflector_that_never_rests_is_noticed_where_there_are_resyncs_as_well() {
    for seconds in [0, 7] {
        let config = Config::default().resync(Duration::from_secs(seconds));
        let plan = (Setting { config, ..Setting::default() }, Vec::new());
        let restless = hears(|_, got| match got {
            Got::Opened(Ok(())) => Got::Opened(Err(error(SourceKind::Other))),
            got => got,
        });
        let judged =
            quietly(|| catch_unwind(AssertUnwindSafe(|| check_on(&plan, restless))).unwrap_err());
        let said = judged.downcast_ref::<String>().expect("it is formatted");
        assert!(said.starts_with("it never comes to rest"), "{said}");
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    made_up_plans_break_nothing,
    a_reflector_that_never_rests_is_noticed_where_there_are_resyncs_as_well
];
