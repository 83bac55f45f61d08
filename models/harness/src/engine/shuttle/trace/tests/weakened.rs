//! All programs of three short threads, and searches that forget something: some program must find
//! each of them out.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::program::Instruction::{self, *};
use super::random::{Covered, KINDS, Kind, agree};
use super::{Config, WakeUps};
use crate::engine::quietly;
use crate::engine::shuttle::trace::weak::Weakness;

/// The threads that small programs are made of.
fn threads() -> Vec<Vec<Instruction>> {
    let under = |inside: Vec<Instruction>| vec![Locked(0, inside)];
    vec![
        under(vec![Wait(0, 1)]),
        under(vec![WaitUntil(0, 1, 1)]),
        under(vec![WaitUntil(0, 1, 2)]),
        under(vec![Add(0, 1), NotifyOne(0)]),
        under(vec![Add(0, 2), NotifyAll(0)]),
        under(vec![NotifyAll(0)]),
        vec![Locked(0, vec![Add(0, 1), NotifyOne(0)]), Locked(0, vec![Add(0, 1), NotifyOne(0)])],
        vec![Locked(1, vec![]), Locked(0, vec![Choose(2)])],
        vec![Locked(0, vec![Choose(2)]), Locked(1, vec![Choose(2)])],
        vec![Now],
        vec![Sleep(1)],
        vec![Load(0), Load(0)],
        vec![Publish(0, 1)],
    ]
}

/// The threads of small programs that share something without a mutex.
fn sharing_threads() -> Vec<Vec<Instruction>> {
    let share = |inside: Vec<Instruction>| vec![Share(0, inside)];
    let gives = |lock| Locked(lock, vec![Add(lock, 1), NotifyAll(lock)]);
    let takes = |lock| Locked(lock, vec![Wait(lock, 1)]);
    vec![
        share(vec![]),
        // Two that can only end their reading while the other one reads as well.
        share(vec![gives(0), takes(1)]),
        share(vec![takes(0), gives(1)]),
        vec![Whole(0, vec![])],
        vec![Whole(0, vec![Read(0)]), Share(0, vec![])],
        share(vec![Write(0, 1)]),
        vec![Read(0), Increase(0)],
        vec![Claim(0, 2)],
    ]
}

/// All ways to take three of a number, the same more than once if need be.
fn triples(count: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..count).flat_map(move |a| (a..count).flat_map(move |b| (b..count).map(move |c| [a, b, c])))
}

/// All programs of three such threads, each under its rules.
fn programs() -> impl Iterator<Item = (Vec<Vec<Instruction>>, Config)> {
    let sharing = sharing_threads();
    let shared = triples(sharing.len()).map(move |triple| {
        (triple.map(|thread| sharing[thread].clone()).to_vec(), Config::default())
    });
    let threads = threads();
    let triples = triples(threads.len());
    let both = |triple: [usize; 3]| [WakeUps::Any, WakeUps::InOrder].map(|order| (triple, order));
    let others = triples.flat_map(both).map(move |(triple, wake_ups)| {
        let is_timed = triple.iter().any(|&thread| [1, 2, 9, 10].contains(&thread));
        let config = Config { wake_ups, free_jumps: u32::from(is_timed), ..Config::default() };
        (triple.iter().map(|&thread| threads[thread].clone()).collect(), config)
    });
    shared.chain(others)
}

/// Schedules that the search without reduction may take for one program.
const MOST: u64 = 1_000;

/// Asserts that both searches agree on programs that have more schedules than the others: one
/// thread gives a waiter with a deadline a permit (`NotifyOne`), and another one then names it
/// (`NotifyAll`). The search tries threads in the order of their start. So both orders are checked:
/// in one the waiter goes before it is named, in the other the search must find that it can.
fn agree_on_longer_programs() {
    let threads = threads();
    let config = Config { free_jumps: 1, ..Config::default() };
    for order in [[1, 3, 5], [5, 3, 1]] {
        let program = order.map(|thread| threads[thread].clone());
        let mut covered = Covered::default();
        agree(&program, 2, false, &config, 50_000, &mut covered);
        assert_eq!((covered.compared, covered.skipped), (1, 0), "{covered:?}");
    }
}

#[test]
fn all_small_programs_have_the_traces_of_the_search_without_reduction() {
    let mut covered = Covered::default();
    for (program, config) in programs() {
        agree(&program, 2, covered.compared.is_multiple_of(2), &config, MOST, &mut covered);
    }
    agree_on_longer_programs();
    println!("{covered:?}");
    assert!(covered.compared > 600 && covered.with_several_traces > 400, "{covered:?}");
}

/// Tells whether some program finds out a search that forgets something. A weakened search may
/// panic, or do the same for ever.
fn is_found_out(weakness: Weakness) -> bool {
    let found = move || {
        weakness.choose();
        let panics = |compare: &mut dyn FnMut()| {
            quietly(|| catch_unwind(AssertUnwindSafe(compare)).is_err())
        };
        if weakness == Weakness::Disarming {
            return panics(&mut agree_on_longer_programs);
        }
        let by_small = programs().any(|(program, config)| {
            panics(&mut || agree(&program, 2, false, &config, MOST, &mut Covered::default()))
        });
        let by_random = |kind: &Kind| {
            (0..60).any(|seed| {
                panics(&mut || {
                    let _covered = kind.compare(seed..seed + 1, MOST);
                })
            })
        };
        by_small || KINDS.iter().any(|(_, kind)| by_random(kind))
    };
    // State that a panic leaves in the engine must not reach the next search.
    std::thread::spawn(found).join().expect("panics are caught")
}

/// Small programs seldom show the effect of answers, so the tests of the tree check
/// `Weakness::Answers`.
#[test]
fn a_search_that_forgets_something_is_found_out() {
    let by_programs = Weakness::ALL.into_iter().filter(|weakness| *weakness != Weakness::Answers);
    let unnoticed: Vec<_> = by_programs.filter(|&weakness| !is_found_out(weakness)).collect();
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}
