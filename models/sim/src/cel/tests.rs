//! What expressions mean, one a line, and what is refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use super::{CANCELLED, Decl, Program, Type, Value};

const TRUE: &str = include_str!("tests.txt");

fn decl() -> Arc<Decl> {
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "s": {"type": "string"}, "d": {"type": "number"},
        "b": {"type": "boolean"},
        "port": {"x-kubernetes-int-or-string": true},
        "at": {"type": "string", "format": "date-time"},
        "for": {"type": "string", "format": "duration"},
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "of": {"type": "object", "properties": {"x": {"type": "integer"}, "a-b": {"type": "integer"}}},
        "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}},
    }});
    Decl::of(&schema, true).unwrap_or_else(Decl::open)
}

fn evaluate(text: &str) -> Result<String, String> {
    let object = json!({"n": 3, "s": "hello", "d": 1.5, "b": true, "port": "80%",
        "at": "2024-02-29T12:30:45.5Z", "for": "1h30m", "tags": ["a", "b"], "list": [1, 2, 3],
        "map": {"one": 1, "two": 2}, "of": {"x": 7, "a-b": 8},
        "items": [{"k": "a", "v": 1}, {"k": "b", "v": 2}], "metadata": {"name": "web"}});
    let decl = decl();
    let program = Program::compile(text, &[("self", decl.as_type())])?;
    let (value, _) = program.run(vec![("self", Value::read(&object, &decl)?)], 1_000_000);
    value.map(|it| format!("{it:?}"))
}

#[test]
fn what_is_true_is_true() {
    let mut wrong = Vec::new();
    for line in TRUE.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
        let found = evaluate(line);
        if found != Ok("Bool(true)".to_owned()) {
            wrong.push(format!("{line}\n    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_does_not_fit_is_refused_in_the_words_of_the_real_server() {
    for (text, why) in [
        ("self.nope > 1", "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 1\n | ....^"),
        (
            "self.n == 'x'",
            "ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'\n | self.n == 'x'\n | .......^",
        ),
        (
            "nobody",
            "ERROR: <input>:1:1: undeclared reference to 'nobody' (in container '')\n | nobody\n | ^",
        ),
        (
            "self.s.size(1) == 1",
            "ERROR: <input>:1:12: found no matching overload for 'size' applied to 'string.(int)'\n | self.s.size(1) == 1\n | ...........^",
        ),
        (
            "self.s.matches('[')",
            "ERROR: <input>:1:16: invalid matches argument\n | self.s.matches('[')\n | ...............^",
        ),
    ] {
        assert_eq!(
            Program::compile(text, &[("self", decl().as_type())]).err(),
            Some(why.to_owned())
        );
    }
}

#[test]
fn a_mistake_at_run_time_has_a_text() {
    for (text, why) in [
        ("1 / (self.n - 3) == 1", "division by zero"),
        ("self.list[9] == 1", "index out of bounds: 9"),
        ("self.map['no'] == 1", "no such key: no"),
        ("9223372036854775807 + self.n > 0", "integer overflow"),
        ("self.map.one == 1 && self.map['no'] == 1", "no such key: no"),
    ] {
        assert_eq!(evaluate(text), Err(why.to_owned()), "{text}");
    }
}

#[test]
fn what_costs_too_much_ends() {
    let list = format!("[{}]", vec!["1"; 50].join(","));
    let mut text = "true".to_owned();
    for name in ["a", "b", "c", "d", "e", "f"] {
        text = format!("{list}.all({name}, {text})");
    }
    let program = Program::compile(&text, &[]);
    let (value, cost) =
        program.as_ref().map(|it| it.run(Vec::new(), 100_000)).unwrap_or((Ok(Value::Null), 0));
    assert_eq!(value.map(|it| format!("{it:?}")), Err(CANCELLED.to_owned()));
    assert!((100_000..101_000).contains(&cost), "{cost}");
}

#[test]
fn deep_and_long_expressions_are_refused() {
    for text in [
        "(".repeat(100_000),
        "!".repeat(90_000) + "true",
        "[".repeat(5_000),
        "1".to_owned() + &"+1".repeat(5_000) + " == 1",
        "self".to_owned() + &".of".repeat(5_000),
        "true ? ".repeat(5_000),
        "x".repeat(200_000),
    ] {
        let of = Program::compile(&text, &[("self", Type::Dyn)]);
        // Signs that undo each other are no depth.
        assert!(of.is_err() || text.starts_with('!'), "{}", &text[..20]);
    }
}

/// `text` with `.map(a, body)` behind it, some times.
fn chained(text: &str, body: &str, times: usize, end: &str) -> String {
    format!("{text}{}{end}", format!(".map(a, {body})").repeat(times))
}

/// `body` with a long text and a long list.
fn walked(body: &str) -> String {
    let text = format!("'{}'", "a".repeat(20_000));
    body.replace("RANGE", "lists.range(3000)").replace("TEXT", &text)
}

#[test]
fn bytes_are_paid_for_each_time_they_are_read() {
    let schema =
        json!({"type": "object", "properties": {"data": {"type": "string", "format": "byte"}}});
    let decl = Decl::of(&schema, false).unwrap_or_else(Decl::open);
    for text in ["a".repeat(400_000), "a".repeat(400_000) + "!"] {
        let object = json!({ "data": text });
        let rule = "lists.range(1000).exists(x, self.data == b'x')";
        let program = Program::compile(rule, &[("self", decl.as_type())]).expect("a rule");
        let value = Value::read(&object, &decl).expect("an object");
        let (found, cost) = program.run(vec![("self", value)], 1_000_000);
        assert_eq!(found.map(|it| format!("{it:?}")), Err(CANCELLED.to_owned()), "{cost}");
    }
}

#[test]
fn what_is_made_or_walked_is_paid_for() {
    let doubled = |end| chained("['aaaaaaaaaa']", "a + a", 16, end);
    for text in [
        "lists.range(50000).map(x, lists.range(100000)).size() > 0".to_owned(),
        "lists.range(100000).all(x, lists.range(100000).size() >= 0)".to_owned(),
        doubled(".all(a, a.replace('a', a) == '')"),
        doubled(".all(a, lists.range(9).map(x, 'a').join(a).split('').join(a) == '')"),
        chained("[1]", "dyn([a, a])", 40, ".all(a, a == a)"),
        chained("[1]", "dyn([a, a])", 40, ".all(a, a in [a])"),
        chained("[1]", "dyn([a, a])", 40, ".all(a, [a].indexOf(a) == 0)"),
        chained("[1]", "dyn([a, a])", 40, ".all(a, [a].distinct() == [])"),
        chained("[1]", "dyn([a, a])", 40, ".all(a, sets.contains([a], [a]))"),
        chained("[1]", "dyn([a, a])", 40, ".all(a, '%s'.format([a]) == '')"),
        walked("lists.range(100).all(x, TEXT.findAll('a').size() > 0)"),
        walked("lists.range(100).all(x, TEXT.findAll('a|' + string(x)).size() > 0)"),
        walked("RANGE.all(x, 'b'.find('(a{10}){100}' + string(x)) == '')"),
        walked("RANGE.all(x, !'b'.matches('a{999}' + string(x)))"),
        walked("[TEXT].map(t, [t + t]).all(l, RANGE.all(x, l.all(t, true)))"),
        walked("[TEXT].map(t, [t + t]).all(l, RANGE.all(x, l.first().hasValue()))"),
        walked("[TEXT].map(t, [t + t]).all(l, RANGE.all(x, l[0] != ''))"),
        walked("RANGE.sortBy(x, TEXT).size() > 0"),
        walked("[RANGE.transformMap(i, v, 1)].all(m, RANGE.transformMapEntry(i, v, m).size() > 0)"),
        walked(
            "[RANGE.transformMap(i, v, 1)].all(m, RANGE.all(x, !dyn(m).?a.hasValue() && !dyn(m).?b.hasValue()))",
        ),
    ] {
        assert_eq!(evaluate(&text), Err(CANCELLED.to_owned()), "{text}");
    }
    // A search costs what a real server counts, and besides only what it finds.
    for text in [
        walked("lists.range(100).all(x, TEXT.findAll('b').size() == 0)"),
        walked("lists.range(100).all(x, TEXT.findAll('a', 3).size() == 3)"),
        walked("lists.range(100).all(x, TEXT.findAll('b' + string(x)).size() == 0)"),
    ] {
        assert_eq!(evaluate(&text), Ok("Bool(true)".to_owned()), "{text}");
    }
    let long = evaluate("lists.range(100001).size() == 0");
    assert!(long.is_err_and(|it| it.contains("exceed the limit")));
    // A large value is not walked for a small one.
    let text = chained("[1]", "dyn([a, a])", 40, ".all(a, lists.range(1000).all(x, a != [1]))");
    assert_eq!(evaluate(&text), Ok("Bool(true)".to_owned()));
}

#[test]
fn types_and_values_are_no_larger_and_no_deeper_than_can_be_walked() {
    let deep = format!("{}a{}", "[".repeat(90), "]".repeat(90));
    let hidden = format!("dyn({deep})");
    for text in [
        chained("[1]", "{a: a}", 35, ".size() == 1"),
        chained("[1]", &deep, 50, ".all(a, a == a)"),
        chained("[1]", "[a, a]", 50, "[0]"),
    ] {
        let found = Program::compile(&text, &[]);
        let why = found.err().unwrap_or_default();
        assert!(text.contains("[a, a]") || why.contains("is too large"), "{why}");
    }
    let found = evaluate(&chained("[1]", &hidden, 50, ".all(a, a == a)"));
    assert_eq!(found, Err("the value is too deep".to_owned()));
}

#[test]
fn the_text_of_mistakes_is_bounded() {
    let why = Program::compile(&vec!["nobody"; 9_000].join(" + "), &[]).err();
    let many = format!("[{}]", vec!["nobody"; 12_000].join(","));
    let why = why.into_iter().chain(Program::compile(&many, &[]).err());
    assert!(why.into_iter().all(|it| it.len() < 20_000));
}

#[test]
fn numbers_beyond_all_bounds_are_refused() {
    for zone in ["+9223372036854775807:00", "+-9223372036854775808:00", "+24:00", "+1:00"] {
        assert!(!super::texts::is_time(&format!("2020-01-01T00:00:00{zone}")), "{zone}");
    }
    assert!(super::texts::is_time("2020-01-01T00:00:00+23:59"));
    let span = format!("1h{}h", "9".repeat(45));
    assert!(evaluate(&format!("duration('{span}') > duration('1h')")).is_err());
    assert!(
        evaluate(&format!("self.n == 3 && duration(self.s + '{span}') == duration('1h')")).is_err()
    );
    for text in
        ["!isQuantity('1e2147483647')", "!isQuantity('1.5e-2147483648')", "isQuantity('1e3')"]
    {
        assert_eq!(evaluate(text), Ok("Bool(true)".to_owned()), "{text}");
    }
}

#[test]
fn lists_of_any_values_are_sorted_or_refused() {
    let nan = "0.0 / 0.0";
    let kind = |text: &&str| match text.as_bytes() {
        [b'n', ..] => 'n',
        [b't', ..] => 't',
        [b'\'', ..] => 's',
        [.., b'u'] => 'u',
        _ if text.contains('.') => 'd',
        _ => 'i',
    };
    for pool in [
        &["1", "'b'", "2.5", "3u", "true", nan, "null"][..],
        &["2", "1.5", "1", "0.5"],
        &["null"],
        &["2.5", nan, "-1.0", "7.0"],
        &["'b'", "'a'", "''"],
    ] {
        for seed in 1..20_usize {
            let places = (0..40).map(|it: usize| (seed * it * it + it / seed) % pool.len());
            let items: Vec<_> = places.map(|it| pool[it]).collect();
            let kinds: BTreeSet<_> = items.iter().map(kind).collect();
            let has_order = kinds.len() == 1 && !kinds.contains(&'n');
            let dynamic: Vec<_> = items.iter().map(|it| format!("dyn({it})")).collect();
            for sorted in ["sort()", "sortBy(x, x)"] {
                let found = evaluate(&format!("[{}].{sorted}.size() == 40", dynamic.join(", ")));
                match found {
                    Ok(it) => assert!(has_order && it == "Bool(true)", "{items:?}"),
                    Err(why) => {
                        assert!(!has_order && why.contains(super::value::NO_OVERLOAD), "{why}");
                    }
                }
            }
        }
    }
    for look in ["isSorted()", "min() == dyn(1)", "max() == dyn(1)"] {
        for list in ["[dyn(null), dyn(1)]", "[dyn(1), dyn([2])]", "[dyn({'a': 1})]"] {
            let found = evaluate(&format!("{list}.{look}"));
            let is_refused = found.as_ref().is_err_and(|it| it.contains(super::value::NO_OVERLOAD));
            assert!(is_refused, "{list}.{look}: {found:?}");
        }
    }
    let found =
        evaluate(&format!("[2.0, {nan}, 1.0, {nan}, -1.0].sort().slice(0, 3) == [-1.0, 1.0, 2.0]"));
    assert_eq!(found, Ok("Bool(true)".to_owned()));
}
