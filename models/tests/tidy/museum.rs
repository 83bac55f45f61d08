//! The museum of real defects and the mutants name each other.

use std::collections::BTreeSet;

use serde::Deserialize;

/// The file of the museum.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Museum {
    pub(crate) defect: Vec<Defect>,
}

/// A defect that was real, and the mutants or tests which show that it would be noticed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Defect {
    pub(crate) id: String,
    pub(crate) was: String,
    pub(crate) mutants: Vec<String>,
    pub(crate) scenarios: Vec<String>,
    pub(crate) tests: Vec<String>,
    pub(crate) because: String,
    /// The part that is not built yet.
    pub(crate) waits: String,
}

/// All existing names, each as `component/name`.
pub(crate) struct Known {
    /// Mutants with their origins.
    pub(crate) mutants: Vec<(String, String)>,
    /// Scenarios and simulations that must be violated somewhere.
    pub(crate) expected_to_break: BTreeSet<String>,
    /// Folders of parts.
    pub(crate) parts: BTreeSet<String>,
}

/// Returns the defects that an origin names: `museum E16, E18` names two.
pub(crate) fn named_in(origin: &str) -> Vec<&str> {
    let Some((_, after)) = origin.split_once("museum ") else { return Vec::new() };
    let is_id = |word: &&str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|first| first.is_ascii_uppercase())
            && letters.as_str().parse::<u8>().is_ok()
    };
    let words = after.split([' ', ',', ';', ':']).filter(|word| !word.is_empty());
    words.take_while(is_id).collect()
}

/// Complains about all differences between museum and catalogue.
pub(crate) fn differences(
    museum: &Museum,
    known: &Known,
    has_test: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut ids = BTreeSet::new();
    for defect in &museum.defect {
        if !ids.insert(defect.id.as_str()) {
            complaints.push(format!("{} stands there twice", defect.id));
        }
        complaints.extend(of_one(defect, known, has_test));
    }
    for (mutant, origin) in &known.mutants {
        for id in named_in(origin) {
            let row = museum.defect.iter().find(|defect| defect.id == id);
            // Rows are a selection, but a row that exists names all of its mutants.
            if row.is_some_and(|row| !row.mutants.contains(mutant)) {
                complaints.push(format!("{id} does not name {mutant}, whose origin it is"));
            }
        }
    }
    complaints
}

fn of_one(defect: &Defect, known: &Known, has_test: &dyn Fn(&str) -> bool) -> Vec<String> {
    let Defect { id, mutants, scenarios, tests, because, waits, .. } = defect;
    let mut complaints = Vec::new();
    let mut complain = |what: String| complaints.push(format!("{id}: {what}"));
    if defect.was.is_empty() {
        complain("what was wrong?".to_owned());
    }
    let ways = [mutants.is_empty() && scenarios.is_empty(), because.is_empty(), waits.is_empty()];
    if ways.iter().filter(|nothing| !**nothing).count() != 1 {
        complain("it is put back, or there is a reason, or it waits".to_owned());
    }
    if because.is_empty() && !tests.is_empty() {
        complain("tests without a reason".to_owned());
    }
    for mutant in mutants {
        if !known.mutants.iter().any(|(name, _)| name == mutant) {
            complain(format!("there is no mutant {mutant}"));
        }
    }
    for scenario in scenarios.iter().filter(|one| !known.expected_to_break.contains(*one)) {
        complain(format!("{scenario} does not exist, or is not expected to break"));
    }
    for test in tests.iter().filter(|test| !has_test(test)) {
        complain(format!("there is no test {test}"));
    }
    if known.parts.contains(waits) {
        complain(format!("{waits} is built: it need not wait"));
    }
    complaints
}
