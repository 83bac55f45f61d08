//! How many mutants the ways of convicting convict: made-up calls, and each invariant alone.

use std::collections::BTreeMap;

use seatrial_models::catalogue::CATALOGUE;
use seatrial_models::engine::Engine;
use seatrial_models::report::MutantRow;
use seatrial_models::runner::{Request, Silent, alone, run_mutants};
use seatrial_models::trial::Budget;

fn mutants(patterns: &[&str], engines: &[Engine], seeds: u32) -> Vec<MutantRow> {
    let request = Request {
        patterns: patterns.iter().map(|pattern| (*pattern).to_owned()).collect(),
        engines: engines.to_vec(),
        by_name: true,
        budget: Budget { sequences: 2_000, schedules: 500, ..Budget::smoke() },
        seeds,
        jobs: 2,
        ..Request::default()
    };
    run_mutants(&CATALOGUE, &request, &Silent).mutants
}

#[test]
fn made_up_calls_convict_nine_in_ten_bugs_of_the_rules() {
    let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for row in mutants(&[], &[Engine::Fuzz], 1) {
        let is_tried = !row.kills.is_empty() || row.missed_by.contains(&Engine::Fuzz);
        if row.of_waking || row.kind == "equivalent" || !is_tried {
            continue;
        }
        let (convicted, all) = counts.entry(row.component).or_default();
        *convicted += u32::from(!row.kills.is_empty());
        *all += 1;
    }
    assert!(counts.len() >= 6, "{counts:?}");
    for (component, (convicted, all)) in counts {
        assert!(convicted * 10 >= all * 9, "{component}: {convicted} of {all}");
    }
}

#[test]
fn made_up_calls_do_not_convict_what_is_equivalent() {
    let mut rows = mutants(&["wakes_everybody", "every_done"], &[Engine::Fuzz], 1);
    rows.retain(|row| row.kind == "equivalent");
    assert!(rows.len() > 3);
    for row in rows {
        assert!(row.kills.is_empty(), "{}+{}", row.component, row.name);
    }
}

#[test]
fn medians_stand_beside_the_plain_checkers() {
    let engines = [Engine::Loom, Engine::Trace, Engine::Sample, Engine::Fuzz];
    let rows = mutants(&["queue/lost_requeue", "queue/add_never_wakes"], &engines, 5);
    assert!(rows.len() > 2);
    for row in rows {
        let ways: Vec<_> = row.speeds.iter().map(|speed| speed.by.as_str()).collect();
        for way in ["loom", "trace", "sample", "fuzz", "plain loom", "plain random"] {
            assert!(ways.contains(&way), "{}: {ways:?}", row.name);
        }
        for speed in &row.speeds {
            let searched = ["loom", "trace", "plain loom"].contains(&speed.by.as_str());
            assert_eq!(speed.seeds, if searched { 1 } else { 5 }, "{}", speed.by);
            if let Some(median) = speed.median {
                assert!((1..=speed.at_most).contains(&median), "{}", speed.by);
                assert!(speed.convicted * 2 >= speed.seeds, "{}", speed.by);
            }
        }
    }
}

#[test]
fn each_invariant_convicts_something_alone_or_says_why_not() {
    const FINISHED: &[&str] = &[
        "limiter",
        "indexed_store",
        "expiring_store",
        "pool",
        "backoff",
        "candidate",
        "token_bucket",
    ];
    let patterns: Vec<_> = FINISHED.iter().map(|name| (*name).to_owned()).collect();
    let all = alone(&CATALOGUE, &patterns, 2, &Silent);
    assert!(all.len() >= 6, "{} invariants", all.len());
    let finished = all.iter().filter(|one| FINISHED.contains(&one.component));
    let wanting: Vec<_> = finished.filter(|one| !one.worth().is_enough()).collect();
    assert!(wanting.is_empty(), "{wanting:#?}");
}
