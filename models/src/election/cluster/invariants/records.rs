//! Promises about the versions of the lock object.

use super::{Found, Terms};
use crate::cluster::run::Run;
use crate::cluster::server::{Entry, Writer};
use seatrial_core::elector::Record;

pub(super) fn versions_form_a_chain(run: &Run, _: &Terms) -> Found {
    let mut exists = false;
    for (index, entry) in run.versions.iter().enumerate() {
        let expected = if exists { index as u64 } else { 0 };
        if entry.over != expected {
            return Err((
                entry.at,
                format!("version {} replaced {} instead of {expected}", index + 1, entry.over),
            ));
        }
        exists = entry.record.is_some();
    }
    Ok(())
}

/// Returns the processes' writes with the records before and after.
fn writes(run: &Run) -> impl Iterator<Item = (&Entry, u16, Option<&Record>, &Record)> {
    run.versions.iter().enumerate().filter_map(|(index, entry)| {
        let Writer::Process(writer) = entry.by else { return None };
        let before = index.checked_sub(1).and_then(|index| run.versions[index].record.as_ref());
        Some((entry, writer, before, entry.record.as_ref()?))
    })
}

pub(super) fn transitions_count_terms(run: &Run, terms: &Terms) -> Found {
    for (entry, _, before, after) in writes(run) {
        let grown = after.transitions - before.map_or(0, |before| before.transitions);
        let expected: &[i64] = match before {
            None if terms.is_strict() => &[0],
            None => continue, // a leader whose object vanished carries its count on (LE-20)
            Some(_) if after.holder.is_empty() => &[0],
            Some(before) if before.holder != after.holder => &[1],
            // In the strict profile, a holder of the same name may also begin a new term.
            Some(_) if terms.is_strict() => &[0, 1],
            Some(_) => &[0],
        };
        if !expected.contains(&grown) {
            return Err((entry.at, format!("the count of transitions grew by {grown}")));
        }
    }
    Ok(())
}

pub(super) fn acquire_time_names_the_term(run: &Run, _: &Terms) -> Found {
    for (entry, _, before, after) in writes(run) {
        let Some(before) = before else { continue };
        let same_term = before.holder == after.holder && before.transitions == after.transitions;
        if same_term && !after.holder.is_empty() && before.acquire_time != after.acquire_time {
            return Err((entry.at, "a renewal changed the time of acquisition".to_owned()));
        }
    }
    Ok(())
}

/// Returns the releases, with the record before.
fn releases(run: &Run) -> impl Iterator<Item = (&Entry, u16, Option<&Record>, &Record)> {
    writes(run).filter(|(_, _, _, after)| after.holder.is_empty())
}

pub(super) fn releases_free_the_lease(run: &Run, _: &Terms) -> Found {
    for (entry, _, before, after) in releases(run) {
        let kept = before.map(|before| before.transitions);
        if after.duration_seconds != 1 || kept != Some(after.transitions) {
            return Err((entry.at, format!("a release wrote {after:?}")));
        }
        if after.renew_time.is_none() || after.acquire_time.is_none() {
            return Err((entry.at, "a release wrote no times".to_owned()));
        }
    }
    Ok(())
}

pub(super) fn releases_are_of_the_own_lease(run: &Run, _: &Terms) -> Found {
    for (entry, writer, before, _) in releases(run) {
        let writer = run.processes[usize::from(writer)].identity();
        if before.is_none_or(|before| before.holder != *writer) {
            return Err((entry.at, format!("{writer} freed a lease that was not its own")));
        }
    }
    Ok(())
}

pub(super) fn work_ends_before_release(run: &Run, _: &Terms) -> Found {
    let windows = run.belief_windows();
    for (entry, writer, _, _) in releases(run) {
        let leads = windows.iter().any(|window| {
            window.process == writer && window.from <= entry.at && entry.at < window.to
        });
        if leads {
            return Err((entry.at, "a lease was freed while its holder still led".to_owned()));
        }
    }
    Ok(())
}
