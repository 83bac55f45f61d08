//! Schedules of every scenario in the catalogue: the bytes are the scheduler's choices.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::catalogue::CATALOGUE;
use seatrial_models::engine::Engine;
use seatrial_models::trial::Expect;

fuzz_target!(|bytes: &[u8]| {
    let [which, schedule @ ..] = bytes else { return };
    let mut scenarios = CATALOGUE.scenarios(&[]);
    // Simulations and models of states have no schedule.
    scenarios.retain(|(subject, name)| subject.cannot_run(name, Engine::Sample).is_none());
    let (subject, scenario) = scenarios[usize::from(*which) % scenarios.len()];
    let findings = subject.decided_by(scenario, None, schedule).expect("the catalogue named it");
    for finding in findings {
        let invariants = subject.invariants();
        let known = invariants.iter().find(|invariant| invariant.name == finding.invariant);
        let expected = known.is_some_and(|invariant| invariant.expect == Expect::Violated);
        assert!(
            expected,
            "{}/{scenario} violates {}: {}\n{}",
            subject.name(),
            finding.invariant,
            finding.violation.because,
            finding.transcript()
        );
    }
});
