//! Promises about the leader, and that there is only one.

use super::{Found, Terms};
use crate::cluster::run::{Answer, Run, Verb, What, Window};
use crate::cluster::server::{Entry, Writer};

pub(super) fn one_leader_per_lease_window(run: &Run, terms: &Terms) -> Found {
    let acting = run.acting_windows();
    for lease in run.lease_windows(terms.drift_ppm) {
        let holder = run.processes[usize::from(lease.process)].identity();
        for window in &acting {
            let leader = run.processes[usize::from(window.process)].identity();
            if leader != holder && lease.overlap(window) > 0 {
                let at = lease.from.max(window.from);
                return Err((at, format!("{leader} acts within the lease of {holder}")));
            }
        }
    }
    Ok(())
}

pub(super) fn one_leader(run: &Run, _: &Terms) -> Found {
    disjoint(run, &run.belief_windows(), "take themselves for the leader")
}

pub(super) fn one_actor(run: &Run, _: &Terms) -> Found {
    disjoint(run, &run.acting_windows(), "act as leader")
}

fn disjoint(run: &Run, windows: &[Window], what: &str) -> Found {
    for (index, first) in windows.iter().enumerate() {
        for second in &windows[index + 1..] {
            if first.process != second.process && first.overlap(second) > 0 {
                let name = |window: &Window| run.processes[usize::from(window.process)].identity();
                return Err((
                    first.from.max(second.from),
                    format!("{} and {} both {what}", name(first), name(second)),
                ));
            }
        }
    }
    Ok(())
}

pub(super) fn fenced_effects_never_interleave(run: &Run, _: &Terms) -> Found {
    let mut terms: Vec<(u16, u32)> = Vec::new();
    for happening in &run.happenings {
        let What::Acts { term, accepted: true } = happening.what else { continue };
        let actor = (happening.process, term);
        if terms.last() == Some(&actor) {
            continue;
        }
        if terms.contains(&actor) {
            let who = run.processes[usize::from(happening.process)].identity();
            return Err((happening.at, format!("{who} acts again after a later term")));
        }
        terms.push(actor);
    }
    Ok(())
}

/// The writes that take a lease from another holder: each with its version number, the version that
/// it replaced, and the new version.
fn takeovers(run: &Run) -> impl Iterator<Item = (usize, &Entry, &Entry)> {
    run.versions.windows(2).enumerate().filter_map(|(index, pair)| {
        let [before, after] = pair else { return None };
        let (old, new) = (before.record.as_ref()?, after.record.as_ref()?);
        let taken = !old.holder.is_empty() && !new.holder.is_empty() && old.holder != new.holder;
        // A change from outside is not a takeover.
        (taken && after.by != Writer::Outside).then_some((index + 1, before, after))
    })
}

/// The taker had received the version that it replaced at least the recorded duration before the
/// attempt that replaced it. In the classic profile, a version that looks the same counts as well.
pub(super) fn takeover_waits(run: &Run, terms: &Terms) -> Found {
    for (version, old, new) in takeovers(run) {
        let Writer::Process(taker) = new.by else { continue };
        let Some(began) = attempt_of(run, taker, version as u64 + 1) else { continue };
        let wait = u64::try_from(old.record.as_ref().map_or(0, |record| record.duration_seconds))
            .unwrap_or(0)
            .saturating_mul(1_000_000_000);
        let alike = |seen: u64| {
            let entry = usize::try_from(seen).ok().and_then(|seen| run.versions.get(seen - 1));
            seen == version as u64
                || !terms.is_strict()
                    && entry
                        .and_then(|entry| entry.record.as_ref())
                        .zip(old.record.as_ref())
                        .is_some_and(|(a, b)| a.same_json(b))
        };
        let seen_early = run.happenings.iter().any(|happening| {
            happening.process == taker
                && happening.local.saturating_add(wait) <= began
                && matches!(happening.what,
                    What::Learns { answer: Answer::Version(seen), .. } if seen > 0 && alike(seen))
        });
        if !seen_early {
            let who = run.processes[usize::from(taker)].identity();
            return Err((
                new.at,
                format!("{who} took a lease that it had not watched long enough"),
            ));
        }
    }
    Ok(())
}

/// Returns the beginning of the attempt that made a version, on the clock of the writer.
fn attempt_of(run: &Run, writer: u16, version: u64) -> Option<u64> {
    let applied = run.happenings.iter().position(|happening| {
        matches!(happening.what, What::Applied { version: made, .. } if made == version)
    })?;
    let What::Applied { call, .. } = run.happenings[applied].what else { return None };
    let sent = run.happenings[..applied].iter().rposition(
        |happening| matches!(happening.what, What::Calls { call: sent, .. } if sent == call),
    )?;
    let first = run.happenings[..=sent].iter().rev().find(|happening| {
        happening.process == writer && matches!(happening.what, What::Calls { first: true, .. })
    })?;
    Some(first.local)
}

pub(super) fn takeover_waits_in_real_time(run: &Run, terms: &Terms) -> Found {
    for (_, old, new) in takeovers(run) {
        let seconds = old.record.as_ref().map_or(0, |record| record.duration_seconds);
        let earliest = old.at.saturating_add(terms.shortest_wait(seconds));
        if new.at < earliest {
            let early = (earliest - new.at) as f64 / 1e9;
            return Err((new.at, format!("a lease was taken {early:.3} s too early")));
        }
    }
    Ok(())
}

/// Tells whether a call writes for a holder.
pub(super) fn claims(verb: Verb) -> bool {
    matches!(verb, Verb::Create | Verb::Update { releases: false, .. })
}
