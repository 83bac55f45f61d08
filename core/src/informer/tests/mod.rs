//! Informers on real threads, against a server in memory.

mod batches;
mod broken;
mod destructors;
mod handlers;
mod known;
mod queued;
mod reads;
mod refused;
mod registry;
mod resync;
mod server;
mod settings;
mod turns;
mod typed;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use self::server::{Object, Server};
use super::{AlreadyRun, Change, FeedError, Informer, ObjectChange, Subscription, Wants};
use crate::cancel::CancelToken;
use crate::runtime::{Runtime, System};
use crate::store::LastState;
use crate::store::indexed::index_by_one;

/// Yields for some milliseconds.
fn nap(millis: u64) {
    let system = System::new();
    system.sleep_until(crate::runtime::Ambient::now(&system) + Duration::from_millis(millis));
}

type Changes = Subscription<ObjectChange<Object>>;

struct Running {
    system: System,
    server: Server,
    informer: Arc<Informer<Object>>,
    token: CancelToken,
}

impl Running {
    fn new() -> Self {
        let (system, server) = (System::new(), Server::default());
        let informer = Arc::new(Informer::new(&system, Arc::new(server.clone())));
        let token = CancelToken::new(&system);
        Self { system, server, informer, token }
    }

    fn start(&self) -> std::thread::JoinHandle<Result<(), AlreadyRun>> {
        let (informer, token) = (Arc::clone(&self.informer), self.token.clone());
        std::thread::Builder::new().spawn(move || informer.run(&token)).unwrap()
    }

    fn stop(&self, thread: std::thread::JoinHandle<Result<(), AlreadyRun>>) {
        self.token.cancel();
        thread.join().unwrap().unwrap();
    }
}

/// A reader's view, built from its changes; it panics at a change that makes no sense.
#[derive(Default)]
struct View(BTreeMap<String, u64>);

impl View {
    fn take(&mut self, change: ObjectChange<Object>) {
        let number = |object: &Object| object.version.parse::<u64>().unwrap();
        match change {
            Change::Added { object, .. } => {
                let before = self.0.insert(object.name.clone(), number(&object));
                assert_eq!(before, None, "what is there is not new");
            }
            Change::Updated { old, new } => {
                let before = self.0.insert(new.name.clone(), number(&new));
                assert_eq!(before, Some(number(&old)), "the old state is the one told last");
            }
            Change::Deleted(LastState::Final(object)) => {
                assert!(self.0.remove(&object.name).is_some(), "it was there");
            }
            Change::Deleted(LastState::Tombstone(gone)) => {
                assert!(self.0.remove(&gone.key).is_some(), "it was there");
            }
        }
    }

    fn follow(&mut self, changes: &mut Changes, until: &[(String, u64)]) {
        while self.0.iter().map(|(name, at)| (name.clone(), *at)).collect::<Vec<_>>() != until {
            self.take(changes.next().unwrap());
        }
    }
}

#[test]
fn readers_see_all_that_happens_whenever_they_come() {
    let bed = Running::new();
    bed.server.put("a");
    bed.server.put("b");
    let mut early = bed.informer.subscribe();
    let thread = bed.start();
    let mut first = View::default();
    first.follow(&mut early, &bed.server.objects());
    bed.server.put("a");
    bed.server.delete("b");
    first.follow(&mut early, &bed.server.objects());
    let mut late = bed.informer.subscribe();
    bed.server.put("c");
    bed.server.forget(); // a relist, which finds what the stream did not tell
    bed.server.delete("a");
    first.follow(&mut early, &bed.server.objects());
    View::default().follow(&mut late, &bed.server.objects());
    bed.stop(thread);
    assert!(bed.informer.is_stopped());
    assert_eq!(early.next(), Err(FeedError::Stopped));
    assert_eq!(bed.informer.subscribe().next(), Err(FeedError::Stopped));
    assert_eq!(bed.server.open(), 0, "no stream is left open");
}

#[test]
fn a_reader_has_synced_once_it_looked_at_the_first_list() {
    let bed = Running::new();
    bed.server.put("a");
    bed.server.put("b");
    let mut reader = bed.informer.subscribe();
    let progress = reader.progress();
    assert!(!bed.informer.has_synced());
    let thread = bed.start();
    reader.next().unwrap();
    reader.next().unwrap();
    assert!(!progress.has_synced(), "the second is being looked at");
    reader.finish();
    assert!(progress.wait_for_sync());
    assert!(bed.informer.has_synced());
    assert_eq!(*bed.informer.last_resource_version(), "2");
    let mut late = bed.informer.subscribe();
    assert!(!late.progress().has_synced());
    assert!(matches!(late.next(), Ok(Change::Added { initial: true, .. })));
    late.next().unwrap();
    late.finish();
    assert!(late.progress().has_synced());
    bed.stop(thread);
}

#[test]
fn the_store_has_what_a_reader_is_told() {
    let bed = Running::new();
    let by_name = index_by_one(|object: &Object| Some(object.name.as_str()));
    bed.informer.store().add_indexers([("name", by_name)]).unwrap();
    let mut reader = bed.informer.subscribe();
    let thread = bed.start();
    for round in 0..200 {
        let name = format!("n{}", round % 7);
        bed.server.put(&name);
        loop {
            let change = reader.next().unwrap();
            let (Change::Added { object, .. } | Change::Updated { new: object, .. }) = change
            else {
                panic!("nothing is deleted")
            };
            let stored = bed.informer.store().get(&object.name).unwrap();
            let newer = |of: &Object| of.version.parse::<u64>().unwrap();
            assert!(newer(&stored) >= newer(&object));
            assert_eq!(bed.informer.store().by_index("name", &object.name).unwrap().len(), 1);
            if object.version == (round + 1).to_string() {
                break;
            }
        }
    }
    bed.stop(thread);
}

#[test]
fn a_reader_that_stalls_keeps_nobody_waiting_and_is_told_so() {
    let bed = Running::new();
    let mut slow = bed.informer.subscribe_with(Wants::default().limit(10));
    let mut fast = bed.informer.subscribe();
    let thread = bed.start();
    let mut view = View::default();
    for _ in 0..200 {
        bed.server.put("a");
        view.follow(&mut fast, &bed.server.objects());
    }
    assert_eq!(slow.next(), Err(FeedError::Lagged));
    bed.stop(thread);
}

#[test]
fn an_informer_runs_once() {
    let bed = Running::new();
    let thread = bed.start();
    let mut reader = bed.informer.subscribe();
    bed.server.put("a");
    reader.next().unwrap();
    assert_eq!(bed.informer.run(&bed.token), Err(AlreadyRun));
    bed.stop(thread);
    assert_eq!(bed.informer.run(&bed.token), Err(AlreadyRun));
}

#[test]
fn a_relist_that_finds_nothing_new_is_told_to_those_who_want_it_alone() {
    let bed = Running::new();
    bed.server.put("a");
    let mut curious = bed.informer.subscribe_with(Wants::default().resyncs());
    let mut calm = bed.informer.subscribe();
    let thread = bed.start();
    for reader in [&mut curious, &mut calm] {
        assert!(matches!(reader.next(), Ok(Change::Added { .. })));
    }
    bed.server.forget();
    let seen = |reader: &mut Changes| loop {
        match reader.next().unwrap() {
            Change::Updated { old, new } if old == new => return true,
            Change::Added { object, .. } if object.name == "last" => return false,
            _ => {}
        }
    };
    assert!(seen(&mut curious));
    bed.server.put("last");
    assert!(!seen(&mut calm));
    bed.stop(thread);
}

#[test]
fn a_server_that_is_gone_is_not_hammered_and_a_stop_ends_the_wait() {
    let bed = Running::new();
    bed.server.refuse(true);
    let began = crate::runtime::Ambient::now(&bed.system);
    let thread = bed.start();
    bed.system.sleep_until(began + Duration::from_millis(300));
    bed.stop(thread);
    // However long that took: two requests, and two more behind every pause of 800 ms at least.
    let took = crate::runtime::Ambient::now(&bed.system).since(began);
    let most = 2 + 2 * took.as_millis() / 800;
    assert!(u128::from(bed.server.requests()) <= most, "{} in {took:?}", bed.server.requests());
}

#[test]
fn starts_and_stops_leave_nothing_behind() {
    for _ in 0..500 {
        let bed = Running::new();
        bed.server.put("a");
        let mut reader = bed.informer.subscribe();
        let thread = bed.start();
        reader.next().unwrap();
        bed.stop(thread);
        assert_eq!(bed.server.open(), 0);
        drop(reader);
        assert_eq!(Arc::strong_count(&bed.informer), 1);
    }
}

#[test]
fn an_informer_is_a_future_too() {
    let bed = Running::new();
    bed.server.put("a");
    let mut reader = bed.informer.subscribe();
    let informer = Arc::clone(&bed.informer);
    let token = bed.token.clone();
    let thread = bed.start_nothing(move |system: &System| {
        system.block_on(async move { informer.run_async(&token).await })
    });
    let change = bed.system.block_on(reader.next_async()).unwrap();
    assert!(matches!(change, Change::Added { initial: true, .. }));
    bed.stop(thread);
}

impl Running {
    fn start_nothing<T: Send + 'static>(
        &self,
        run: impl FnOnce(&System) -> T + Send + 'static,
    ) -> std::thread::JoinHandle<T> {
        let system = self.system;
        std::thread::Builder::new().spawn(move || run(&system)).unwrap()
    }
}

#[test]
fn a_limit_counts_what_comes_after_the_first_list() {
    let bed = Running::new();
    for name in 0..50 {
        bed.server.put(&name.to_string());
    }
    let mut reader = bed.informer.subscribe_with(Wants::default().limit(10));
    let thread = bed.start();
    View::default().follow(&mut reader, &bed.server.objects());
    bed.stop(thread);
}
