//! Every mutant is convicted; the elector that ships is not.

use std::collections::BTreeMap;

use seatrial_core::elector::{Config, Election};
use seatrial_core::machine::Boxed;

use crate::elector::conviction::{Effort, convict};
use crate::elector::mutants::{self, Mutant};

fn every_mutant_is_convicted_and_every_way_of_convicting_is_worth_something() {
    let mut convicted: BTreeMap<&str, u32> = BTreeMap::new();
    let mut survivors = Vec::new();
    for mutant in &mutants::all() {
        let kills = convict(mutant, Effort::default());
        assert!(!mutant.rules.is_empty() && !mutant.origin.is_empty(), "{}", mutant.name);
        // A mutant that breaks promises of the page is tried there.
        if kills.is_empty() && mutant.breaks.is_empty() {
            survivors.push(mutant.name);
        }
        for kill in kills {
            *convicted.entry(kill.engine).or_default() += 1;
        }
    }
    assert_eq!(survivors, [""; 0]);
    for engine in ["conformance", "property", "decisions", "schedules", "cluster"] {
        assert!(convicted[engine] > 10, "{engine} is nearly blind: {convicted:?}");
    }
}

fn the_elector_that_ships_is_not_convicted() {
    let ships = Mutant {
        name: "none",
        make: |config: Config| Boxed(Box::new(Election::unchecked(config))),
        ..mutants::all()[0]
    };
    assert_eq!(convict(&ships, Effort::default()), []);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    every_mutant_is_convicted_and_every_way_of_convicting_is_worth_something,
    the_elector_that_ships_is_not_convicted
];
