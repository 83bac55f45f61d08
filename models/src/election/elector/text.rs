//! Records that other programs may leave: any bytes in an annotation.

use std::time::Duration;

use seatrial_core::elector::{
    Config, Election, Fields, GiveUp, LeaseSpec, Next, Record, Reply, Stored, Try, Turn, Version,
};
use seatrial_core::machine::{Boxed, Cx, Host, Operation, Step};
use seatrial_core::runtime::{Ambient, Instant, WallTime};

use crate::election::plain::{self, reference};

/// The property on the bytes of a fuzzer: they are refused, or they are a record. A record reads
/// the same after it was written, and no elector panics on it.
///
/// # Panics
/// If the bytes are read, but break this property.
pub fn check_bytes(bytes: &[u8]) {
    let Ok(record) = Record::from_json_bytes(bytes) else { return };
    for fields in [Fields::Current, Fields::Older] {
        let text = record.to_json(fields);
        let again = Record::from_json(&text).expect("what was written is read");
        assert_eq!(again.to_json(fields), text, "written twice");
        assert!(fields == Fields::Older || again.same_json(&record), "{again:?} {record:?}");
    }
    let _refused = LeaseSpec::from_record(&record).validate();
    for config in [reference("me"), Config::new("me")] {
        meet(config, &record);
    }
}

/// Lets an elector read a record twice, a day apart, and free the lease.
fn meet(config: Config, record: &Record) {
    let stored = Stored::new(record.clone(), Version::Number(1), "uid".into());
    let mut election = plain::elector(config);
    let mut now = Duration::from_secs(1_000);
    let first = read(&mut election, now, Try, &stored);
    let held = !record.holder.is_empty() && record.holder.as_str() != "me";
    if held && record.duration_seconds > 0 {
        assert_eq!(first, Next::Done(false), "taken at first sight");
    }
    settle(&mut election, now, first, &stored);
    now += Duration::from_secs(86_400);
    let second = read(&mut election, now, Try, &stored);
    settle(&mut election, now, second, &stored);
    let freed = read(&mut election, now, GiveUp, &stored);
    settle(&mut election, now, freed, &stored);
}

/// The surroundings of one step.
struct At(Duration);

impl Ambient for At {
    fn now(&self) -> Instant {
        Instant::ZERO + self.0
    }

    fn wall(&self) -> WallTime {
        WallTime::from_nanos(0)
    }

    fn entropy(&self) -> u64 {
        0
    }
}

fn step(
    election: &mut Boxed<Election>,
    now: Duration,
    mut op: impl Operation<Election, Ret = Turn>,
) -> Next {
    match election.run(&mut op, &mut Cx::new(&At(now))) {
        Step::Done(turn) | Step::Held(turn) => turn.next,
        Step::Wait { .. } => unreachable!("only a rest waits"),
    }
}

/// Begins an attempt or a release, and answers its first call with the stored state.
fn read(
    election: &mut Boxed<Election>,
    now: Duration,
    begin: impl Operation<Election, Ret = Turn>,
    stored: &Stored,
) -> Next {
    match step(election, now, begin) {
        Next::Call { .. } => step(election, now, Reply(Some(Ok(stored.clone())))),
        next => next,
    }
}

/// Accepts all further writes of an elector.
fn settle(election: &mut Boxed<Election>, now: Duration, mut next: Next, stored: &Stored) {
    while let Next::Call { .. } = next {
        next = step(election, now, Reply(Some(Ok(stored.clone()))));
    }
}

pub(crate) mod tests {
    use seatrial::tests;
    use seatrial::tests::Tests;

    use super::check_bytes;
    use crate::random::random_bytes;

    fn records_that_nobody_should_write_do_no_harm() {
        for text in [
            &b"{}"[..],
            b"null",
            br#"{"holderIdentity":"x","leaseDurationSeconds":15,"acquireTime":null}"#,
            br#"{"holderIdentity":"x","leaseDurationSeconds":-9223372036854775808}"#,
            br#"{"holderIdentity":"x","leaseDurationSeconds":9223372036854775807}"#,
            br#"{"holderIdentity":"me","leaderTransitions":9223372036854775807}"#,
            br#"{"holderIdentity":"x","renewTime":"9999-12-31T23:59:59.999999999Z"}"#,
            br#"{"holderIdentity":"x","acquireTime":"0000-01-01T00:00:00+23:59"}"#,
            br#"{"holderIdentity":"x","unknown":{"kept":"by nobody"},"leaseDurationSeconds":1}"#,
            b"{\"holderIdentity\":\"\xff\xfe\",\"leaseDurationSeconds\":15}",
            br#"{"holderIdentity":"","leaseDurationSeconds":0,"leaderTransitions":-1}"#,
        ] {
            check_bytes(text);
        }
    }

    fn damaged_records_do_no_harm() {
        let sound = br#"{"holderIdentity":"pod-1","leaseDurationSeconds":15,"acquireTime":"2026-01-01T00:00:00Z","renewTime":"2026-01-01T00:00:09Z","leaderTransitions":3}"#;
        for seed in 0..20_000 {
            let mut text = sound.to_vec();
            for change in random_bytes(seed, 6).chunks_exact(2) {
                let at = usize::from(change[0]) % text.len();
                text[at] = change[1];
            }
            check_bytes(&text);
        }
    }

    pub(crate) const TESTS: Tests =
        tests![records_that_nobody_should_write_do_no_harm, damaged_records_do_no_harm];
}
