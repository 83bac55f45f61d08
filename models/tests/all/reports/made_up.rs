//! Reports that no run of this crate makes, with all possible problems in them.

use std::collections::BTreeMap;

use seatrial_models::engine::Engine;
use seatrial_models::report::{
    Colour, ConformanceRow, Detail, Fate, Kill, MutantRow, NOT_HELD, Part, Report, Row, Severity,
    Shard, Summary, Verdict, github, html, junit, markdown, mutants_text, report_text,
    report_text_within, rows_text, sarif, summary,
};
use seatrial_models::trial::Expect;
use serde_json::{Value, json};

fn row(scenario: &str, invariant: &str, expect: Expect, verdict: Verdict) -> Row {
    let row = json!({
        "component": "parts", "scenario": scenario, "invariant": invariant, "rules": [],
        "engine": "trace", "expect": expect, "verdict": verdict, "executions": 7,
    });
    serde_json::from_value(row).expect("a row")
}

pub(crate) fn mutant(name: &str, kind: &str, outcome: Fate) -> MutantRow {
    let kill = Kill {
        engine: Engine::Trace,
        executions: 3,
        preemptions: None,
        proved_minimum: None,
        scenario: "some".to_owned(),
        invariant: "holds".to_owned(),
        witness: None,
    };
    MutantRow {
        component: "parts".to_owned(),
        name: name.to_owned(),
        origin: "made up".to_owned(),
        breaks: vec!["holds".to_owned()],
        kind: kind.to_owned(),
        kills: if outcome == Fate::Killed { vec![kill] } else { vec![] },
        outcome,
        missed_by: vec![],
        of_waking: false,
        speeds: vec![],
        because: None,
    }
}

fn traces(component: &str, failures: &[&str]) -> ConformanceRow {
    ConformanceRow {
        component: component.to_owned(),
        traces: 5,
        steps: 50,
        replayed: 5 - failures.len() as u64,
        faithful: None,
        departures: BTreeMap::new(),
        failures: failures.iter().map(|&text| text.to_owned()).collect(),
    }
}

fn concluded(change: impl FnOnce(&mut Report)) -> Report {
    let mut report = Report::new(0);
    change(&mut report);
    report.conclude();
    report
}

pub(crate) fn everything() -> Report {
    concluded(|report| {
        let violated = Row {
            because: Some("two at once".to_owned()),
            witness: Some("way:back".to_owned()),
            ..row("worked", "one_at_a_time", Expect::Holds, Verdict::Violated)
        };
        let left_out = Row {
            because: Some("it takes six threads".to_owned()),
            executions: None,
            ..row("large", NOT_HELD, Expect::Holds, Verdict::Holds)
        };
        let undecided = |because: &str, invariant| Row {
            because: Some(because.to_owned()),
            ..row("long", invariant, Expect::Holds, Verdict::Undecided)
        };
        report.rows = vec![
            row("good", "holds", Expect::Holds, Verdict::Holds),
            undecided("too long", "holds"),
            undecided("too long", "terminates"),
            undecided("too wide", "never_panics"),
            violated,
            row("known", "holds", Expect::Violated, Verdict::Holds),
            left_out,
            Row { executions: Some(0), ..row("idle", "holds", Expect::Holds, Verdict::Holds) },
        ];
        report.mutants = vec![
            mutant("found", "seeded", Fate::Killed),
            mutant("harmless", "equivalent", Fate::Equivalent),
            mutant("missed", "seeded", Fate::Survived),
            mutant("innocent", "equivalent", Fate::Killed),
            mutant("shown", "exhibit", Fate::Survived),
        ];
        report.conformance = vec![traces("queue", &[]), traces("heap", &["t-1: 3, not 4"])];
        let mut part = Part::whole("run", 8);
        part.shards = BTreeMap::from([(1, Shard { cases: 9, ran: 8 })]);
        report.parts.push(part);
    })
}

#[test]
fn problems_are_listed_failures_first() {
    let report = everything();
    let problems = report.problems();
    let ids: Vec<_> = problems.iter().map(|problem| problem.id.as_str()).collect();
    let failures = [
        "parts/worked/one_at_a_time",
        "parts/known/holds",
        "parts+missed/survived",
        "parts+innocent/equivalent_convicted",
        "parts+shown/survived",
        "heap/recorded_traces",
    ];
    assert_eq!(ids[..6], failures);
    assert_eq!(ids[6..], ["parts/long", "parts/long", "parts/idle", "report/incomplete"]);
    let is_failure = |at: usize| problems[at].severity == Severity::Failure;
    assert!((0..problems.len()).all(|at| is_failure(at) == (at < 6)));
    let doubts: Vec<_> = problems[6..9].iter().map(|doubt| doubt.because.as_str()).collect();
    let nothing = "trace ran nothing: report this with the command";
    assert_eq!(doubts, ["too long", "too wide", nothing], "each reason once");
}

#[test]
fn the_worst_decides() {
    let of = |change: &dyn Fn(&mut Report)| concluded(|report| change(report)).outcome;
    let of_rows = |rows: &[Row]| of(&|report| report.rows = rows.to_vec());
    let of_mutants = |mutants: &[MutantRow]| of(&|report| report.mutants = mutants.to_vec());
    let of_traces = |row: ConformanceRow| of(&|report| report.conformance = vec![row.clone()]);
    let Report { rows, mutants, .. } = everything();
    let [good, too_long, _, _, violated, known, left_out, idle] = &rows[..] else { panic!() };
    let [found, harmless, missed, innocent, shown] = &mutants[..] else { panic!() };
    assert_eq!(of_rows(&[]), Summary::Empty);
    assert_eq!(of_rows(std::slice::from_ref(left_out)), Summary::Empty);
    assert_eq!(of_rows(&[good.clone(), left_out.clone()]), Summary::Holds);
    assert_eq!(of_rows(&[good.clone(), too_long.clone()]), Summary::Inconclusive);
    assert_eq!(of_rows(&[good.clone(), idle.clone()]), Summary::Inconclusive);
    assert_eq!(of_rows(&[too_long.clone(), known.clone()]), Summary::Blind);
    assert_eq!(of_rows(&[known.clone(), violated.clone()]), Summary::Violated);
    assert_eq!(of_mutants(&[found.clone(), harmless.clone()]), Summary::Holds);
    assert_eq!(of_mutants(&[found.clone(), missed.clone()]), Summary::Blind);
    assert_eq!(of_mutants(&[found.clone(), shown.clone()]), Summary::Blind);
    assert_eq!(of_mutants(&[missed.clone(), innocent.clone()]), Summary::Violated);
    assert_eq!(of_traces(traces("queue", &[])), Summary::Holds);
    assert_eq!(of_traces(traces("queue", &["t-1"])), Summary::Violated);
    assert_eq!(of_traces(ConformanceRow { traces: 0, ..traces("queue", &[]) }), Summary::Empty);
}

#[test]
fn what_is_inadmissible_is_no_pass_in_any_format() {
    let odd = |invariant| Row {
        because: Some("two runs differ".to_owned()),
        ..row("odd", invariant, Expect::Holds, Verdict::Inadmissible)
    };
    let with = |others: &[Row]| {
        concluded(|report| report.rows = [&[odd("holds"), odd("terminates")], others].concat())
    };
    let Report { rows, .. } = everything();
    let [good, too_long, _, _, violated, known, ..] = &rows[..] else { panic!() };
    for (others, outcome) in [
        (vec![good.clone(), too_long.clone(), known.clone()], Summary::Inadmissible),
        (vec![violated.clone()], Summary::Violated),
    ] {
        assert_eq!(with(&others).outcome, outcome);
    }
    let report = with(&[]);
    assert_eq!(report.problems().len(), 1, "one for all invariants");
    let formats = [
        junit(&report),
        html(&report),
        markdown(&report),
        sarif(&report).to_string(),
        github(&report),
        report_text(&report, Detail::Brief, Colour(false)),
    ];
    for format in formats {
        assert!(format.contains("two runs differ"), "{format}");
    }
    assert!(html(&report).contains("<b>inadmissible</b>"));
}

#[test]
fn tables_call_things_by_their_names() {
    let report = everything();
    let text = rows_text(&report.rows, "mine", Colour(false));
    let words = text.lines().filter_map(|line| line.get(62..).map(str::trim));
    let words: Vec<_> = words.filter(|words| !words.is_empty()).collect();
    assert_eq!(
        words,
        [
            "7  holds",
            "7  UNDECIDED: too long",
            "7  VIOLATED: one_at_a_time",
            "7  BLIND: holds was expected to break and held",
            "not run: it takes six threads",
            "0  UNDECIDED: trace ran nothing: report this with the command",
        ],
        "{text}"
    );
    assert!(text.contains("see it again: mine replay way:back"));
    let text = mutants_text(&report.mutants, Colour(false));
    let of = |name: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(name)).expect(name);
        line.split_whitespace().rev().take(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((of("missed"), of("shown")), ("SURVIVED -".to_owned(), "SURVIVED -".to_owned()));
    assert!(text.contains("CONVICTED although listed as equivalent"), "{text}");
    let says = summary(&report, Colour(false));
    for part in [
        "violated: 1 case holds, 1 VIOLATED, 1 BLIND, 2 UNDECIDED, 1 not run",
        "2 mutants convicted, 1 equivalent, 2 SURVIVED, 9 of 10 traces replayed",
        "`run` was stopped after 8 of 9 cases",
    ] {
        assert!(says.contains(part), "{says}");
    }
}

#[test]
fn a_person_sees_a_table_then_what_is_wrong_then_one_line() {
    let report = Report { program: "mine".to_owned(), ..everything() };
    let text = report_text_within(&report, Detail::Brief, Colour(false), 120);
    let (tables, rest) = text.split_once("\nnot as expected\n").expect(&text);
    let of_parts: Vec<_> = tables.lines().filter(|line| line.starts_with("parts")).collect();
    let [verdicts, kills] = of_parts[..] else { panic!("{text}") };
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(verdicts).starts_with("parts trace 5 28 "), "{verdicts}");
    let counts = "1 holds, 1 VIOLATED, 1 BLIND, 2 UNDECIDED, 1 not run";
    assert!(verdicts.ends_with(counts), "{verdicts}");
    assert_eq!(words(kills), "parts 3 1/1 2 3 not as expected");
    assert_eq!(tables.lines().count(), 4, "two heads, two lines: {tables}");
    for line in [
        "parts/long on trace: UNDECIDED: too long",
        "parts/worked on trace: VIOLATED: one_at_a_time",
        "    one_at_a_time: two at once",
        "    see it again: mine replay way:back",
        "parts/known on trace: BLIND: holds was expected to break and held",
        "parts/missed: SURVIVED: it should break holds (made up)",
        "parts/innocent: CONVICTED although listed as equivalent",
    ] {
        assert!(rest.lines().any(|known| known == line), "{line} is not in\n{rest}");
    }
    assert!(!text.contains("parts/good"), "what is as expected is counted alone: {text}");
    let last = text.lines().last().expect("a line");
    assert!(last.starts_with("violated: 1 case holds"), "{last}");
    let verbose = report_text(&report, Detail::Verbose, Colour(false));
    assert!(verbose.contains(&rows_text(&report.rows, "mine", Colour(false))), "{verbose}");
}

#[test]
fn only_the_first_violation_of_a_promise_is_drawn() {
    let line =
        json!({"thread": 0, "name": "main", "at_nanos": 0, "text": "adds 1", "sleeps": false});
    let violated = |scenario| Row {
        history: serde_json::from_value(json!([line])).expect("a history"),
        ..row(scenario, "one_at_a_time", Expect::Holds, Verdict::Violated)
    };
    let report = concluded(|report| report.rows = vec![violated("one"), violated("two")]);
    let text = report_text(&report, Detail::Brief, Colour(false));
    assert_eq!(text.matches("adds 1").count(), 1, "{text}");
    assert_eq!(text.matches("VIOLATED: one_at_a_time").count(), 2, "{text}");
}

#[test]
fn pages_mark_what_is_good_and_what_is_not() {
    let page = html(&everything());
    let cell = |name: &str| {
        let (_, rest) = page.split_once(&format!("<th scope=\"row\">{name}</th>")).expect(name);
        rest.split("</b>").next().expect("a verdict").to_owned()
    };
    for (name, says) in [
        ("good", "good\"><b>holds"),
        ("long", "doubt\"><b>undecided"),
        ("worked", "bad\"><b>violated: one_at_a_time"),
        ("known", "bad\"><b>blind: holds"),
        ("idle", "doubt\"><b>undecided"),
    ] {
        assert!(cell(name).ends_with(says), "{name}: {}", cell(name));
    }
    assert_eq!(page.matches("<td class=\"bad\">survived</td>").count(), 2);
    let only = |row: usize| concluded(|report| report.rows.push(everything().rows[row].clone()));
    for (row, is_good) in [(0, true), (1, false), (4, false), (5, false), (6, false), (7, false)] {
        let report = only(row);
        let good = report.outcome == Summary::Holds;
        assert_eq!(good, is_good, "{:?}", report.outcome);
        assert_eq!(html(&report).contains("<h1 id=\"verdict\" class=\"good\">"), good);
        assert_eq!(markdown(&report).starts_with("## \u{2705}"), good, "{}", markdown(&report));
        assert_eq!(github(&report).starts_with("::notice "), good, "{}", github(&report));
        let run = sarif(&report)["runs"][0]["invocations"][0]["executionSuccessful"].clone();
        assert_eq!(run, !matches!(report.outcome, Summary::Inconclusive | Summary::Empty));
    }
}

#[test]
fn scanners_and_workflows_are_told_of_every_problem() {
    let report = everything();
    let annotations = github(&report);
    let levels: Vec<_> = annotations.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(levels, [["::error"; 6].as_slice(), &["::warning"; 4]].concat(), "{annotations}");
    let log = sarif(&report);
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 6);
    assert!(results.iter().all(|result| result["level"] == "error"));
    let told = run["invocations"][0]["toolExecutionNotifications"].as_array().expect("doubts");
    assert_eq!(told.len(), 4);
    assert!(told.iter().all(|doubt| doubt["level"] == "warning"));
}

#[test]
fn test_results_are_those_of_every_row_mutant_and_trace() {
    let xml = junit(&everything());
    let totals = "tests=\"16\" skipped=\"1\" failures=\"7\" errors=\"4\"";
    assert!(xml.contains(&format!("<testsuites name=\"seatrial\" {totals}>")), "{xml}");
    let of = |name: &str| {
        let (_, rest) = xml.split_once(&format!("name=\"{name}\"")).expect(name);
        let (case, rest) = rest.split_once('>').expect("an end");
        if case.ends_with('/') { "" } else { rest.trim_start().split(' ').next().unwrap() }
    };
    for (name, status) in [
        ("good/holds", ""),
        ("long/terminates", "<error"),
        ("worked/one_at_a_time", "<failure"),
        ("known/holds", "<failure"),
        ("large/not_held", "<skipped"),
        ("idle/holds", "<error"),
        ("found", ""),
        ("missed", "<failure"),
        ("innocent", "<failure"),
        ("queue", ""),
        ("heap", "<failure"),
        ("complete", "<failure"),
    ] {
        assert_eq!(of(name), status, "{name}");
    }
    assert!(junit(&Report { program: "mine".to_owned(), ..everything() }).contains("mine replay"));
}

/// Appends hostile text to every text that another program may have written.
fn spoil(value: &mut Value) {
    const HOSTILE: &str = "<script>\"'&,:%\n::error::|`";
    match value {
        Value::String(text) => text.push_str(HOSTILE),
        Value::Array(all) => all.iter_mut().for_each(spoil),
        Value::Object(all) => {
            for (name, value) in all {
                let free = !matches!(name.as_str(), "engine" | "expect" | "verdict" | "outcome");
                if free && name != "kind" && name != "invariant" || name == "because" {
                    spoil(value);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn hostile_texts_stay_texts_wherever_they_stand() {
    let mut report = everything();
    report.parts.clear();
    let mut value = serde_json::to_value(&report).expect("JSON");
    for part in ["rows", "mutants", "conformance", "commit", "toolchain", "program"] {
        spoil(&mut value[part]);
    }
    let report: Report = serde_json::from_value(value).expect("a report");
    let page = html(&report);
    assert!(!page.contains("<script"), "{page}");
    assert!(page.matches("&lt;script&gt;").count() > 20);
    let annotations = github(&report);
    assert!(annotations.lines().all(|line| line.starts_with("::") && !line.contains('\r')));
    for line in annotations.lines() {
        let properties = line.split("::").nth(1).expect("a command");
        assert_eq!(properties.matches(',').count(), 0, "one property, the title: {line}");
    }
    assert_eq!(annotations.lines().count(), report.problems().len());
    let xml = junit(&report);
    assert!(!xml.contains("<script") && xml.contains("&lt;script&gt;"));
}
