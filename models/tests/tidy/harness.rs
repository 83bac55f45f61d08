//! The harness stands alone: it checks any code, and does not know our components. `ci/check.sh`
//! shows that it needs only the seam of the core, because it compiles the harness without the
//! parts.

use std::collections::BTreeSet;

use crate::tree::File;

/// The folder of the harness.
pub(crate) const FOLDER: &str = "models/harness/";

/// What it may depend on of this workspace: the core, and its own attribute.
const KNOWN: [&str; 2] = ["seatrial-core", "seatrial-macros"];

/// Complains about a manifest that depends on another crate of this workspace.
pub(crate) fn dependencies(manifest: &str, workspace: &BTreeSet<String>) -> Vec<String> {
    let Ok(manifest) = manifest.parse::<toml::Table>() else {
        return vec!["the harness has no manifest".to_owned()];
    };
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    let asked = tables.iter().filter_map(|table| manifest.get(*table)?.as_table());
    let names = asked.flat_map(|table| table.keys());
    names
        .filter(|name| workspace.contains(*name) && !KNOWN.contains(&name.as_str()))
        .map(|name| format!("the harness depends on {name}"))
        .collect()
}

/// The modules of the harness from bottom to top: each may use only those before it.
const LAYERS: &[&str] = &["engine", "outcome", "author", "trial", "runner", "cli"];

/// Complains about a source of the harness that uses a module above its own. Tests may do so.
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
