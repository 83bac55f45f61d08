//! Laws of the record, its times and its set-up.

use std::time::Duration;

use quickcheck::{QuickCheck, Testable};
use seatrial_core::elector::{
    Bounds, Fields, LeaseSpec, Name, Record, Timestamp, Timing, validate_nanos,
};

fn holds(law: impl Testable) {
    QuickCheck::new().tests(2_000).quickcheck(law);
}

/// Names, times and numbers of a record; times of years that have four digits.
type Random = ((String, String, String), (Option<i64>, Option<i64>), (i64, i64));

fn record(((holder, strategy, preferred), (acquired, renewed), numbers): Random) -> Record {
    // From the second year on: the first moment of year one means "no time".
    let time = |random: i64| {
        let (first, last) = (-62_104_060_800_i64, 253_402_300_799_i64);
        let seconds = first + random.rem_euclid(last - first);
        Timestamp::from_micros(seconds * 1_000_000 + random.rem_euclid(1_000_000))
    };
    Record::default()
        .holder(Name::new(&holder))
        .duration_seconds(numbers.0)
        .acquire_time(acquired.map(time))
        .renew_time(renewed.map(time))
        .transitions(numbers.1)
        .strategy(Name::new(&strategy))
        .preferred_holder(Name::new(&preferred))
}

fn a_record_survives_its_json_but_for_fractions_of_a_second() {
    fn law(random: Random) -> bool {
        let record = record(random);
        let json = record.to_json(Fields::Current);
        let read = Record::from_json(&json).expect("our own text");
        read.same_json(&record) && read.to_json(Fields::Current) == json
    }
    holds(law as fn(_) -> _);
}

fn the_json_of_a_record_is_json() {
    fn law(random: Random) -> bool {
        let record = record(random);
        let value: serde_json::Value =
            serde_json::from_str(&record.to_json(Fields::Current)).expect("it is JSON");
        value["holderIdentity"] == record.holder.as_str()
            && value["leaderTransitions"] == record.transitions
            && value.as_object().is_some_and(|members| members.len() == 7)
    }
    holds(law as fn(_) -> _);
}

fn records_have_the_same_json_exactly_if_they_are_said_to() {
    fn law(random: Random, nudge: i16, what: u8) -> bool {
        let first = record(random);
        let mut second = first.clone();
        let moved = |time: Option<Timestamp>| {
            time.map(|time| Timestamp::from_micros(time.as_micros() + i64::from(nudge) * 100))
        };
        match what % 5 {
            0 => second.renew_time = moved(second.renew_time),
            1 => second.acquire_time = moved(second.acquire_time),
            2 => second.renew_time = None,
            3 => second.transitions ^= i64::from(nudge),
            _ => second.preferred_holder = Name::new("other"),
        }
        let same = first.to_json(Fields::Current) == second.to_json(Fields::Current);
        first.same_json(&second) == same
    }
    holds(law as fn(_, _, _) -> _);
}

fn any_text_is_read_or_refused_without_a_panic() {
    fn law(text: String, at: usize, byte: u8, random: Random) -> bool {
        let _refused = Record::from_json(&text);
        let mut json = record(random).to_json(Fields::Current).into_bytes();
        let at = at % json.len();
        json[at] = byte;
        if let Ok(damaged) = std::str::from_utf8(&json) {
            let _read = Record::from_json(damaged);
            let _cut = Record::from_json(damaged.get(..at).unwrap_or(""));
        }
        true
    }
    holds(law as fn(_, _, _, _) -> _);
}

fn what_both_readers_accept_they_read_alike() {
    fn law(random: Random, at: usize, byte: u8) -> bool {
        let mut json = record(random).to_json(Fields::Current).into_bytes();
        let at = at % json.len();
        json[at] = byte;
        let Ok(text) = std::str::from_utf8(&json) else { return true };
        let ours = Record::from_json(text);
        match serde_json::from_str::<serde_json::Value>(text) {
            Err(_) => ours.is_err(),
            Ok(value) => ours.is_err() || value.is_object() || value.is_null(),
        }
    }
    holds(law as fn(_, _, _) -> _);
}

fn a_time_survives_its_text() {
    fn law(random: i64) -> bool {
        let micros = random.rem_euclid(300_000_000_000_000_000) - 60_000_000_000_000_000;
        let time = Timestamp::from_micros(micros);
        Timestamp::parse(&time.to_string()) == Some(time)
    }
    holds(law as fn(_) -> _);
}

fn a_record_survives_a_lease_that_it_fits_into() {
    fn law(random: Random, duration: i32, transitions: i32) -> bool {
        let numbers = (i64::from(duration), i64::from(transitions));
        let record = record((random.0, random.1, numbers));
        LeaseSpec::from_record(&record).to_record() == record
    }
    holds(law as fn(_, _, _) -> _);
}

fn a_longer_lease_is_never_worse() {
    fn law(lease: u32, renew: u32, retry: u32, more: u32) -> bool {
        let (lease, renew, retry) = (i64::from(lease), i64::from(renew), i64::from(retry));
        validate_nanos(lease, renew, retry).is_err()
            || validate_nanos(lease + i64::from(more), renew, retry).is_ok()
    }
    holds(law as fn(_, _, _, _) -> _);
}

fn the_longest_acting_time_satisfies_its_inequality_and_is_the_longest() {
    fn law(lease: u16, drift_ppm: u32, work_ms: u16, late_ms: u16) -> bool {
        let drift_ppm = drift_ppm % 500_000;
        let bounds = Bounds::default()
            .drift_ppm(drift_ppm)
            .work(Duration::from_millis(work_ms.into()))
            .scheduling(Duration::from_millis(late_ms.into()))
            .acting(None);
        let lease = Duration::from_secs(lease.into());
        let acting = bounds.longest_acting(lease);
        let drift = f64::from(drift_ppm) / 1e6;
        let holds = |acting: f64| {
            let lost = f64::from(u32::from(work_ms) + u32::from(late_ms)) / 1e3;
            acting / (1.0 - drift) + lost <= lease.as_secs_f64() / (1.0 + drift)
        };
        let acting = acting.as_secs_f64();
        (acting == 0.0 || holds(acting - 1e-7)) && !holds(acting + 1e-6)
    }
    holds(law as fn(_, _, _, _) -> _);
}

fn the_stored_lease_has_whole_seconds_and_is_never_longer() {
    fn law(nanos: u64) -> bool {
        let lease = Duration::from_nanos(nanos);
        let timing = Timing { lease, ..Timing::DEFAULT };
        let stored = timing.stored_lease();
        stored.subsec_nanos() == 0 && stored <= lease && lease - stored < Duration::from_secs(1)
    }
    holds(law as fn(_) -> _);
}

pub(crate) const TESTS: seatrial::tests::Tests = seatrial::tests![
    a_record_survives_its_json_but_for_fractions_of_a_second,
    the_json_of_a_record_is_json,
    records_have_the_same_json_exactly_if_they_are_said_to,
    any_text_is_read_or_refused_without_a_panic,
    what_both_readers_accept_they_read_alike,
    a_time_survives_its_text,
    a_record_survives_a_lease_that_it_fits_into,
    a_longer_lease_is_never_worse,
    the_longest_acting_time_satisfies_its_inequality_and_is_the_longest,
    the_stored_lease_has_whole_seconds_and_is_never_longer
];
