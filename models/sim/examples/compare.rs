//! Runs made-up programs on our server and on one that listens, and tells where they differ:
//! `compare ADDRESS:PORT AUTHORITY.pem TOKEN PROGRAMS|FIRST..LAST [FILE.jsonl...]`. Traces from files
//! are replayed on it as well; those hold what another server answered when they were recorded.
//! In `DIFFERENCES`, if it names a file, the request of each difference is written down.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::ops::Range;
use std::process::ExitCode;
use std::time::Instant;

use seatrial_sim::apiserver::{Answer, Request};
use seatrial_sim::conformance::{
    DEFINITIONS, Live, Report, Step, Target as _, Trace, program, replay_on,
};

const STEPS: usize = 30;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, authority, token, programs, files @ ..] = &arguments[..] else {
        eprintln!("compare ADDRESS:PORT AUTHORITY.pem TOKEN PROGRAMS|FIRST..LAST [FILE.jsonl...]");
        return Ok(ExitCode::from(2));
    };
    let mut live = Live::new(address.parse()?, &std::fs::read_to_string(authority)?, token)?;
    declare(&mut live)?;
    let mut traces = Vec::new();
    for seed in seeds(programs)? {
        traces.push(("ours", program(seed, STEPS)?));
    }
    for file in files {
        let text = std::fs::read_to_string(file)?;
        for line in text.lines() {
            traces.push(("recorded", Trace::parse(line)?));
        }
    }
    if traces.is_empty() {
        return Err("there is nothing to compare: say how many programs, or name files".into());
    }
    let (begin, mut requests, mut differ) = (Instant::now(), 0, 0);
    let (mut texts, mut notes) = (BTreeMap::new(), String::new());
    for (index, (by, trace)) in traces.iter().enumerate() {
        let namespaces = format!("compared-{}-{index}", std::process::id());
        let report = replay_on(trace, &mut live, &namespaces, &mut |_| requests += 1);
        differ += usize::from(tell(by, trace, &report, &mut notes));
        for (ours, there) in report.texts {
            texts.entry(ours).or_insert(there);
        }
    }
    if let Ok(file) = std::env::var("DIFFERENCES") {
        for (ours, there) in &texts {
            writeln!(notes, "text\n  ours     {ours}\n  there    {there}")?;
        }
        std::fs::write(file, notes)?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let all = traces.len();
    println!("{differ} of {all} programs and traces differ; {requests} requests in {seconds:.1} s");
    Ok(ExitCode::from(u8::from(differ > 0)))
}

/// A number counts from nothing.
fn seeds(text: &str) -> Result<Range<u64>, Box<dyn Error>> {
    Ok(match text.split_once("..") {
        Some((first, last)) => first.parse()?..last.parse()?,
        None => 0..text.parse()?,
    })
}

/// The custom resources that programs and traces use.
fn declare(live: &mut Live) -> Result<(), Box<dyn Error>> {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for definition in DEFINITIONS {
        match live.send(&Request::new("POST", path).content("application/json", definition)) {
            // It is there from an earlier run.
            Answer::Response(answer) if matches!(answer.status, 201 | 409) => {}
            other => {
                let why = format!("the server does not take the custom resource: {other:?}");
                return Err(why.into());
            }
        }
    }
    Ok(())
}

/// Prints the first difference between who answered first and the server that listens; false if there
/// is none.
fn tell(by: &str, trace: &Trace, report: &Report, notes: &mut String) -> bool {
    let Some(first) = report.departures.first() else { return false };
    println!("{}, step {}, {} (rules of `{}`)", trace.name, first.step, first.path, first.rules);
    println!("  {by:<8} {}\n  {:<8} {}", first.recorded, "there", first.ours);
    for it in report.departures.iter().filter(|it| it.step == first.step) {
        let _ = writeln!(
            notes,
            "{} step {} {}: {} / {}",
            trace.name, it.step, it.path, it.recorded, it.ours
        );
    }
    if let Some(Step::Read { watch: read, events, .. }) = trace.steps.get(first.step) {
        for step in &trace.steps[..first.step] {
            if let Step::Open { watch, request, .. } = step
                && watch == read
            {
                let _ = writeln!(notes, "  asked    {request}\n  {by:<8} {events}\n");
            }
        }
    }
    if let Some(Step::Call { request, response } | Step::Open { request, response, .. }) =
        trace.steps.get(first.step)
    {
        let _ = writeln!(notes, "  asked    {request}\n  {by:<8} {response}\n");
    }
    true
}
