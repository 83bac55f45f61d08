//! Lists of what is left alone, each with a reason: they name places that are still there.

use crate::tree;

/// Complains about an entry `path: replace X in Type::function  # reason`, or `replace function with X`.
fn survivor(line: &str, source: impl Fn(&str) -> String) -> Option<String> {
    let (path, change) = line.split_once(": ")?;
    let (change, _reason) = change.split_once("  #")?;
    let place = match change.rsplit_once(" in ") {
        Some((_, place)) => place,
        None => change.strip_prefix("replace ")?.split(" with ").next()?.split(" -> ").next()?,
    };
    let function = place.rsplit("::").next()?;
    let there = source(path).contains(&format!("fn {function}"));
    (!there).then(|| format!("{path} has no function '{function}': strike out '{change}'"))
}

/// Complains about an entry `path | line of the source | reason`.
fn uncovered(entry: &str, source: impl Fn(&str) -> String) -> Option<String> {
    let (path, rest) = entry.split_once(" | ")?;
    let (line, _reason) = rest.rsplit_once(" | ")?;
    let there = source(path).lines().any(|it| it.trim() == line);
    (!there).then(|| format!("{path} has no line '{line}': strike it out"))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(tree::root().join(path)).unwrap_or_default()
}

fn entries(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn what_is_left_alone_is_still_there() {
    let survivors = text("ci/core-survivors.txt");
    let lines = text("ci/uncovered.txt");
    let (survivors, lines) = (entries(&survivors), entries(&lines));
    assert!(survivors.len() > 20 && lines.len() > 100, "the lists were read");
    let gone = survivors.into_iter().filter_map(|entry| survivor(entry, text));
    let gone: Vec<_> =
        gone.chain(lines.into_iter().filter_map(|entry| uncovered(entry, text))).collect();
    assert_eq!(gone, [""; 0]);
}

#[test]
fn an_entry_for_what_is_gone_is_named() {
    let source = |path: &str| if path == "a.rs" { "fn go() {\n    x();\n}" } else { "" }.to_owned();
    let survivor = |line| survivor(line, source).is_some();
    assert!(!survivor("a.rs: replace + with - in A<T>::go  # why"));
    assert!(!survivor("a.rs: replace A::go -> bool with true  # why"));
    assert!(survivor("a.rs: replace + with - in A<T>::stay  # why"));
    assert!(survivor("b.rs: replace A::go with ()  # why"));
    let uncovered = |line| uncovered(line, source).is_some();
    assert!(!uncovered("a.rs | x(); | why"));
    assert!(uncovered("a.rs | y(); | why") && uncovered("b.rs | x(); | why"));
}
