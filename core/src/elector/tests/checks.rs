//! The checks of an elector's state, and the values that users see.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::bench::{BEGIN, Bench};
use crate::elector::run::Phase;
use crate::elector::{
    AlreadyRunning, ConfigError, Election, LockKind, LockKindError, Name, ObjectName, StoreError,
    Timestamp, Version,
};

/// An elector that has acquired a free lease.
fn leading(mut bench: Bench) -> Bench {
    bench.io(BEGIN);
    let create = bench.reply_io(Err(StoreError::NotFound));
    bench.accept(create, 1);
    assert!(bench.election.term.live);
    bench
}

fn is_noticed(bench: &Bench) -> bool {
    catch_unwind(AssertUnwindSafe(|| bench.election.check())).is_err()
}

#[test]
fn a_state_that_is_wrong_is_noticed() {
    let breaks: [fn(&mut Election); 4] = [
        |election| election.term.fence = None,
        |election| election.cancelled = true,
        |election| election.written_transitions = None,
        |election| {
            let fence = election.term.fence.as_ref().unwrap();
            election.written_transitions = Some(fence.transitions - 1);
        },
    ];
    for (number, broken) in breaks.into_iter().enumerate() {
        let mut bench = leading(Bench::usual());
        assert!(!is_noticed(&bench));
        broken(&mut bench.election);
        assert!(is_noticed(&bench), "number {number}");
        bench.election.term.live = false;
        assert!(!is_noticed(&bench), "number {number}: nothing leads");
    }
}

#[test]
fn a_call_outside_of_any_run_is_noticed() {
    let mut bench = Bench::usual();
    bench.election.check();
    bench.io(BEGIN);
    bench.election.phase = Phase::Idle;
    assert!(is_noticed(&bench));
}

#[test]
fn names_versions_and_errors_are_shown_in_words() {
    let shown = |shown: &dyn std::fmt::Display| shown.to_string();
    assert_eq!(shown(&Name::new("me")), "me");
    assert_eq!(format!("{:?}", Name::new("me")), r#""me""#);
    assert_eq!(shown(&Version::Number(7)), "7");
    assert_eq!(format!("{:?} {:?}", Version::Number(7), Version::new("x")), "v7 vx");
    assert_eq!(shown(&Timestamp::from_micros(0)), "1970-01-01T00:00:00.000000Z");
    assert_eq!(shown(&AlreadyRunning), "this elector runs already");
    assert_eq!(shown(&StoreError::Conflict), "object was changed by another");
    assert_eq!(shown(&StoreError::Timeout), "timed out");
    assert_eq!(shown(&StoreError::Other("disk full".into())), "disk full");
    assert_eq!(shown(&ObjectName::new("kube-system", "lock")), "kube-system/lock");
    let kind = LockKind::Leases;
    assert_eq!((shown(&kind), format!("{kind:>8}")), ("leases".into(), "leases".into()));
    let unknown = LockKindError::Unknown("files".into());
    assert_eq!(shown(&unknown), r#"unknown lock kind "files": use leases"#);
    assert_eq!(shown(&ConfigError::EmptyIdentity), "Lock identity is empty");
    let (needed, given) = (Duration::from_secs(2), Duration::from_secs(1));
    let unsafe_timing = ConfigError::UnsafeTiming { needed, given };
    let says = shown(&unsafe_timing);
    for word in ["2s needed, 1s given", "`timing.lease`", "`timing.retry`", "`drift_ppm`"] {
        assert!(says.contains(word), "{says}");
    }
    assert!(shown(&ConfigError::LeaseNotWholeSeconds).starts_with("`timing.lease` must be"));
}
