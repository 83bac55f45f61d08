//! The calls one by one.

use std::sync::Arc;
use std::time::Duration;

use super::ledger::Ledger;
use super::{
    Advance, AtLeast, Fresh, Look, NotVisibleError, Over, Part, Prepare, Refuse, Stored, Synced,
    Turn, View, WaitForSync,
};
use crate::monitor::Monitor;
use crate::runtime::{Ambient, Instant, Manual, Runtime};

const PATIENCE: Duration = Duration::from_secs(20);

type Under = Arc<Monitor<Fresh, Manual>>;

fn fresh() -> (Manual, Under) {
    let runtime = Manual::new();
    (runtime.clone(), Arc::new(Monitor::new(&runtime, Fresh::default())))
}

fn at_least(version: u64, until: Instant) -> AtLeast {
    AtLeast { version, part: None, until }
}

#[test]
fn versions_of_changes_do_not_go_back_and_lists_may() {
    let (_, fresh) = fresh();
    for version in [Some(7), Some(5), None] {
        fresh.call(Advance(version));
        assert_eq!(fresh.call(Look).version, 7);
    }
    fresh.call(Prepare(Some(9)));
    assert_eq!(fresh.call(Look).version, 7, "the list is not in the store yet");
    assert_eq!(fresh.call(Look).rollbacks, 0);
    fresh.call(Prepare(Some(6)));
    let view = fresh.call(Look);
    assert_eq!((view.version, view.rollbacks, view.epoch, view.is_applying), (6, 1, 3, true));
    fresh.call(Advance(None));
    fresh.call(Prepare(None));
    let view = fresh.call(Look);
    assert_eq!((view.version, view.rollbacks, view.epoch, view.is_applying), (6, 2, 4, true));
    fresh.call(Advance(None));
    let view = fresh.call(Look);
    assert_eq!((view.rollbacks, view.is_applying), (2, false));
}

#[test]
fn one_without_patience_is_told_how_far_the_store_is() {
    let (_, fresh) = fresh();
    fresh.call(Advance(Some(4)));
    assert!(fresh.call(at_least(4, Instant::ZERO)).is_ok());
    let behind = NotVisibleError::Behind { wanted: 5, seen: 4 };
    assert_eq!(fresh.call(at_least(5, Instant::ZERO)), Err(behind));
}

#[test]
fn a_wait_ends_with_the_version_and_not_before() {
    let (runtime, fresh) = fresh();
    let waits = Arc::clone(&fresh);
    let thread = runtime.spawn("waits", move || waits.call(at_least(5, Instant::NEVER)));
    assert!(runtime.until_asleep(1, PATIENCE));
    fresh.call(Advance(Some(4)));
    assert!(runtime.until_asleep(1, PATIENCE));
    fresh.call(Advance(Some(6)));
    assert_eq!(runtime.join(thread).unwrap().unwrap().version, 6);
}

#[test]
fn a_wait_ends_at_its_deadline() {
    let (runtime, fresh) = fresh();
    let until = runtime.now() + Duration::from_secs(3);
    let waits = Arc::clone(&fresh);
    let thread = runtime.spawn("waits", move || waits.call(at_least(5, until)));
    assert!(runtime.until_waiting(1, PATIENCE));
    runtime.advance(Duration::from_secs(3));
    let behind = NotVisibleError::Behind { wanted: 5, seen: 0 };
    assert_eq!(runtime.join(thread).unwrap(), Err(behind));
}

#[test]
fn the_end_wakes_all_who_wait() {
    let (runtime, fresh) = fresh();
    let waits = [0, 1].map(|number| {
        let fresh = Arc::clone(&fresh);
        runtime.spawn("waits", move || match number {
            0 => fresh.call(at_least(1, Instant::NEVER)).map(|_| ()),
            _ => fresh.call(Turn { after: 0, until: Instant::NEVER }).map(|_| ()),
        })
    });
    let syncs = Arc::clone(&fresh);
    let sync = runtime.spawn("syncs", move || syncs.call(WaitForSync { until: Instant::NEVER }));
    assert!(runtime.until_asleep(3, PATIENCE));
    fresh.call(Over);
    for thread in waits {
        assert_eq!(runtime.join(thread).unwrap(), Err(NotVisibleError::Stopped));
    }
    assert!(!runtime.join(sync).unwrap());
    fresh.call(Advance(Some(1)));
    assert!(fresh.call(at_least(1, Instant::ZERO)).is_ok(), "what is there can be read");
}

#[test]
fn the_first_list_is_waited_for_without_polling() {
    let (runtime, fresh) = fresh();
    assert!(!fresh.call(WaitForSync { until: Instant::ZERO }));
    let waits = Arc::clone(&fresh);
    let thread = runtime.spawn("waits", move || waits.call(WaitForSync { until: Instant::NEVER }));
    assert!(runtime.until_asleep(1, PATIENCE));
    fresh.call(Synced);
    assert!(runtime.join(thread).unwrap());
    fresh.call(Over);
    assert!(fresh.call(WaitForSync { until: Instant::ZERO }));
}

#[test]
fn a_future_that_is_dropped_leaves_nothing_behind() {
    let (runtime, fresh) = fresh();
    let until = runtime.now() + Duration::from_secs(3);
    let mut wait = Box::pin(fresh.call_async(at_least(5, until)));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(wait.as_mut().poll(&mut context).is_pending());
    assert_eq!(runtime.waiters(), 1);
    drop(wait);
    assert_eq!(runtime.waiters(), 0);
}

fn at(version: u64, is_applying: bool) -> View {
    View { version, is_applying, ..View::default() }
}

#[test]
fn a_deletion_is_forgotten_once_the_version_says_so() {
    let mut ledger = Ledger::new(64);
    ledger.note("a".to_owned(), 1, Some("u"), &View::default());
    ledger.note("b".to_owned(), 1, None, &View::default());
    for key in ["a", "b"] {
        ledger.forget(key, &ledger.get(key).unwrap(), &at(1, true));
    }
    assert_eq!((ledger.len(), ledger.seen()), (1, 1), "a write is in what has its version");
    ledger.forget("a", &ledger.get("a").unwrap(), &at(2, false));
    assert_eq!((ledger.len(), ledger.seen()), (0, 2));
}

#[test]
fn of_two_objects_of_one_name_the_newer_one_was_deleted_last() {
    let mut ledger = Ledger::new(64);
    let last = |ledger: &Ledger| ledger.get("a").unwrap().deleted.unwrap().uid;
    ledger.note("a".to_owned(), 3, Some("second"), &View::default());
    ledger.note("a".to_owned(), 1, Some("first"), &View::default()); // it is noted late
    assert_eq!(last(&ledger), "second");
    ledger.note("a".to_owned(), 5, Some("third"), &View::default());
    assert_eq!((last(&ledger), ledger.get("a").unwrap().version), ("third".to_owned(), 5));
}

#[test]
fn a_ledger_keeps_the_newest_and_forgets_what_is_visible() {
    let mut ledger = Ledger::new(64);
    ledger.note("a".to_owned(), 5, None, &View::default());
    ledger.note("a".to_owned(), 3, Some("u"), &View::default());
    let seen = ledger.get("a").unwrap();
    assert_eq!((seen.version, &*seen.deleted.as_ref().unwrap().uid), (5, "u"));
    ledger.note("a".to_owned(), 6, None, &View::default());
    ledger.forget("a", &seen, &at(9, false));
    assert_eq!(ledger.seen(), 0, "nothing is forgotten");
    assert_eq!(ledger.all(), (6, vec![("a".to_owned(), "u".to_owned())]));
    for number in 0..10_000 {
        ledger.note(number.to_string(), number, None, &View::default());
        let known = ledger.look();
        for (key, written) in &known {
            if written.version + 100 < number {
                ledger.forget(key, written, &at(7, false));
            }
        }
        if !known.is_empty() {
            ledger.looked();
        }
        assert!(ledger.len() <= 402, "{}", ledger.len());
    }
    assert_eq!(ledger.seen(), 7);
}

#[test]
fn what_was_refused_is_lacking_until_something_newer_is_stored() {
    let (_, fresh) = fresh();
    let has = |key: Option<&str>, version| {
        let part = Some(Part { key: key.map(str::to_owned), version });
        fresh.call(AtLeast { version, part, until: Instant::ZERO }).map(|_| ())
    };
    let a = |version| ("a".to_owned(), version);
    let lacks = Err(NotVisibleError::Refused { key: "a".to_owned() });
    fresh.call(Refuse(vec![a(5), a(7)]));
    fresh.call(Advance(Some(8)));
    assert!(fresh.call(Look).has_rejected);
    assert_eq!((has(Some("a"), 4), has(None, 4)), (Ok(()), Ok(())), "what was there before");
    for version in 5..9 {
        assert_eq!((has(Some("a"), version), has(None, version)), (lacks.clone(), lacks.clone()));
        assert_eq!(has(Some("b"), version), Ok(()));
    }
    fresh.call(Stored::Objects(vec![a(6), ("b".to_owned(), 9)]));
    fresh.call(Stored::List(6));
    assert_eq!(has(Some("a"), 8), lacks, "they came before the last that was refused");
    fresh.call(Stored::Objects(vec![a(7)]));
    assert_eq!((has(Some("a"), 8), has(None, 8)), (Ok(()), Ok(())));
    fresh.call(Refuse(vec![a(8)]));
    fresh.call(Stored::List(8));
    assert!(!fresh.call(Look).has_rejected);
}

#[test]
fn who_waits_for_what_was_refused_is_woken_when_it_is_stored() {
    let (runtime, fresh) = fresh();
    fresh.call(Refuse(vec![("a".to_owned(), 5)]));
    fresh.call(Advance(Some(5)));
    let waits = Arc::clone(&fresh);
    let part = Some(Part { key: None, version: 5 });
    let thread = runtime
        .spawn("waits", move || waits.call(AtLeast { version: 5, part, until: Instant::NEVER }));
    assert!(runtime.until_asleep(1, PATIENCE));
    fresh.call(Stored::Objects(vec![("a".to_owned(), 6)]));
    assert!(runtime.join(thread).unwrap().is_ok());
}

#[test]
fn writes_that_a_server_lost_are_forgotten_once_a_list_went_back() {
    let mut ledger = Ledger::new(64);
    ledger.note("kept".to_owned(), 4, None, &View::default());
    ledger.note("lost".to_owned(), 9, None, &View::default());
    ledger.note("seen".to_owned(), 8, None, &View::default());
    ledger.forget("seen", &ledger.get("seen").unwrap(), &at(8, false));
    assert!(!ledger.forget_lost(&at(8, false)), "no list went back: it only takes long");
    assert_eq!((ledger.len(), ledger.seen()), (2, 8));
    let back = View { rollbacks: 2, last_rollback: 1, ..at(5, false) };
    assert!(ledger.forget_lost(&back));
    assert_eq!((ledger.all().0, ledger.seen()), (4, 5));
    ledger.note("new".to_owned(), 7, None, &back);
    assert!(!ledger.forget_lost(&back), "what was written since is waited for");
    assert_eq!(ledger.all().0, 7);
}

#[test]
fn a_write_that_is_noted_after_a_list_went_back_is_not_lost() {
    let (_, fresh) = fresh();
    let mut ledger = Ledger::new(64);
    fresh.call(Advance(Some(9)));
    ledger.note("old".to_owned(), 10, Some("u"), &fresh.call(Look));
    ledger.note("both".to_owned(), 11, None, &fresh.call(Look));
    fresh.call(Prepare(Some(5)));
    ledger.note("during".to_owned(), 6, None, &fresh.call(Look));
    fresh.call(Advance(Some(5)));
    ledger.note("both".to_owned(), 7, None, &fresh.call(Look));
    assert!(ledger.forget_lost(&fresh.call(Look)));
    let versions = ["old", "during", "both"].map(|key| ledger.get(key).map(|it| it.version));
    assert_eq!(versions, [None, Some(6), Some(7)]);
}

#[test]
fn a_note_that_comes_late_takes_no_newer_one_along() {
    let mut ledger = Ledger::new(64);
    let back = View { rollbacks: 2, last_rollback: 1, ..at(5, false) };
    ledger.note("a".to_owned(), 9, None, &back);
    ledger.note("a".to_owned(), 8, None, &at(8, false)); // it looked before the list
    assert!(ledger.forget_lost(&back));
    assert_eq!(ledger.get("a").map(|it| it.version), Some(9));
}
