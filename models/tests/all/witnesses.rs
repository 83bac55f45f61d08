//! The committed witnesses: each leads to the same history, and breaks the promise that it names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use seatrial_models::catalogue::CATALOGUE;
use seatrial_models::engine::Engine;
use seatrial_models::trial::{Expect, MutantKind, VERSION, Witness, digest};

const REFRESH: &str = "ci/witnesses.sh writes them anew";

/// A committed file: its component and name, the promise that it breaks, and the route to the
/// violation.
struct Kept {
    component: String,
    name: String,
    breaks: String,
    text: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("witnesses")
}

fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| {
        panic!("{}: {error}", folder.display());
    });
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

fn kept() -> Vec<Kept> {
    let files = inside(&folder()).into_iter().flat_map(|component| inside(&component));
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let says = text.lines().find_map(|line| line.strip_prefix("# breaks "));
        let breaks = says.and_then(|says| says.split(' ').next());
        Kept {
            component: stem(path.parent().expect("a folder")),
            name: stem(&path),
            breaks: breaks.unwrap_or_else(|| panic!("{} breaks what?", path.display())).to_owned(),
            text: text.lines().next_back().unwrap_or_default().to_owned(),
        }
    };
    files.map(read).collect()
}

#[test]
fn every_committed_witness_leads_to_the_same_history() {
    let kept = kept();
    assert!(kept.len() > 150, "only {} witnesses: {REFRESH}", kept.len());
    for Kept { component, name, breaks, text } in kept {
        let at = format!("{component}/{name}");
        assert!(text.starts_with(&format!("seatrial-{VERSION}:")), "{at}: another release line");
        let witness: Witness = text.parse().unwrap_or_else(|error| panic!("{at}: {error}"));
        assert_eq!(witness.component, component, "{at}");
        assert_eq!(witness.mutant.as_ref().unwrap_or(&witness.scenario), &name, "{at}");
        let subject = CATALOGUE.subject(&component).unwrap_or_else(|| panic!("{at}: unknown"));
        let Witness { scenario, mutant, engine, route, history, .. } = &witness;
        let replayed = subject.replay(scenario, mutant.as_deref(), *engine, route);
        let replayed = replayed.unwrap_or_else(|| panic!("{at} diverges: {REFRESH}"));
        assert_eq!(digest(&replayed.transcript), *history, "{at}: another history: {REFRESH}");
        let broken: Vec<_> = replayed.findings.iter().map(|found| found.invariant).collect();
        assert!(broken.contains(&breaks.as_str()), "{at} breaks {broken:?} instead of {breaks}");
    }
}

#[test]
fn everything_that_must_be_found_has_a_witness_and_nothing_else_has() {
    let mut wanted = BTreeSet::new();
    for subject in CATALOGUE.subjects {
        let mutants = subject.mutants().into_iter();
        let convicted = mutants.filter(|one| !matches!(one.kind, MutantKind::Equivalent(_)));
        wanted.extend(convicted.map(|mutant| (subject.name().to_owned(), mutant.name.to_owned())));
        let breaks = |info: &&str| {
            let judged = subject.judged_in(info);
            judged.iter().any(|invariant| invariant.expect == Expect::Violated)
        };
        let scenarios = subject.scenarios().into_iter().map(|info| info.name);
        let broken = scenarios.filter(breaks);
        wanted.extend(broken.map(|name| (subject.name().to_owned(), name.to_owned())));
    }
    let has: BTreeSet<_> = kept().into_iter().map(|kept| (kept.component, kept.name)).collect();
    let missing: Vec<_> = wanted.difference(&has).collect();
    let stale: Vec<_> = has.difference(&wanted).collect();
    assert!(missing.is_empty() && stale.is_empty(), "{missing:?}, {stale:?}: {REFRESH}");
}

#[test]
fn a_witness_that_was_changed_is_noticed() {
    let kept = kept();
    let of_schedules = |kept: &&Kept| kept.text.contains(&format!(":{}:", Engine::Trace));
    let one = kept.iter().find(of_schedules).expect("some are schedules");
    for at in 0..one.text.len() {
        let mut changed = one.text.clone().into_bytes();
        changed[at] = if changed[at] == b'x' { b'y' } else { b'x' };
        let changed = String::from_utf8(changed).expect("still text");
        assert!(changed.parse::<Witness>().is_err(), "{changed}");
    }
}
