//! Input that should never occur, and that must do no harm.

use super::bench::{BEGIN, Bench, s, stored};
use crate::elector::{
    Check, Holds, Io, IsLeader, Next, Record, Reply, StoreError, Stored, Timestamp, Try, Watch,
};
use crate::machine::Step;

#[test]
fn a_clock_that_goes_back_breaks_nothing() {
    let mut bench = Bench::usual();
    bench.io(BEGIN);
    let create = bench.reply_io(Err(StoreError::NotFound));
    assert!(matches!(bench.accept(create, 1), Next::Lead { .. }));
    let update = bench.rest_io();
    bench.back(s(500.0));
    assert_eq!(bench.accept(update, 2), Next::Rest);
    assert!(bench.call(Holds { term: 1 }) && bench.call(IsLeader));
    assert!(bench.call(Check { tolerance: s(0.0) }), "nobody is late");
    assert!(matches!(bench.step(Watch { term: 1 }), Step::Wait { .. }));
    assert!(matches!(bench.rest_io(), Io::Update(..)), "it renews when that is due");
    bench.back(s(300.0));
    bench.reply_io(Err(StoreError::Conflict));
    bench.reply(Ok(stored("other", 0.0, 9)));
}

#[test]
fn a_candidate_whose_clock_goes_back_waits_the_longer() {
    let mut bench = Bench::usual();
    bench.io(Try);
    bench.reply(Ok(stored("other", 0.0, 9)));
    bench.back(s(100.0));
    bench.pass(s(15.0));
    bench.io(Try);
    assert_eq!(bench.reply(Ok(stored("other", 0.0, 9))), Next::Done(false), "not yet");
    bench.pass(s(100.0));
    bench.io(Try);
    assert!(matches!(bench.reply_io(Ok(stored("other", 0.0, 9))), Io::Update(..)));
}

#[test]
fn an_attempt_goes_on_although_another_one_and_an_empty_answer_are_refused() {
    let mut bench = Bench::usual();
    bench.io(Try);
    assert_eq!(bench.turn(Try), Next::Refused);
    assert_eq!(bench.turn(Reply(None)), Next::Refused);
    let create = bench.reply_io(Err(StoreError::NotFound));
    assert_eq!(bench.turn(Try), Next::Refused);
    assert_eq!(bench.accept(create, 1), Next::Done(true));
}

#[test]
fn numbers_at_their_limits_and_times_of_another_age_are_numbers_and_times() {
    let wild = |change: &dyn Fn(&mut Record)| {
        let mut stored = stored("other", 0.0, 9);
        change(&mut stored.record);
        stored
    };
    let leases: [Stored; 8] = [
        wild(&|record| record.duration_seconds = i64::MAX),
        wild(&|record| record.duration_seconds = i64::MIN),
        wild(&|record| record.duration_seconds = -1),
        wild(&|record| record.transitions = i64::MAX),
        wild(&|record| record.transitions = i64::MIN),
        wild(&|record| record.renew_time = Some(Timestamp::from_micros(i64::MAX))),
        wild(&|record| record.acquire_time = Some(Timestamp::from_micros(i64::MIN))),
        wild(&|record| (record.acquire_time, record.renew_time) = (None, None)),
    ];
    for lease in leases {
        let mut bench = Bench::usual();
        bench.io(Try);
        let first = bench.reply(Ok(lease.clone()));
        if lease.record.duration_seconds >= 0 {
            assert_eq!(first, Next::Done(false), "{:?}", lease.record);
        }
        bench.pass(s(16.0));
        if first == Next::Done(false) {
            bench.io(Try);
            let second = bench.reply(Ok(lease.clone()));
            let for_ever = lease.record.duration_seconds == i64::MAX;
            assert_eq!(second == Next::Done(false), for_ever, "{:?}", lease.record);
        }
    }
}

#[test]
fn a_count_that_cannot_rise_any_more_stays() {
    let mut bench = Bench::usual();
    bench.io(Try);
    let mut last = stored("", 0.0, 9);
    last.record.transitions = i64::MAX;
    let Io::Update(written, _) = bench.reply_io(Ok(last)) else { panic!("it is free") };
    assert_eq!(written.transitions, i64::MAX);
}
