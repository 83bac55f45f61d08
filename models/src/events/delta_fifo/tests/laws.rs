//! Laws of compression.

use quickcheck::{QuickCheck, Testable};
use seatrial_core::delta_fifo::{Delta, Deltas};
use seatrial_core::store::LastState;

type Change = Delta<u8, u8>;

/// Makes a change out of two random numbers; deletions are frequent.
fn change((kind, version): (u8, u8)) -> Change {
    match kind % 7 {
        0 => Delta::Added(version),
        1 => Delta::Updated(version),
        2 => Delta::Replaced(version),
        3 => Delta::Sync(version),
        4 => Delta::Deleted(LastState::unknown(0, None)),
        5 => Delta::Deleted(LastState::unknown(0, Some(version))),
        _ => Delta::Deleted(LastState::Final(version)),
    }
}

fn changes(random: Vec<(u8, u8)>) -> Vec<Change> {
    random.into_iter().map(change).collect()
}

fn compressed(changes: &[Change]) -> Vec<Change> {
    changes.iter().cloned().collect::<Deltas<_, _>>().to_vec()
}

fn holds(law: impl Testable) {
    QuickCheck::new().tests(1000).quickcheck(law);
}

fn compressing_twice_is_compressing_once() {
    fn law(random: Vec<(u8, u8)>) -> bool {
        let once = compressed(&changes(random));
        compressed(&once) == once
    }
    holds(law as fn(_) -> _);
}

fn it_does_not_matter_how_much_was_compressed_before() {
    fn law(early: Vec<(u8, u8)>, late: Vec<(u8, u8)>) -> bool {
        let (early, late) = (changes(early), changes(late));
        let in_two = [compressed(&early), late.clone()].concat();
        compressed(&in_two) == compressed(&[early, late].concat())
    }
    holds(law as fn(_, _) -> _);
}

fn only_deletions_are_dropped() {
    fn law(random: Vec<(u8, u8)>) -> bool {
        let changes = changes(random);
        let others = |list: &[Change]| -> Vec<Change> {
            list.iter().filter(|delta| !delta.is_deleted()).cloned().collect()
        };
        others(&compressed(&changes)) == others(&changes)
    }
    holds(law as fn(_) -> _);
}

fn of_every_run_of_deletions_the_best_informed_is_left() {
    fn law(random: Vec<(u8, u8)>) -> bool {
        let changes = changes(random);
        let runs = changes.chunk_by(|one, other| one.is_deleted() && other.is_deleted());
        let expected = runs.filter_map(|run| {
            let seen =
                |delta: &&Change| !matches!(delta, Delta::Deleted(last) if last.is_tombstone());
            run.iter().find(seen).or(run.last()).cloned()
        });
        compressed(&changes) == expected.collect::<Vec<_>>()
    }
    holds(law as fn(_) -> _);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    compressing_twice_is_compressing_once,
    it_does_not_matter_how_much_was_compressed_before,
    only_deletions_are_dropped,
    of_every_run_of_deletions_the_best_informed_is_left
];
