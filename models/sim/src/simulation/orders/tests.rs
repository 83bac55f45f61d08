//! The counts of a search, against an enumeration that knows nothing of trees.

use std::collections::BTreeSet;
use std::time::Duration;

use http::Request;
use http_body_util::Full;
use tower_service::Service as _;

use super::guide::Guide;
use super::search::{Orders, search};
use super::touch::{Act, Delivery, Id, Reach, Relation, commute};
use crate::apiserver::Random;
use crate::simulation::plan::Plan;
use crate::simulation::run::Run;
use crate::simulation::trace::What;
use crate::simulation::{Connection, Simulation};

/// A request: the object, and whether it is written.
type Op = (u32, bool);

/// Whether the order of two requests matters, as a person would say it.
fn conflict(one: (usize, Op), other: (usize, Op)) -> bool {
    one.0 == other.0 || (one.1.0 == other.1.0 && (one.1.1 || other.1.1))
}

/// Each interleaving, as the processes that move in turn.
fn interleavings(programs: &[Vec<Op>]) -> Vec<Vec<usize>> {
    let all = programs.iter().map(Vec::len).sum();
    let mut found = vec![Vec::new()];
    for _ in 0..all {
        let longer = found.iter().flat_map(|path: &Vec<usize>| {
            let may_move =
                |it: &usize| path.iter().filter(|other| *other == it).count() < programs[*it].len();
            let moves = (0..programs.len()).filter(may_move);
            moves.map(|it| path.iter().copied().chain([it]).collect()).collect::<Vec<_>>()
        });
        found = longer.collect();
    }
    found
}

/// How many classes the interleavings fall into: those of a class have each pair of requests that conflict
/// in the same order.
fn classes(programs: &[Vec<Op>]) -> u64 {
    let class = |path: Vec<usize>| {
        let mut next = vec![0; programs.len()];
        let mut ops = Vec::new();
        for process in path {
            ops.push((process, next[process]));
            next[process] += 1;
        }
        let op = |(process, index): (usize, usize)| (process, programs[process][index]);
        let mut pairs = BTreeSet::new();
        for (later, two) in ops.iter().enumerate() {
            let before = ops[..later].iter().filter(|one| conflict(op(**one), op(*two)));
            pairs.extend(before.map(|one| (*one, *two)));
        }
        pairs
    };
    interleavings(programs).into_iter().map(class).collect::<BTreeSet<_>>().len() as u64
}

/// A system without a server: each process waits for one request after the other.
fn play(programs: &[Vec<Op>], mut guide: Guide) -> Guide {
    let mut next = vec![0; programs.len()];
    loop {
        let waiting = (0..programs.len()).filter(|it| next[*it] < programs[*it].len());
        let delivery = |process: usize| {
            let (object, writes) = programs[process][next[process]];
            let reach = Reach::One(object.to_string());
            Delivery {
                id: Id::Request((process * 100 + next[process]) as u64),
                process,
                since: Duration::ZERO,
                resource: "configmaps".to_owned(),
                act: if writes { Act::Writes(reach) } else { Act::Reads(reach) },
                is_ordered: false,
                is_bound: false,
                text: format!("{object} {writes}"),
            }
        };
        let all: Vec<_> = waiting.map(delivery).collect();
        if all.is_empty() {
            return guide;
        }
        let Some(taken) = guide.choose(&all) else { return guide };
        next[all[taken].process] += 1;
    }
}

fn searched(programs: &[Vec<Op>], most: u64, relation: Option<Relation>) -> Orders {
    search(most, 1, relation, |guide| Some(play(programs, guide)))
}

/// Two or three processes of one to three requests for one of three objects.
fn drawn(seed: u64) -> Vec<Vec<Op>> {
    let mut chance = Random::new(seed);
    let processes = 2 + chance.below(2);
    let op = |chance: &mut Random| (chance.below(3) as u32, chance.below(2) == 0);
    let mut program = |_| (0..1 + chance.below(3)).map(|_| op(&mut chance)).collect();
    (0..processes).map(&mut program).collect()
}

#[test]
fn the_counts_are_those_of_an_enumeration() {
    let mut totals = [0, 0];
    for seed in 0..150 {
        let programs = drawn(seed);
        let (all, classes) = (interleavings(&programs).len() as u64, classes(&programs));
        let plain = searched(&programs, 1_000_000, None);
        let reduced = searched(&programs, 1_000_000, Some(commute));
        assert!(plain.is_complete && reduced.is_complete, "{programs:?}");
        assert_eq!([plain.distinct, reduced.distinct], [all, classes], "{programs:?}");
        totals = [totals[0] + all, totals[1] + classes];
    }
    println!("{} orders are {} up to those that commute", totals[0], totals[1]);
    assert!(totals[0] > 4 * totals[1], "{totals:?}");
}

#[test]
fn a_relation_that_commutes_too_much_loses_orders_and_the_count_tells() {
    let too_much: Relation = |one, other| one.process != other.process;
    let reads_too: Relation = |one, other| {
        let writes = |it: &Delivery| matches!(it.act, Act::Writes(_));
        commute(one, other) || (one.process != other.process && !(writes(one) && writes(other)))
    };
    for relation in [too_much, reads_too] {
        let differs = |seed: &u64| {
            let programs = drawn(*seed);
            searched(&programs, 100_000, Some(relation)).distinct < classes(&programs)
        };
        assert!((0..150).filter(differs).count() > 20);
    }
}

#[test]
fn walks_estimate_how_many_there_are() {
    let programs = vec![vec![(0, true), (1, false), (2, true), (0, true)]; 3];
    let all = searched(&programs, 1_000_000, Some(commute));
    assert!(all.is_complete, "{all}");
    let walk = |seed| play(&programs, Guide::walk(seed, Some(commute))).stands_for();
    let mean = (0..4_000).map(walk).sum::<f64>() / 4_000.0;
    let share = mean / all.distinct as f64;
    assert!((0.9..1.1).contains(&share), "{mean} of {all}");
    let some = searched(&programs, 20, Some(commute));
    assert_eq!((some.is_complete, some.runs), (false, 20), "{some:?}");
    assert!(some.estimate >= some.distinct as f64, "{some:?}");
    assert!(some.to_string().contains(" of about "), "{some}");
}

/// Patches these maps, one after the other.
async fn patches(mut connection: Connection, names: &'static [&'static str]) {
    let who = connection.identity();
    for name in names {
        let path = format!("/api/v1/namespaces/default/configmaps/{name}");
        let body = format!(r#"{{"data": {{"by": "{who}"}}}}"#);
        let patch = Request::patch(path).header("Content-Type", "application/merge-patch+json");
        let patch = patch.body(Full::new(bytes::Bytes::from(body))).expect("a request");
        drop(connection.call(patch).await);
    }
    std::future::pending::<()>().await;
}

/// The orders of two processes that patch, and the writes of each run.
fn patched(
    names: [&'static [&'static str]; 2],
    relation: Option<Relation>,
) -> (Orders, BTreeSet<Vec<String>>) {
    let mut simulation = Simulation::system()
        .process("a", move |it| patches(it, names[0]))
        .process("b", move |it| patches(it, names[1]));
    for name in ["x", "y", "z"] {
        let metadata = serde_json::json!({"name": name});
        let map =
            serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
        simulation = simulation.given(&map);
    }
    simulation.prepare();
    let mut seen = BTreeSet::new();
    let orders = search(1_000, 1, relation, |guide| {
        let run = simulation.setup.run_in(&Plan::default(), Some(guide));
        let guide = run.guide.clone()?;
        if !guide.is_cut() {
            // The plan, as a person would give it, makes the same run.
            let plan = guide.plan().to_string().parse().expect("it is a plan");
            assert_eq!(asked(&simulation.setup.run(&plan)), asked(&run), "{plan}");
            if !guide.is_wasted {
                seen.insert(asked(&run));
            }
        }
        Some(guide)
    });
    (orders, seen)
}

/// Who asked for what, in order.
fn asked(run: &Run) -> Vec<String> {
    let asked = run.trace.iter().filter_map(|entry| match &entry.what {
        What::Asked { request } => Some(format!("{} {}", entry.process, request.text())),
        _ => None,
    });
    asked.collect()
}

#[test]
fn two_processes_reach_the_server_in_every_order_there_is() {
    for (count, names) in [(2, &["x"][..]), (6, &["x", "x"]), (20, &["x", "x", "x"])] {
        let (orders, seen) = patched([names, names], None);
        assert_eq!(
            (orders.distinct, seen.len(), orders.is_complete),
            (count, count as usize, true)
        );
        // The writes of one object commute in no case.
        let (orders, seen) = patched([names, names], Some(commute));
        assert_eq!(
            (orders.distinct, seen.len(), orders.is_complete),
            (count, count as usize, true)
        );
    }
}

#[test]
fn orders_of_requests_for_different_objects_are_one() {
    let of = |names: &[&str]| -> Vec<Op> {
        names.iter().map(|it| (u32::from(it.as_bytes()[0]), true)).collect()
    };
    for (names, plain, reduced) in [
        ([&["x", "x"][..], &["y", "y"][..]], 6, 1),
        ([&["x", "y"], &["x", "z"]], 6, 2),
        ([&["x", "y", "z"], &["z", "y", "x"]], 20, 4),
    ] {
        let programs = names.map(of);
        assert_eq!(classes(&programs), reduced, "{names:?}");
        assert_eq!(interleavings(&programs).len(), plain as usize);
        let (orders, seen) = patched(names, Some(commute));
        assert_eq!((orders.distinct, seen.len() as u64), (reduced, reduced), "{names:?}");
        assert!(orders.is_complete, "{orders:?}");
        assert_eq!(patched(names, None).0.distinct, plain, "{names:?}");
    }
}
