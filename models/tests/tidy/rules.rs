//! Rules are cited by ids that lead somewhere: `workqueue:WQ-18` is an entry of the page
//! `docs/rules/workqueue-wq.md`. Some prefixes occur in more than one file, so an id names its file.
//! If one text of a folder has named the file of a prefix, its other texts may omit it.

use std::collections::{BTreeMap, BTreeSet};

use crate::harness;
use crate::tree::{File, ungrouped};

/// One citation in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Citation<'a> {
    /// The file of rules, if the citation names it.
    file: Option<&'a str>,
    prefix: &'a str,
    number: u32,
}

/// The rules that the pages of `docs/rules` explain, `FILE-PREFIX.md` each.
pub(crate) struct Rules {
    ids: BTreeSet<String>,
    prefixes: BTreeSet<String>,
}

impl Rules {
    /// Reads the pages. Complains about an entry of another page, without text or given twice, and
    /// about a page that the overview does not list.
    pub(crate) fn read(pages: &[File]) -> (Self, Vec<String>) {
        let (overview, pages): (Vec<_>, Vec<_>) =
            pages.iter().partition(|page| page.path.ends_with("/README.md"));
        let mut rules = Self { ids: BTreeSet::new(), prefixes: BTreeSet::new() };
        let mut complaints = Vec::new();
        for page in pages {
            let name = page.path.rsplit('/').next().unwrap_or_default();
            if !overview.iter().any(|overview| overview.text.contains(&format!("({name})"))) {
                complaints.push(format!("{}: the overview does not list it", page.path));
            }
            let (file, prefix) = name.trim_end_matches(".md").split_once('-').unwrap_or_default();
            let prefix = prefix.to_ascii_uppercase();
            for (id, says) in page.text.lines().filter_map(entry) {
                let number = id.strip_prefix(&format!("{file}:{prefix}-")).map(str::parse::<u32>);
                let because = match number {
                    Some(Ok(_)) if says.len() < 10 => "says nothing",
                    Some(Ok(_)) if !rules.ids.insert(id.to_owned()) => "is there twice",
                    Some(Ok(_)) => continue,
                    _ => "belongs elsewhere",
                };
                complaints.push(format!("{}: {id} {because}", page.path));
            }
            rules.prefixes.insert(prefix);
        }
        (rules, complaints)
    }

    /// Returns the rules of `workqueue:WQ-1..40`; none if one of them does not exist.
    pub(crate) fn range(&self, range: &str) -> Option<Vec<String>> {
        let (name, last) = match range.split_once("..") {
            Some((name, last)) => (name, Some(last.parse::<u32>().ok()?)),
            None => (range, None),
        };
        let (section, first) = name.rsplit_once('-')?;
        let first = first.parse::<u32>().ok()?;
        let ids = (first..=last.unwrap_or(first)).map(|number| format!("{section}-{number}"));
        ids.map(|id| self.ids.contains(&id).then_some(id)).collect()
    }

    /// Returns all parts of a text that look like the id of a rule.
    pub(crate) fn citations<'a>(&self, text: &'a str) -> Vec<Citation<'a>> {
        let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let mut found = Vec::new();
        for (at, _) in text.match_indices('-') {
            let before = &text[..at];
            let start = before.rfind(|c| !in_word(c)).map_or(0, |end| end + 1);
            let start = if before.is_char_boundary(start) { start } else { continue };
            let (prefix, digits) =
                (&before[start..], text[at + 1..].split(|c: char| !c.is_ascii_digit()));
            let Some(Ok(number)) = digits.into_iter().next().map(str::parse) else { continue };
            let file = before[..start].strip_suffix(':').map(|rest| {
                let begin = rest.rfind(|c: char| !c.is_ascii_lowercase()).map_or(0, |end| end + 1);
                &rest[begin..]
            });
            let named = file.filter(|file| !file.is_empty());
            if self.prefixes.contains(prefix) || (named.is_some() && is_section(prefix)) {
                found.push(Citation { file: named, prefix, number });
            }
        }
        found
    }

    /// Returns every citation with its text. A citation without a file gets the file that its part
    /// names for the prefix, if it names only one.
    fn resolved<'a>(&self, files: &'a [File]) -> Vec<(&'a File, Citation<'a>)> {
        let all = files.iter().flat_map(|file| {
            self.citations(&file.text).into_iter().map(move |citation| (file, citation))
        });
        let mut all: Vec<_> = all.collect();
        let mut named: BTreeMap<(String, &str), BTreeSet<&str>> = BTreeMap::new();
        for (file, citation) in &all {
            if let Some(rules) = citation.file {
                named.entry((part(&file.path), citation.prefix)).or_default().insert(rules);
            }
        }
        for (file, citation) in &mut all {
            let known = named.get(&(part(&file.path), citation.prefix));
            let only = known.filter(|known| known.len() == 1).and_then(BTreeSet::first);
            citation.file = citation.file.or(only.copied());
        }
        all
    }

    /// Complains about citations that lead nowhere.
    pub(crate) fn doubtful(&self, files: &[File]) -> Vec<String> {
        let mut complaints = Vec::new();
        for (file, Citation { file: rules, prefix, number }) in self.resolved(files) {
            let path = &file.path;
            match rules {
                None => complaints.push(format!("{path}: {prefix}-{number} names no file")),
                Some(rules) => {
                    let id = format!("{rules}:{prefix}-{number}");
                    if !self.ids.contains(&id) {
                        complaints.push(format!("{path}: {id} has no entry in docs/rules"));
                    }
                }
            }
        }
        complaints
    }
}

/// Tells whether a word could be the prefix of a section.
fn is_section(word: &str) -> bool {
    (2..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns the folder whose texts share the names of files: a part of `core/src`, of `models/src`
/// or of the harness.
fn part(path: &str) -> String {
    let depth = if path.starts_with(harness::FOLDER) { 4 } else { 3 };
    ungrouped(path).split('/').take(depth).collect::<Vec<_>>().join("/")
}

/// Returns the id and the sentence of a line of a page's table.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (id, says) = line.strip_prefix("| `")?.split_once("` | ")?;
    Some((id, says.strip_suffix(" |")?))
}
