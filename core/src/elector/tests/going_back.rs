//! A store that goes back to an earlier state, as after a restore: nobody takes the lease of a
//! leader that has not noticed yet.

use super::bench::{Bench, s, stored};
use crate::elector::{Io, Next, StoreError, Stored, Try};

/// Reads this; returns whether the elector then writes.
fn writes(bench: &mut Bench, read: Result<Stored, StoreError>) -> bool {
    bench.io(Try);
    match bench.reply(read) {
        Next::Done(false) => false,
        Next::Call { io: Io::Create(_) | Io::Update(..), .. } => {
            bench.reply(Err(StoreError::Conflict));
            true
        }
        next => panic!("{next:?}"),
    }
}

#[test]
fn a_lease_that_is_seen_again_counts_from_the_newest_first_sighting() {
    let mut bench = Bench::usual();
    assert!(!writes(&mut bench, Ok(stored("a", 1.0, 1))));
    bench.pass(s(14.0));
    assert!(!writes(&mut bench, Ok(stored("a", 2.0, 2))));
    for _ in 0..14 {
        bench.pass(s(1.0));
        assert!(!writes(&mut bench, Ok(stored("a", 1.0, 1))), "the leader may still lead");
    }
    bench.pass(s(1.0));
    assert!(writes(&mut bench, Ok(stored("a", 1.0, 1))));
}

#[test]
fn a_version_that_is_given_away_again_is_another_state() {
    let mut bench = Bench::usual();
    assert!(!writes(&mut bench, Ok(stored("a", 1.0, 1))));
    bench.pass(s(16.0));
    assert!(!writes(&mut bench, Ok(stored("a", 9.0, 1))), "it was never read");
    bench.pass(s(15.0));
    assert!(writes(&mut bench, Ok(stored("a", 9.0, 1))));
}

#[test]
fn an_old_state_that_names_nobody_is_not_taken_at_once() {
    let of_term = |transitions, stored: Stored| Stored {
        record: stored.record.transitions(transitions),
        ..stored
    };
    let mut bench = Bench::usual();
    assert!(writes(&mut bench, Ok(of_term(3, stored("", 1.0, 1)))), "nobody holds it");
    assert!(!writes(&mut bench, Ok(of_term(4, stored("a", 2.0, 2)))));
    assert!(!writes(&mut bench, Ok(of_term(3, stored("", 1.0, 1)))), "seen before");
    let older = || Ok(of_term(2, stored("", 0.5, 0)));
    for holder in ["", "me"] {
        let of_another_object = Stored { uid: "other".into(), ..stored(holder, 0.5, 7) };
        assert!(!writes(&mut bench, Ok(of_another_object)));
        assert!(!writes(&mut bench, older()), "older than what was seen");
    }
    bench.pass(s(15.0));
    assert!(writes(&mut bench, older()));
    // A lease that is freed by its holder is taken at once, also after that.
    assert!(!writes(&mut bench, Ok(of_term(3, stored("b", 3.0, 1)))));
    assert!(writes(&mut bench, Ok(of_term(3, stored("", 4.0, 2)))));
}

#[test]
fn a_lock_object_that_is_gone_is_created_when_its_holder_cannot_lead_any_more() {
    let gone = || Err(StoreError::NotFound);
    let mut bench = Bench::usual();
    assert!(writes(&mut bench, gone()), "there was none");
    assert!(!writes(&mut bench, Ok(stored("a", 1.0, 1))));
    bench.pass(s(4.0));
    assert!(!writes(&mut bench, gone()));
    bench.pass(s(14.9));
    assert!(!writes(&mut bench, gone()), "its last renewal may have been lost with it");
    bench.pass(s(0.1));
    assert!(writes(&mut bench, gone()));
}

#[test]
fn the_last_holder_creates_its_own_lock_object_at_once() {
    let mut bench = Bench::usual();
    assert!(!writes(&mut bench, Ok(stored("a", 1.0, 1))));
    bench.pass(s(15.0));
    bench.io(Try);
    let takes = bench.reply_io(Ok(stored("a", 1.0, 1)));
    assert_eq!(bench.accept(takes, 2), Next::Done(true));
    bench.io(Try);
    bench.reply_io(Err(StoreError::Conflict));
    assert_eq!(bench.reply(Err(StoreError::NotFound)), Next::Done(false), "LE-38");
    assert!(writes(&mut bench, Err(StoreError::NotFound)));
    bench.pass(s(20.0));
    assert!(!writes(&mut bench, Ok(stored("b", 1.0, 1))));
    assert!(!writes(&mut bench, Err(StoreError::NotFound)), "another holds it now");
}

#[test]
fn a_state_that_was_overtaken_counts_from_then() {
    for (read, why) in [
        (Ok(stored("a", 1.0, 1)), StoreError::Conflict),
        (Ok(stored("a", 1.0, 1)), StoreError::NotFound),
        (Err(StoreError::NotFound), StoreError::AlreadyExists),
    ] {
        let mut bench = Bench::usual();
        if read.is_ok() {
            assert!(!writes(&mut bench, read.clone()));
            bench.pass(s(15.0));
        }
        bench.io(Try);
        bench.reply_io(read.clone());
        assert_eq!(bench.reply(Err(why)), Next::Done(false), "another has written");
        for _ in 0..2 {
            assert!(!writes(&mut bench, read.clone()), "it is back, and the other may lead");
            bench.pass(s(7.5));
        }
        assert!(writes(&mut bench, read));
    }
}

/// Takes a lease that nobody holds, as version 2.
fn leads() -> Bench {
    let mut bench = Bench::usual();
    bench.io(Try);
    let takes = bench.reply_io(Ok(stored("", 1.0, 1)));
    assert_eq!(bench.accept(takes, 2), Next::Done(true));
    bench
}

/// The record that [`leads`] has written.
fn own() -> Result<Stored, StoreError> {
    let own = stored("me", 1_000.0, 2);
    Ok(Stored { record: own.record.transitions(8), ..own })
}

#[test]
fn a_state_before_an_own_write_is_not_the_newest_any_more() {
    let mut bench = leads();
    bench.pass(s(16.0));
    let before = || Ok(stored("", 1.0, 1));
    assert!(!writes(&mut bench, before()), "another may have led since the write");
    bench.pass(s(15.0));
    assert!(writes(&mut bench, before()));
}

#[test]
fn an_own_record_is_its_writers_while_nobody_else_can_have_led() {
    let mut bench = leads();
    bench.pass(s(16.0));
    assert!(!writes(&mut bench, own()), "another may have led since then");
    bench.pass(s(15.0));
    assert!(writes(&mut bench, own()));

    let mut lost = Bench::usual();
    lost.io(Try);
    lost.reply_io(Ok(stored("", 1.0, 1)));
    lost.reply(Err(StoreError::Timeout));
    lost.pass(s(2.0));
    assert!(writes(&mut lost, own()), "the answer was lost, and nobody else can have led");

    let mut restarted = Bench::usual();
    assert!(writes(&mut restarted, own()), "SF-16");
}

#[test]
fn a_number_that_is_proposed_again_is_its_writers_from_then() {
    for (stores, again) in [(1, true), (0, false)] {
        let mut bench = Bench::usual();
        let proposed = [0.0, 16.0].map(|later| {
            bench.pass(s(later));
            bench.io(Try);
            let Io::Update(record, _) = bench.reply_io(Ok(stored("", 1.0, 1))) else { panic!() };
            bench.reply(Err(StoreError::Timeout));
            record
        });
        assert_eq!(proposed[0].transitions, proposed[1].transitions);
        bench.pass(s(2.0));
        let read = Stored { record: proposed[stores].clone(), ..stored("me", 0.0, 2) };
        assert_eq!(writes(&mut bench, Ok(read)), again, "another may have led since the first");
    }
}
