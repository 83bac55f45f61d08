//! The tree is tidy: all written parts of it agree with each other.
//!
//! | module | what it looks after |
//! |---|---|
//! | `size` | files of 400 lines, functions of 70 |
//! | `words` | no mark of unfinished work, no path of one machine |
//! | `rules` | rules are cited by ids that exist, and each has an entry on the page of its prefix |
//! | `requirements` | every rule has a source, and an invariant or a test; every invariant has a mutant |
//! | `museum` | real defects and the mutants that put them back name each other |
//! | `fleet` | the jobs of other machines agree with the exit codes |
//! | `harness` | it knows nothing of our components, and no module of it uses one above |
//! | `circles` | no modules of a crate use each other in a circle |
//! | `links` | links between pages lead somewhere, and the book lists its pages |
//! | `components` | every component is tested and fuzzed |
//!
//! Each check is a function that returns complaints.

mod circles;
mod components;
mod fleet;
mod harness;
mod links;
mod lists;
mod museum;
mod requirements;
mod rules;
mod size;
mod tree;
mod words;

use std::collections::BTreeSet;
use std::fs;

use seatrial_models::catalogue::CATALOGUE;
use seatrial_models::trial::Expect;

use rules::Rules;
use tree::File;

fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn files_and_functions_are_short() {
    let sources = tree::sources();
    assert!(sources.len() > 200, "only {} sources were found", sources.len());
    let mut complaints: Vec<_> = sources.iter().filter_map(size::long_file).collect();
    complaints.extend(sources.iter().flat_map(size::long_functions));
    assert_none(&complaints);
}

#[test]
fn nothing_is_marked_as_unfinished_or_tied_to_one_machine() {
    let complaints: Vec<_> = tree::written().iter().flat_map(words::forbidden).collect();
    assert_none(&complaints);
}

/// Returns the pages of rules, and all other texts.
fn pages_and_files() -> (Vec<File>, Vec<File>) {
    tree::written().into_iter().partition(|file| file.path.starts_with("docs/rules/"))
}

#[test]
fn every_cited_rule_is_told_on_the_page_of_its_prefix() {
    let (pages, files) = pages_and_files();
    assert!(pages.len() > 60, "only {} pages of rules were found", pages.len());
    let (rules, complaints) = Rules::read(&pages);
    assert_none(&complaints);
    let cited: usize = files.iter().map(|file| rules.citations(&file.text).len()).sum();
    assert!(cited > 1_500, "only {cited} citations were found");
    assert_none(&rules.doubtful(&files));
}

#[test]
fn every_link_leads_somewhere_and_every_page_is_in_the_contents() {
    let files = tree::written();
    let exists = |path: &str| tree::root().join(path).exists();
    assert_none(&links::broken(&files, &exists));
    assert_none(&links::unlisted(&files));
}

#[test]
fn every_package_takes_the_lints_of_the_workspace() {
    let read = |path: &str| fs::read_to_string(tree::root().join(path)).expect("a manifest");
    let workspace: toml::Table = read("Cargo.toml").parse().expect("the workspace's manifest");
    let members = workspace["workspace"]["members"].as_array().expect("the members");
    assert!(!members.is_empty());
    for member in members {
        let path = format!("{}/Cargo.toml", member.as_str().expect("a folder"));
        if path != UNSAFE {
            assert_eq!(components::manifest(&path, &read(&path)), None);
        }
    }
}

/// The only package that may contain unsafe code.
const UNSAFE: &str = "models/sim/libc/Cargo.toml";

#[test]
fn the_package_with_unsafe_code_has_all_other_lints_of_the_workspace() {
    let lints = |path: &str, of: &[&str]| {
        let text = fs::read_to_string(tree::root().join(path)).expect("a manifest");
        let mut table: toml::Value = toml::Value::Table(text.parse().expect("a manifest"));
        for name in of {
            table = table[*name].clone();
        }
        let rust = table["rust"].as_table_mut().expect("lints");
        let code = rust.remove("unsafe_code").expect("a word on unsafe code");
        (table, code.as_str().map(str::to_owned))
    };
    let (workspace, forbidden) = lints("Cargo.toml", &["workspace", "lints"]);
    let (its_own, denied) = lints(UNSAFE, &["lints"]);
    assert_eq!((forbidden.as_deref(), denied.as_deref()), (Some("forbid"), Some("deny")));
    assert_eq!(workspace, its_own);
}

#[test]
fn the_harness_knows_nothing_of_our_components() {
    let read = |path: &str| fs::read_to_string(tree::root().join(path)).expect("a manifest");
    let workspace: toml::Table = read("Cargo.toml").parse().expect("the workspace's manifest");
    let known = workspace["workspace"]["dependencies"].as_table().expect("what members share");
    let mut ours: BTreeSet<String> =
        known.iter().filter(|(_, it)| it.get("path").is_some()).map(|it| it.0.clone()).collect();
    ours.insert("seatrial-models".to_owned());
    assert!(ours.len() > 2, "only {ours:?}");
    let manifest = read(&format!("{}Cargo.toml", harness::FOLDER));
    assert_none(&harness::dependencies(&manifest, &ours));
    let sources = tree::sources();
    let its = sources.iter().filter(|file| file.path.starts_with(harness::FOLDER));
    assert!(its.clone().count() > 100, "the harness has more sources");
    assert_none(&its.flat_map(harness::upward).collect::<Vec<_>>());
}

#[test]
fn no_modules_use_each_other_in_a_circle() {
    let sources = tree::sources();
    for folder in ["core/src/", "models/harness/src/", "models/sim/src/", "kube/src/", "sync/src/"]
    {
        assert!(sources.iter().any(|file| file.path.starts_with(folder)), "{folder} has sources");
        assert_none(&circles::circles(folder, &sources));
    }
}

#[test]
fn every_component_is_fuzzed() {
    let manifest = fs::read_to_string(tree::root().join("fuzz/Cargo.toml")).expect("a manifest");
    let exists = |path: &str| {
        let path = tree::root().join(path);
        path.is_file() || fs::read_dir(path).is_ok_and(|mut files| files.next().is_some())
    };
    for subject in CATALOGUE.subjects {
        assert_none(&components::unfuzzed(*subject, &manifest, &exists));
    }
}

/// Tells whether a test exists: `core:queue::tests::name` is a test of that name in the module
/// `queue::tests` of `core`; `models:queue/conformance` is what the test program lists of a component.
fn has_test(sources: &[File], address: &str) -> bool {
    let Some((package, path)) = address.split_once(':') else { return false };
    if let Some((component, case)) = path.split_once('/') {
        let subject = CATALOGUE.subject(component);
        return subject.is_some_and(|subject| match case {
            "conformance" => !subject.conformance().is_empty(),
            "made_up_calls/fuzz" => subject.fuzz().is_some(),
            _ => false,
        });
    }
    let Some((module, name)) = path.rsplit_once("::") else { return false };
    let module = format!("{package}/src/{}", module.replace("::", "/"));
    sources.iter().any(|file| {
        let path = tree::ungrouped(&file.path);
        let Some(holds) = path.strip_suffix(".rs") else { return false };
        let holds = holds.strip_suffix("/mod").unwrap_or(holds);
        let inside =
            module.strip_prefix(holds).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        inside && is_test(&file.text, name)
    })
}

/// Tells whether a text has a test of a name: there is an attribute above it, it is a law that quickcheck
/// tries, or the module lists it.
fn is_test(text: &str, name: &str) -> bool {
    let list = text.split_once("seatrial::tests![").or_else(|| text.split_once("= tests!["));
    let listed = list.map_or("", |(_, list)| list.split(']').next().unwrap_or_default());
    if listed.split(',').any(|it| it.trim() == name) {
        return true;
    }
    let (defined, mut above, mut tries) = (format!("fn {name}("), "", false);
    let defines = |line: &str| line.strip_prefix("async ").unwrap_or(line).starts_with(&defined);
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("///")) {
        tries |= line.starts_with("quickcheck! {");
        if defines(line) && (tries || above.starts_with("#[")) {
            return true;
        }
        above = line;
    }
    false
}

#[test]
fn every_rule_has_a_source_and_something_that_checks_it() {
    let (rules, _) = Rules::read(&pages_and_files().0);
    let sources = tree::sources();
    for subject in CATALOGUE.subjects.iter().filter(|subject| components::is_tried(**subject)) {
        let path = format!("models/requirements/{}.toml", subject.name());
        let text = fs::read_to_string(tree::root().join(&path)).expect(&path);
        let stated = requirements::read(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let has_test = |test: &str| has_test(&sources, test);
        assert_none(&requirements::differences(&stated, *subject, &rules, &has_test));
        assert_none(&requirements::kill_matrix(*subject));
    }
}

#[test]
fn every_defect_of_the_museum_is_put_back_or_has_a_reason() {
    let read = |path: &str| fs::read_to_string(tree::root().join(path)).expect("a file");
    let museum: museum::Museum = toml::from_str(&read("models/museum.toml")).expect("the museum");
    assert!(museum.defect.len() > 120, "only {} defects", museum.defect.len());
    let path = |component: &str, name: &str| format!("{component}/{name}");
    let mut known = museum::Known {
        mutants: Vec::new(),
        expected_to_break: BTreeSet::new(),
        parts: BTreeSet::new(),
    };
    for subject in CATALOGUE.subjects {
        let (name, is_violated) = (subject.name(), |it: &Expect| *it == Expect::Violated);
        let mutants = subject.mutants().into_iter();
        known.mutants.extend(mutants.map(|it| (path(name, it.name), it.origin.to_owned())));
        let scenarios = subject.scenarios().into_iter();
        let breaks = scenarios.filter(|scenario| {
            subject.judged_in(scenario.name).iter().any(|it| is_violated(&it.expect))
        });
        known.expected_to_break.extend(breaks.map(|it| path(name, it.name)));
    }
    let parts = fs::read_dir(tree::root().join("core/src")).expect("the parts");
    known.parts = parts
        .map(|part| part.expect("a file").file_name())
        .filter_map(|name| name.into_string().ok())
        .collect();
    let sources = tree::sources();
    assert_none(&museum::differences(&museum, &known, &|test| has_test(&sources, test)));
}

#[test]
fn every_file_of_requirements_is_about_a_component() {
    let folder = fs::read_dir(tree::root().join("models/requirements")).expect("the folder");
    let mut files = 0;
    for file in folder {
        let path = file.expect("a file").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        assert!(CATALOGUE.subject(name).is_some(), "{}: no such component", path.display());
        files += 1;
    }
    assert!(files > 0);
}
