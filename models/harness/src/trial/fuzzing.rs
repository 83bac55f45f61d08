//! Made-up calls: random bytes through the property that fuzzers feed, in this process.
//!
//! A fuzzer learns from the code that its bytes reach; this engine does not, and so needs no
//! compiler of its own. It shows how many mistakes plain random calls find, as a measure for the
//! schedules of the other engines. A difference from the sequential object convicts, not an
//! invariant.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::author::AGREES;
use crate::engine::{End, Exploration, Route, panic_text, quietly, told_in_full};
use crate::interrupt;
use crate::outcome::{Finding, Line, Plan, Replayed, Trial, Violation, transcript};
use crate::random::Random;
use crate::single_step::calls_of;

/// Stands in the place of a scenario where calls are made up.
pub const MADE_UP_CALLS: &str = "made_up_calls";

/// The most bytes of one sequence of calls.
const LONGEST: u64 = 200;
/// The most replays that making a sequence small may cost.
const REPLAYS: u32 = 2_000;

/// Runs one sequence; returns what the property said if it failed.
fn fails(property: &dyn Fn(&[u8]), bytes: &[u8]) -> Option<String> {
    let ended = quietly(|| catch_unwind(AssertUnwindSafe(|| property(bytes))));
    ended.err().map(|panic| panic_text(&*panic))
}

/// Returns the bytes of one sequence. Short ones come often: they are quick, and easy to read.
fn bytes(random: &mut Random) -> Vec<u8> {
    let longest = 8 + random.bits() % LONGEST;
    let length = 1 + random.bits() % longest;
    (0..length).map(|_| (random.bits() >> 24) as u8).collect()
}

/// Runs sequences until one fails or the budget is spent.
pub(super) fn run(property: &dyn Fn(&[u8]), plan: &Plan) -> Trial {
    let began = Instant::now();
    let mut random = Random::new(plan.seed);
    let (mut executions, mut findings) = (0, Vec::new());
    while executions < plan.budget.sequences && !interrupt::asked() {
        if plan.time.is_some_and(|time| began.elapsed() >= time) {
            break;
        }
        executions += 1;
        let made_up = bytes(&mut random);
        if let Some(text) = fails(property, &made_up) {
            let (small, text) =
                if plan.minimise { minimise(property, made_up, text) } else { (made_up, text) };
            let (text, calls) = told(property, &small).unwrap_or((text, Vec::new()));
            findings.push(finding(&small, text, calls, executions));
            break;
        }
    }
    let exploration = Exploration { executions, steps: 0, exhausted: false };
    Trial::new(exploration, findings, true, began.elapsed())
}

/// Runs one sequence; if it fails, returns what was said, and every call up to the one that failed.
fn told(property: &dyn Fn(&[u8]), bytes: &[u8]) -> Option<(String, Vec<Line>)> {
    let (said, calls) = calls_of(|| fails(property, bytes));
    let line = |text| Line { name: "caller".to_owned(), text, ..Line::default() };
    Some((said?, calls.into_iter().map(line).collect()))
}

fn finding(bytes: &[u8], text: String, lines: Vec<Line>, execution: u64) -> Finding {
    let (at, because) = (lines.len().checked_sub(1), told_in_full(&text));
    Finding {
        invariant: AGREES,
        violation: Violation { at, because },
        execution,
        preemptions: None,
        proved_minimum: None,
        route: Some(Route::Run(hex(bytes).into())),
        lines,
        end: End::Panicked(text),
        compared: None,
    }
}

/// Leaves out halves of the bytes, then quarters, down to single ones, for as long as it fails.
fn minimise(property: &dyn Fn(&[u8]), bytes: Vec<u8>, text: String) -> (Vec<u8>, String) {
    let (mut best, mut said) = (bytes, text);
    let mut replays = 0;
    let mut size = best.len().div_ceil(2);
    while size > 0 {
        let mut from = 0;
        while from < best.len() && replays < REPLAYS {
            replays += 1;
            let to = (from + size).min(best.len());
            let shorter = [&best[..from], &best[to..]].concat();
            match fails(property, &shorter) {
                Some(text) => (best, said) = (shorter, text),
                None => from = to,
            }
        }
        size /= 2;
    }
    (best, said)
}

/// Runs the sequence of a witness again; `None` if the text is not a sequence of bytes.
pub(super) fn replay(property: &dyn Fn(&[u8]), text: &str) -> Option<Replayed> {
    let bytes = unhex(text)?;
    let Some((said, lines)) = told(property, &bytes) else {
        let transcript = transcript(&[], &End::Finished);
        return Some(Replayed {
            findings: Vec::new(),
            transcript,
            lines: Vec::new(),
            picture: None,
        });
    };
    let finding = finding(&bytes, said, lines.clone(), 1);
    Some(Replayed {
        transcript: finding.transcript(),
        findings: vec![finding],
        lines,
        picture: None,
    })
}

/// Writes bytes as text; no bytes are one dot, since a route is never empty.
fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return ".".to_owned();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text == "." {
        return Some(Vec::new());
    }
    let digits = text.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::single_step::each_call;
    use crate::trial::{Budget, StopAt};

    fn plan() -> Plan {
        let (engine, budget, stop_at) = (Engine::Fuzz, Budget::smoke(), StopAt::FirstViolation);
        Plan { engine, budget, seed: 0, stop_at, minimise: true, time: None }
    }

    #[test]
    fn what_fails_shrinks_to_what_matters_and_replays() {
        let property = |bytes: &[u8]| {
            let seven = bytes.iter().position(|byte| byte % 16 == 7);
            let then = seven.is_some_and(|at| bytes[at..].iter().any(|byte| byte % 16 == 9));
            assert!(!then, "a nine after a seven");
        };
        let trial = run(&property, &plan());
        let finding = &trial.findings[0];
        assert_eq!(finding.execution, trial.exploration.executions);
        let Some(Route::Run(route)) = &finding.route else { panic!("bytes lead there") };
        assert_eq!(unhex(route).map(|bytes| bytes.len()), Some(2), "{route}");
        let replayed = replay(&property, route).unwrap();
        assert_eq!(replayed.transcript, finding.transcript());
        assert_eq!(replayed.findings.len(), 1);
    }

    #[test]
    fn every_call_up_to_the_one_that_failed_is_shown_in_words() {
        let property = |bytes: &[u8]| {
            each_call([bytes.len()]).for_each(drop); // another part of the property
            for call in each_call(bytes.chunks(1).map(|byte| format!("byte {}", byte[0] % 4))) {
                assert!(call != "byte 3", "three is too much");
            }
        };
        let trial = run(&property, &plan());
        let finding = &trial.findings[0];
        let texts: Vec<_> = finding.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["\"byte 3\""], "made small, and without what came before");
        let because = &finding.violation.because;
        assert!(
            because.contains("fuzzing.rs:") && because.ends_with("three is too much"),
            "{because}"
        );
        let Some(Route::Run(route)) = &finding.route else { panic!("bytes lead there") };
        let replayed = replay(&property, route).unwrap();
        assert_eq!((replayed.transcript, replayed.lines.len()), (finding.transcript(), 1));
        assert_eq!(replay(&property, "00").unwrap().findings, []);
    }

    #[test]
    fn what_never_fails_costs_the_budget() {
        let trial = run(&|_| {}, &plan());
        assert_eq!(
            (trial.exploration.executions, trial.findings.len()),
            (plan().budget.sequences, 0)
        );
    }

    #[test]
    fn bytes_survive_their_text_and_other_text_is_refused() {
        for bytes in [vec![], vec![0], vec![255, 16]] {
            assert_eq!(unhex(&hex(&bytes)), Some(bytes));
        }
        for text in ["0", "xy", "é"] {
            assert_eq!(unhex(text), None, "{text}");
        }
    }
}
