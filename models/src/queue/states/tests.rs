//! The queue in all its states; agreement with the engines that run threads.

use seatrial_core::queue::GETTERS;

use super::Call::{Add, Done, Drain, Get, ShutDown, Work};
use super::{Call, Programs};
use crate::engine::state::tests::agrees_with_the_enumeration;
use crate::engine::state::{Callers, Jumps, Limits, fair_cycle, search};

/// Programs that end well whatever happens.
const GOOD: &[&[&[Call]]] = &[
    &[&[Add(0)], &[Get, Done], &[Drain { strict: true }]],
    &[&[Add(0)], &[Work], &[ShutDown]],
    &[&[Add(0), Add(0)], &[Work], &[ShutDown]],
    &[&[Add(0)], &[Add(1)], &[Get, Done], &[ShutDown, Work]],
    &[&[Add(0), ShutDown], &[Work], &[Work]],
    &[&[Add(0), Add(1)], &[Work], &[Drain { strict: true }]],
    &[&[Add(0)], &[Get, Done], &[Drain { strict: false }, Work]],
];

/// Programs in which somebody waits for ever, or an item is left.
const BAD: &[&[&[Call]]] = &[
    &[&[Add(0)], &[Work]],
    &[&[Get, Done], &[Get, Done], &[Add(0)]],
    &[&[Add(0)], &[Drain { strict: true }]],
];

fn callers(programs: &[&[Call]], symmetric: bool) -> Callers<Programs> {
    Callers { world: Programs::new(programs), symmetric, jumps: Jumps::AtStandstill }
}

#[test]
fn the_search_agrees_with_an_enumeration_of_all_paths() {
    for programs in GOOD.iter().chain(BAD) {
        agrees_with_the_enumeration(&callers(programs, false));
    }
}

#[test]
fn verdicts_do_not_depend_on_symmetry() {
    for (programs, is_good) in
        GOOD.iter().map(|it| (it, true)).chain(BAD.iter().map(|it| (it, false)))
    {
        let [plain, symmetric] =
            [false, true].map(|symmetric| search(&callers(programs, symmetric), Limits::default()));
        assert_eq!(plain.wrong.is_none(), is_good, "{programs:?}: {:?}", plain.wrong);
        assert_eq!(symmetric.wrong.is_none(), is_good, "{programs:?}");
        let length = |wrong: Option<crate::engine::state::Counterexample<_>>| {
            wrong.map(|found| found.path.len())
        };
        assert_eq!(length(plain.wrong), length(symmetric.wrong), "{programs:?}");
        assert!(symmetric.states <= plain.states, "{programs:?}");
    }
}

#[test]
fn callers_of_one_program_are_interchangeable() {
    let programs: &[&[Call]] = &[&[Add(0), Add(1), ShutDown], &[Work], &[Work], &[Work]];
    let [plain, symmetric] =
        [false, true].map(|symmetric| search(&callers(programs, symmetric), Limits::default()));
    assert!(symmetric.states * 3 < plain.states, "{} of {}", symmetric.states, plain.states);
}

#[test]
fn a_wake_up_that_is_forgotten_leaves_somebody_asleep() {
    let mut model = callers(GOOD[1], true);
    model.world.edit = |wakes| wakes.set(GETTERS, wakes.get(GETTERS).min(1));
    assert_eq!(search(&model, Limits::default()).wrong, None, "one worker: one wake-up is enough");
    let mut model = callers(&[&[Add(0), ShutDown], &[Work], &[Work]], true);
    model.world.edit = |wakes| wakes.set(GETTERS, wakes.get(GETTERS).min(1));
    let found = search(&model, Limits::default()).wrong.expect("one of two sleeps for ever");
    assert!(found.because.ends_with("sleep for ever"), "{found:?}");
    // Both go to sleep, the item wakes one, the shutdown the same or nobody, and so on.
    assert!(found.path.len() <= 8, "{found:?}");
    model.world.edit = |wakes| wakes.set(GETTERS, 0);
    assert!(search(&model, Limits::default()).wrong.is_some());
}

#[test]
fn workers_end_their_deliveries_and_nobody_goes_round_for_ever() {
    let model = callers(&[&[Add(0), Add(0), ShutDown], &[Work], &[Work]], false);
    let space = search(&model, Limits { keep_graph: true, ..Limits::default() });
    assert!(space.exhausted && space.wrong.is_none());
    assert_eq!(fair_cycle(&space.graph, 3, &|_| false), None);
}

/// Runs the programs on threads under the other engines.
#[cfg(feature = "shuttle")]
mod agreement {
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;
    use std::sync::{Arc, Mutex};

    use seatrial_core::monitor::Monitor;
    use seatrial_core::queue::{Op, Queue as Rules, Ret};
    use seatrial_core::runtime::Runtime;

    use super::*;
    use crate::engine::shuttle::{Config, ShuttleRuntime, Strategy, explore};
    use crate::engine::state::World;
    use crate::engine::{End, Execution};

    /// What callers saw, and whether all of them came to their end.
    type Outcomes = BTreeSet<(Vec<Vec<u8>>, bool)>;
    type Seen = Arc<Mutex<Vec<Vec<u8>>>>;

    fn call<R: Runtime>(queue: &Monitor<Rules<u8>, R>, op: Op<u8>) -> Ret<u8> {
        match op {
            Op::Add(add) => {
                queue.call(add);
                Ret::Add(())
            }
            Op::Get(get) => Ret::Get(queue.call(get)),
            Op::Done(done) => Ret::Done(queue.call(done)),
            Op::ShutDown(shut_down) => {
                queue.call(shut_down);
                Ret::ShutDown(())
            }
            Op::Drain(drain) => {
                queue.call(drain);
                Ret::Drain(())
            }
            other => panic!("no program calls {other:?}"),
        }
    }

    fn run<R: Runtime>(runtime: &R, world: &Programs, seen: &Seen) {
        let queue = Arc::new(Monitor::<Rules<u8>, R>::new(runtime, world.machine()));
        let callers = world.callers();
        *seen.lock().unwrap() = vec![Vec::new(); callers.len()];
        let start = |(at, mut caller): (usize, super::super::Caller)| {
            let (world, queue, seen) = (world.clone(), Arc::clone(&queue), Arc::clone(seen));
            runtime.spawn("caller", move || {
                while let Some(op) = world.next(&caller) {
                    world.returned(&mut caller, call(&queue, op));
                    seen.lock().unwrap()[at].clone_from(&caller.seen);
                }
            })
        };
        let threads: Vec<_> = callers.into_iter().enumerate().map(start).collect();
        for thread in threads {
            runtime.join(thread).expect("nothing panics");
        }
    }

    fn note(met: &mut Outcomes, execution: &Execution<'_>, seen: &Seen) -> ControlFlow<()> {
        let finished = match execution.end {
            End::Finished => true,
            End::Deadlock(_) => false,
            ref other => panic!("{other:?}"),
        };
        met.insert((seen.lock().unwrap().clone(), finished));
        ControlFlow::Continue(())
    }

    fn by_trace(world: &Programs) -> Outcomes {
        let (mut met, seen, theirs) = (Outcomes::new(), Seen::default(), world.clone());
        let into = Arc::clone(&seen);
        let body = Arc::new(move |runtime: &ShuttleRuntime| run(runtime, &theirs, &into));
        let strategy = Strategy::Trace { executions: u64::MAX };
        let explored = explore(&Config::default(), strategy, body, &mut |execution| {
            note(&mut met, execution, &seen)
        });
        assert!(explored.exhausted);
        met
    }

    fn by_state(world: &Programs) -> Outcomes {
        let world = Programs { remembers: true, ..world.clone() };
        let model = Callers { world, symmetric: false, jumps: Jumps::AtStandstill };
        let space = search(&model, Limits { go_on: true, ..Limits::default() });
        assert!(space.exhausted);
        let outcome = |end: &crate::engine::state::State<Programs>| {
            let finished = end.callers().all(|caller| model.world.next(caller).is_none());
            (end.callers().map(|caller| caller.seen.clone()).collect(), finished)
        };
        space.ends.iter().map(outcome).collect()
    }

    #[cfg(feature = "loom")]
    fn by_loom(world: &Programs) -> Option<Outcomes> {
        use crate::engine::loom;
        let (mut met, seen, theirs) = (Outcomes::new(), Seen::default(), world.clone());
        let into = Arc::clone(&seen);
        let body = Arc::new(move |runtime: &loom::LoomRuntime| run(runtime, &theirs, &into));
        let config = loom::Config {
            preemption_bound: None,
            max_executions: 3_000,
            ..loom::Config::default()
        };
        let explored =
            loom::explore(&config, body, &mut |execution| note(&mut met, execution, &seen));
        explored.exhausted.then_some(met)
    }

    #[cfg(not(feature = "loom"))]
    fn by_loom(_: &Programs) -> Option<Outcomes> {
        None
    }

    #[test]
    fn states_traces_and_loom_reach_the_same_outcomes() {
        let mut finished_by_loom = 0;
        for programs in GOOD.iter().chain(BAD) {
            let world = Programs::new(programs);
            let states = by_state(&world);
            assert_eq!(states, by_trace(&world), "{programs:?}");
            if let Some(loom) = by_loom(&world) {
                finished_by_loom += 1;
                // loom wakes in the order of the waits, the others whomever they like.
                let one_waits = programs.iter().flat_map(|it| it.iter());
                let one_waits = one_waits.filter(|it| matches!(it, Get | Work)).count() < 2;
                assert!(loom.is_subset(&states), "{programs:?}");
                assert!(!one_waits || loom == states, "{programs:?}");
            }
        }
        assert!(finished_by_loom > 3 || cfg!(not(feature = "loom")), "{finished_by_loom}");
    }
}
