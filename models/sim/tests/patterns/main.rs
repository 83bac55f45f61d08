//! Small controllers, one for each pattern that the books on controllers teach: the correct one holds under
//! the default plan, the one with a bug is convicted. The table of `docs/checking/patterns.md` is this one.

mod kit;
mod list;
mod more;

use std::sync::Arc;

use kube::Client;
use kube::runtime::controller::Action;
use seatrial_sim::simulation::{Connection, Simulation, is_exact};
use serde_json::{Value, json};

use crate::kit::{Done, Kit, Reconcile, apps, reconciles, soon};

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
    let kind = if steps.contains('A') { "App" } else { "ConfigMap" };
    let of = Box::new(move |is_wrong| {
        let reconcile = reconcile.clone();
        let run = move |connection: Connection| {
            let shard = connection.identity().split('-').nth(1).and_then(|it| it.parse().ok());
            let shard = if steps.contains('2') { shard.unwrap_or(0) } else { 0 };
            let client = (Client::new(connection, "default"), shard);
            reconciles(client, (kind, is_wrong), reconcile.clone(), again)
        };
        match steps.contains('2') {
            true => Simulation::system().replicas("shard", 2, run),
            false => Simulation::of(run),
        }
    });
    Pattern { name, bug, steps, of }
}

fn patterns() -> Vec<Pattern> {
    first_lessons().into_iter().chain(later_lessons()).chain(last_lessons()).collect()
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

fn last_lessons() -> Vec<Pattern> {
    use crate::more::*;
    vec![
        pattern(
            ("conditions with their times", "one more for each process", "A"),
            conditions,
            soon,
        ),
        pattern(
            (
                "what is there is changed, and the generation noted",
                "only what lacks is made, and the generation noted",
                "AS",
            ),
            updates,
            soon,
        ),
        pattern(
            ("nothing is done for a generation that is observed", "noted before the work", "AS"),
            skips,
            soon,
        ),
        pattern(("shards by name", "by the place among all", "2ba"), shards, soon),
        pattern(
            ("adoption of what a label selects", "the process remembers that it has adopted", "pa"),
            adopts,
            soon,
        ),
        pattern(("rolling update", "of what the process has seen change", "as"), rolls, soon),
        pattern(("one manager of the fields", "another one for each process", "as"), manages, soon),
        pattern(
            (
                "new pod for a new hash of its configuration",
                "a hash with a seed of the process",
                "as",
            ),
            hashes,
            soon,
        ),
        pattern(
            ("the newest revisions are kept", "those that the process has made", "ast"),
            forgets,
            soon,
        ),
    ]
}

fn map(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"size": "2"},
        "metadata": {"name": name, "labels": {"role": "parent"}},
    })
}

fn app() -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "App", "spec": {"size": 2},
        "metadata": {"name": "a", "labels": {"role": "parent"}},
    })
}

/// Something that is there to be adopted.
fn spare(number: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": format!("spare-{number}"), "labels": {"pool": "yes"}},
    })
}

impl Pattern {
    fn simulation(&self, is_wrong: bool) -> Simulation {
        self.steps.chars().fold((self.of)(is_wrong), |simulation, step| match step {
            'a' => simulation.create(&map("a")),
            'b' => simulation.create(&map("b")),
            'd' => simulation.delete("ConfigMap", "a"),
            'x' => simulation.delete("Secret", "a"),
            'A' => simulation.given(&apps()).create(&app()),
            'S' => simulation.patch("App", "a", json!({"spec": {"size": 1}})),
            'p' => (0..3).fold(simulation, |it, number| it.given(&spare(number))),
            't' => simulation.patch("ConfigMap", "a", json!({"data": {"size": "3"}})),
            '2' => simulation,
            _ => {
                let name = if self.steps.contains('b') { "b" } else { "a" };
                simulation.patch("ConfigMap", name, json!({"data": {"size": "1"}}))
            }
        })
    }
}

const PAGE: &str = include_str!("../../../../docs/checking/patterns.md");

/// The patterns whose names have the words of `SEATRIAL_PATTERNS`: all by night, one by day.
fn tried() -> Vec<Pattern> {
    let words = std::env::var("SEATRIAL_PATTERNS").unwrap_or_else(|_| "fixed names".to_owned());
    let is_tried = |it: &Pattern| words == "all" || it.name.contains(&words);
    let tried: Vec<_> = patterns().into_iter().filter(is_tried).collect();
    assert!(!tried.is_empty(), "no pattern has the words {words:?}");
    tried
}

#[test]
fn correct_patterns_hold_and_bugs_are_convicted() {
    let mut wrong = Vec::new();
    for pattern in tried() {
        let row = format!("| {} | {} |", pattern.name, pattern.bug);
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
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_page_has_a_row_for_each_pattern() {
    let (rows, all) = (PAGE.matches("` |\n").count(), patterns());
    for Pattern { name, bug, .. } in &all {
        assert!(PAGE.contains(&format!("| {name} | {bug} |")), "{name}");
    }
    assert_eq!(rows, all.len(), "rows of the page");
    assert!(PAGE.contains(&format!("{} correct ones", all.len())), "the page counts otherwise");
}

/// The patterns whose purpose is to keep what was before.
const KEEP: [&str; 4] = [
    "revision in the object itself",
    "history of revisions",
    "the newest revisions are kept",
    "migration to another object",
];

#[test]
fn the_end_of_correct_patterns_does_not_depend_on_the_way() {
    let mut wrong = Vec::new();
    for pattern in tried().into_iter().filter(|it| !KEEP.contains(&it.name)) {
        let (first, given) = match pattern.steps.contains('A') {
            true => (app(), Some(apps())),
            false => (map("a"), None),
        };
        let mut operations = given.iter().fold((pattern.of)(false), |it, given| it.given(given));
        if pattern.steps.contains('p') {
            operations = (0..3).fold(operations, |it, number| it.given(&spare(number)));
        }
        let mut operations = operations.operations(&first).sequences(10, 1);
        for size in [1, 3] {
            let mut other = first.clone();
            match given.is_some() {
                true => other["spec"]["size"] = size.into(),
                false => other["data"]["size"] = size.to_string().into(),
            }
            operations = operations.example(&other);
        }
        match operations.try_check() {
            Ok(survey) => println!("{}: {survey}", pattern.name),
            Err(found) => wrong.push(format!("{}: {found}", pattern.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
