//! One attempt: its calls, its writes, and its waits.

use super::bench::{Bench, s, stored, written};
use crate::elector::{
    Bounds, Check, Config, Holds, Io, IsLeader, Next, Report, StoreError, Stored, Try, Version,
    Versions,
};

/// Wins the lease by creating it; version 1.
fn created(mut bench: Bench) -> Bench {
    assert_eq!(bench.io(Try), Io::Get);
    let create = bench.reply_io(Err(StoreError::NotFound));
    assert_eq!(bench.accept(create, 1), Next::Done(true));
    bench
}

#[test]
fn a_missing_lock_is_created_with_no_transitions() {
    let mut bench = Bench::usual();
    assert_eq!(bench.io(Try), Io::Get);
    let Io::Create(record) = bench.reply_io(Err(StoreError::NotFound)) else { panic!("create") };
    assert_eq!((record.transitions, record.duration_seconds), (0, 15));
    assert_eq!(record.acquire_time, record.renew_time);
    assert_eq!(bench.accept(Io::Create(record), 1), Next::Done(true));
    assert!(bench.call(IsLeader));
}

#[test]
fn losing_the_race_to_create_fails_the_attempt() {
    let mut bench = Bench::usual();
    bench.io(Try);
    bench.reply_io(Err(StoreError::NotFound));
    assert_eq!(bench.reply(Err(StoreError::AlreadyExists)), Next::Done(false));
    assert!(!bench.call(IsLeader));
}

#[test]
fn a_leader_renews_without_reading() {
    let mut bench = created(Bench::usual());
    let acquired = bench.observed().record.acquire_time;
    bench.pass(s(2.0));
    let Io::Update(record, version) = bench.io(Try) else { panic!("update") };
    assert_eq!(version, Version::Number(1));
    assert_eq!((record.acquire_time, record.transitions), (acquired, 0));
    assert!(record.renew_time > acquired);
    assert_eq!(bench.accept(Io::Update(record, version), 2), Next::Done(true));
    let Io::Update(_, version) = bench.io(Try) else { panic!("update") };
    assert_eq!(version, Version::Number(2));
}

#[test]
fn a_leader_whose_update_fails_reads_and_renews() {
    let mut bench = created(Bench::usual());
    bench.pass(s(2.0));
    let first = written(bench.io(Try));
    // The reply was lost, but the store has the write.
    assert_eq!(bench.reply_io(Err(StoreError::Timeout)), Io::Get);
    let lost = Stored { record: first, ..stored("me", 0.0, 2) };
    let Io::Update(record, version) = bench.reply_io(Ok(lost)) else { panic!("update") };
    assert_eq!((record.transitions, &version), (0, &Version::Number(2)));
    assert!(bench.notes.slow_path);
    assert_eq!(bench.accept(Io::Update(record, version), 3), Next::Done(true));
}

#[test]
fn a_lease_of_another_is_waited_for_as_long_as_its_record_says() {
    let mut bench = Bench::usual();
    let other = |renewed, version| Ok(stored("other", renewed, version));
    bench.io(Try);
    assert_eq!(bench.reply(other(0.0, 1)), Next::Done(false));
    bench.pass(s(14.9));
    bench.io(Try);
    assert_eq!(bench.reply(other(0.0, 1)), Next::Done(false), "not yet");
    bench.pass(s(0.1)); // at equality the lease is over
    bench.io(Try);
    let Io::Update(record, version) = bench.reply_io(other(0.0, 1)) else { panic!("update") };
    assert_eq!((record.transitions, version), (8, Version::Number(1)));
    assert_eq!(record.acquire_time, record.renew_time);
}

#[test]
fn a_renewal_that_is_seen_starts_the_wait_again() {
    let mut bench = Bench::usual();
    bench.io(Try);
    bench.reply(Ok(stored("other", 0.0, 1)));
    bench.pass(s(14.0));
    bench.io(Try);
    bench.reply(Ok(stored("other", 14.0, 2)));
    bench.pass(s(14.0));
    bench.io(Try);
    assert_eq!(bench.reply(Ok(stored("other", 14.0, 2))), Next::Done(false));
}

#[test]
fn a_renewal_within_the_same_second_is_noticed() {
    let mut bench = Bench::usual();
    bench.io(Try);
    bench.reply(Ok(stored("other", 0.1, 1)));
    bench.pass(s(0.5));
    let before = bench.observed().at;
    bench.io(Try);
    bench.reply(Ok(stored("other", 0.6, 2)));
    assert!(bench.observed().at > before, "LK-13");
}

#[test]
fn an_empty_holder_is_taken_at_once() {
    let mut bench = Bench::usual();
    bench.io(Try);
    let Io::Update(record, _) = bench.reply_io(Ok(stored("", 0.0, 5))) else { panic!("update") };
    assert_eq!(record.transitions, 8);
}

#[test]
fn a_record_without_duration_is_not_taken_at_the_second_poll() {
    let mut bench = Bench::usual();
    let endless = || {
        let mut stored = stored("other", 0.0, 1);
        stored.record.duration_seconds = 0;
        Ok(stored)
    };
    bench.io(Try);
    bench.pass(s(0.001)); // the reply takes time: `now` lies before the observation
    assert_eq!(bench.reply(endless()), Next::Done(false));
    bench.pass(s(2.0));
    bench.io(Try);
    assert_eq!(bench.reply(endless()), Next::Done(false), "LE-14");
}

#[test]
fn a_record_of_the_own_identity_begins_a_term() {
    let mut bench = Bench::usual();
    bench.io(Try);
    let Io::Update(record, _) = bench.reply_io(Ok(stored("me", 0.0, 4))) else { panic!("update") };
    assert_eq!(record.transitions, 8, "LE-26");
}

#[test]
fn reads_and_writes_that_fail_fail_the_attempt() {
    let mut bench = Bench::usual();
    bench.io(Try);
    assert_eq!(bench.reply(Err(StoreError::Timeout)), Next::Done(false));
    bench.io(Try);
    bench.reply_io(Ok(stored("", 0.0, 5)));
    assert_eq!(bench.reply(Err(StoreError::Conflict)), Next::Done(false));
}

#[test]
fn a_leader_that_reads_another_record_has_lost() {
    let own = stored("me", 0.0, 9);
    let restarted =
        Stored { record: crate::elector::Record { transitions: 1, ..own.record }, ..own };
    let mut recreated = stored("me", 0.0, 9);
    recreated.record.transitions = 0; // like this elector's own, but of another object
    recreated.uid = "another".into();
    let seen = [
        Ok(recreated),
        Ok(stored("other", 0.0, 9)),
        Ok(stored("", 0.0, 9)),
        Ok(restarted),
        Err(StoreError::NotFound),
    ];
    for read in seen {
        let mut bench = created(Bench::usual());
        bench.io(Try);
        assert_eq!(bench.reply_io(Err(StoreError::Conflict)), Io::Get);
        assert!(bench.call(Holds { term: 1 }));
        assert_eq!(bench.reply(read.clone()), Next::Done(false), "{read:?}");
        assert!(!bench.call(Holds { term: 1 }) && !bench.call(IsLeader), "{read:?}");
    }
}

#[test]
fn nobody_updates_an_object_without_a_version() {
    let mut bench = Bench::usual();
    bench.io(Try);
    let unversioned = Stored { version: Version::new(""), ..stored("", 0.0, 0) };
    assert_eq!(bench.reply(Ok(unversioned)), Next::Done(false), "LK-4");
}

#[test]
fn leadership_ends_an_acting_time_after_the_attempt_began() {
    let mut bench = Bench::usual();
    bench.io(Try);
    let create = bench.reply_io(Err(StoreError::NotFound));
    let began = bench.now();
    bench.pass(s(5.0)); // a late reply costs acting time
    bench.accept(create, 1);
    let acting = Config::new("me").acting();
    assert_eq!(bench.election.valid_until(), Some(began + acting));
    bench.pass(acting - s(5.0) - s(0.000_001));
    assert!(bench.call(IsLeader));
    bench.pass(s(0.000_001));
    assert!(!bench.call(IsLeader), "at equality it is over");
    assert!(!bench.call(Holds { term: 1 }));
}

#[test]
fn an_acquisition_that_took_too_long_is_none() {
    let mut bench = Bench::usual();
    bench.io(Try);
    let create = bench.reply_io(Err(StoreError::NotFound));
    bench.pass(Config::new("me").acting());
    assert_eq!(bench.accept(create, 1), Next::Done(false), "LE-51");
    assert!(!bench.call(IsLeader));
    assert_eq!(bench.io(Try), Io::Get, "the next attempt reads");
}

#[test]
fn a_renewal_does_not_revive_a_term_that_is_over() {
    let mut bench = created(Bench::usual());
    bench.pass(s(2.0));
    let update = bench.io(Try);
    bench.pass(Config::new("me").acting() - s(1.0)); // the old limit passes, the new one would not
    assert_eq!(bench.accept(update, 2), Next::Done(false));
    assert!(!bench.call(IsLeader));
}

#[test]
fn a_term_that_ends_within_an_attempt_is_followed_by_one_with_a_time_of_its_own() {
    let mut bench = created(Bench::usual());
    bench.pass(s(2.0));
    let renewal = written(bench.io(Try)); // it keeps the old time of acquisition
    bench.pass(Config::new("me").acting() - s(2.0));
    bench.reply_io(Err(StoreError::Timeout));
    let own = Stored { record: renewal, ..stored("me", 0.0, 2) };
    let Io::Update(record, _) = bench.reply_io(Ok(own)) else { panic!("update") };
    assert_eq!((record.transitions, record.acquire_time), (1, record.renew_time), "LE-23");
}

#[test]
fn a_leader_is_wedged_after_its_lease_and_the_tolerance_but_not_at_that_moment() {
    let mut bench = created(Bench::usual());
    bench.pass(s(16.0));
    assert!(bench.call(Check { tolerance: s(1.0) }));
    bench.pass(s(0.000_001));
    assert!(!bench.call(Check { tolerance: s(1.0) }), "LE-55");
}

#[test]
fn a_shorter_acting_time_is_obeyed() {
    let bounds = Bounds { acting: Some(s(5.0)), ..Bounds::default() };
    let config = Config { bounds, ..Config::new("me") };
    let mut bench = created(Bench::new(config));
    bench.pass(s(5.0));
    assert!(!bench.call(IsLeader));
}

/// Reads a dead leader's record from a current and a lagging replica in turn; returns whether the
/// lease is taken after 20 seconds of that.
fn takes_over_from_flip_flop(mut bench: Bench) -> bool {
    for _ in 0..10 {
        for renewed in [1.0, 2.0] {
            bench.io(Try);
            if bench.reply(Ok(stored("dead", renewed, renewed as u64))) != Next::Done(false) {
                return true;
            }
            bench.pass(s(1.0));
        }
    }
    false
}

#[test]
fn a_candidate_takes_over_although_a_replica_lags() {
    let ordered = Config { versions: Versions::Ordered, ..Config::new("me") };
    assert!(takes_over_from_flip_flop(Bench::usual()));
    assert!(takes_over_from_flip_flop(Bench::new(ordered)));
}

#[test]
fn with_ordered_versions_a_lagging_read_changes_nothing() {
    let config = Config { versions: Versions::Ordered, ..Config::new("me") };
    let mut bench = created(Bench::new(config));
    bench.io(Try);
    bench.reply_io(Err(StoreError::Conflict));
    assert_eq!(bench.reply(Ok(stored("other", 0.0, 0))), Next::Done(false));
    assert!(bench.call(IsLeader), "an old record proves no loss");
}

#[test]
fn a_return_to_an_old_record_counts_from_the_newest_first_sighting() {
    let mut bench = Bench::usual();
    bench.io(Try);
    bench.reply(Ok(stored("a", 1.0, 1)));
    bench.pass(s(3.0));
    bench.io(Try);
    bench.reply(Ok(stored("b", 2.0, 2)));
    let newest = bench.now();
    bench.pass(s(3.0));
    bench.io(Try);
    bench.reply(Ok(stored("a", 1.0, 1)));
    assert_eq!(bench.observed().at, newest);
    assert_eq!(bench.observed().record.holder.as_str(), "a");
}

#[test]
fn every_holder_is_reported_once_in_a_row() {
    let mut bench = Bench::usual();
    assert_eq!(bench.call(Report), None);
    for (holder, report) in [("a", Some("a")), ("a", None), ("", Some("")), ("b", Some("b"))] {
        bench.io(Try);
        bench.reply(Ok(stored(holder, bench.now().as_nanos() as f64 / 1e9, 1)));
        if holder.is_empty() {
            bench.reply(Err(StoreError::Conflict));
        }
        assert_eq!(bench.call(Report).as_ref().map(|name| name.as_str()), report);
        bench.pass(s(1.0));
    }
}

#[test]
fn a_coordinated_elector_neither_creates_nor_takes() {
    let config = Config::new("me");
    let mut bench = Bench::new(Config { coordinated: true, ..config });
    for read in [Err(StoreError::NotFound), Ok(stored("other", 0.0, 1)), Ok(stored("", 0.0, 2))] {
        assert_eq!(bench.io(Try), Io::Get);
        assert_eq!(bench.reply(read), Next::Done(false));
        bench.pass(s(20.0));
    }
}

#[test]
fn a_coordinated_elector_renews_what_names_it_until_another_is_preferred() {
    let mut bench = Bench::new(Config { coordinated: true, ..Config::new("me") });
    let mut named = stored("me", 0.0, 1);
    named.record.strategy = "OldestEmulationVersion".into();
    bench.io(Try);
    let Io::Update(record, version) = bench.reply_io(Ok(named.clone())) else { panic!("update") };
    assert_eq!(record.strategy, named.record.strategy);
    assert_eq!((record.transitions, record.acquire_time), (8, record.renew_time), "LE-26");
    assert_eq!(bench.accept(Io::Update(record, version), 2), Next::Done(true));
    assert_eq!(bench.io(Try), Io::Get, "there is no fast path");
    named.record.preferred_holder = "other".into();
    named.version = Version::Number(3);
    assert_eq!(bench.reply(Ok(named)), Next::Done(false), "end of term");
}

#[test]
fn a_coordinated_lease_is_not_over_at_its_very_end() {
    let mut bench = Bench::new(Config { coordinated: true, ..Config::new("me") });
    bench.io(Try);
    bench.reply_io(Ok(stored("me", 0.0, 1)));
    bench.reply(Err(StoreError::Timeout));
    bench.pass(s(15.0));
    bench.io(Try);
    bench.reply_io(Ok(stored("me", 0.0, 1)));
    bench.reply(Err(StoreError::Timeout));
    bench.pass(s(0.001));
    bench.io(Try);
    assert_eq!(bench.reply(Ok(stored("me", 0.0, 1))), Next::Done(false), "also for the holder");
}
