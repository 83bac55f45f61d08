//! Small controllers, one for each pattern that the books on controllers teach: the correct one holds under
//! the default plan, the one with a bug is convicted. The table of `docs/checking/patterns.md` is this one.

mod kit;
mod list;

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::runtime::controller::Action;
use seatrial_sim::simulation::{Simulation, is_exact};
use serde_json::{Value, json};

use crate::kit::{Done, Kit, Reconcile, reconciles, soon};

/// A pattern: its name, its bug, and the user's steps, a letter each.
struct Pattern {
    name: &'static str,
    bug: &'static str,
    steps: &'static str,
    of: Box<dyn Fn(bool) -> Simulation>,
}

fn pattern<F: Future<Output = Done> + Send + 'static>(
    (name, bug, steps): (&'static str, &'static str, &'static str),
    reconcile: fn(Value, Arc<Kit>) -> F,
    again: fn(&Kit) -> Action,
) -> Pattern {
    let reconcile: Reconcile = Arc::new(move |map, kit| Box::pin(reconcile(map, kit)));
    let of = Box::new(move |is_wrong| {
        let reconcile = reconcile.clone();
        Simulation::of(move |connection| {
            let client = Client::new(connection, "default");
            reconciles(client, is_wrong, reconcile.clone(), again)
        })
    });
    Pattern { name, bug, steps, of }
}

fn patterns() -> Vec<Pattern> {
    first_lessons().into_iter().chain(later_lessons()).collect()
}

fn first_lessons() -> Vec<Pattern> {
    use crate::list::*;
    vec![
        pattern(
            ("children of fixed names", "one child stands for all of them", "a"),
            children,
            soon,
        ),
        pattern(
            ("create, and what is there is fine", "what is there is an error for ever", "a"),
            creates,
            soon,
        ),
        pattern(
            (
                "children of generated names, found by label",
                "found by a note that comes later",
                "a",
            ),
            generates,
            soon,
        ),
        pattern(
            (
                "server-side apply of everything",
                "only what is not noted as applied, noted before",
                "as",
            ),
            applies,
            soon,
        ),
        pattern(("finalizer", "removed before its work", "ad"), finalizes, soon),
        pattern(
            ("finalizer whose work is done twice", "the second time is an error for ever", "ad"),
            finalizes_twice,
            soon,
        ),
        pattern(("status from what there is", "from what was just done", "a"), says, soon),
        pattern(("observed generation", "noted before the work", "as"), observes, soon),
        pattern(
            ("scaling by a list", "by the number that the process remembers", "as"),
            scales,
            soon,
        ),
        pattern(("phases", "the phase is written before what it says", "a"), phases, soon),
    ]
}

fn later_lessons() -> Vec<Pattern> {
    use crate::list::*;
    vec![
        pattern(("error policy", "an error is the end of it", "a"), retries, never),
        pattern(("errors are passed on", "an error is swallowed", "a"), passes_errors_on, soon),
        pattern(
            ("owned objects are made again", "not while the process remembers them", "ax"),
            heals,
            soon,
        ),
        pattern(("password drawn once", "once in a process", "a"), draws, soon),
        pattern(("counter of what there is", "of what was done", "a"), counts, soon),
        pattern(
            ("revision in the object itself", "its cause is noted in another object", "as"),
            revises,
            soon,
        ),
        pattern(("history of revisions", "numbered by the process", "as"), keeps_history, soon),
        pattern(("owner in the first write", "in the second write", "ad"), owns, soon),
        pattern(
            ("successor of the same name", "the predecessor's child is taken for its own", "ada"),
            succeeds,
            soon,
        ),
        pattern(
            ("child that is filled later", "expected to be full", "a"),
            reads_what_is_half,
            soon,
        ),
        pattern(
            ("one object for all", "from what the process has heard of", "abds"),
            sums_up,
            soon,
        ),
        pattern(
            ("claim of something free", "without a look for an earlier claim", "a"),
            claims,
            soon,
        ),
        pattern(
            ("clean-up by a cache, confirmed by a read", "not confirmed", "ab"),
            cleans_up,
            soon,
        ),
        pattern(("migration to another object", "the old one goes first", "as"), migrates, soon),
        pattern(
            ("replacement when a hash differs", "when a note differs, noted before", "as"),
            replaces,
            soon,
        ),
    ]
}

fn map(name: &str) -> ConfigMap {
    let map =
        json!({"metadata": {"name": name, "labels": {"role": "parent"}}, "data": {"size": "2"}});
    serde_json::from_value(map).expect("a map")
}

impl Pattern {
    fn simulation(&self, is_wrong: bool) -> Simulation {
        self.steps.chars().fold((self.of)(is_wrong), |simulation, step| match step {
            'a' => simulation.create(&map("a")),
            'b' => simulation.create(&map("b")),
            'd' => simulation.delete("ConfigMap", "a"),
            'x' => simulation.delete("Secret", "a"),
            _ => {
                let name = if self.steps.contains('b') { "b" } else { "a" };
                simulation.patch("ConfigMap", name, json!({"data": {"size": "1"}}))
            }
        })
    }
}

const PAGE: &str = include_str!("../../../../docs/checking/patterns.md");

/// Tries those whose names have the words of `SEATRIAL_PATTERNS`: all by night, one by day.
#[test]
fn correct_patterns_hold_and_bugs_are_convicted() {
    let words = std::env::var("SEATRIAL_PATTERNS").unwrap_or_else(|_| "fixed names".to_owned());
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for pattern in patterns() {
        let row = format!("| {} | {} |", pattern.name, pattern.bug);
        if !PAGE.contains(&row) {
            wrong.push(format!("the page lacks {row}"));
        }
        if words != "all" && !pattern.name.contains(&words) {
            continue;
        }
        tried += 1;
        if let Err(failure) = pattern.simulation(false).try_check() {
            wrong.push(format!("a false alarm: {row} {failure}"));
        }
        match pattern.simulation(true).try_check() {
            Err(failure) if failure.inadmissible.is_none() => {
                let row = format!("{row} `{}` |", failure.plan);
                if is_exact() && !PAGE.contains(&row) {
                    wrong.push(format!("the page says otherwise: {row}"));
                }
            }
            Err(failure) => wrong.push(format!("inadmissible: {row} {failure}")),
            Ok(report) => wrong.push(format!("not found: {row} {report}")),
        }
    }
    let (rows, count) = (PAGE.matches("` |\n").count(), patterns().len());
    assert_eq!(rows, count, "rows of the page");
    assert!(PAGE.contains(&format!("{count} correct ones")), "the page counts otherwise");
    assert!(tried > 0, "no pattern has the words {words:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
