//! Informers by type and name.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use parking_lot::Mutex;

use super::nap;
use super::server::{Object, Server};
use crate::informer::list_watch::BoxFuture;
use crate::informer::{FeedError, Informer, Recovery, Registry, Unwell};
#[cfg(feature = "tokio")]
use crate::informer::{ListOptions, ListWatch, OpenWatch, Page, SourceError, WatchOptions};
use crate::runtime::{Ambient, Instant, Runtime, System};

const LONG: Duration = Duration::from_secs(600);

fn informer(system: &System, server: &Server) -> Informer<Object> {
    Informer::new(system, Arc::new(server.clone()))
}

#[test]
fn who_asks_for_the_same_gets_the_same() {
    let (system, server) = (System::new(), Server::default());
    let registry = Registry::new(&system);
    let made = AtomicUsize::new(0);
    let make = || {
        made.fetch_add(1, Ordering::Relaxed);
        informer(&system, &server)
    };
    let first = registry.informer("things", make).unwrap();
    assert!(Arc::ptr_eq(&first, &registry.informer("things", make).unwrap()));
    assert!(!Arc::ptr_eq(&first, &registry.informer("others", make).unwrap()));
    assert_eq!(made.load(Ordering::Relaxed), 2);
    assert!(registry.get::<Object>("things").is_some());
    assert!(registry.get::<crate::store::ExplicitKey>("things").is_none(), "another type");
}

#[test]
fn all_are_started_synced_and_joined() {
    let (system, server) = (System::new(), Server::default());
    server.put("a");
    let registry = Registry::new(&system);
    let all: Vec<_> = ["x", "y", "z"]
        .map(|name| registry.informer(name, || informer(&system, &server)).unwrap())
        .into();
    let handlers: Vec<_> = all.iter().map(|it| it.handle(|_| ()).unwrap()).collect();
    let late = registry.wait_for_sync(Instant::ZERO).unwrap_err();
    assert_eq!(late.len(), 3);
    assert!(late[0].starts_with("x ("), "{late:?}");
    registry.start();
    registry.start(); // no effect on informers that run already
    registry.wait_for_sync(system.now() + LONG).unwrap();
    assert_eq!(registry.check(), Ok(()));
    assert!(all.iter().all(|it| it.store().len() == 1));
    registry.shut_down();
    assert!(all.iter().all(|it| it.is_stopped()) && handlers.iter().all(|it| it.has_ended()));
    assert_eq!(server.open(), 0);
    assert_eq!(
        registry.informer("x", || informer(&system, &server)).unwrap_err(),
        FeedError::Stopped
    );
    registry.start();
    registry.shut_down();
    for informer in all {
        assert_eq!(Arc::strong_count(&informer), 1, "nobody else has it any more");
    }
}

#[test]
fn one_can_be_removed_while_the_others_go_on() {
    let (system, server) = (System::new(), Server::default());
    let registry = Registry::new(&system);
    let [gone, stays] =
        ["gone", "stays"].map(|it| registry.informer(it, || informer(&system, &server)).unwrap());
    registry.start();
    registry.wait_for_sync(system.now() + LONG).unwrap();
    assert!(registry.remove::<Object>("gone"));
    assert!(!registry.remove::<Object>("gone"));
    assert!(gone.is_stopped() && !stays.is_stopped());
    let again = registry.informer("gone", || informer(&system, &server)).unwrap();
    registry.start();
    assert!(again.wait_for_sync(system.now() + LONG), "a new one in its place");
    registry.shut_down();
}

#[test]
fn informers_can_be_tasks_of_any_executor() {
    let (system, server) = (System::new(), Server::default());
    server.put("a");
    let registry = Registry::new(&system);
    let things = registry.informer("things", || informer(&system, &server)).unwrap();
    let mut threads = Vec::new();
    registry.start_with(|task: BoxFuture<'static, ()>| {
        threads.push(system.spawn("executor", move || system.block_on(task)));
    });
    registry.wait_for_sync(system.now() + LONG).unwrap();
    registry.shut_down();
    assert!(things.is_stopped());
    threads.into_iter().for_each(|thread| system.join(thread).unwrap());
}

#[test]
fn a_task_that_no_executor_runs_keeps_nobody_waiting() {
    let (system, server) = (System::new(), Server::default());
    let registry = Registry::new(&system);
    let things = registry.informer("things", || informer(&system, &server)).unwrap();
    registry.start_with(drop);
    registry.shut_down();
    assert!(!things.has_synced());
}

#[test]
fn a_registry_that_is_dropped_stops_what_it_started() {
    let (system, server) = (System::new(), Server::default());
    let registry = Registry::new(&system);
    let things = registry.informer("things", || informer(&system, &server)).unwrap();
    registry.start();
    registry.wait_for_sync(system.now() + LONG).unwrap();
    let mut reader = things.subscribe();
    drop(registry);
    assert_eq!(reader.next(), Err(FeedError::Stopped));
}

#[test]
fn all_have_ended_when_the_panic_of_one_goes_on() {
    let (system, server) = (System::new(), Server::default());
    server.put("a");
    let registry = Registry::new(&system);
    let broken = registry.informer("broken", || {
        let source = Arc::new(server.clone());
        let transform = |object: Object| {
            assert!(object.name != "bad", "a bug");
            Ok(object)
        };
        Informer::builder(&system, source).transform(transform).recovery(Recovery::End).build()
    });
    let broken = broken.unwrap();
    let slow = registry.informer("slow", || informer(&system, &server)).unwrap();
    let handler = slow.handle(|_| nap(500)).unwrap();
    registry.start();
    registry.wait_for_sync(system.now() + LONG).unwrap();
    server.put("bad");
    while !broken.is_stopped() {
        nap(5);
    }
    let unwell = registry.check().unwrap_err();
    let [(name, Unwell::Ended { panic: Some(panic) })] = &unwell[..] else { panic!("{unwell:?}") };
    assert!(name.starts_with("broken (") && panic == "a bug", "{unwell:?}");
    server.put("b"); // the handler has something to do
    let down = catch_unwind(AssertUnwindSafe(|| registry.shut_down()));
    assert_eq!(down.unwrap_err().downcast_ref::<&str>(), Some(&"a bug"));
    assert!(handler.has_ended());
    assert_eq!(Arc::strong_count(&slow), 1, "nobody else has it any more");
}

#[test]
fn a_second_shut_down_waits_for_the_end_as_well() {
    let (system, server) = (System::new(), Server::default());
    server.put("a");
    let registry = Registry::new(&system);
    let things = registry.informer("things", || informer(&system, &server)).unwrap();
    let gate = Arc::new(Mutex::new(()));
    let (shut, passes) = (gate.lock(), Arc::clone(&gate));
    let (enter, entered) = channel();
    let handler = things.handle(move |_| {
        enter.send(()).unwrap();
        drop(passes.lock());
    });
    let handler = handler.unwrap();
    registry.start();
    entered.recv_timeout(LONG).unwrap();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| registry.shut_down());
        while registry.get::<Object>("things").is_some() {
            nap(5);
        }
        let second = scope.spawn(|| {
            registry.shut_down();
            handler.has_ended()
        });
        nap(100);
        let waited = !second.is_finished();
        drop(shut);
        first.join().unwrap();
        assert!(second.join().unwrap() && waited);
    });
}

#[test]
fn tasks_of_one_thread_can_wait_for_the_informers_beside_them() {
    let (system, server) = (System::new(), Server::default());
    server.put("a");
    let registry = Registry::new(&system);
    let things = registry.informer("things", || informer(&system, &server)).unwrap();
    let mut tasks = Vec::new();
    registry.start_with(|task| tasks.push(task));
    let mut task = tasks.pop().unwrap();
    let mut waits = Box::pin(async {
        registry.wait_for_sync_async(system.now() + LONG).await.unwrap();
        registry.shut_down_async().await;
    });
    let mut runs = true;
    system.block_on(std::future::poll_fn(|context| {
        runs = runs && task.as_mut().poll(context).is_pending();
        waits.as_mut().poll(context)
    }));
    assert!(things.is_stopped() && things.store().len() == 1);
}

/// A source that needs a tokio runtime.
#[cfg(feature = "tokio")]
struct Sleepy(Server);

#[cfg(feature = "tokio")]
impl ListWatch<Object> for Sleepy {
    fn list(&self, options: ListOptions) -> BoxFuture<'_, Result<Page<Object>, SourceError>> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            self.0.list(options).await
        })
    }

    fn watch(
        &self,
        options: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Object>>, SourceError>> {
        self.0.watch(options)
    }

    fn streams_lists(&self) -> bool {
        false
    }
}

#[cfg(feature = "tokio")]
#[test]
fn threads_that_are_started_in_a_tokio_runtime_can_use_it() {
    let (system, server) = (System::new(), Server::default());
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let registry = Registry::new(&system);
    let sleepy = || Informer::new(&system, Arc::new(Sleepy(server.clone())));
    registry.informer("inside", sleepy).unwrap();
    {
        let _inside = tokio.enter();
        registry.start();
    }
    registry.wait_for_sync(system.now() + LONG).unwrap();
    let outside = registry.informer("outside", sleepy).unwrap();
    registry.start();
    while outside.check().is_ok() {
        nap(5);
    }
    let why = outside.check().unwrap_err().to_string();
    assert!(why.contains("no reactor running"), "{why}");
    registry.shut_down();
}
