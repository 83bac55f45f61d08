use std::collections::VecDeque;

use super::{Call, Linearizable, NotLinearizable, Spec, search::search};
use crate::random::Random;

/// A queue that may also be asked for its length.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Queue(VecDeque<u8>);

#[derive(Clone, Copy, Debug)]
enum Asked {
    Add(u8),
    Get,
    Len,
}

impl Spec for Queue {
    type Call = Asked;
    type Answer = Option<u8>;

    fn apply(&mut self, call: &Asked) -> Option<u8> {
        match *call {
            Asked::Add(item) => self.0.push_back(item),
            Asked::Get => return self.0.pop_front(),
            Asked::Len => return Some(self.0.len() as u8),
        }
        None
    }
}

/// A map of numbers: its keys do not influence one another.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Register(u64);

impl Spec for Register {
    type Call = (u64, Option<u64>);
    type Answer = u64;

    fn apply(&mut self, (_, write): &Self::Call) -> u64 {
        let old = self.0;
        self.0 = write.unwrap_or(old);
        old
    }

    fn part((key, _): &Self::Call) -> u64 {
        *key
    }
}

/// Gives out numbers, each once; which, it is free to choose.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Numbers(std::collections::BTreeSet<u8>);

impl Spec for Numbers {
    type Call = ();
    type Answer = u8;

    fn apply(&mut self, (): &()) -> u8 {
        let free = (0..).find(|it| !self.0.contains(it)).expect("fewer than all are taken");
        self.0.insert(free);
        free
    }

    fn accepts(&mut self, (): &(), answer: Option<&u8>) -> bool {
        match answer {
            Some(number) => self.0.insert(*number),
            None => self.0.insert(200),
        }
    }
}

fn text<S: Spec>(calls: &Linearizable<S>) -> String {
    calls.check().expect_err("it is not linearizable").to_string()
}

#[test]
fn an_order_may_be_any_of_those_that_the_times_allow() {
    let calls = Linearizable::new(Queue::default());
    let (first, second) = (calls.begin(Asked::Add(1)), calls.begin(Asked::Add(2)));
    let reads = calls.begin(Asked::Get);
    second.end(None);
    reads.end(Some(2));
    assert_eq!(calls.call(Asked::Len, || Some(0)), Some(0), "the first has no effect yet");
    first.end(None);
    calls.assert();
    calls.call(Asked::Get, || Some(1));
    calls.assert();
    calls.call(Asked::Get, || Some(1));
    assert!(calls.check().is_err(), "twice");
}

#[test]
fn a_call_that_ended_comes_before_one_that_begins_later() {
    let calls = Linearizable::new(Queue::default());
    calls.call(Asked::Add(1), || None);
    calls.call(Asked::Get, || None);
    let expected = "not linearizable: no order of the calls explains their answers.\n\
                    The longest order that does has 1 calls:\n  Add(1) -> None\n\
                    Then one of these would have to come:\n  Get -> None, in place of Some(1)";
    assert_eq!(text(&calls), expected);
    assert_eq!(format!("{calls:?}"), "[Add(1) -> None, Get -> None]");
}

#[test]
fn what_never_ended_may_have_taken_effect_or_not() {
    for (len, holds) in [(0, true), (1, true), (2, false)] {
        let calls = Linearizable::new(Queue::default());
        drop(calls.begin(Asked::Add(1)));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            calls.call(Asked::Get, || panic!("it broke"));
        }));
        assert!(panicked.is_err());
        calls.call(Asked::Len, || Some(len));
        assert_eq!(calls.check().is_ok(), holds, "{len}");
    }
}

#[test]
fn parts_are_judged_by_themselves() {
    let calls = Linearizable::new(Register::default());
    for key in 0..100 {
        calls.call((key, Some(key + 1)), || 0);
        assert_eq!(calls.call((key, None), || key + 1), key + 1);
    }
    calls.assert();
    calls.call((70, None), || 70);
    assert!(text(&calls).ends_with("(70, None) -> 70, in place of 71"), "{calls:?}");
}

#[test]
fn a_structure_may_be_free_in_its_answers() {
    let calls = Linearizable::new(Numbers::default());
    calls.call((), || 7);
    drop(calls.begin(()));
    calls.call((), || 3);
    calls.assert();
    calls.call((), || 7);
    assert!(calls.check().is_err());
}

/// Tries every order, and so needs no list and no memory.
fn some_order<S: Spec>(state: &S, calls: &[Call<S>]) -> bool {
    let ends = |call: &Call<S>| call.ended.as_ref().map_or(u64::MAX, |(ended, _)| *ended);
    let first_end = calls.iter().map(ends).min().unwrap_or(u64::MAX);
    first_end == u64::MAX
        || (0..calls.len()).filter(|it| calls[*it].began < first_end).any(|it| {
            let (mut state, mut rest) = (state.clone(), calls.to_vec());
            rest.remove(it).fits(&mut state) && some_order(&state, &rest)
        })
}

/// How calls are made up.
struct MadeUp<S: Spec> {
    count: usize,
    /// How many are under way at the most.
    at_a_time: usize,
    draw: fn(&mut Random) -> S::Call,
    /// Whether a few never end.
    lost: bool,
    /// Takes the place of a few answers.
    lie: Option<fn(&mut Random) -> S::Answer>,
}

const QUEUE: MadeUp<Queue> = MadeUp { count: 7, at_a_time: 3, draw: drawn, lost: true, lie: None };

fn drawn(random: &mut Random) -> Asked {
    match random.below(3) {
        0 => Asked::Get,
        1 => Asked::Len,
        _ => Asked::Add(random.below(3) as u8),
    }
}

impl<S: Spec> MadeUp<S> {
    /// Each call has its effect at some moment between its beginning and its end.
    fn calls(&self, begins: S, random: &mut Random) -> Linearizable<S>
    where
        S::Call: Clone,
    {
        let calls = Linearizable::new(begins.clone());
        let (mut state, mut running, mut begun) = (begins, Vec::new(), 0);
        while begun < self.count || !running.is_empty() {
            if begun < self.count && running.len() < self.at_a_time && random.below(2) == 0 {
                let call = (self.draw)(random);
                running.push((calls.begin(call.clone()), call, None));
                begun += 1;
            } else if !running.is_empty() {
                let at = random.below(running.len() as u64) as usize;
                let (pending, call, answer) = running.swap_remove(at);
                match answer {
                    Some(answer) => pending.end(answer),
                    None if self.lost && random.below(12) == 0 => drop(pending),
                    None => {
                        let right = state.apply(&call);
                        let lie = self.lie.filter(|_| random.below(8) == 0);
                        let answer = lie.map_or(right, |lie| lie(random));
                        running.push((pending, call, Some(answer)));
                    }
                }
            }
        }
        calls
    }
}

/// A register whose writes answer nothing: only later calls tell when one took effect.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Silent(u8);

impl Spec for Silent {
    type Call = Option<u8>;
    type Answer = u8;

    fn apply(&mut self, write: &Option<u8>) -> u8 {
        self.0 = write.unwrap_or(self.0);
        if write.is_some() { 9 } else { self.0 }
    }
}

/// Compares with the trial of every order, and counts the histories that hold and that do not.
fn compared<S: Spec>(
    begins: &S,
    mut made_up: MadeUp<S>,
    lie: fn(&mut Random) -> S::Answer,
) -> [u32; 2]
where
    S::Call: Clone,
{
    let (mut random, mut found) = (Random::new(1), [0, 0]);
    for nth in 0..3_000 {
        (made_up.at_a_time, made_up.lie) = (1 + nth % 4, (nth % 2 == 0).then_some(lie));
        let calls = made_up.calls(begins.clone(), &mut random);
        let holds = some_order(begins, &calls.calls());
        assert_eq!(calls.check().is_ok(), holds, "{calls:?}");
        assert!(holds || nth % 2 == 0, "right answers are explained: {calls:?}");
        found[usize::from(holds)] += 1;
    }
    found
}

#[test]
fn the_search_agrees_with_one_that_tries_every_order() {
    let found = compared(&Queue::default(), QUEUE, |random| Some(random.below(3) as u8));
    assert!(found.iter().all(|count| *count > 300), "{found:?}");
    let draw: fn(&mut Random) -> _ =
        |random| (random.below(2) as u8).checked_sub(1).map(|_| random.below(3) as u8);
    let silent = MadeUp { count: 7, at_a_time: 1, draw, lost: true, lie: None };
    let found = compared(&Silent::default(), silent, |random| random.below(3) as u8);
    assert!(found.iter().all(|count| *count > 300), "{found:?}");
}

#[test]
fn a_write_that_changes_nothing_may_come_later() {
    let calls = Linearizable::new(Silent::default());
    let (zero, one) = (calls.begin(Some(0)), calls.begin(Some(1)));
    zero.end(9);
    one.end(9);
    calls.call(None, || 0);
    calls.assert();
}

#[test]
fn an_order_that_is_found_explains_every_answer() {
    let mut random = Random::new(2);
    for _ in 0..200 {
        let made_up = MadeUp { count: 40, at_a_time: 4, ..QUEUE };
        let calls = made_up.calls(Queue::default(), &mut random).calls();
        // They need not come in the order of their beginnings.
        let Ok(order) = search(&Queue::default(), calls.iter().rev().collect()) else {
            panic!("{calls:?}")
        };
        let mut state = Queue::default();
        for (nth, call) in order.iter().enumerate() {
            assert!(call.fits(&mut state));
            let is_late =
                |it: &&Call<Queue>| it.ended.as_ref().is_some_and(|(ended, _)| *ended < call.began);
            assert!(!order[nth + 1..].iter().any(is_late), "{call:?}");
        }
    }
}

#[test]
fn long_histories_are_judged_and_endless_searches_given_up() {
    let mut random = Random::new(3);
    let long = MadeUp { count: 10_000, at_a_time: 3, lost: false, ..QUEUE };
    long.calls(Queue::default(), &mut random).assert();
    let draw: fn(&mut Random) -> _ =
        |random| (0, random.below(2).checked_sub(1).map(|_| random.below(5)));
    let registers = MadeUp { count: 10_000, at_a_time: 16, draw, lost: false, lie: None };
    registers.calls(Register::default(), &mut random).assert();
    // Of equal things that are all under way, all orders are tried, but for the last answer.
    let calls = Linearizable::new(Numbers::default());
    let running: Vec<_> = (0..24).map(|_| calls.begin(())).collect();
    for (number, call) in (0..).zip(running) {
        call.end(if number == 23 { 0 } else { number });
    }
    let text = text(&calls);
    assert!(
        text.starts_with("undecided whether it is linearizable: no order was found in a million")
    );
    assert!(NotLinearizable(text).to_string().contains("  ... 13 calls\n"));
}
