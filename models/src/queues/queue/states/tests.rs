//! The queue in all its states, and agreement with the engines that run threads.

use seatrial_core::queue::GETTERS;

use super::Call::{self, Add, Done, Drain, Get, ShutDown, Work};
use super::{AtQueue, Seen, large, sized};
use crate::engine::Engine;
use crate::engine::state::{
    Callers, Explored, Limits, Rules, Space, WakeUps, agrees_with_the_enumeration, fair_cycle,
    search,
};
use crate::queue::Queue;
use crate::trial::TERMINATES;
use seatrial::tests::comes_out_as_expected;

/// Programs that always end well.
const GOOD: &[&[&[Call]]] = &[
    &[&[Add(0)], &[Get, Done], &[Drain { strict: true }]],
    &[&[Add(0)], &[Work], &[ShutDown]],
    &[&[Add(0), Add(0)], &[Work], &[ShutDown]],
    &[&[Add(0)], &[Add(1)], &[Get, Done], &[ShutDown, Work]],
    &[&[Add(0), ShutDown], &[Work], &[Work]],
    &[&[Add(0), Add(1)], &[Work], &[Drain { strict: true }]],
    &[&[Add(0)], &[Get, Done], &[Drain { strict: false }, Work]],
];

/// Programs in which a caller waits without end, or an item is left.
const BAD: &[&[&[Call]]] = &[
    &[&[Add(0)], &[Work]],
    &[&[Get, Done], &[Get, Done], &[Add(0)]],
    &[&[Add(0)], &[Drain { strict: true }]],
];

const PLAIN: Rules = Rules {
    symmetric: false,
    jumps: crate::engine::state::Jumps::AtStandstill,
    wake_ups: WakeUps::Any,
    spurious: 0,
};

fn callers(programs: &[&[Call]], rules: Rules) -> Callers<AtQueue> {
    Callers { subject: AtQueue::new(programs), rules }
}

/// Searches on after an error is found.
fn space(programs: &[&[Call]], rules: Rules) -> Space<Callers<AtQueue>> {
    search(&callers(programs, rules), Limits { go_on: true, ..Limits::default() })
}

fn the_search_agrees_with_an_enumeration_of_all_paths() {
    for programs in GOOD.iter().chain(BAD) {
        agrees_with_the_enumeration(&callers(programs, PLAIN));
        agrees_with_the_enumeration(&callers(
            programs,
            Rules { wake_ups: WakeUps::InOrder, ..PLAIN },
        ));
    }
}

fn verdicts_and_ends_do_not_depend_on_symmetry() {
    let symmetric = Rules { symmetric: true, ..PLAIN };
    for (programs, is_good) in
        GOOD.iter().map(|it| (it, true)).chain(BAD.iter().map(|it| (it, false)))
    {
        let [plain, folded] = [PLAIN, symmetric].map(|rules| space(programs, rules));
        assert_eq!(plain.wrong.is_empty(), is_good, "{programs:?}: {:?}", plain.wrong);
        let broken = |space: &Space<Callers<AtQueue>>| -> Vec<_> {
            let each = space.wrong.iter();
            each.map(|found| (found.wrong.invariant, found.path.len())).collect()
        };
        assert_eq!(broken(&plain), broken(&folded), "{programs:?}");
        assert!(folded.states <= plain.states, "{programs:?}");
        assert_eq!(ends(programs, PLAIN), ends(programs, symmetric), "{programs:?}");
    }
}

/// Returns the ends of a program, without regard to the identity of the callers.
fn ends(programs: &[&[Call]], rules: Rules) -> std::collections::BTreeSet<Vec<(bool, Seen)>> {
    let subject = AtQueue { remembers: true, ..AtQueue::new(programs) };
    let model = Callers { subject, rules };
    let space = search(&model, Limits { go_on: true, ..Limits::default() });
    let end = |end: &crate::engine::state::State<AtQueue>| {
        let caller = |caller: &super::Caller| (model.subject.next(caller).is_none(), caller.seen());
        let mut callers: Vec<_> = end.callers().map(caller).collect();
        callers.sort_unstable();
        callers
    };
    space.ends.iter().map(end).collect()
}

fn callers_of_one_program_are_interchangeable() {
    let programs: &[&[Call]] = &[&[Add(0), Add(1), ShutDown], &[Work], &[Work], &[Work]];
    let [plain, folded] =
        [false, true].map(|symmetric| space(programs, Rules { symmetric, ..PLAIN }));
    assert_eq!((plain.states, folded.states), (148, 48));
}

fn a_wake_up_that_is_forgotten_leaves_somebody_asleep() {
    let rules = Rules { symmetric: true, ..PLAIN };
    let one_at_most = |wakes: &mut seatrial_core::machine::Wakes| {
        wakes.set(GETTERS, wakes.get(GETTERS).min(1));
    };
    let mut model = callers(GOOD[1], rules);
    model.subject.edit = one_at_most;
    assert_eq!(search(&model, Limits::default()).wrong, [], "one worker: one is enough");
    let mut model = callers(&[&[Add(0), ShutDown], &[Work], &[Work]], rules);
    model.subject.edit = one_at_most;
    let found = search(&model, Limits::default()).wrong.remove(0);
    assert_eq!(found.wrong.invariant, TERMINATES);
    assert!(found.wrong.because.ends_with("sleep for ever"), "{found:?}");
    // Both go to sleep, the item wakes one, the shutdown wakes the same one or none, and so on.
    assert!(found.path.len() <= 8, "{found:?}");
    model.subject.edit = |wakes| wakes.set(GETTERS, 0);
    assert!(!search(&model, Limits::default()).wrong.is_empty());
}

fn workers_end_their_deliveries_and_nobody_goes_round_for_ever() {
    let programs: &[&[Call]] = &[&[Add(0), Add(0), ShutDown], &[Work], &[Work]];
    for spurious in [0, 2] {
        let model = callers(programs, Rules { spurious, ..PLAIN });
        let space = search(&model, Limits { keep_graph: true, ..Limits::default() });
        assert!(space.exhausted && space.wrong.is_empty());
        assert_eq!(fair_cycle(&space.graph, 3, &|_| false), None);
    }
}

fn every_model_of_the_catalogue_comes_out_as_expected() {
    let models = super::all();
    assert!(models.len() >= 4);
    for model in models {
        comes_out_as_expected::<Queue>(Engine::State, model.name());
    }
}

fn a_model_has_its_known_number_of_states() {
    let count = |symmetric| {
        let rules = Rules { symmetric, ..PLAIN };
        let model = Callers { subject: sized(2, 4, 3, 2), rules };
        let space = search(&model, Limits::default());
        assert!(space.exhausted && space.wrong.is_empty() && space.reached);
        (space.states, space.steps)
    };
    assert_eq!([count(false), count(true)], [(6_874, 26_817), (3_932, 15_432)]);
}

fn the_first_states_of_the_large_model_are_in_order() {
    let model = Callers { subject: large(), rules: Rules::default() };
    let space = search(&model, Limits { states: 20_000, ..Limits::default() });
    assert!(!space.exhausted && space.wrong.is_empty());
}

/// Runs the programs on threads under the other engines.
mod agreement {
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;
    use std::sync::{Arc, Mutex};

    use seatrial_core::monitor::Monitor;
    use seatrial_core::queue::{Op, Queue as Machine, Ret};
    use seatrial_core::runtime::Runtime;

    use super::*;
    use crate::engine::shuttle::{Config, ShuttleRuntime, Strategy, explore};
    use crate::engine::state::Explored;
    use crate::engine::{End, Execution};

    /// The items that each caller saw, and whether all callers came to their end.
    type Outcomes = BTreeSet<(Vec<Seen>, bool)>;
    type Shown = Arc<Mutex<Vec<Seen>>>;

    fn call<R: Runtime>(queue: &Monitor<Machine<u8>, R>, op: Op<u8>) -> Ret<u8> {
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

    fn run<R: Runtime>(runtime: &R, subject: &AtQueue, seen: &Shown) {
        let queue = Arc::new(Monitor::<Machine<u8>, R>::new(runtime, subject.machine()));
        let callers = subject.callers();
        *seen.lock().unwrap() = vec![Seen::default(); callers.len()];
        let start = |(at, mut caller): (usize, super::super::Caller)| {
            let (subject, queue, seen) = (subject.clone(), Arc::clone(&queue), Arc::clone(seen));
            runtime.spawn("caller", move || {
                while let Some(op) = subject.next(&caller) {
                    subject.returned(&mut caller, call(&queue, op));
                    seen.lock().unwrap()[at] = caller.seen();
                }
            })
        };
        let threads: Vec<_> = callers.into_iter().enumerate().map(start).collect();
        for thread in threads {
            runtime.join(thread).expect("nothing panics");
        }
    }

    fn note(met: &mut Outcomes, execution: &Execution<'_>, seen: &Shown) -> ControlFlow<()> {
        let finished = match execution.end {
            End::Finished => true,
            End::Deadlock(_) => false,
            ref other => panic!("{other:?}"),
        };
        met.insert((seen.lock().unwrap().clone(), finished));
        ControlFlow::Continue(())
    }

    fn by_trace(subject: &AtQueue, config: &Config) -> Outcomes {
        let (mut met, seen, theirs) = (Outcomes::new(), Shown::default(), subject.clone());
        let into = Arc::clone(&seen);
        let body = Arc::new(move |runtime: &ShuttleRuntime| run(runtime, &theirs, &into));
        let strategy = Strategy::Trace { executions: u64::MAX };
        let explored =
            explore(config, strategy, body, &mut |execution| note(&mut met, execution, &seen));
        assert!(explored.exhausted);
        met
    }

    fn by_state(subject: &AtQueue, rules: Rules) -> Outcomes {
        let model = Callers { subject: subject.clone(), rules };
        let space = search(&model, Limits { go_on: true, ..Limits::default() });
        assert!(space.exhausted);
        let outcome = |end: &crate::engine::state::State<AtQueue>| {
            let finished = end.callers().all(|caller| model.subject.next(caller).is_none());
            (end.callers().map(|caller| caller.seen()).collect(), finished)
        };
        space.ends.iter().map(outcome).collect()
    }

    fn by_loom(subject: &AtQueue) -> Option<Outcomes> {
        use crate::engine::loom;
        let (mut met, seen, theirs) = (Outcomes::new(), Shown::default(), subject.clone());
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

    pub(super) fn states_and_traces_reach_the_same_outcomes() {
        for programs in GOOD.iter().chain(BAD) {
            let subject = remembering(programs);
            let config = Config::default();
            assert_eq!(by_state(&subject, PLAIN), by_trace(&subject, &config), "{programs:?}");
            let in_order = Config { wake_ups: WakeUps::InOrder, ..config.clone() };
            let rules = Rules { wake_ups: WakeUps::InOrder, ..PLAIN };
            assert_eq!(by_state(&subject, rules), by_trace(&subject, &in_order), "{programs:?}");
            let spurious = Config { spurious_wake_ups: 1, ..config };
            let rules = Rules { spurious: 1, ..PLAIN };
            assert_eq!(by_state(&subject, rules), by_trace(&subject, &spurious), "{programs:?}");
        }
    }

    pub(super) fn loom_reaches_the_outcomes_of_states_that_wake_in_order() {
        let rules = Rules { wake_ups: WakeUps::InOrder, ..PLAIN };
        let mut finished_by_loom = 0;
        for programs in GOOD.iter().chain(BAD) {
            let subject = remembering(programs);
            if let Some(loom) = by_loom(&subject) {
                finished_by_loom += 1;
                assert_eq!(loom, by_state(&subject, rules), "{programs:?}");
            }
        }
        assert!(finished_by_loom > 3 || cfg!(not(feature = "loom")), "{finished_by_loom}");
    }

    fn remembering(programs: &[&[Call]]) -> AtQueue {
        AtQueue { remembers: true, ..AtQueue::new(programs) }
    }
}

use agreement::{
    loom_reaches_the_outcomes_of_states_that_wake_in_order,
    states_and_traces_reach_the_same_outcomes,
};

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    the_search_agrees_with_an_enumeration_of_all_paths,
    verdicts_and_ends_do_not_depend_on_symmetry,
    callers_of_one_program_are_interchangeable,
    a_wake_up_that_is_forgotten_leaves_somebody_asleep,
    workers_end_their_deliveries_and_nobody_goes_round_for_ever,
    every_model_of_the_catalogue_comes_out_as_expected,
    a_model_has_its_known_number_of_states,
    the_first_states_of_the_large_model_are_in_order,
    states_and_traces_reach_the_same_outcomes,
    loom_reaches_the_outcomes_of_states_that_wake_in_order
];
