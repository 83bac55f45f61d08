//! The search is exact: it is compared with an independent enumeration.

mod gate;

use super::{
    Bytes, Graph, Limits, Model, Steps, Wrong, agrees_with_the_enumeration, fair_cycle, search,
    wrong_in,
};
use crate::engine::NEVER_PANICS;

/// Actors that each count to a limit; wrong is one sum of the counts, and an end; another sum
/// panics.
struct Counters {
    limits: Vec<u8>,
    wrong: u8,
    breaks: u8,
}

impl Model for Counters {
    type State = Vec<u8>;
    type Action = usize;

    fn initial(&self) -> Vec<u8> {
        vec![0; self.limits.len()]
    }

    fn steps(&self, state: &Vec<u8>, into: &mut Steps<Self>) {
        for actor in (0..state.len()).filter(|&actor| state[actor] < self.limits[actor]) {
            let mut next = into.copy(state);
            next[actor] += 1;
            into.push(actor, actor, next);
        }
    }

    fn view(&self, state: &Vec<u8>, into: &mut Bytes) {
        into.list(state.iter(), |into, count| into.number(*count));
    }

    fn wrong(&self, state: &Vec<u8>, is_end: bool) -> Option<Wrong> {
        let sum: u8 = state.iter().sum();
        assert_ne!(sum, self.breaks);
        if sum == self.wrong {
            return Some(Wrong::new("sum", "it is reached"));
        }
        is_end.then(|| Wrong::new("ends", "it does"))
    }

    fn reaches(&self, state: &Vec<u8>) -> bool {
        state.iter().sum::<u8>() == self.wrong
    }
}

#[test]
fn every_state_is_visited_once_and_the_shortest_way_is_found() {
    let model = Counters { limits: vec![2, 3, 1], wrong: 9, breaks: 99 };
    assert_eq!(agrees_with_the_enumeration(&model), 24);
    let model = Counters { limits: vec![3, 3], wrong: 4, breaks: 99 };
    let space = search(&model, Limits::default());
    assert_eq!(space.wrong.iter().map(|found| found.path.len()).collect::<Vec<_>>(), [4]);
    assert!(!space.exhausted, "it ends where something is wrong");
    assert!(space.reached);
}

#[test]
fn every_invariant_gets_its_own_shortest_way() {
    let model = Counters { limits: vec![3, 3], wrong: 4, breaks: 99 };
    let space = search(&model, Limits { go_on: true, ..Limits::default() });
    let found = |wrong: &super::Counterexample<usize>| (wrong.wrong.invariant, wrong.path.len());
    assert_eq!(space.wrong.iter().map(found).collect::<Vec<_>>(), [("sum", 4), ("ends", 6)]);
    assert_eq!((space.states, space.steps, space.exhausted), (16, 24, true));
}

#[test]
fn where_something_panics_no_step_leads_on() {
    let model = Counters { limits: vec![3, 3], wrong: 99, breaks: 4 };
    let space = search(&model, Limits { go_on: true, ..Limits::default() });
    assert_eq!(space.wrong.len(), 1);
    assert_eq!((space.wrong[0].wrong.invariant, space.wrong[0].path.len()), (NEVER_PANICS, 4));
    assert_eq!((space.states, space.reached), (13, false));
    assert_eq!(wrong_in(&model, &vec![2, 2]).unwrap().invariant, NEVER_PANICS);
    assert_eq!(wrong_in(&model, &vec![2, 1]), None);
}

#[test]
fn a_search_that_spends_its_states_says_so() {
    let model = Counters { limits: vec![9, 9], wrong: 99, breaks: 98 };
    let space = search(&model, Limits { states: 20, ..Limits::default() });
    assert!(!space.exhausted && space.wrong.is_empty());
    let until = Some(std::time::Instant::now());
    assert!(!search(&model, Limits { until, ..Limits::default() }).exhausted);
}

fn graph(steps: &[(usize, usize, usize)]) -> Graph {
    let mut graph = Graph::default();
    let mut steps = steps.to_vec();
    steps.sort_unstable();
    steps.iter().for_each(|&(from, actor, to)| graph.add(from, actor, to));
    graph
}

#[test]
fn a_diamond_is_no_cycle() {
    // One way passes by where it should get, the other does not; both meet, and there is the end.
    let diamond = graph(&[(0, 0, 1), (0, 1, 2), (1, 1, 3), (2, 0, 3)]);
    assert_eq!(fair_cycle(&diamond, 2, &|state| state == 1), None);
    assert_eq!(fair_cycle(&diamond, 2, &|_| false), None);
}

#[test]
fn a_cycle_behind_a_diamond_is_found_by_either_way() {
    let steps = [(0, 0, 1), (0, 1, 2), (1, 0, 3), (2, 0, 3), (3, 0, 4), (4, 0, 3)];
    let found = fair_cycle(&graph(&steps), 1, &|state| state == 1);
    assert_eq!(found, Some(vec![3, 4]));
    assert_eq!(graph(&steps).round(&[3, 4], 3), [4, 3]);
    assert_eq!(fair_cycle(&graph(&steps), 1, &|state| state == 4), None);
}

#[test]
fn a_cycle_is_fair_if_each_caller_that_could_leave_it_is_disabled_somewhere() {
    // Actor 1 reaches the goal from state 0 alone. In state 1 it cannot move, so a cycle that never
    // lets it move is fair.
    let sometimes = graph(&[(0, 0, 1), (1, 0, 0), (0, 1, 2)]);
    assert!(fair_cycle(&sometimes, 2, &|state| state == 2).is_some());
    // Here actor 1 could move all the time, so a cycle without its steps is not fair.
    let always = graph(&[(0, 0, 1), (1, 0, 0), (0, 1, 2), (1, 1, 2)]);
    assert_eq!(fair_cycle(&always, 2, &|state| state == 2), None);
    // It moves, but round and round.
    let busy = graph(&[(0, 0, 1), (1, 0, 0), (0, 1, 2), (1, 1, 2), (1, 1, 0)]);
    assert!(fair_cycle(&busy, 2, &|state| state == 2).is_some());
}

#[test]
fn a_step_to_itself_is_a_cycle() {
    assert_eq!(fair_cycle(&graph(&[(0, 0, 0)]), 1, &|_| false), Some(vec![0]));
    assert_eq!(fair_cycle(&graph(&[(0, 0, 1)]), 1, &|_| false), None);
}
