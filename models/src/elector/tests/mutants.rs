//! Every mutant is convicted, and the elector that ships is not.

use std::collections::BTreeMap;

use seatrial_core::elector::{Config, Election};
use seatrial_core::machine::Boxed;

use crate::elector::hunt::{Effort, hunt};
use crate::elector::mutants::{MUTANTS, Mutant};

#[test]
fn every_mutant_is_convicted_and_every_way_of_convicting_is_worth_something() {
    let mut convicted: BTreeMap<&str, u32> = BTreeMap::new();
    for mutant in MUTANTS {
        let kills = hunt(mutant, Effort::default());
        assert!(!kills.is_empty(), "{} survives", mutant.name);
        assert!(!mutant.breaks.is_empty() && !mutant.origin.is_empty(), "{}", mutant.name);
        for kill in kills {
            *convicted.entry(kill.engine).or_default() += 1;
        }
    }
    for engine in ["conformance", "property", "schedules", "cluster"] {
        assert!(convicted[engine] > 10, "{engine} is nearly blind: {convicted:?}");
    }
}

#[test]
fn the_elector_that_ships_is_not_convicted() {
    let ships = Mutant {
        name: "none",
        origin: "",
        breaks: &[],
        make: |config: Config| Boxed(Box::new(Election::unchecked(config))),
    };
    assert_eq!(hunt(&ships, Effort::default()), []);
}
