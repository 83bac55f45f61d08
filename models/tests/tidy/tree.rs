//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// One text file.
#[derive(Clone)]
pub(crate) struct File {
    /// Its path from the root, with `/`.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

/// Folders without files of ours: build results, findings of fuzzers, and data of git.
const FOREIGN: &[&str] = &["target", ".git", "corpus", "artifacts", "mutants.out"];
/// Endings of the files that people write.
const WRITTEN: &[&str] = &["rs", "toml", "md", "sh", "yaml", "yml", "txt"];

/// Folders of `models/src` that hold the components of a kind.
const GROUPS: &[&str] = &["election", "events", "limiters", "queues", "stores", "wire"];

/// Returns a path without the folder of the group: a component is addressed by its own name.
pub(crate) fn ungrouped(path: &str) -> String {
    let inside = path.strip_prefix("models/src/").and_then(|rest| rest.split_once('/'));
    match inside {
        Some((group, rest)) if GROUPS.contains(&group) => format!("models/src/{rest}"),
        _ => path.to_owned(),
    }
}

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns all texts that people wrote, ordered by path.
pub(crate) fn written() -> Vec<File> {
    let mut files = Vec::new();
    visit(&root(), "", &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Returns the sources.
pub(crate) fn sources() -> Vec<File> {
    written().into_iter().filter(|file| file.path.ends_with(".rs")).collect()
}

fn visit(folder: &Path, path: &str, files: &mut Vec<File>) {
    let entries = fs::read_dir(folder).expect("a folder of the repository can be read");
    for entry in entries {
        let entry = entry.expect("a folder of the repository can be read").path();
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        if entry.is_dir() {
            if !FOREIGN.contains(&name.as_str()) {
                visit(&entry, &path, files);
            }
        } else if is_written(&name)
            && let Ok(text) = fs::read_to_string(&entry)
        {
            files.push(File { path, text });
        }
    }
}

fn is_written(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| WRITTEN.contains(&ending)) || name == "run"
}
