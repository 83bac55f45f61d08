//! A batch is the same as its calls one after the other with no other call between them.

use quickcheck::quickcheck;

use super::*;
use crate::machine::Step;
use crate::queue::Pair;

type Tried = Prioritized<u8, Exponential<u8>, Journal>;

/// Calls of one sequence, and items of one call.
const MANY: usize = 20;

/// Returns one of several ways to add.
fn options(kind: u8) -> AddOptions {
    let priority = i32::from(kind / 8 % 3);
    match kind % 8 {
        0 => after(priority, u64::from(kind / 24)),
        1 => failed(priority),
        2 => AddOptions { rate_limited: true, ..after(priority, 7) },
        _ => self::priority(priority),
    }
}

fn add_all(pair: &mut Pair<Tried>, keys: &[u8], options: AddOptions) {
    let hashed = |key: &u8| (Some(*key), u64::from(key / 2));
    let items: Vec<_> = keys.iter().map(hashed).collect();
    let single = |(key, hash)| Add { key, hash, options, called: None };
    let calls: Vec<_> = items.iter().copied().map(single).collect();
    pair.row(AddBatch { items: items.into(), options, called: None }, calls);
}

fn get_batch(pair: &mut Pair<Tried>, most: usize) {
    let most = NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MAX);
    pair.get_batch(Get, most, |(token, ..)| *token);
}

fn settle(pair: &mut Pair<Tried>, at: u8) {
    let Some(token) = pair.delivery(at) else { return };
    let outcome = match at % 3 {
        0 => Outcome::Success,
        1 => Outcome::Retry,
        _ => Outcome::RequeueAfter(ms(at.into())),
    };
    pair.both(Settle::new(token, outcome, i32::from(at % 5)));
}

/// Tells whether both returned the same, and hand out the same from now on.
fn are_equal(mut pair: Pair<Tried>) -> bool {
    pair.advance(Duration::from_secs(3600));
    pair.both(Len);
    while !pair.batches.machine.is_shutting_down()
        && let Step::Done(taken) = pair.batches.step(Get)
    {
        assert_eq!(taken, pair.singles.call(Get));
    }
    pair.both(Len);
    let retries = pair.both(Retries);
    let (batches, singles) = (&pair.batches.machine, &pair.singles.machine);
    retries == batches.retries()
        && batches.waiting() == singles.waiting()
        && batches.observer.0 == singles.observer.0
}

quickcheck! {
    fn a_batch_is_its_calls_in_a_row(calls: Vec<(u8, u8, Vec<u8>)>, shut: bool) -> bool {
        let mut pair = Pair::new(|| machine().machine);
        for (number, (call, kind, arguments)) in calls.iter().take(MANY).enumerate() {
            if shut && number == MANY / 2 {
                pair.both(ShutDown);
            }
            let arguments = &arguments[..arguments.len().min(MANY)];
            match call % 5 {
                0 | 1 => add_all(&mut pair, arguments, options(*kind)),
                2 => get_batch(&mut pair, arguments.len()),
                3 => pair.done_all(arguments),
                _ => arguments.iter().for_each(|at| settle(&mut pair, *at)),
            }
            pair.both(Len);
            pair.advance(ms(1));
        }
        for key in 0..=u8::MAX {
            pair.both(NumRequeues { key, hash: (key / 2).into() });
        }
        are_equal(pair)
    }
}
