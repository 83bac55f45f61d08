//! The page for those who come from client-go names only what exists.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The sources of a module, without its tests.
fn sources(module: &str) -> Vec<String> {
    let folder = root().join("core/src").join(module);
    let mut found = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("tests") {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                found.push(fs::read_to_string(path).expect("a source"));
            }
        }
    }
    found
}

/// Whether a source declares a name: as an item, as a variant of an enum, or as one that comes from
/// another module.
fn declares(source: &str, name: &str) -> bool {
    let item = ["fn", "struct", "enum", "trait", "type", "mod", "const"].iter().any(|kind| {
        source.match_indices(&format!("{kind} {name}")).any(|(at, found)| {
            let rest = &source[at + found.len()..];
            !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
        })
    });
    let is_variant = |line: &str| {
        let rest = line.trim_start().strip_prefix(name);
        line.starts_with("    ") && rest.is_some_and(|it| it.starts_with(['(', ',', ' ', '{']))
    };
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let uses = source.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
    let used = uses.flat_map(|uses| uses.split(|c| !is_part(c))).any(|it| it == name);
    let is_type = name.starts_with(char::is_uppercase);
    item || used || (is_type && source.lines().any(is_variant))
}

/// What is wrong with a name: `module::item`, or `module::Type::item`, with more modules before.
fn complaint(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.split("::").collect();
    let name = parts.pop()?;
    let sources = sources(parts.first()?);
    if sources.is_empty() {
        return Some(format!("{path}: there is no such module"));
    }
    let owner = parts.last().filter(|it| it.starts_with(char::is_uppercase));
    let has = |source: &&String| {
        declares(source, name) && owner.is_none_or(|owner| source.contains(owner))
    };
    let known = parts[1..].iter().all(|part| sources.iter().any(|it| declares(it, part)));
    (!known || !sources.iter().any(|it| has(&it))).then(|| format!("{path}: there is no such name"))
}

/// The names in the second columns of the tables of a page.
fn names(page: &str) -> Vec<&str> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let second = rows.filter_map(|row| row.split(" | ").nth(1));
    second.flat_map(|column| column.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn every_name_on_the_page_exists() {
    let page = fs::read_to_string(root().join("docs/from-client-go.md")).expect("the page");
    let names = names(&page);
    assert!(names.len() > 120, "only {} names were found", names.len());
    let complaints: Vec<_> = names.into_iter().filter_map(complaint).collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn a_name_that_does_not_exist_is_found() {
    let page = "| a | b |\n|---|---|\n| `X` | `queue::WorkQueue::add`, `queue::Nothing` | |\n";
    assert_eq!(names(page), ["queue::WorkQueue::add", "queue::Nothing"]);
    assert_eq!(complaint("queue::WorkQueue::add"), None);
    assert_eq!(complaint("pool::Fault::Terminal"), None);
    let wrong = [
        "queue::Nothing",
        "queue::WorkQueue::ad",
        "nothing::Queue",
        "queue::Work::frobnicate",
        "pool::Fault::Termina",
        "store::mistake::by_namespace",
    ];
    for path in wrong {
        assert!(complaint(path).is_some(), "{path}");
    }
}
