//! Small controllers, one for each pattern that the books on controllers teach: the correct one holds under
//! the default plan, the one with a bug is convicted. Their names and their bugs are in the table of
//! `docs/checking/patterns.md`.

mod kit;
mod list;
mod more;

use std::sync::Arc;

use kube::Client;
use kube::runtime::controller::Action;
use seatrial_sim::simulation::{Connection, Simulation, is_exact};
use serde_json::{Value, json};

use crate::kit::{Done, Kit, Reconcile, apps, reconciles, soon};

/// A pattern: its name and its bug, as the page has them, the user's steps, a letter each, and the controller.
struct Pattern {
    name: &'static str,
    bug: &'static str,
    steps: &'static str,
    of: Of,
}

/// A controller with its bug or without.
type Of = Box<dyn Fn(bool) -> Simulation>;

fn controller<F: Future<Output = Done> + Send + 'static>(
    name: &'static str,
    steps: &'static str,
    reconcile: fn(Value, Arc<Kit>) -> F,
    again: fn(&Kit) -> Action,
) -> Pattern {
    let row = rows().find(|it| it.0 == name);
    let (_, bug) = row.unwrap_or_else(|| panic!("the page has no row {name:?}"));
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

/// The controllers by the names of their rows.
fn patterns() -> Vec<Pattern> {
    vec![
        controller("children of fixed names", "a", list::children, soon),
        controller("create, and what is there is fine", "a", list::creates, soon),
        controller("children of generated names, found by label", "a", list::generates, soon),
        controller("server-side apply of everything", "as", list::applies, soon),
        controller("finalizer", "ad", list::finalizes, soon),
        controller("finalizer whose work is done twice", "ad", list::finalizes_twice, soon),
        controller("status from what there is", "a", list::says, soon),
        controller("observed generation", "as", list::observes, soon),
        controller("scaling by a list", "as", list::scales, soon),
        controller("phases", "a", list::phases, soon),
        controller("error policy", "a", list::retries, list::never),
        controller("errors are passed on", "a", list::passes_errors_on, soon),
        controller("owned objects are made again", "ax", list::heals, soon),
        controller("password drawn once", "a", list::draws, soon),
        controller("counter of what there is", "a", list::counts, soon),
        controller("revision in the object itself", "as", list::revises, soon),
        controller("history of revisions", "as", list::keeps_history, soon),
        controller("owner in the first write", "ad", list::owns, soon),
        controller("successor of the same name", "ada", list::succeeds, soon),
        controller("child that is filled later", "a", list::reads_what_is_half, soon),
        controller("one object for all", "abds", list::sums_up, soon),
        controller("claim of something free", "a", list::claims, soon),
        controller("clean-up by a cache, confirmed by a read", "ab", list::cleans_up, soon),
        controller("migration to another object", "as", list::migrates, soon),
        controller("replacement when a hash differs", "as", list::replaces, soon),
        controller("conditions with their times", "A", more::conditions, soon),
        controller("what is there is changed, and the generation noted", "AS", more::updates, soon),
        controller("nothing is done for a generation that is observed", "AS", more::skips, soon),
        controller("shards by name", "2ba", more::shards, soon),
        controller("adoption of what a label selects", "pa", more::adopts, soon),
        controller("rolling update", "as", more::rolls, soon),
        controller("one manager of the fields", "as", more::manages, soon),
        controller("new pod for a new hash of its configuration", "as", more::hashes, soon),
        controller("the newest revisions are kept", "ast", more::forgets, soon),
    ]
}

/// The name and the bug of each row of the page.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE.lines().filter(|line| line.ends_with("` |")).map(|row| {
        let mut cells = row.split('|').skip(1).map(str::trim);
        (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
    })
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
    let (all, count) = (patterns(), rows().count());
    assert!(rows().map(|it| it.0).eq(all.iter().map(|it| it.name)), "rows of the page");
    assert!(PAGE.contains(&format!("{count} correct ones")), "the page counts otherwise");
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
