//! Each invariant notices a run that was tampered with.

use seatrial_core::elector::Name;

use super::{INVARIANTS, Terms, breaches, invariant};
use crate::cluster::plan::SECOND;
use crate::cluster::run::{Answer, Happening, Run, Verb, What};
use crate::cluster::server::Writer;
use crate::cluster::{Plan, simulate_plan};

/// A run with several leaders, releases, observations and effects, in which everything holds.
fn sound() -> (Run, Terms) {
    let text = "strict,crashes=4,cancels=4,release=true,acts=1s,probe=true,work=300ms,lag=200,\
                lost=200,rerun=500,horizon=300s";
    let plan: Plan = text.parse().unwrap();
    let terms = Terms { config: plan.config(), drift_ppm: plan.drift };
    let good = (0..100).find_map(|seed| {
        let run = simulate_plan(&plan.with_seed(seed));
        let releases = run
            .versions
            .iter()
            .any(|version| version.record.as_ref().is_some_and(|record| record.holder.is_empty()));
        let taken = super::leaders::takeover_waits_in_real_time(&run, &terms).is_ok()
            && run.belief_windows().len() > 3;
        (releases && taken && breaches(&run, &terms, true).is_empty()).then_some(run)
    });
    (good.expect("some run has everything"), terms)
}

/// Tells whether an invariant still holds after a sound run has been changed.
fn after(name: &str, change: impl FnOnce(&mut Run)) -> bool {
    let (mut run, terms) = sound();
    change(&mut run);
    invariant(name).expect("it is listed").check(&run, &terms).is_ok()
}

fn find(run: &Run, is: impl Fn(&What) -> bool) -> usize {
    run.happenings.iter().position(|happening| is(&happening.what)).expect("it happened")
}

fn insert(run: &mut Run, index: usize, what: What) {
    let happening = Happening { what, ..run.happenings[index] };
    run.happenings.insert(index + 1, happening);
}

fn a_second_leader_is_noticed() {
    for name in ["one_leader", "one_actor", "one_leader_per_lease_window"] {
        assert!(!after(name, |run| {
            // No belief and no work ends any more.
            run.happenings.retain(|happening| {
                !matches!(
                    happening.what,
                    What::Revoked { .. } | What::WorkEnded { .. } | What::Crashed
                )
            });
        }));
    }
}

fn an_effect_of_an_earlier_term_is_noticed() {
    assert!(!after("fenced_effects_never_interleave", |run| {
        let first = find(run, |what| matches!(what, What::Acts { accepted: true, .. }));
        let late = Happening { at: run.end, ..run.happenings[first] };
        run.happenings.push(late);
    }));
}

/// Returns the version that takes the lease from another holder.
fn takeover(run: &Run) -> usize {
    let holder = |index: usize| {
        run.versions[index].record.as_ref().map_or(Name::EMPTY, |record| record.holder.clone())
    };
    (1..run.versions.len())
        .find(|index| {
            !holder(*index).is_empty()
                && !holder(index - 1).is_empty()
                && holder(*index) != holder(index - 1)
        })
        .expect("a lease was taken")
}

fn a_lease_that_is_taken_too_early_is_noticed() {
    assert!(!after("takeover_waits_in_real_time", |run| {
        let index = takeover(run);
        run.versions[index - 1].at = run.versions[index].at - SECOND;
    }));
    assert!(!after("takeover_waits", |run| {
        let index = takeover(run);
        let Writer::Process(taker) = run.versions[index].by else { panic!("a process took it") };
        // The taker never saw the version that it replaced.
        run.happenings.retain(|happening| {
            happening.process != taker
                || !matches!(happening.what, What::Learns { answer: Answer::Version(seen), .. }
                    if seen == index as u64)
        });
    }));
}

fn a_broken_chain_of_versions_is_noticed() {
    assert!(!after("versions_form_a_chain", |run| run.versions[3].over = 2));
}

fn records_that_break_their_rules_are_noticed() {
    let last_record = |run: &mut Run, change: fn(&mut seatrial_core::elector::Record)| {
        let last = run
            .versions
            .iter_mut()
            .rev()
            .find_map(|entry| entry.record.as_mut().filter(|record| !record.holder.is_empty()));
        change(last.expect("somebody held it"));
    };
    assert!(!after("transitions_count_terms", |run| last_record(run, |r| r.transitions += 7)));
    assert!(!after("acquire_time_names_the_term", |run| {
        let index = (1..run.versions.len())
            .find(|index| {
                let record = |index: usize| run.versions[index].record.clone().unwrap_or_default();
                let (before, after) = (record(index - 1), record(*index));
                before.holder == after.holder && before.transitions == after.transitions
            })
            .expect("somebody renewed");
        run.versions[index].record.as_mut().expect("a renewal").acquire_time = None;
    }));
}

/// Changes the first release of a run.
fn release(run: &mut Run, change: impl FnOnce(&mut Run, usize)) {
    let index = run.versions.iter().position(|entry| {
        entry.record.as_ref().is_some_and(|record| record.holder.is_empty())
            && matches!(entry.by, Writer::Process(_))
    });
    change(run, index.expect("somebody released"));
}

fn releases_that_break_their_rules_are_noticed() {
    assert!(!after("releases_free_the_lease", |run| release(run, |run, index| {
        run.versions[index].record.as_mut().expect("a record").duration_seconds = 15;
    })));
    assert!(!after("releases_free_the_lease", |run| release(run, |run, index| {
        run.versions[index].record.as_mut().expect("a record").renew_time = None;
    })));
    assert!(!after("releases_are_of_the_own_lease", |run| release(run, |run, index| {
        run.versions[index - 1].record.as_mut().expect("a record").holder = "stranger".into();
    })));
    assert!(!after("work_ends_before_release", |run| {
        run.happenings.retain(|happening| !matches!(happening.what, What::Revoked { .. }));
    }));
}

fn calls_that_break_their_rules_are_noticed() {
    assert!(!after("updates_name_what_was_received", |run| {
        let index = find(run, |what| matches!(what, What::Calls { verb: Verb::Update { .. }, .. }));
        let What::Calls { verb: Verb::Update { version, .. }, .. } =
            &mut run.happenings[index].what
        else {
            panic!("an update")
        };
        *version += 1;
    }));
    assert!(!after("one_call_at_a_time", |run| {
        let index = find(run, |what| matches!(what, What::Calls { .. }));
        let call = What::Calls { call: 9_999, verb: Verb::Get, first: false };
        insert(run, index, call);
    }));
    assert!(!after("one_call_at_a_time", |run| {
        let index = find(run, |what| matches!(what, What::Ended { .. }));
        let call = What::Calls { call: 9_999, verb: Verb::Get, first: true };
        insert(run, index, call);
    }));
    assert!(!after("no_attempt_after_cancellation", |run| {
        let index = find(run, |what| matches!(what, What::Cancelled));
        insert(run, index, What::Calls { call: 9_999, verb: Verb::Create, first: true });
    }));
}

fn a_cancelled_run_that_sleeps_on_is_noticed() {
    assert!(!after("cancellation_is_prompt", |run| {
        // Every cancellation is moved two seconds into the past.
        for index in 0..run.happenings.len() {
            if run.happenings[index].what == What::Cancelled {
                run.happenings[index].at -= 2 * SECOND;
            }
        }
    }));
}

fn rounds_that_break_their_rules_are_noticed() {
    let renewals = |run: &mut Run, closer: bool| {
        let became = find(run, |what| matches!(what, What::Event { became: true }));
        let leader = run.happenings[became].process;
        let renewals: Vec<usize> = (became..run.happenings.len())
            .filter(|index| {
                run.happenings[*index].process == leader
                    && matches!(
                        run.happenings[*index].what,
                        What::Learns { answer: Answer::Version(_), .. }
                    )
            })
            .take(4)
            .collect();
        let [_, second, third, _] = renewals[..] else { panic!("a leader renews") };
        if closer {
            run.happenings[third].local = run.happenings[second].local + 1;
        }
    };
    assert!(after("renewals_keep_their_distance", |run| renewals(run, false)));
    assert!(!after("renewals_keep_their_distance", |run| renewals(run, true)));

    // Without releases: a run that releases is not judged.
    let plan: Plan = "strict,horizon=100s".parse().unwrap();
    let terms = Terms { config: plan.config(), drift_ppm: 0 };
    let mut run = simulate_plan(&plan);
    let bounded = invariant("rounds_are_bounded").expect("it is listed");
    assert_eq!(bounded.check(&run, &terms), Ok(()));
    let became = find(&run, |what| matches!(what, What::Event { became: true }));
    for call in 0..9 {
        insert(&mut run, became, What::Calls { call: 9_000 + call, verb: Verb::Get, first: true });
    }
    assert!(bounded.check(&run, &terms).is_err());
}

fn observations_without_a_reason_are_noticed() {
    assert!(!after("observations_have_a_reason", |run| {
        let index = find(run, |what| matches!(what, What::Cancelled));
        insert(run, index, What::Observes { at: 1 });
    }));
}

fn callbacks_metrics_and_reports_that_break_their_rules_are_noticed() {
    let wins = |what: &What| matches!(what, What::Event { became: true });
    assert!(!after("stopping_follows_leading", |run| {
        let index = find(run, wins);
        let again = run.happenings[index].what;
        insert(run, index, again);
    }));
    assert!(!after("stopping_follows_leading", |run| {
        let index = find(run, |what| matches!(what, What::Ended { .. }));
        insert(run, index, What::Ended { led: true });
    }));
    assert!(!after("stopping_follows_leading", |run| {
        let index = find(run, |what| matches!(what, What::Begins));
        insert(run, index, What::Begins);
    }));
    assert!(!after("stopping_follows_leading", |run| {
        let windows = run.belief_windows();
        let ended = run.happenings.iter().position(|happening| {
            matches!(happening.what, What::Ended { led: true })
                && windows.iter().any(|window| window.process == happening.process)
        });
        // The token outlives the run by a second.
        let process = run.happenings[ended.expect("a leader stopped")].process;
        for happening in &mut run.happenings {
            if happening.process == process && matches!(happening.what, What::Revoked { .. }) {
                happening.at += SECOND;
            }
        }
        run.happenings.sort_by_key(|happening| happening.at);
    }));
    assert!(!after("metrics_alternate", |run| {
        let index = find(run, |what| matches!(what, What::Metric(true)));
        insert(run, index, What::Metric(true));
    }));
    assert!(!after("reports_differ", |run| {
        let index = find(run, |what| matches!(what, What::Reports(Some(_))));
        let again = run.happenings[index].what;
        insert(run, index, again);
    }));
}

fn every_invariant_is_tampered_with_here() {
    let here = include_str!("tests.rs");
    for invariant in INVARIANTS {
        assert!(here.contains(&format!("\"{}\"", invariant.name)), "{}", invariant.name);
        assert!(!invariant.rules.is_empty() && !invariant.says.is_empty());
    }
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    a_second_leader_is_noticed,
    an_effect_of_an_earlier_term_is_noticed,
    a_lease_that_is_taken_too_early_is_noticed,
    a_broken_chain_of_versions_is_noticed,
    records_that_break_their_rules_are_noticed,
    releases_that_break_their_rules_are_noticed,
    calls_that_break_their_rules_are_noticed,
    a_cancelled_run_that_sleeps_on_is_noticed,
    rounds_that_break_their_rules_are_noticed,
    observations_without_a_reason_are_noticed,
    callbacks_metrics_and_reports_that_break_their_rules_are_noticed,
    every_invariant_is_tampered_with_here
];
