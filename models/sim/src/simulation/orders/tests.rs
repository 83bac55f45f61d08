//! The counts of a search, against an enumeration that knows nothing of trees.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use http_body_util::Full;
use tower_service::Service as _;

use super::gate::Gate;
use super::guide::Guide;
use super::search::{Orders, search};
use super::touch::{Act, Delivery, Id, Reach, Relation, commute};
use super::turns;
use crate::apiserver::{Options, Random, Request as Asking, Server, WatchId};
use crate::simulation::plan::Plan;
use crate::simulation::run::Run;
use crate::simulation::trace::What;
use crate::simulation::world::{Lag, Outside};
use crate::simulation::{Connection, Simulation};
use crate::tower::Backend as _;

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
    assert!(some.estimate.is_some_and(|it| it >= some.distinct as f64), "{some:?}");
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

#[test]
fn a_tree_that_the_runs_suffice_for_is_searched_to_its_end() {
    let programs = vec![vec![(0, true); 2]; 3];
    let orders = searched(&programs, 100, None);
    assert_eq!((orders.distinct, orders.is_complete), (90, true), "{orders}");
    let mut runs = 0;
    let orders = search(100, 1, None, |guide| {
        runs += 1;
        (runs < 2).then(|| play(&programs, guide))
    });
    assert_eq!(orders.to_string(), "1 order of an unknown number, in 1 run");
}

#[test]
fn every_process_is_the_first_in_some_turn() {
    for (count, all) in [(0, 1), (1, 1), (2, 2), (3, 6), (4, 24), (5, 24), (9, 24)] {
        let turns: BTreeSet<_> = turns(count).collect();
        assert_eq!(turns.len(), all, "{count}");
        let firsts: BTreeSet<_> = turns.iter().filter_map(|it| it.first()).collect();
        assert_eq!(firsts.len(), count);
        for mut turn in turns {
            turn.sort_unstable();
            assert!(turn.into_iter().eq(0..count));
        }
    }
}

#[test]
fn what_of_an_order_does_not_apply_is_left() {
    let mut simulation = Simulation::system()
        .process("a", |it| patches(it, &["x"]))
        .process("b", |it| patches(it, &["x"]));
    simulation.prepare();
    for (plan, left) in
        [("order(1:1)", ""), ("order(1:1,900:1)", "order(900:1)"), ("order(1:7)", "order(1:7)")]
    {
        let run = simulation.setup.run(&plan.parse().expect("it is a plan"));
        assert_eq!(Plan { faults: run.left }.to_string(), left, "{plan}");
    }
}

/// A server with a gate in front of it.
fn gated() -> Outside {
    let server = Server::new(&Options::default());
    let mut outside = Outside::new(server, &Plan::default(), Arc::default(), Arc::default());
    outside.gate = Some(Gate::new(Guide::path(&[], None)));
    outside
}

fn waiting(outside: &Outside) -> Vec<Delivery> {
    outside.gate.as_ref().map(|it| outside.waiting(it)).unwrap_or_default()
}

#[test]
fn a_request_for_a_kind_that_comes_while_it_waits_is_one_for_that_kind() {
    let mut outside = gated();
    let path = "/apis/example.com/v1/foos";
    let now = outside.now();
    outside.depart(now, Asking::new("GET", path)).expect("it leaves");
    assert_eq!(waiting(&outside)[0].resource, path);
    let schema = serde_json::json!({"openAPIV3Schema": {"type": "object"}});
    let version =
        serde_json::json!({"name": "v1", "served": true, "storage": true, "schema": schema});
    let definition = serde_json::json!({
        "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "versions": [version],
            "names": {"kind": "Foo", "plural": "foos"}},
    });
    let at = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    outside.user(&Asking::new("POST", at).json(&definition));
    assert_eq!(waiting(&outside)[0].resource, "foos.example.com");
}

#[test]
fn a_replica_that_lags_holds_back_what_is_told_of_its_own_resource() {
    let mut outside = gated();
    let now = outside.now();
    let watch = Asking::new("GET", "/api/v1/namespaces/default/configmaps?watch=1");
    let (_, number) = outside.depart(now, watch).expect("it leaves");
    outside.arrive(now, number).expect("it is answered");
    let map = serde_json::json!({"metadata": {"name": "a"}});
    outside.user(&Asking::new("POST", "/api/v1/namespaces/default/configmaps").json(&map));
    let id = *outside.watches.keys().next().expect("there is a watch");
    for (resource, tells) in [("pods", true), ("configmaps", false)] {
        let until = now + Duration::from_secs(10);
        outside.lags.insert(0, Lag { resource: resource.to_owned(), revision: 1, until });
        let WatchId(number) = id;
        let is_there = waiting(&outside).iter().any(|it| it.id == Id::News(number));
        assert_eq!(is_there, tells, "{resource}");
    }
}

#[test]
fn a_write_that_a_quota_may_count_is_one_of_the_quota() {
    let delivery = |process, resource: &str, act, is_bound| Delivery {
        id: Id::Request(process as u64),
        process,
        since: Duration::ZERO,
        resource: resource.to_owned(),
        act,
        is_ordered: false,
        is_bound,
        text: String::new(),
    };
    let one = || Reach::One("default/a".to_owned());
    for look in [Act::Tells, Act::Reads(one())] {
        let look = delivery(0, "resourcequotas", look, false);
        for is_bound in [false, true] {
            let write = delivery(1, "pods", Act::Writes(one()), is_bound);
            let both = [commute(&look, &write), commute(&write, &look)];
            assert_eq!(both, [!is_bound; 2]);
        }
    }
}
