//! What no mutant of an elector breaks, or breaks alone: the invariants notice a run that was
//! tampered with.

use super::{Terms, breaches, invariant};
use crate::cluster::plan::SECOND;
use crate::cluster::run::{Happening, Run, Verb, What};
use crate::cluster::server::Writer;
use crate::cluster::{Plan, simulate_plan};

/// A run with several leaders and releases, in which everything holds.
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
        let several = run.belief_windows().len() > 3;
        (releases && several && breaches(&run, &terms, true).is_empty()).then_some(run)
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
}

fn calls_that_break_their_rules_are_noticed() {
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
}

fn callbacks_that_break_their_rules_are_noticed() {
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
}

/// No mutant breaks these promises alone, or on a run of the cluster at all.
fn what_other_promises_hide_is_noticed() {
    assert!(!after("one_actor", |run| {
        // No belief and no work ends any more.
        run.happenings.retain(|happening| {
            !matches!(happening.what, What::Revoked { .. } | What::WorkEnded { .. } | What::Crashed)
        });
    }));
    assert!(!after("fenced_effects_never_interleave", |run| {
        let first = find(run, |what| matches!(what, What::Acts { accepted: true, .. }));
        let late = Happening { at: run.end, ..run.happenings[first] };
        run.happenings.push(late);
    }));
    assert!(!after("versions_form_a_chain", |run| run.versions[3].over = 2));
    assert!(!after("cancellation_is_prompt", |run| {
        // Every cancellation is moved two seconds into the past.
        for happening in &mut run.happenings {
            if happening.what == What::Cancelled {
                happening.at -= 2 * SECOND;
            }
        }
    }));
    assert!(!after("observations_have_a_reason", |run| {
        let index = find(run, |what| matches!(what, What::Cancelled));
        insert(run, index, What::Observes { at: 1 });
    }));
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    releases_that_break_their_rules_are_noticed,
    calls_that_break_their_rules_are_noticed,
    callbacks_that_break_their_rules_are_noticed,
    what_other_promises_hide_is_noticed
];
