//! The bugs: one changed line each, in the plain informer.

use super::Informer;
use crate::engine::Engine;
use crate::events::fixtures::booked;
use crate::trial::{Mutant, mutants};

/// It behaves as the part that ships.
fn plain() -> Vec<Mutant<Informer>> {
    mutants! { booked:
        Equivalent("the plain algorithm without a mistake calls handlers and ends as the shipped \
                    informer does")
        "plain" from "the obvious first algorithm": (&[]) breaks [];
    }
}

pub(super) fn all() -> Vec<Mutant<Informer>> {
    [plain(), of_the_reflector(), of_the_store(), of_ends(), of_handlers(), of_calls()].concat()
}

/// Tells whether an engine can convict this mutant. Some mutants show only in programs that are too
/// large for the engine's search.
pub(super) fn shows(engine: Engine, mutant: &str) -> bool {
    const OF_LARGE: &[&str] = &[
        "waits_for_each_handler",
        "late_handlers_miss_changes",
        "late_handlers_see_twice",
        "synced_before_the_first_is_told",
        "slow_is_not_reported",
        "everybody_is_slow",
        "resync_is_for_all",
        "one_period_for_all",
        "never_resyncs",
    ];
    const OF_MANY_TRACES: &[&str] = &[
        "goes_on_behind_the_end",
        "synced_before_it_is_told",
        "stopped_takes_handlers",
        "synced_with_the_informer",
        "removes_by_place",
        "synced_when_it_is_told",
        "panicked_is_seen",
        "no_pause_behind_a_panic",
        "removal_is_not_told",
        "refused_stops_its_batch",
    ];
    match (engine, mutant) {
        // Its thread waits for ever in a destructor, so nothing more can run on that system thread.
        (Engine::Trace | Engine::Sample, "waits_for_removal_under_the_lock") => return false,
        // It runs two whole informers, which needs more preemptions than the bound allows; so does a
        // store after the last look at the token.
        (Engine::Loom, "runs_twice" | "goes_on_behind_the_end") => return false,
        _ => {}
    }
    let large = matches!(engine, Engine::Loom | Engine::Trace) && OF_LARGE.contains(&mutant);
    !(large || engine == Engine::Trace && OF_MANY_TRACES.contains(&mutant))
}

fn of_the_reflector() -> Vec<Mutant<Informer>> {
    mutants! { booked:
        Seeded "pause_of_lists_delays_the_end" from "museum A46" breaks ["ends_at_once"];
        Seeded "pause_of_streams_delays_the_end" from "museum C8" breaks ["ends_at_once"];
        Seeded "stream_stays_open" from "museum A48" breaks ["nothing_is_left"];
        Seeded "list_goes_on" from "museum C16" breaks ["nothing_is_left"];
        Seeded "back_off_has_another_clock" from "museum A54" breaks ["failures_pause"];
        Seeded "pauses_on_another_clock" from "museum C10" breaks ["failures_pause"];
        Seeded "lists_stay_as_they_came" from "museum A56" breaks ["transformed_once"];
        Seeded "lists_are_transformed_twice" from "cache:WL-14" breaks ["transformed_once"];
    }
}

fn of_the_store() -> Vec<Mutant<Informer>> {
    mutants! { booked:
        Seeded "goes_on_behind_the_end" from "museum A24" breaks ["stores_nothing_behind_the_end"];
        Seeded "told_before_it_is_stored" from "cache:SI-6" breaks ["stored_before_told"];
        Seeded "synced_before_it_is_told" from "cache:PL-22" breaks ["synced_not_early"];
        Seeded "empty_is_never_synced" from "cache:PL-23" breaks ["synced_not_stuck"];
        Seeded "waits_for_each_handler" from "cache:PL-9" breaks ["nobody_waits_for_another"];
        Seeded "refused_stops_its_batch" from "cache:CT-13" breaks ["all_is_told"];
        Seeded "refused_stops_its_list" from "own: no object of a list is stored if an index function refuses one"
            breaks ["all_is_told"];
        Seeded "refused_is_gone"
            from "own: what the store refuses of a list is missing from it"
            breaks ["a_legal_sequence"];
        Seeded "resync_is_for_all" from "cache:SI-21" breaks ["resyncs_as_wanted"];
        Seeded "one_period_for_all" from "cache:SI-28" breaks ["resyncs_as_wanted"];
        Seeded "never_resyncs" from "cache:SI-28" breaks ["resyncs_come"];
    }
}

fn of_ends() -> Vec<Mutant<Informer>> {
    mutants! { booked:
        Seeded "runs_twice" from "museum A70" breaks ["runs_once"];
        Seeded "panic_leaves_the_reflector" from "museum A62" breaks ["panics_come_out"];
        Seeded "one_signal_for_all" from "museum A64" breaks ["ends_in_order"];
        Seeded "end_is_not_told" from "cache:PL-3" breaks ["terminates"];
        Seeded "joins_under_the_lock" from "museum C6" breaks ["terminates"];
        Seeded "run_leaves_its_handlers" from "cache:SI-12" breaks ["nothing_is_left"];
        Seeded "handlers_of_what_never_ran_stay" from "museum C18" breaks ["terminates"];
    }
}

fn of_handlers() -> Vec<Mutant<Informer>> {
    mutants! { booked:
        Seeded "late_handlers_miss_changes" from "cache:SI-33" breaks ["all_is_told"];
        Seeded "late_handlers_see_twice" from "cache:SI-33" breaks ["a_legal_sequence"];
        Seeded "synced_before_the_first_is_told" from "cache:PL-21" breaks ["synced_not_early"];
        Seeded "stopped_takes_handlers" from "cache:SI-32" breaks ["ends_in_order"];
        Seeded "synced_with_the_informer" from "cache:SI-15" breaks ["synced_not_early"];
        Seeded "removes_by_place" from "museum A68" breaks ["all_is_told"];
        Seeded "removal_is_not_told" from "cache:PL-13" breaks ["removed_goes"];
        Seeded "removal_is_not_awaited" from "cache:SI-38" breaks ["removed_is_left_alone"];
        Seeded "waits_for_removal_under_the_lock" from "cache:SI-39" breaks ["terminates"];
    }
}

fn of_calls() -> Vec<Mutant<Informer>> {
    mutants! { booked:
        Seeded "synced_when_it_is_told" from "cache:PL-20" breaks ["synced_not_early"];
        Seeded "panic_ends_the_handler" from "museum A66" breaks ["a_panic_costs_one_change"];
        Seeded "panic_is_not_reported" from "cache:PL-15" breaks ["a_panic_costs_one_change"];
        Seeded "panicked_is_seen" from "cache:PL-16" breaks ["synced_not_early"];
        Seeded "pause_delays_the_end" from "cache:PL-15" breaks ["ends_at_once"];
        Seeded "no_pause_behind_a_panic" from "cache:PL-15" breaks ["a_panic_costs_one_change"];
        Seeded "slow_is_not_reported" from "cache:PL-17" breaks ["slow_is_reported"];
        Seeded "everybody_is_slow" from "cache:PL-17" breaks ["slow_is_reported"];
    }
}
