//! Every component has its files, and every file has its place.

use std::collections::BTreeSet;

use seatrial_models::trial::{Expect, Subject};

use crate::tree::{File, ungrouped};

/// The files that a component must have, according to its claims.
pub(crate) struct Wants {
    pub(crate) name: String,
    /// Whether it has concurrent programs whose invariants must hold.
    pub(crate) is_tried: bool,
    /// Whether it has a property that reads bytes.
    pub(crate) is_fuzzed: bool,
    /// Whether it has recorded traces.
    pub(crate) has_traces: bool,
}

impl Wants {
    pub(crate) fn of(subject: &dyn Subject) -> Self {
        let holds = subject.invariants().iter().any(|it| it.expect == Expect::Holds);
        Self {
            name: subject.name().to_owned(),
            is_tried: holds && !subject.scenarios().is_empty(),
            is_fuzzed: subject.fuzz().is_some(),
            has_traces: !subject.conformance().is_empty(),
        }
    }
}

/// Tells whether a module exists, as a file or as a folder.
fn has_module(paths: &BTreeSet<&str>, module: &str) -> bool {
    [format!("{module}.rs"), format!("{module}/mod.rs")]
        .iter()
        .any(|path| paths.contains(path.as_str()))
}

/// Complains about files that a component lacks.
pub(crate) fn missing_files(component: &Wants, paths: &BTreeSet<&str>) -> Vec<String> {
    let name = &component.name;
    let mut modules = vec![];
    let mut files = vec![];
    if component.is_tried {
        modules.extend(["scenarios", "invariants", "mutants"]);
        files.push(format!("models/requirements/{name}.toml"));
    }
    if component.is_fuzzed {
        modules.push("op");
        files.push(format!("fuzz/fuzz_targets/{name}.rs"));
    }
    if component.has_traces {
        modules.push("conformance");
    }
    let modules = modules.into_iter().map(|module| format!("models/src/{name}/{module}"));
    let lacking = modules.filter(|module| !has_module(paths, module));
    let lacking = lacking.chain(files.into_iter().filter(|file| !paths.contains(file.as_str())));
    lacking.map(|file| format!("{name} has no {file}")).collect()
}

/// Complains about a component that only the command line tries, because its page emits no tests.
pub(crate) fn untested(component: &Wants, files: &[File]) -> Option<String> {
    let page = format!("models/src/{}/mod.rs", component.name);
    let emits =
        |file: &File| ungrouped(&file.path) == page && file.text.contains("\ncomponent_tests! {\n");
    let is_tested = !component.is_tried || files.iter().any(emits);
    (!is_tested).then(|| format!("{page}: component_tests! is not called"))
}

/// Complains about properties that read bytes but get none from a fuzzer: without a target, without
/// seeds, or without a place for past failures. `has_seeds` tells whether a folder holds files.
pub(crate) fn unfuzzed(
    files: &[File],
    manifest: &str,
    has_seeds: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| file.text.contains("pub fn decode(bytes: &[u8])")) {
        let path = ungrouped(&file.path);
        let Some(name) = path.strip_prefix("models/src/").and_then(|path| {
            path.strip_suffix("/op.rs").filter(|component| !component.contains('/'))
        }) else {
            continue;
        };
        let target = format!("fuzz/fuzz_targets/{name}.rs");
        let past = format!("proptest-regressions/{name}.txt");
        let exists = |path: &str| files.iter().any(|file| file.path == path);
        if !exists(&target) || !manifest.contains(&format!("\"fuzz_targets/{name}.rs\"")) {
            complaints.push(format!("{name} has no {target}, or fuzz/Cargo.toml does not name it"));
        }
        if !has_seeds(&format!("fuzz/seeds/{name}")) {
            complaints.push(format!("{name} has no seeds in fuzz/seeds/{name}"));
        }
        if !exists(&past) {
            complaints.push(format!("{name} has no {past}"));
        }
    }
    complaints
}

/// Complains about sources that no module declares: they are not compiled, and so not tested.
pub(crate) fn orphans(files: &[File]) -> Vec<String> {
    let text = |path: &str| files.iter().find(|file| file.path == path).map(|file| &file.text);
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs") && !is_root(&file.path)) {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        // A folder's own file is declared one folder up, by the folder's name.
        let (folder, module) = match name {
            "mod.rs" => folder.rsplit_once('/').unwrap_or(("", folder)),
            _ => (folder, name.trim_end_matches(".rs")),
        };
        let parents = ["mod.rs", "lib.rs", "main.rs"].map(|parent| format!("{folder}/{parent}"));
        // Test files in one folder share a module that each of them declares; so do examples.
        let roots = files.iter().filter(|root| {
            let beside = root.path.rsplit_once('/').is_some_and(|(its, _)| its == folder);
            let shared = folder.ends_with("/tests") || folder.ends_with("/examples");
            beside && shared && is_root(&root.path)
        });
        let parents = parents.iter().filter_map(|parent| text(parent));
        let declared = parents.chain(roots.map(|root| &root.text)).any(|parent| {
            let words = format!("mod {module}");
            parent.lines().any(|line| {
                line.trim_end().ends_with(&format!("{words};"))
                    || line.trim_end().ends_with(&format!("{words} {{"))
            })
        });
        if !declared {
            complaints.push(format!("{}: nothing declares it", file.path));
        }
    }
    complaints
}

/// Tells whether cargo finds a file by itself: the roots of libraries, programs, tests and so on.
fn is_root(path: &str) -> bool {
    const FOLDERS: &[&str] = &["tests", "benches", "examples", "fuzz_targets", "bin"];
    let parts: Vec<&str> = path.split('/').collect();
    let found_in = |folder: &str| FOLDERS.contains(&folder);
    // A folder of that name inside `src` is an ordinary module, except `src/bin`.
    let in_sources = parts.iter().rev().skip(2).any(|part| *part == "src");
    match parts.as_slice() {
        [.., "src", "lib.rs" | "main.rs"] | [.., "build.rs"] => !in_sources,
        [.., "src", "bin", _] | [.., "src", "bin", _, "main.rs"] => true,
        [.., folder, _] if found_in(folder) => !in_sources,
        [.., folder, _, "main.rs"] if found_in(folder) => !in_sources,
        _ => false,
    }
}

/// Complains about a package that does not take the lints of the workspace, or hides its tests.
pub(crate) fn manifest(path: &str, text: &str) -> Vec<String> {
    let Ok(manifest) = text.parse::<toml::Table>() else {
        return vec![format!("{path}: unreadable")];
    };
    let mut complaints = Vec::new();
    let lints = manifest.get("lints").and_then(|lints| lints.get("workspace"));
    if lints.and_then(toml::Value::as_bool) != Some(true) {
        complaints.push(format!("{path}: the lints of the workspace are not inherited"));
    }
    let package = manifest.get("package").and_then(toml::Value::as_table);
    if package.is_some_and(|package| package.contains_key("autotests")) {
        complaints.push(format!("{path}: tests are not found by themselves"));
    }
    complaints
}
