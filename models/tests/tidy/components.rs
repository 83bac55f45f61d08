//! What a component has besides its code.

use seatrial_models::trial::{Expect, Subject};

/// Tells whether a component has scenarios whose invariants must hold.
pub(crate) fn is_tried(subject: &dyn Subject) -> bool {
    let holds = subject.invariants().iter().any(|it| it.expect == Expect::Holds);
    holds && !subject.scenarios().is_empty()
}

/// Complains about a property that reads bytes and lacks a fuzz target, seeds, or a place for past
/// failures. `exists` tells whether there is a file or a folder that is not empty.
pub(crate) fn unfuzzed(
    subject: &dyn Subject,
    manifest: &str,
    exists: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    if subject.fuzz().is_none() {
        return Vec::new();
    }
    let name = subject.name();
    let target = format!("fuzz_targets/{name}.rs");
    let mut complaints = Vec::new();
    if !manifest.contains(&format!("\"{target}\"")) {
        complaints.push(format!("fuzz/Cargo.toml does not name {target}"));
    }
    let needed = [
        format!("fuzz/{target}"),
        format!("fuzz/seeds/{name}"),
        format!("proptest-regressions/{name}.txt"),
    ];
    let missing = needed.iter().filter(|path| !exists(path));
    complaints.extend(missing.map(|path| format!("{name} has no {path}")));
    complaints
}

/// Complains about a package that does not take the lints of the workspace.
pub(crate) fn manifest(path: &str, text: &str) -> Option<String> {
    let Ok(manifest) = text.parse::<toml::Table>() else {
        return Some(format!("{path}: unreadable"));
    };
    let lints = manifest.get("lints").and_then(|lints| lints.get("workspace"));
    let takes = lints.and_then(toml::Value::as_bool) == Some(true);
    (!takes).then(|| format!("{path}: the lints of the workspace are not inherited"))
}
