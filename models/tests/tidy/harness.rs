//! The harness stands alone: it checks anybody's code, and knows nothing of ours.

use std::collections::BTreeSet;

use crate::tree::File;

/// Where it lies.
pub(crate) const FOLDER: &str = "models/harness/";

/// What it may use of `seatrial-core`: the seam, cancellation, which every implementation of the seam
/// must hold up, and the machine with its shell.
const SEAM: &[&str] = &["cancel", "machine", "monitor", "operations", "runtime"];

/// Complains about a manifest that asks for another crate of this workspace than the core.
pub(crate) fn dependencies(manifest: &str, workspace: &BTreeSet<String>) -> Vec<String> {
    let Ok(manifest) = manifest.parse::<toml::Table>() else {
        return vec!["the harness has no manifest".to_owned()];
    };
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    let asked = tables.iter().filter_map(|table| manifest.get(*table)?.as_table());
    let names = asked.flat_map(|table| table.keys());
    names
        .filter(|name| workspace.contains(*name) && *name != "seatrial-core")
        .map(|name| format!("the harness depends on {name}"))
        .collect()
}

/// Complains about parts of the core that a source of the harness uses. Its own tests may: some
/// drive the engines with a queue.
pub(crate) fn parts_used(file: &File) -> Vec<String> {
    let is_test = file.path.contains("/tests/") || file.path.ends_with("/tests.rs");
    if is_test || !file.path.starts_with(FOLDER) {
        return Vec::new();
    }
    let mut complaints = Vec::new();
    for (at, path) in file.text.match_indices("seatrial_core::") {
        let rest = &file.text[at + path.len()..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if !SEAM.contains(&name.as_str()) {
            let used = if name.is_empty() { "more than one module at a time" } else { &name };
            complaints.push(format!("{}: uses {used} of seatrial_core", file.path));
        }
    }
    complaints
}

/// Its modules from the ground up: each may use those before it, and none after it.
const LAYERS: &[&str] = &["engine", "outcome", "author", "trial", "runner", "cli"];

/// Complains about a source of the harness that uses a module above its own. Tests may.
pub(crate) fn upward(file: &File) -> Vec<String> {
    let Some(path) = file.path.strip_prefix(FOLDER).and_then(|rest| rest.strip_prefix("src/"))
    else {
        return Vec::new();
    };
    let folder = path.split('/').next().unwrap_or_default();
    let Some(layer) = LAYERS.iter().position(|known| *known == folder) else { return Vec::new() };
    if path.contains("/tests") || path.ends_with("/counting.rs") {
        return Vec::new();
    }
    let shipped = file.text.split("#[cfg(test)]").next().unwrap_or_default();
    let above = LAYERS[layer + 1..].iter().filter(|above| {
        shipped.contains(&format!("crate::{above}::"))
            || shipped.contains(&format!("crate::{above};"))
    });
    above.map(|above| format!("{}: uses {above}, which is above it", file.path)).collect()
}

#[test]
fn a_use_of_a_module_above_is_noticed() {
    let count = |path: &str, text: &str| {
        upward(&File { path: format!("{FOLDER}src/{path}"), text: text.to_owned() }).len()
    };
    assert_eq!(count("author/component.rs", "use crate::trial::Trial;\n"), 1);
    assert_eq!(
        count("engine/threads.rs", "use crate::trial::Observed;\nuse crate::author::A;\n"),
        2
    );
    assert_eq!(count("trial/case.rs", "use crate::author::Component;\n"), 0);
    assert_eq!(count("trial/case.rs", "#[cfg(test)]\nmod tests { use crate::runner::run; }\n"), 0);
    assert_eq!(count("report/mod.rs", "use crate::trial::Witness;\n"), 0);
}

#[test]
fn a_dependency_on_our_pages_is_noticed() {
    let workspace = ["seatrial", "seatrial-core", "seatrial-models"].map(str::to_owned).into();
    let complaints = |text: &str| dependencies(text, &workspace);
    assert_eq!(complaints("[dependencies]\nseatrial-core = \"1\"\nclap = \"4\"\n"), [""; 0]);
    for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let text = format!("[{table}]\nseatrial-models = \"1\"\n");
        assert_eq!(complaints(&text), ["the harness depends on seatrial-models"]);
    }
    assert_eq!(complaints("[").len(), 1);
}

#[test]
fn a_part_that_the_harness_uses_is_noticed() {
    let count = |path: &str, text: &str| {
        parts_used(&File { path: path.to_owned(), text: text.to_owned() }).len()
    };
    let source = "models/harness/src/check.rs";
    assert_eq!(count(source, "use seatrial_core::runtime::Runtime;\n"), 0);
    assert_eq!(count(source, "use seatrial_core::queue::Queue;\n"), 1);
    assert_eq!(count(source, "use seatrial_core::{queue, runtime};\n"), 1);
    assert_eq!(count(source, "fn f(_: seatrial_core::store::Store) {}\n"), 1);
    assert_eq!(count("models/harness/src/engine/tests/a.rs", "use seatrial_core::queue::A;"), 0);
    assert_eq!(count("models/src/queue/mod.rs", "use seatrial_core::queue::Queue;\n"), 0);
}
