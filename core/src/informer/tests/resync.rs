//! The readers that are shown unchanged objects again, and when (`cache:TR-19`, `cache:INV-27`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::nap;
use super::server::{Object, Server, Thing};
use crate::cancel::CancelToken;
use crate::informer::readers::{Readers, Stage, is_wanted, mark};
use crate::informer::reflector::{Config, Hooks};
use crate::informer::{Change, Informer, ObjectChange, Subscription, Wants};
use crate::monitor::Monitor;
use crate::runtime::{Instant, Manual, Runtime, System};

const PATIENCE: Duration = Duration::from_secs(20);
const SECOND: Duration = Duration::from_secs(1);

fn at(seconds: u64) -> Instant {
    Instant::ZERO + SECOND * u32::try_from(seconds).unwrap()
}

/// Makes readers that want these periods in seconds, for an informer with the period `own`.
fn readers(own: u64, wanted: &[Option<u64>]) -> (Readers<Object, System>, Vec<super::Changes>) {
    let mut readers = Readers::new(Duration::from_secs(own));
    let mut kept = Vec::new();
    for period in wanted {
        let feed = crate::informer::feed::Feed::new(Vec::new(), true, usize::MAX);
        let feed = Arc::new(Monitor::new(&System::new(), feed));
        kept.push(Subscription::new(Arc::clone(&feed)));
        let wants = Wants { resync: period.map(Duration::from_secs), ..Wants::default() };
        readers.add(feed, wants, at(0));
    }
    (readers, kept)
}

#[test]
fn a_shorter_wish_shortens_the_period_of_an_informer_that_does_not_run() {
    let (mut readers, _kept) = readers(10, &[None, Some(5), Some(7), Some(0)]);
    assert_eq!(readers.check, SECOND * 5);
    readers.stage = Stage::Started;
    let feed = crate::informer::feed::Feed::new(Vec::new(), true, usize::MAX);
    let feed = Arc::new(Monitor::new(&System::new(), feed));
    readers.add(feed, Wants::default().resync_every(SECOND), at(0));
    assert_eq!(readers.check, SECOND * 5, "it runs");
}

#[test]
fn a_wish_of_less_than_a_second_is_one_for_a_second() {
    let mut readers = readers(10, &[]).0;
    let feed = crate::informer::feed::Feed::new(Vec::new(), true, usize::MAX);
    let feed = Arc::new(Monitor::new(&System::new(), feed));
    readers.add(feed, Wants::default().resync_every(Duration::from_millis(1)), at(0));
    assert_eq!(readers.check, SECOND);
}

#[test]
fn an_update_of_an_object_without_a_version_is_told_and_the_same_object_is_not() {
    let (readers, _kept) = readers(0, &[None]);
    let thing = |version: &str| {
        let (name, version) = ("a".to_owned(), version.to_owned());
        Arc::new(Thing { name, version, uid: "u".to_owned() })
    };
    let told = |old: &Object, new: &Object| {
        let change = Change::Updated { old: Arc::clone(old), new: Arc::clone(new) };
        is_wanted(&readers.feeds)(&change)
            && !readers.feeds[0].wanted(&[mark(change, false)]).is_empty()
    };
    let bare = thing("");
    assert!(told(&bare, &thing("")), "what changed cannot be told");
    assert!(!told(&bare, &bare), "it is shown again");
    assert!(!told(&thing("1"), &thing("1")));
    assert!(told(&thing("1"), &thing("2")));
    assert!(told(&thing("1"), &thing("")));
}

#[test]
fn an_informer_that_never_shows_anything_again_does_so_for_nobody() {
    let (mut readers, _kept) = readers(0, &[Some(5)]);
    assert_eq!(readers.check, Duration::ZERO);
    assert!(readers.resync_due(at(5)), "but it is never asked: its reflector has no timer");
}

#[test]
fn each_is_due_after_its_own_period() {
    let (mut readers, _kept) = readers(1, &[None, Some(2), Some(3)]);
    let due: Vec<bool> = (1..=6).map(|second| readers.resync_due(at(second))).collect();
    assert_eq!(due, [false, true, true, true, false, true]);
}

#[test]
fn one_who_wants_all_that_is_shown_gets_it_when_another_shortens_the_period() {
    let (mut readers, mut kept) = readers(10, &[Some(0), Some(2)]);
    drop(kept.pop()); // so that the first is asked about alone
    let due: Vec<bool> = (1..=4).map(|second| readers.resync_due(at(second))).collect();
    assert_eq!(due, [false, true, false, true]);
}

#[test]
fn a_handler_is_shown_what_it_wants_and_no_more() {
    let (runtime, server) = (Manual::new(), Server::default());
    server.put("a");
    server.put("b");
    let config = Config::default().resync(SECOND);
    let source = Arc::new(server.clone());
    let informer = Informer::builder(&runtime, source).config(config).build();
    let informer = Arc::new(informer);
    let wants = [None, Some(2), Some(3)].map(|seconds: Option<u32>| {
        seconds.map_or(Wants::default(), |it| Wants::default().resync_every(SECOND * it))
    });
    let mut readers = wants.map(|wants| informer.subscribe_with(wants));
    let token = CancelToken::new(&runtime);
    let run = {
        let (informer, token) = (Arc::clone(&informer), token.clone());
        runtime.spawn("informer", move || informer.run(&token).unwrap())
    };
    for reader in &mut readers {
        for _ in 0..2 {
            assert!(matches!(reader.next(), Ok(Change::Added { .. })));
        }
    }
    let shown = |reader: &mut Subscription<ObjectChange<Object>, Manual>| {
        let mut shown = 0;
        while reader.waiting() > 0 {
            assert!(matches!(reader.next(), Ok(Change::Updated { old, new }) if old == new));
            shown += 1;
        }
        shown
    };
    let mut seen = Vec::new();
    for second in 1..=6 {
        assert!(runtime.until_waiting(1, PATIENCE));
        runtime.advance(SECOND);
        if second == 1 || second == 5 {
            assert!(runtime.until_waiting(1, PATIENCE)); // no reader is due
        } else {
            let due = match second {
                3 => &readers[2..],
                6 => &readers[1..],
                _ => &readers[1..2],
            };
            for _ in 0..2_000 {
                if due.iter().all(|reader| reader.waiting() == 2) {
                    break;
                }
                nap(5);
            }
        }
        nap(20); // what should not come has time to come
        seen.push(readers.each_mut().map(shown));
    }
    assert_eq!(seen, [[0, 0, 0], [0, 2, 0], [0, 0, 2], [0, 2, 0], [0, 0, 0], [0, 2, 2]]);
    token.cancel();
    runtime.join(run).unwrap();
}

#[test]
fn a_panic_of_the_question_whether_to_resync_means_no_and_ends_nothing() {
    let (runtime, server, asked) = (Manual::new(), Server::default(), Arc::new(AtomicU32::new(0)));
    server.put("a");
    let times = Arc::clone(&asked);
    let should_resync = Arc::new(move || {
        assert!(times.fetch_add(1, Ordering::SeqCst) > 0, "a bug");
        true
    });
    let informer = Informer::builder(&runtime, Arc::new(server))
        .config(Config::default().resync(SECOND))
        .hooks(Hooks { should_resync, ..Hooks::default() })
        .build();
    let informer = Arc::new(informer);
    let mut reader = informer.subscribe_with(Wants::default().resyncs());
    let token = CancelToken::new(&runtime);
    let run = {
        let (informer, token) = (Arc::clone(&informer), token.clone());
        runtime.spawn("informer", move || informer.run(&token))
    };
    assert!(matches!(reader.next(), Ok(Change::Added { .. })));
    for shown in 0..=1 {
        assert!(runtime.until_waiting(1, PATIENCE));
        runtime.advance(SECOND);
        for _ in 0..2_000 {
            if asked.load(Ordering::SeqCst) > shown && reader.waiting() >= shown as usize {
                break;
            }
            nap(5);
        }
        nap(20); // what should not come has time to come
        assert_eq!((asked.load(Ordering::SeqCst), reader.waiting()), (shown + 1, shown as usize));
    }
    token.cancel();
    assert_eq!(runtime.join(run).unwrap(), Ok(()));
}
