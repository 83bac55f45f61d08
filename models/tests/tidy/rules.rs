//! Rules are cited by ids that exist: `workqueue:WQ-18` is rule 18 of the section WQ of the file
//! `workqueue`. Some prefixes occur in more than one file, so an id names its file. If one text of
//! a folder has named the file of a prefix, its other texts may omit it.

use std::collections::{BTreeMap, BTreeSet};

use crate::harness;
use crate::tree::{File, ungrouped};

/// Every file of rules: its sections, each with the number of its last rule.
const FILES: &[(&str, &[(&str, u32)])] = &[
    (
        "workqueue",
        &[
            ("CV", 7),
            ("WQ", 40),
            ("ST", 5),
            ("DQ", 25),
            ("RQ", 8),
            ("RL", 26),
            ("TB", 28),
            ("FC", 12),
            ("BO", 14),
            ("WT", 27),
            ("PZ", 9),
            ("PQ", 42),
            ("MX", 14),
            ("CL", 9),
            ("RB", 9),
            ("CK", 8),
            ("INV", 21),
            ("LIV", 13),
            ("SC", 16),
            ("CX", 10),
            ("SE", 23),
        ],
    ),
    ("channel", &[("CH", 17)]),
    ("shell", &[("SH", 7)]),
    ("informer", &[("OW", 14), ("RG", 9)]),
    (
        "cache",
        &[
            ("KY", 11),
            ("ST", 20),
            ("IX", 20),
            ("EX", 7),
            ("MD", 4),
            ("MC", 10),
            ("HP", 4),
            ("LI", 3),
            ("QU", 22),
            ("FF", 16),
            ("DF", 33),
            ("RF", 34),
            ("UD", 2),
            ("LW", 11),
            ("RE", 39),
            ("WL", 16),
            ("DC", 3),
            ("CT", 15),
            ("HN", 8),
            ("SI", 40),
            ("PL", 23),
            ("SY", 7),
            ("WS", 5),
            ("PT", 10),
            ("INV", 28),
            ("TR", 22),
            ("KD", 28),
            ("CX", 19),
            ("SC", 34),
            ("AR", 28),
            ("LK", 8),
            ("NM", 2),
            ("SV", 9),
            ("BO", 7),
        ],
    ),
    (
        "election",
        &[
            ("LE", 60),
            ("LK", 29),
            ("LC", 16),
            ("SF", 20),
            ("LV", 8),
            ("ENV", 8),
            ("INV", 29),
            ("RINV", 15),
            ("RQ", 110),
            ("CX", 15),
        ],
    ),
];

/// One citation in a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Citation<'a> {
    /// The file of rules, if the citation names it.
    pub(crate) file: Option<&'a str>,
    pub(crate) prefix: &'a str,
    pub(crate) number: u32,
}

/// Tells whether a rule of that name exists.
pub(crate) fn exists(file: &str, prefix: &str, number: u32) -> bool {
    let sections = FILES.iter().find(|(name, _)| *name == file).map_or(&[][..], |(_, all)| *all);
    sections.iter().any(|(name, last)| *name == prefix && (1..=*last).contains(&number))
}

fn is_prefix(word: &str) -> bool {
    FILES.iter().any(|(_, sections)| sections.iter().any(|(name, _)| *name == word))
}

/// Returns all parts of a text that look like the id of a rule.
pub(crate) fn citations(text: &str) -> Vec<Citation<'_>> {
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
        if is_prefix(prefix) || (named.is_some() && is_section(prefix)) {
            found.push(Citation { file: named, prefix, number });
        }
    }
    found
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

/// Returns every citation with its text. A citation without a file gets the file that its part
/// names for the prefix, if it names only one.
fn resolved(files: &[File]) -> Vec<(&File, Citation<'_>)> {
    let mut named: BTreeMap<(String, &str), BTreeSet<&str>> = BTreeMap::new();
    for file in files {
        for citation in citations(&file.text) {
            if let Some(rules) = citation.file {
                named.entry((part(&file.path), citation.prefix)).or_default().insert(rules);
            }
        }
    }
    let meant = |file: &File, citation: &Citation<'_>| {
        let known = named.get(&(part(&file.path), citation.prefix))?;
        if known.len() == 1 { known.first().copied() } else { None }
    };
    let mut found = Vec::new();
    for file in files {
        for mut citation in citations(&file.text) {
            citation.file = citation.file.or_else(|| meant(file, &citation));
            found.push((file, citation));
        }
    }
    found
}

/// Complains about citations of rules that do not exist or cannot be told apart.
pub(crate) fn doubtful(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (file, Citation { file: rules, prefix, number }) in resolved(files) {
        let because = match rules {
            None => "says nowhere which file of rules it means",
            Some(rules) if !exists(rules, prefix, number) => "is no rule",
            Some(_) => continue,
        };
        let rules = rules.map_or(String::new(), |rules| format!("{rules}:"));
        complaints.push(format!("{}: {rules}{prefix}-{number} {because}", file.path));
    }
    complaints
}

/// Complains about the pages of `docs/rules`, `FILE-PREFIX.md` each: about an entry with another
/// prefix, without a rule, given twice or without text, about a rule that is cited and has no
/// entry, and about a page that the overview does not list.
pub(crate) fn unexplained(pages: &[File], files: &[File]) -> Vec<String> {
    let (overview, pages): (Vec<_>, Vec<_>) =
        pages.iter().partition(|page| page.path.ends_with("/README.md"));
    let mut complaints = Vec::new();
    let mut entries = BTreeSet::new();
    for page in pages {
        let name = page.path.rsplit('/').next().unwrap_or_default();
        if !overview.iter().any(|overview| overview.text.contains(&format!("({name})"))) {
            complaints.push(format!("{}: the overview does not list it", page.path));
        }
        let (rules, prefix) = name.trim_end_matches(".md").split_once('-').unwrap_or_default();
        let prefix = prefix.to_ascii_uppercase();
        for (id, says) in page.text.lines().filter_map(entry) {
            let number = id.strip_prefix(&format!("{rules}:{prefix}-")).map(str::parse::<u32>);
            let because = match number {
                Some(Ok(number)) if !exists(rules, &prefix, number) => "is no rule",
                Some(Ok(_)) if says.len() < 10 => "says nothing",
                Some(Ok(_)) if !entries.insert(id) => "is there twice",
                Some(Ok(_)) => continue,
                _ => "belongs elsewhere",
            };
            complaints.push(format!("{}: {id} {because}", page.path));
        }
    }
    let cited: BTreeSet<_> = resolved(files).into_iter().map(|(_, citation)| citation).collect();
    for Citation { file, prefix, number } in cited {
        let Some(rules) = file.filter(|rules| exists(rules, prefix, number)) else { continue };
        let id = format!("{rules}:{prefix}-{number}");
        if !entries.contains(id.as_str()) {
            let page = format!("docs/rules/{rules}-{}.md", prefix.to_ascii_lowercase());
            complaints.push(format!("{page}: {id} is cited and has no entry"));
        }
    }
    complaints
}

/// Returns the id and the sentence of a line of a page's table.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (id, says) = line.strip_prefix("| `")?.split_once("` | ")?;
    Some((id, says.strip_suffix(" |")?))
}

#[cfg(test)]
mod doubts {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    /// Returns the complaints about the page of the work queue, if a source contains `cites`.
    fn told(page: &str, cites: &str) -> Vec<String> {
        let overview = file("docs/rules/README.md", "[workqueue:WQ](workqueue-wq.md)");
        let pages = [overview, file("docs/rules/workqueue-wq.md", page)];
        unexplained(&pages, &[file("core/src/a/mod.rs", cites)])
    }

    #[test]
    fn a_cited_rule_without_an_entry_is_noticed_in_short_too() {
        let entry = "| `workqueue:WQ-2` | It is empty at first. |\n";
        assert_eq!(told(entry, "see `workqueue:WQ-2`"), [""; 0]);
        let says = "docs/rules/workqueue-wq.md: workqueue:WQ-2 is cited and has no entry";
        assert_eq!(told("| rule | says |\n", "see `workqueue:WQ-2`"), [says]);
        let says = "docs/rules/workqueue-wq.md: workqueue:WQ-3 is cited and has no entry";
        assert_eq!(told(entry, "(`workqueue:WQ-2`, `WQ-3`)"), [says]);
    }

    #[test]
    fn a_cited_prefix_without_a_page_is_noticed() {
        let says = "docs/rules/cache-df.md: cache:DF-1 is cited and has no entry";
        assert_eq!(told("", "see `cache:DF-1`"), [says]);
    }

    #[test]
    fn a_page_that_the_overview_does_not_list_is_noticed() {
        let says = "docs/rules/workqueue-wq.md: the overview does not list it";
        assert_eq!(unexplained(&[file("docs/rules/workqueue-wq.md", "")], &[]), [says]);
    }

    #[test]
    fn an_entry_that_is_wrong_is_noticed() {
        for (entries, because) in [
            ("| `workqueue:WQ-2` | It is empty. |\n".repeat(2), "workqueue:WQ-2 is there twice"),
            ("| `workqueue:WQ-2` | - |\n".to_owned(), "workqueue:WQ-2 says nothing"),
            ("| `workqueue:DQ-2` | It waits. |\n".to_owned(), "workqueue:DQ-2 belongs elsewhere"),
            ("| `workqueue:WQ-41` | It is new. |\n".to_owned(), "workqueue:WQ-41 is no rule"),
        ] {
            assert_eq!(told(&entries, ""), [format!("docs/rules/workqueue-wq.md: {because}")]);
        }
    }

    fn complaints(text: &str) -> Vec<String> {
        doubtful(&[file("core/src/a/mod.rs", text)])
    }

    #[test]
    fn an_id_is_read_with_or_without_its_file() {
        let text = "see `workqueue:WQ-18`, (`DF-6`), SHA-256 and UTF-8";
        let one = Citation { file: Some("workqueue"), prefix: "WQ", number: 18 };
        let other = Citation { file: None, prefix: "DF", number: 6 };
        assert_eq!(citations(text), [one, other]);
    }

    #[test]
    fn what_was_named_once_may_be_cited_briefly() {
        assert_eq!(complaints("(`workqueue:WQ-9` to `WQ-12`)"), [""; 0]);
    }

    #[test]
    fn an_id_without_its_file_is_doubtful() {
        let says = "core/src/a/mod.rs: WQ-9 says nowhere which file of rules it means";
        assert_eq!(complaints("(WQ-9)"), [says]);
    }

    #[test]
    fn an_id_of_two_files_is_doubtful() {
        assert_eq!(complaints("workqueue:INV-1, election:INV-1, INV-2").len(), 1);
    }

    #[test]
    fn a_rule_that_does_not_exist_is_noticed() {
        for id in ["workqueue:WQ-41", "cache:WQ-1", "nowhere:WQ-1", "workqueue:WQ-0", "cache:ZZ-1"]
        {
            assert_eq!(complaints(id), [format!("core/src/a/mod.rs: {id} is no rule")]);
        }
    }
}
