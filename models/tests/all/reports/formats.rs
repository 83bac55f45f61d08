//! A parser for each format can read it.

use std::path::Path;

use serde_json::Value;

use super::{canary, code, folder, json, path, read, refused, seatrial, text, violated};

/// Renders a report and returns the text.
fn rendered(report: &Path, format: &str) -> String {
    let output = seatrial(&["report", path(report), "--to", &format!("{format}=-")]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    text(&output.stdout)
}

fn parsed(report: &Path, format: &str) -> Value {
    serde_json::from_str(&rendered(report, format)).expect("JSON")
}

/// Returns the elements of an array.
fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

#[test]
fn sarif_names_each_bug_once_with_a_flow_per_thread() {
    let violated = violated(&folder("sarif"));
    let log = parsed(&violated, "sarif");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = list(&run["tool"]["driver"]["rules"]);
    let results = list(&run["results"]);
    assert_eq!(results.len(), 3, "the canary has three scenarios, however many engines find it");
    let mut fingerprints = Vec::new();
    for result in results {
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]), "{result}");
        assert!(result["message"]["text"].as_str().is_some_and(|text| text.contains("replay")));
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "models/harness/src/canary/mod.rs", "{place}");
        assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 1));
        fingerprints.push(result["partialFingerprints"]["seatrial/v1"].clone());
        let threads = list(&result["codeFlows"][0]["threadFlows"]);
        assert_eq!(threads.len(), 2);
        let steps = || threads.iter().flat_map(|thread| list(&thread["locations"]));
        let says = |step: &Value| step["location"]["message"]["text"].is_string();
        assert!(steps().all(says), "{threads:?}");
        let has_line = |step: &Value| step["location"].get("physicalLocation").is_some();
        assert!(!steps().any(has_line), "the line of the invariant is that of no step");
        let mut order: Vec<u64> =
            steps().map(|step| step["executionOrder"].as_u64().expect("a number")).collect();
        order.sort_unstable();
        let steps = order.len() as u64;
        assert_eq!(order, (1..=steps).collect::<Vec<_>>(), "each step has its own number");
    }
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 3);
    assert_eq!(log, parsed(&violated, "sarif"), "and the same again");
    assert!(list(&parsed(canary(), "sarif")["runs"][0]["results"]).is_empty());
}

/// Returns the numbers of one attribute of all elements of a name.
fn attributes(xml: &str, element: &str, attribute: &str) -> Vec<usize> {
    let (opened, named) = (format!("<{element} "), format!(" {attribute}=\""));
    let tags = xml.split(&opened).skip(1).map(|rest| rest.split('>').next().unwrap_or_default());
    let value = |tag: &str| format!(" {tag}").split(&named).nth(1)?.split('"').next()?.parse().ok();
    tags.map(|tag| value(tag).expect("a number")).collect()
}

#[test]
fn junit_counts_what_it_lists() {
    // There is no single schema: these are the elements and attributes that CI systems read.
    for (report, fails) in [(canary().to_owned(), false), (violated(&folder("junit")), true)] {
        let xml = rendered(&report, "junit");
        assert!(xml.starts_with("<?xml version=\"1.0\""), "{xml}");
        let cases = xml.matches("<testcase ").count();
        let failures = xml.matches("<failure ").count();
        assert!(cases > 0 && (failures > 0) == fails, "{cases} cases, {failures} failures");
        for (attribute, count) in [("tests", cases), ("failures", failures), ("errors", 0)] {
            assert_eq!(attributes(&xml, "testsuites", attribute), [count], "{attribute}");
            let suites = attributes(&xml, "testsuite", attribute);
            assert_eq!(suites.iter().sum::<usize>(), count, "{attribute}");
        }
        for case in xml.split("<testcase ").skip(1) {
            let tag = case.split('>').next().expect("an end");
            assert!(tag.contains("name=\"") && tag.contains("classname=\"canary."), "{tag}");
        }
        let with_text = xml.matches("<failure message=\"").count();
        assert_eq!(with_text, failures, "every failure says what is wrong");
    }
}

#[test]
fn a_page_shows_how_much_is_left_and_what_simulations_come_to() {
    let folder = folder("shown");
    let report = folder.join("report.json");
    let to = format!("json={}", path(&report));
    let output = seatrial(&["run", "queue/two_getters", "--budget", "300", "--report", &to]);
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    let mut value = json(&report);
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
    value["pictures"] =
        serde_json::json!([{"component": "queue", "title": "a <b>title", "svg": svg}]);
    std::fs::write(&report, value.to_string()).expect("the test folder can be written");
    let page = rendered(&report, "html");
    balanced(&page);
    assert!(page.contains(" traces, unseen ") && page.contains("with a confidence of 95 %"));
    assert!(page.contains("<img alt=\"a &lt;b&gt;title\" src=\"data:image/svg+xml,%3Csvg"));
    assert!(!page.contains("<script") && !page.contains("<svg"), "a picture stays an image");
}

#[test]
fn annotations_are_one_line_each() {
    let annotations = rendered(&violated(&folder("github")), "github");
    let lines: Vec<_> = annotations.lines().collect();
    assert!(lines.len() >= 6, "{annotations}");
    for line in lines {
        assert!(line.starts_with("::error file=models/harness/src/canary/mod.rs,line="), "{line}");
        let (_, message) = line.split_once("::").expect("a command");
        let (_, message) = message.split_once("::").expect("a message");
        // Real threads give no route for a replay.
        let again = message.contains("%0Aseatrial replay seatrial-");
        assert!(again || message.ends_with("%0Aengine: threads"), "{line}");
    }
    assert!(rendered(canary(), "github").starts_with("::notice "));
}

#[test]
fn a_summary_has_whole_tables_and_closed_blocks() {
    let summary = rendered(&violated(&folder("markdown")), "markdown");
    assert!(summary.starts_with("## \u{274c} seatrial: violated\n"), "{summary}");
    assert_eq!(summary.matches("```").count() % 2, 0);
    let mut columns = None;
    for line in summary.lines() {
        if line.starts_with('|') {
            let count = line.matches('|').count();
            assert_eq!(*columns.get_or_insert(count), count, "{line}");
        } else {
            columns = None;
        }
    }
    assert!(summary.contains("| canary | loom |"), "{summary}");
    assert!(rendered(canary(), "markdown").contains("\u{2705} seatrial: all as expected"));
}

#[test]
fn a_page_is_well_formed_and_needs_nothing_else() {
    for (report, verdict) in [
        (violated(&folder("html")), "seatrial: violated"),
        (canary().to_owned(), "seatrial: all as expected"),
    ] {
        let page = rendered(&report, "html");
        balanced(&page);
        let heading = page.find("<h1").expect("a heading");
        assert!(page[heading..].starts_with("<h1 id=\"verdict\""));
        assert!(page[heading..heading + 200].contains(verdict));
        assert!(page.contains("<table class=\"picture\">") && page.contains("came between"));
        assert!(page.contains("seatrial replay seatrial-"));
        for foreign in ["<script", "src=", "url(", "@import", "<link", "http"] {
            assert!(!page.contains(foreign), "{foreign}");
        }
    }
}

/// Asserts that every element is closed at the level at which it was opened.
fn balanced(page: &str) {
    const EMPTY: [&str; 4] = ["meta", "!DOCTYPE", "br", "img"];
    let mut open: Vec<&str> = Vec::new();
    for (at, _) in page.match_indices('<') {
        let tag = page[at + 1..].split('>').next().expect("an end");
        let name = tag.split_whitespace().next().expect("a name");
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "near {}", &page[at - 50..at]),
            None if EMPTY.contains(&name) => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn hostile_names_stay_text() {
    let folder = folder("hostile");
    let mut report = json(&violated(&folder));
    for row in report["rows"].as_array_mut().expect("rows") {
        row["because"] = "<script>alert('1')</script> | a\n::error::b".into();
    }
    let hostile = folder.join("hostile.json");
    std::fs::write(&hostile, report.to_string()).expect("written");
    let page = rendered(&hostile, "html");
    balanced(&page);
    assert!(!page.contains("<script"));
    assert!(!rendered(&hostile, "markdown").contains("<script"));
    assert!(!rendered(&hostile, "github").contains("\n::error::b"));
}

#[test]
fn a_timeline_names_its_threads_and_places_every_step() {
    let trace = parsed(&violated(&folder("perfetto")), "perfetto");
    let events = list(&trace["traceEvents"]);
    for event in events {
        assert!(event["pid"].is_u64() && event["tid"].is_u64() && event["name"].is_string());
        match event["ph"].as_str().expect("a phase") {
            "M" => assert!(event["args"]["name"].is_string()),
            "X" => assert!(event["ts"].is_u64() && event["dur"].as_u64().is_some_and(|t| t > 0)),
            "i" | "s" | "f" => assert!(event["ts"].is_u64()),
            other => panic!("phase {other}"),
        }
    }
    for step in events.iter().filter(|event| event["cat"] == "step") {
        let named = events.iter().any(|event| {
            event["name"] == "thread_name"
                && (&event["pid"], &event["tid"]) == (&step["pid"], &step["tid"])
        });
        assert!(named, "{step}");
    }
}

#[test]
fn a_witness_becomes_a_timeline_and_a_page() {
    let folder = folder("replayed");
    let report = json(canary());
    let row = list(&report["rows"]).iter().find(|row| row["witness"].is_string());
    let witness = row.expect("a witness")["witness"].as_str().expect("text");
    let (trace, page) = (folder.join("trace.json"), folder.join("page.html"));
    let (to_trace, to_page) =
        (format!("perfetto={}", path(&trace)), format!("html={}", path(&page)));
    let output = seatrial(&["replay", witness, "--report", &to_trace, "--report", &to_page]);
    assert_eq!(code(&output), 100, "{}", text(&output.stderr));
    let steps =
        list(&json(&trace)["traceEvents"]).iter().filter(|event| event["cat"] == "step").count();
    assert!(steps >= 4, "{steps} steps");
    assert!(read(&page).contains("counts_every_increment"));
    refused(&["replay", witness, "--report", "html=/no/such/folder/x"], "can be written");
}
