//! The command line, end to end, from the view of a new user.

use std::path::Path;

use crate::common::{code, folder, refused, seatrial, text};

/// Returns a fresh witness of a mutant from the JSON on standard output.
fn witness(engine: &str) -> String {
    let arguments = ["mutants", "queue/lost_requeue", "--engine", engine, "--format", "json"];
    let output = seatrial(&arguments);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let witness = &report["mutants"][0]["kills"][0]["witness"];
    witness.as_str().expect("a conviction has a witness").to_owned()
}

#[test]
fn a_run_says_what_held_and_writes_its_reports() {
    let folder = folder("reports");
    let (json, junit) = (folder.join("r.json"), folder.join("r.xml"));
    let to = |format: &str, path: &Path| format!("{format}={}", path.display());
    let output = seatrial(&[
        "run",
        "canary",
        "--budget",
        "500",
        "--report",
        &to("json", &json),
        "--report",
        &to("junit", &junit),
    ]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("violated as expected"), "{}", text(&output.stdout));
    let report = std::fs::read_to_string(&json).expect("the report is there");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["outcome"], "holds");
    let rows = report["rows"].as_array().expect("rows");
    for engine in ["loom", "sample", "threads"] {
        let convicted = |row: &&serde_json::Value| {
            row["engine"] == engine && row["expect"] == "violated" && row["verdict"] == "violated"
        };
        assert!(rows.iter().any(|row| convicted(&row)), "{engine} convicts the canary");
    }
    let xml = std::fs::read_to_string(&junit).expect("the report is there");
    assert!(xml.contains("<testsuite name=\"canary\""), "{xml}");
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 2, "nothing half-written");
}

#[test]
fn a_run_says_what_it_does_and_a_line_per_component() {
    let output = seatrial(&["run", "canary", "queue/two_getters", "--budget", "50", "--jobs", "2"]);
    let said = text(&output.stderr);
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    let [first, ..] = lines[..] else { panic!("{said}") };
    assert!(
        first.starts_with("checking ") && first.contains("of 2 components on loom, "),
        "{said}"
    );
    assert!(first.ends_with("(budget 50, 2 at a time)"), "{said}");
    for component in ["canary", "queue"] {
        let of_it = |line: &&&str| line.starts_with(&format!("{component}: "));
        let line = lines.iter().find(of_it).expect(&said);
        assert!(line.contains(" cases, as expected ("), "{said}");
    }
    let table = text(&output.stdout);
    let verbose = text(&seatrial(&["run", "canary", "--budget", "50", "--verbose"]).stdout);
    assert!(!table.contains("lost_update") && verbose.contains("lost_update"), "{table}{verbose}");
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let report = || {
        let output = seatrial(&["run", "two_", "--budget", "300", "--format", "json"]);
        let mut report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        report["timing"] = serde_json::Value::Null;
        report.to_string()
    };
    assert_eq!(report(), report());
}

#[test]
fn nothing_is_printed_but_the_table_and_how_far_it_is() {
    // Several cases run at the same time. A change of the panic hook by one case must not print a
    // panic of another; some of these cases convict by a panic.
    for arguments in [
        &["mutants", "queue/do", "--budget", "50", "--jobs", "4"][..],
        &["mutants", "fifo/close_", "--budget", "50", "--jobs", "4"],
        &["run", "canary", "queue/panicking_worker", "--budget", "50", "--jobs", "4"],
    ] {
        let output = seatrial(arguments);
        let said = text(&output.stderr);
        let mut lines = said.lines();
        assert!(lines.next().is_some_and(|line| line.starts_with("checking ")), "{said}");
        assert!(lines.all(|line| line.contains(" case")), "{said}");
        assert!(!text(&output.stdout).contains("panicked at"), "{arguments:?}");
    }
}

#[test]
fn the_text_of_a_panic_goes_into_its_witness() {
    let witness = witness("fuzz");
    let output = seatrial(&["replay", &witness]);
    assert_eq!(code(&output), 100, "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let told = said.split_once("agrees_with_the_sequential_object: panicked at ").expect(&said).1;
    assert!(told.lines().next().is_some_and(|line| line.contains(": assertion")), "{said}");
    assert_eq!(text(&output.stderr), "");
    refused(&["shrink", &witness], "replay this witness");
}

#[test]
fn mutants_are_listed_with_what_they_break() {
    let said = text(&seatrial(&["list", "registry/starts_once"]).stdout);
    assert!(said.contains("starts_once ") && said.contains(" breaks all_run: own: "), "{said}");
    let equivalent = text(&seatrial(&["list", "registry/plain"]).stdout);
    assert!(equivalent.contains("(equivalent: ") && !equivalent.contains("breaks"), "{equivalent}");
}

#[test]
fn what_follows_names_lines_up_however_long_they_are() {
    for arguments in [
        &["run", "elector/cx_15", "--engine", "trace", "--verbose"][..],
        &["list", "elector/cx_15"],
    ] {
        let said = text(&seatrial(arguments).stdout);
        let mut names = Vec::new();
        let mut follows = Vec::new();
        for line in said.lines().filter(|line| line.trim().starts_with("cx_15")) {
            let behind =
                line.trim_start().find(' ').expect(&said) + line.find("cx_15").expect(&said);
            names.push(behind);
            follows.push(behind + line[behind..].find(|it: char| it != ' ').expect(&said));
        }
        names.dedup();
        assert!(names.len() > 1 && names.iter().any(|end| *end > 44), "{said}");
        follows.dedup();
        assert_eq!(follows.len(), 1, "{said}");
    }
}

#[test]
fn bad_input_is_refused_with_advice() {
    refused(&["run", "no_such_thing"], "seatrial list");
    refused(&["list", "no_such_thing"], "seatrial list");
    refused(&["mutants", "no_such_thing"], "seatrial list");
    refused(&["run", "--budget", "0"], "runs nothing");
    refused(&["run", "--budget", "some"], "use smoke, ci, nightly");
    refused(&["run", "--engine", "warp"], "possible values: loom, trace, state");
    refused(&["run", "--report", "json"], "json=report.json");
    refused(&["run", "--report", "pdf=x"], "unknown report format");
    refused(&["run", "--report", "json=/no/such/folder/r.json"], "folder that can be written");
    refused(&["conformance", "/no/such/folder"], "cannot read");
    refused(&["replay", "hello"], "copy the whole text");
    refused(&["frobnicate"], "unrecognized subcommand");
}

#[test]
fn the_help_lists_what_may_be_given() {
    use seatrial_models::{engine::Engine, report::Format};
    let help = |command: &str| text(&seatrial(&[command, "--help"]).stdout);
    let whole = text(&seatrial(&["--help"]).stdout);
    assert!(whole.contains("Without a command everything is run"), "{whole}");
    for command in ["run", "mutants"] {
        let known = Engine::ALL.iter().all(|engine| help(command).contains(engine.name()));
        assert!(known, "{}", help(command));
    }
    for command in ["run", "mutants", "conformance", "merge", "replay", "report"] {
        let known = Format::ALL.iter().all(|format| help(command).contains(format.name()));
        assert!(known, "{}", help(command));
    }
    assert!(!help("conformance").contains("--witnesses"), "traces have none");
    refused(&["conformance", "--witnesses", "folder"], "unexpected argument");
}

#[test]
fn one_stream_takes_one_report() {
    let both = ["run", "canary", "--report", "html=-", "--report", "json=-"];
    refused(&both, "a file of its own");
    refused(&["run", "canary", "--format", "json", "--report", "html=-"], "name a file");
    refused(&["merge", "a.json", "-o", "-", "--format", "json"], "name a file");
    refused(&["report", "a.json", "--to", "json=a", "--to", "html=a"], "two reports go to a");
}

#[test]
fn a_folder_without_traces_is_refused() {
    let folder = folder("no_traces");
    refused(&["conformance", &folder.display().to_string()], "holds no traces");
}

#[test]
fn a_file_without_traces_is_refused() {
    let folder = folder("empty_traces");
    std::fs::write(folder.join("workqueue.jsonl"), "\n").expect("written");
    refused(&["conformance", &folder.display().to_string()], "one is expected in every line");
}

#[test]
fn all_of_a_compressed_file_is_read_or_none() {
    use std::io::Write as _;
    let pack = |text: &str| {
        let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        packed.write_all(text.as_bytes()).expect("memory");
        packed.finish().expect("memory")
    };
    let folder = folder("compressed_traces");
    let (file, path) = (folder.join("workqueue.jsonl.gz"), folder.display().to_string());
    let text = seatrial_models::conformance::carried("workqueue").expect("carried");
    let lines: Vec<_> = text.lines().take(50).collect();
    let [first, second] = [&lines[..25], &lines[25..]].map(|half| half.join("\n") + "\n");
    let write = |second: &str| {
        std::fs::write(&file, [pack(&first), pack(second)].concat()).expect("written");
    };
    write(&second);
    let output = seatrial(&["conformance", &path]);
    assert!(self::text(&output.stdout).contains("50 of 50"), "{}", self::text(&output.stdout));
    write(&second.replacen("\"len\":1", "\"len\":9", 1));
    assert_eq!(code(&seatrial(&["conformance", &path])), 100, "what was appended is read as well");
    let whole = pack(&first);
    std::fs::write(&file, &whole[..whole.len() / 2]).expect("written");
    refused(&["conformance", &path], "cannot read");
}

#[test]
fn standard_output_is_the_report_if_it_is_asked_for_there() {
    let output = seatrial(&["run", "canary", "--budget", "50", "--report", "json=-"]);
    assert_eq!(code(&output), 0);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    assert_eq!(report["outcome"], "holds");
    assert!(text(&output.stderr).contains("violated as expected"), "the table is told aside");
}

#[test]
fn a_damaged_witness_is_refused() {
    let witness = witness("sample");
    refused(&["replay", &witness[..witness.len() - 3]], "damaged");
    refused(&["replay", &witness.replace("lost_requeue", "lost_wakeups")], "damaged");
    let older = witness.replacen("seatrial-0.1", "seatrial-0.0", 1);
    refused(&["replay", &older], "written by seatrial 0.0");
    let this = concat!("this is seatrial ", env!("CARGO_PKG_VERSION"), ", ");
    refused(&["replay", &older], this);
}

#[test]
fn a_witness_of_something_unknown_is_refused() {
    use seatrial_models::trial::Witness;
    let known: Witness = witness("sample").parse().expect("it was just written");
    let unknown = |change: fn(&mut Witness)| {
        let mut changed = known.clone();
        change(&mut changed);
        changed.to_string()
    };
    let component = unknown(|witness| witness.component = "nobody".to_owned());
    refused(&["replay", &component], "'nobody', which is not known here");
    let scenario = unknown(|witness| witness.scenario = "nothing".to_owned());
    refused(&["replay", &scenario], "'nothing', which is not known here");
    let mutant = unknown(|witness| witness.mutant = Some("harmless".to_owned()));
    refused(&["replay", &mutant], "'harmless', which is not known here");
}

#[test]
fn a_witness_replays_a_hundred_times_in_fresh_processes() {
    let folder = folder("witnesses");
    for engine in ["loom", "sample"] {
        let witness = witness(engine);
        let file = folder.join(format!("{engine}.txt"));
        std::fs::write(&file, format!("# found by {engine}\n\n{witness}\n")).expect("written");
        let first = seatrial(&["replay", &witness]);
        assert_eq!(code(&first), 100, "{}", text(&first.stdout));
        assert!(text(&first.stdout).contains("dirty_is_requeued"), "{}", text(&first.stdout));
        for again in 0..100 {
            let from = if again % 2 == 0 { &witness } else { &file.display().to_string() };
            let output = seatrial(&["replay", from]);
            assert_eq!(output.stdout, first.stdout, "{engine}, time {again}");
            assert_eq!(code(&output), 100, "{engine}, time {again}");
        }
    }
}

#[test]
fn a_witness_of_other_code_diverges() {
    use seatrial_models::trial::Witness;
    let mut witness: Witness = witness("sample").parse().expect("it was just written");
    witness.mutant = None; // the code that ships does not do what the mutant did
    let output = seatrial(&["replay", &witness.to_string()]);
    assert_eq!(code(&output), 102, "{}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn the_traces_of_a_folder_are_replayed() {
    let folder = folder("traces");
    let text = seatrial_models::conformance::carried("workqueue").expect("carried");
    let some: Vec<_> = text.lines().take(50).collect();
    std::fs::write(folder.join("workqueue.jsonl"), some.join("\n")).expect("written");
    let path = folder.display().to_string();
    let output = seatrial(&["conformance", &path]);
    assert_eq!(code(&output), 0, "{}", self::text(&output.stdout));
    assert!(self::text(&output.stdout).contains("50 of 50"), "{}", self::text(&output.stdout));
    let flipped = some.join("\n").replacen("\"len\":1", "\"len\":9", 1);
    std::fs::write(folder.join("workqueue.jsonl"), flipped).expect("written");
    assert_eq!(code(&seatrial(&["conformance", &path])), 100);
}
