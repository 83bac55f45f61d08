//! Earlier failures are replayed first.
//!
//! A ledger is a text file, newest first: the commit at which something failed, the seed of that
//! run, and the witness. The next run replays the witnesses before anything else. If the code has
//! changed so much that a witness cannot be followed, its scenario is run once more from the seed
//! that failed.
//!
//! ```text
//! 3f2a9c1 7 seatrial-0.1:queue/two_workers:sample:a4b2c3:9f31c2d0:5a77
//! ```

use std::fmt;
use std::str::FromStr;

use super::{Case, Request, replayed};
use crate::catalogue::Catalogue;
use crate::report::{Report, Row, Verdict};
use crate::trial::{MADE_UP_CALLS, Witness};

/// One failure of before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The commit at which it failed.
    pub commit: String,
    /// The seed of that run.
    pub seed: u64,
    /// The way back.
    pub witness: Witness,
}

/// The failures of before, newest first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Failures {
    /// The failures.
    pub entries: Vec<Entry>,
    /// How many lines were of another release line, or damaged: they are dropped.
    pub unreadable: usize,
}

/// How many failures are kept.
const MOST: usize = 200;

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.commit, self.seed, self.witness)
    }
}

impl FromStr for Entry {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let words: Vec<_> = line.split_whitespace().collect();
        let [commit, seed, witness] = words[..] else { return Err(()) };
        Ok(Self {
            commit: commit.to_owned(),
            seed: seed.parse().map_err(drop)?,
            witness: witness.parse().map_err(drop)?,
        })
    }
}

impl Failures {
    /// Reads a ledger; unreadable lines are counted and left out.
    pub fn read(text: &str) -> Self {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (mut entries, mut unreadable) = (Vec::new(), 0);
        for line in lines {
            match line.parse() {
                Ok(entry) => entries.push(entry),
                Err(()) => unreadable += 1,
            }
        }
        Self { entries, unreadable }
    }

    /// Puts what a run found before what it knew: unexpected violations that have a way back.
    pub fn remember(&mut self, report: &Report) {
        let failed = report.rows.iter().filter(|row| is_failure(row));
        let found = failed.filter_map(|row| {
            let witness = row.witness.as_ref()?.parse().ok()?;
            let commit = report.commit.split_whitespace().next().unwrap_or("unknown").to_owned();
            Some(Entry { commit, seed: report.seed, witness })
        });
        let mut entries: Vec<Entry> = Vec::new();
        for entry in found.chain(std::mem::take(&mut self.entries)) {
            if entries.len() < MOST && !entries.iter().any(|known| known.witness == entry.witness) {
                entries.push(entry);
            }
        }
        self.entries = entries;
    }

    /// Writes the ledger.
    pub fn text(&self) -> String {
        let mut text = "# What failed, newest first: commit, seed, witness. `run --ledger` looks \
                        at it first.\n"
            .to_owned();
        for entry in &self.entries {
            text.push_str(&format!("{entry}\n"));
        }
        text
    }
}

fn is_failure(row: &Row) -> bool {
    !row.as_expected() && row.verdict == Verdict::Violated
}

/// Replays the earlier failures that the request covers; returns those that fail again.
pub(super) fn failing_again(catalogue: &Catalogue, request: &Request) -> Vec<Row> {
    let mut rows = Vec::new();
    // One shard is enough.
    if request.share.partition.index != 1 {
        return rows;
    }
    let mut covered = catalogue.scenarios(&request.patterns);
    covered.extend(catalogue.made_up(&request.patterns).map(|subject| (subject, MADE_UP_CALLS)));
    for Entry { seed, witness, .. } in &request.ledger {
        let Witness { component, scenario, engine, mutant: None, route, .. } = witness else {
            continue;
        };
        let case =
            covered.iter().find(|(subject, name)| subject.name() == component && name == scenario);
        let Some(&(subject, scenario)) = case else { continue };
        if !request.engines.contains(engine) || engine.missing().is_some() {
            continue;
        }
        let found = match subject.replay(scenario, None, *engine, route) {
            Some(followed) => replayed::rows(subject, witness, &followed),
            None => {
                let request = Request { seed: *seed, ..request.clone() };
                Case::Shipped { subject, scenario, engine: *engine }.run(&request, 1)
            }
        };
        rows.extend(found.into_iter().filter(is_failure));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITNESS: &str = "seatrial-0.1:queue/two_workers:cluster:seed=7:9f31c2d0";

    fn entry(commit: &str) -> String {
        let sum = crate::trial::digest(WITNESS);
        format!("{commit} 7 {WITNESS}:{:04x}", (sum ^ (sum >> 16)) as u16)
    }

    #[test]
    fn a_ledger_survives_its_text_and_what_is_damaged_is_counted() {
        let text = format!("# words\n{}\n\nnonsense\n{}x\n", entry("abc"), entry("def"));
        let ledger = Failures::read(&text);
        assert_eq!((ledger.entries.len(), ledger.unreadable), (1, 2));
        assert_eq!(Failures::read(&ledger.text()).entries, ledger.entries);
    }

    /// A report of one violation, expected or not, that a witness leads back to.
    fn report(expect: &str) -> Report {
        let sum = crate::trial::digest(WITNESS);
        let row = serde_json::json!({
            "component": "queue", "scenario": "two_workers", "invariant": "fair", "rules": [],
            "engine": "cluster", "expect": expect, "verdict": "violated",
            "witness": format!("{WITNESS}:{:04x}", (sum ^ (sum >> 16)) as u16),
        });
        let mut report = Report::new(7);
        report.commit = "new of today".to_owned();
        report.rows.push(serde_json::from_value(row).expect("a row"));
        report
    }

    #[test]
    fn a_failure_comes_before_the_older_ones_of_which_the_oldest_goes() {
        let mut ledger = Failures::default();
        ledger.remember(&report("holds"));
        let [newest] = &ledger.entries[..] else { panic!("{ledger:?}") };
        assert_eq!((newest.commit.as_str(), newest.seed), ("new", 7));
        let newest = newest.clone();
        let older = |seed| {
            let mut older = Entry { commit: format!("old{seed}"), ..newest.clone() };
            older.witness.scenario = format!("scenario_{seed}");
            older
        };
        ledger.entries = (0..MOST as u64).map(older).collect();
        ledger.remember(&report("holds"));
        assert_eq!((ledger.entries.len(), &ledger.entries[0]), (MOST, &newest));
        assert_eq!(ledger.entries[MOST - 1].commit, format!("old{}", MOST - 2));
    }

    #[test]
    fn a_violation_that_is_expected_is_no_failure() {
        let mut ledger = Failures::default();
        ledger.remember(&report("violated"));
        assert_eq!(ledger.entries, []);
    }

    #[test]
    fn the_same_failure_is_kept_once_and_the_newest_comes_first() {
        let mut ledger = Failures::read(&format!("{}\n{}\n", entry("abc"), entry("def")));
        ledger.remember(&Report::new(0));
        assert_eq!(ledger.entries.len(), 1);
        assert_eq!(ledger.entries[0].commit, "abc");
    }
}
