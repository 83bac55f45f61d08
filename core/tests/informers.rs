//! Informers come and go, on threads and as tasks: none of these stays, and no memory.
//!
//! `SEATRIAL_CYCLES` says how often, two hundred times unless it does:
//!
//! ```text
//! SEATRIAL_CYCLES=10000 cargo test --release -p seatrial-core --features informers --test informers
//! ```
#![cfg(target_os = "linux")]

use std::future::{pending, ready};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use cap::Cap;
use seatrial_core::informer::{
    BoxFuture, Event, Informer, ListOptions, ListWatch, OpenWatch, Page, Registry, SourceError,
    WatchOptions,
};
use seatrial_core::runtime::{Ambient, Runtime, System};
use seatrial_core::store::{Described, Metadata};

#[global_allocator]
static MEMORY: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

/// What may be left behind for good: what the system keeps for later threads.
const LEFT_BEHIND: usize = 1 << 18;

#[derive(Debug)]
struct Thing;

impl Described for Thing {
    fn metadata(&self) -> Option<Metadata<'_>> {
        Some(Metadata { namespace: "", name: "thing", uid: "u", resource_version: "1" })
    }
}

type Object = Arc<Thing>;

/// A server with one object that never changes.
struct Still;

impl ListWatch<Object> for Still {
    fn list(&self, _: ListOptions) -> BoxFuture<'_, Result<Page<Object>, SourceError>> {
        Box::pin(ready(Ok(Page::whole(vec![Arc::new(Thing)], "1"))))
    }

    fn watch(
        &self,
        _: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Object>>, SourceError>> {
        Box::pin(ready(Ok(Box::new(Silence) as Box<dyn OpenWatch<Object>>)))
    }

    fn streams_lists(&self) -> bool {
        false
    }
}

struct Silence;

impl OpenWatch<Object> for Silence {
    fn next(&mut self) -> BoxFuture<'_, Option<Event<Object>>> {
        Box::pin(pending())
    }
}

/// Runs the informers on threads of their own, or as tasks, each by an executor that is returned.
fn start(system: &System, registry: &Registry, tasks: bool) -> Vec<JoinHandle<()>> {
    let (mut executors, system) = (Vec::new(), *system);
    if tasks {
        let run = |task| executors.push(system.spawn("executor", move || system.block_on(task)));
        registry.start_with(run);
    } else {
        registry.start();
    }
    executors
}

fn cycle(system: &System, number: u32) {
    let (stops_early, tasks) = (number.is_multiple_of(2), number.is_multiple_of(3));
    let registry = Registry::new(system);
    let make = || Informer::new(system, Arc::new(Still));
    let informer = registry.informer("things", make).expect("it is not shut down");
    let handler = informer.handle(|_| ()).expect("it has not stopped");
    let executors = start(system, &registry, tasks);
    if !stops_early {
        let until = system.now() + Duration::from_secs(60);
        registry.wait_for_sync(until).expect("the server answers at once");
        assert!(handler.wait_for_sync());
    }
    registry.shut_down();
    assert!(handler.has_ended());
    for executor in executors {
        system.join(executor).expect("a task ends when its informer is shut down");
    }
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("a list of the threads").count()
}

#[test]
fn starts_and_stops_leave_no_thread_no_task_and_no_memory_behind() {
    let cycles =
        std::env::var("SEATRIAL_CYCLES").map_or(200_u32, |it| it.parse().expect("a number"));
    let system = System::new();
    for number in 0..50 {
        cycle(&system, number);
    }
    let (threads_before, memory_before) = (threads(), MEMORY.allocated());
    for number in 0..cycles {
        cycle(&system, number);
    }
    let grown = MEMORY.allocated().saturating_sub(memory_before);
    println!("{cycles} cycles, {} threads, {grown} bytes more", threads());
    // A thread that was joined may be listed for another moment.
    let until = system.now() + Duration::from_secs(10);
    while threads() > threads_before && system.now() < until {
        std::thread::yield_now();
    }
    assert!(threads() <= threads_before, "{} threads, before {threads_before}", threads());
    assert!(grown < LEFT_BEHIND, "{grown} bytes");
}
