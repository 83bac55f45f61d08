//! The whole pipeline under random plans of what goes wrong: a simulated server, requests, reflector,
//! queue, store, a reader, a work queue and a worker, as a program puts them together.
//!
//! All of it runs as tasks of one thread on tokio's paused clock, and every random number follows from
//! the seed of the plan: a plan that is violated says its seed, and does the same again.
//! `SEATRIAL_PLANS` says how many are tried, two hundred unless it does; `SEATRIAL_PLAN` is the first:
//!
//! ```text
//! SEATRIAL_PLANS=100000 cargo test --release -p seatrial-core --all-features --test pipeline -- --nocapture
//! ```
#![expect(clippy::disallowed_types, reason = "the network around the code is no part of it")]

mod judge;
mod plan;
mod run;
mod wire;

use std::time::Instant;

use plan::{Break, Plan};

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |it| it.parse().expect("a number"))
}

#[test]
fn whatever_goes_wrong_every_change_is_reconciled() {
    let plans = from_environment("SEATRIAL_PLANS", 200);
    let first = from_environment("SEATRIAL_PLAN", 0);
    let began = Instant::now();
    let mut sum = run::Figures::default();
    for seed in first..first + plans {
        match run::run(&Plan::of(seed), Break::Nothing) {
            Ok(figures) => sum.add(&figures),
            Err(why) => panic!("SEATRIAL_PLAN={seed} SEATRIAL_PLANS=1: {why}"),
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{plans} plans, 0 violations, {:.0} plans/s: {} requests, {} refused or lost, {} changes \
         told, {} reconciles, {} of them failed; the latest was settled after {:?}",
        plans as f64 / seconds,
        sum.requests,
        sum.struck,
        sum.told,
        sum.reconciles,
        sum.failures,
        sum.settled,
    );
    let many = plans >= 100; // one plan alone may be kind
    assert!(!many || sum.struck > plans / 2 && sum.failures > plans / 2, "the plans are too kind");
}

#[test]
fn the_same_plan_does_the_same_again() {
    for seed in [3, 14, 15] {
        let (plan, again) = (Plan::of(seed), Plan::of(seed));
        assert_eq!(run::run(&plan, Break::Nothing), run::run(&again, Break::Nothing), "{seed}");
    }
}

/// Each link that is broken on purpose is noticed by some of the first plans.
#[test]
fn a_link_that_is_broken_is_noticed() {
    for broken in Break::ALL {
        let noticed = (0..60).any(|seed| run::run(&Plan::of(seed), *broken).is_err());
        assert!(noticed, "{broken:?}");
    }
}
