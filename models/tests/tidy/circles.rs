//! The modules of a crate import each other without circles, so each can be read with only those
//! below it.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::File;

/// The modules of a crate that each module names, by their names at the crate's root.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Complains about every module of the crate in `folder` that is used by a module that it uses
/// itself.
pub(crate) fn circles(folder: &str, files: &[File]) -> Vec<String> {
    let uses = uses(folder, files);
    let reaches = |from: &String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            for used in uses.get(module).into_iter().flatten() {
                if seen.insert(used) {
                    next.push(used);
                }
            }
        }
        seen
    };
    let mut complaints = Vec::new();
    for module in uses.keys().filter(|module| reaches(module).contains(module)) {
        let back = uses[module].iter().filter(|used| reaches(used).contains(module));
        for used in back {
            complaints.push(format!("{folder}: {module} uses {used}, which uses {module} again"));
        }
    }
    complaints
}

fn uses(folder: &str, files: &[File]) -> Uses {
    let tests = of_tests(files);
    let inside = |file: &File| {
        let path = file.path.strip_prefix(folder)?;
        let is_test = tests.iter().any(|test| file.path.starts_with(test));
        (!is_test).then(|| path.split(['/', '.']).next().unwrap_or_default().to_owned())
    };
    let modules: BTreeSet<String> = files.iter().filter_map(inside).collect();
    let mut uses = Uses::new();
    for file in files {
        let Some(module) = inside(file).filter(|module| module != "lib" && module != "main") else {
            continue;
        };
        let all = uses.entry(module.clone()).or_default();
        let named = named(&file.text).into_iter();
        all.extend(named.filter(|name| *name != module && modules.contains(name)));
    }
    uses
}

/// Returns how the paths of modules begin that exist only in tests; those may use everything.
fn of_tests(files: &[File]) -> Vec<String> {
    const IN_TESTS: [&str; 2] = ["#[cfg(test)]\nmod ", "#[cfg(test)]\npub(crate) mod "];
    let mut tests = Vec::new();
    for file in files {
        let folder = match file.path.rsplit_once('/') {
            Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder,
            _ => file.path.trim_end_matches(".rs"),
        };
        for (at, begins) in IN_TESTS.iter().flat_map(|begins| file.text.match_indices(begins)) {
            let rest = &file.text[at + begins.len()..];
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if rest[name.len()..].starts_with(';') {
                tests.extend([format!("{folder}/{name}.rs"), format!("{folder}/{name}/")]);
            }
        }
    }
    tests
}

/// Returns the modules that the shipped part of a source names after `crate::`.
fn named(text: &str) -> Vec<String> {
    let shipped = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = shipped.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = code.collect::<Vec<_>>().join("\n");
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let is_own = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        let path: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if is_own && !path.is_empty() {
            names.push(path);
        }
    }
    names
}
