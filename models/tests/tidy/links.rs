//! Links between pages lead somewhere, and every page of the book is in its contents.

use std::collections::BTreeSet;

use crate::tree::File;

/// The contents of the book.
const CONTENTS: &str = "docs/README.md";

/// Returns the links of a page, with their line numbers; blocks of code have no links.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (number, line) in text.lines().enumerate() {
        is_code ^= line.trim_start().starts_with("```");
        if !is_code {
            let after = line.split("](").skip(1);
            found.extend(after.filter_map(|rest| Some((number + 1, rest.split_once(')')?.0))));
        }
    }
    found
}

/// Returns the path that a link of a page leads to.
fn path(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the anchor of a heading in links.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn headings(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

/// Complains about links that lead to no file or to no heading.
pub(crate) fn broken(files: &[File], exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut complaints = Vec::new();
    for page in files.iter().filter(|file| file.path.ends_with(".md")) {
        for (line, link) in links(&page.text).into_iter().filter(|(_, it)| !it.contains("://")) {
            let (to, heading) = link.split_once('#').unwrap_or((link, ""));
            let to = if to.is_empty() { page.path.clone() } else { path(&page.path, to) };
            let target = files.iter().find(|file| file.path == to);
            let has_it = |file: &File| heading.is_empty() || headings(&file.text).contains(heading);
            if !exists(&to) || !target.is_none_or(has_it) {
                complaints.push(format!("{}:{line}: {link} leads nowhere", page.path));
            }
        }
    }
    complaints
}

/// Complains about pages of the book that its contents do not name.
pub(crate) fn unlisted(files: &[File]) -> Vec<String> {
    let contents = files.iter().find(|file| file.path == CONTENTS);
    let text = contents.map_or("", |file| file.text.as_str());
    let listed: BTreeSet<_> = links(text).into_iter().map(|(_, to)| path(CONTENTS, to)).collect();
    let pages = files.iter().filter(|file| {
        let is_page = file.path.starts_with("docs/") && file.path.ends_with(".md");
        is_page && file.path != CONTENTS && !file.path.starts_with("docs/rules/")
    });
    let missing = pages.filter(|page| !listed.contains(&page.path));
    missing.map(|page| format!("{}: {CONTENTS} does not link to it", page.path)).collect()
}
