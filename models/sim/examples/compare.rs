//! Runs made-up programs on our server and on one that listens, and tells where they differ:
//! `compare ADDRESS:PORT AUTHORITY.pem TOKEN PROGRAMS [FILE.jsonl...]`. Traces from files are replayed
//! on it as well; those hold what another server answered when they were recorded.

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use seatrial_sim::apiserver::{Answer, Request};
use seatrial_sim::conformance::{DEFINITION, Live, Report, Target as _, Trace, program, replay_on};

const STEPS: usize = 30;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, authority, token, programs, files @ ..] = &arguments[..] else {
        eprintln!("compare ADDRESS:PORT AUTHORITY.pem TOKEN PROGRAMS [FILE.jsonl...]");
        return Ok(ExitCode::from(2));
    };
    let mut live = Live::new(address.parse()?, &std::fs::read_to_string(authority)?, token)?;
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    match live.send(&Request::new("POST", path).content("application/json", DEFINITION)) {
        // It is there from an earlier run.
        Answer::Response(answer) if matches!(answer.status, 201 | 409) => {}
        other => {
            return Err(format!("the server does not take the custom resource: {other:?}").into());
        }
    }
    let mut traces = Vec::new();
    for seed in 0..programs.parse()? {
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
    for (index, (by, trace)) in traces.iter().enumerate() {
        let namespaces = format!("compared-{}-{index}", std::process::id());
        let report = replay_on(trace, &mut live, &namespaces, &mut |_| requests += 1);
        differ += usize::from(tell(by, trace, &report));
    }
    let seconds = begin.elapsed().as_secs_f64();
    let all = traces.len();
    println!("{differ} of {all} programs and traces differ; {requests} requests in {seconds:.1} s");
    Ok(ExitCode::from(u8::from(differ > 0)))
}

/// Prints the first difference between who answered first and the server that listens; false if there
/// is none.
fn tell(by: &str, trace: &Trace, report: &Report) -> bool {
    let Some(first) = report.departures.first() else { return false };
    println!("{}, step {}, {} (rules of `{}`)", trace.name, first.step, first.path, first.rules);
    println!("  {by:<8} {}\n  {:<8} {}", first.recorded, "there", first.ours);
    true
}
