//! Handlers on threads of their own.

use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::server::{Object, Server};
use crate::cancel::CancelToken;
use crate::informer::{
    Change, FeedError, Handling, Informer, ObjectChange, OnPanic, Report, Wants,
};
use crate::runtime::{Manual, Runtime};

const PATIENCE: Duration = Duration::from_secs(20);

struct Bed {
    runtime: Manual,
    server: Server,
    informer: Arc<Informer<Object, Manual>>,
    token: CancelToken<Manual>,
}

impl Bed {
    fn new() -> Self {
        let (runtime, server) = (Manual::new(), Server::default());
        let informer = Arc::new(Informer::new(&runtime, Arc::new(server.clone())));
        let token = CancelToken::new(&runtime);
        Self { runtime, server, informer, token }
    }

    fn start(&self) -> Running {
        let (informer, token) = (Arc::clone(&self.informer), self.token.clone());
        let run = move || informer.run(&token).unwrap();
        Running(self.runtime.clone(), self.runtime.spawn("informer", run))
    }

    fn stop(&self, thread: Running) {
        self.token.cancel();
        thread.join().unwrap();
    }
}

struct Running(Manual, <Manual as Runtime>::Join<()>);

impl Running {
    fn join(self) -> Result<(), crate::runtime::Panic> {
        self.0.join(self.1)
    }
}

fn name(change: &ObjectChange<Object>) -> String {
    change.key().unwrap()
}

fn next<T>(from: &Receiver<T>) -> T {
    from.recv_timeout(PATIENCE).expect("it comes in time")
}

#[test]
fn a_handler_sees_all_whenever_it_comes_and_ends_with_the_informer() {
    let bed = Bed::new();
    bed.server.put("a");
    let (tell, early) = channel();
    let first = bed.informer.handle(move |change| tell.send(name(&change)).unwrap()).unwrap();
    let thread = bed.start();
    assert!(first.wait_for_sync());
    assert_eq!(next(&early), "a");
    let (tell, late) = channel();
    let second = bed.informer.handle(move |change| tell.send(name(&change)).unwrap()).unwrap();
    bed.server.put("b");
    assert_eq!((next(&late), next(&late), next(&early)), ("a".into(), "b".into(), "b".into()));
    assert!(second.wait_for_sync());
    bed.stop(thread);
    assert!(first.has_ended() && second.has_ended(), "a run returns after its handlers");
    assert!(early.try_recv().is_err() && late.try_recv().is_err());
    assert_eq!(bed.informer.handle(|_| ()).unwrap_err(), FeedError::Stopped);
}

#[test]
fn after_a_removal_that_was_waited_for_no_call_runs() {
    let bed = Bed::new();
    bed.server.put("a");
    let (tell, told) = channel();
    let (go, gate) = channel::<()>();
    let calls = bed
        .informer
        .handle(move |_| {
            tell.send(()).unwrap();
            gate.recv().unwrap();
        })
        .unwrap();
    let thread = bed.start();
    next(&told);
    bed.server.put("b");
    calls.remove();
    assert!(!calls.has_ended(), "the call goes on");
    go.send(()).unwrap();
    calls.remove_and_wait();
    assert!(calls.has_ended() && told.try_recv().is_err(), "nothing that waited was told");
    calls.remove_and_wait(); // once more does nothing
    assert!(!calls.has_synced());
    bed.stop(thread);
}

#[test]
fn a_handler_may_remove_itself_and_add_others_also_while_the_informer_stops() {
    for _ in 0..20 {
        let bed = Bed::new();
        bed.server.put("a");
        let (give, slot) = channel::<crate::informer::Registration<Object, Manual>>();
        let (tell, told) = channel();
        let informer = Arc::downgrade(&bed.informer);
        let registration = bed
            .informer
            .handle(move |_| {
                tell.send(()).unwrap();
                let me = slot.recv().unwrap();
                if let Some(informer) = informer.upgrade() {
                    drop(informer.handle(|_| ())); // an error if it has stopped already
                }
                me.remove();
            })
            .unwrap();
        let thread = bed.start();
        next(&told);
        bed.token.cancel();
        give.send(registration).unwrap();
        thread.join().unwrap();
    }
}

#[test]
fn a_handler_that_may_survive_misses_one_change_and_is_left_alone_for_a_second() {
    let bed = Bed::new();
    bed.server.put("a");
    let (tell, told) = channel();
    let (complain, complaints) = channel();
    let handling = Handling::default()
        .on_panic(OnPanic::Skip)
        .report(move |report| complain.send(report).unwrap());
    let survivor = bed
        .informer
        .handle_with(handling, move |change| {
            let name = name(&change);
            tell.send(name.clone()).unwrap();
            assert_ne!(name, "a", "it cannot stand a");
        })
        .unwrap();
    let thread = bed.start();
    assert_eq!(next(&told), "a");
    let Report::Panicked { message: Some(message) } = next(&complaints) else { panic!("it did") };
    assert!(message.contains("cannot stand a"), "{message}");
    bed.server.put("b");
    assert!(bed.runtime.until_waiting(1, PATIENCE));
    bed.runtime.advance(Duration::from_millis(999));
    assert!(told.recv_timeout(Duration::from_millis(20)).is_err());
    bed.runtime.advance(Duration::from_millis(1));
    assert_eq!(next(&told), "b");
    assert!(!survivor.has_synced(), "it has not seen all of the first list");
    bed.stop(thread);
}

#[test]
fn a_removal_does_not_wait_for_the_second_after_a_panic() {
    let bed = Bed::new();
    bed.server.put("a");
    let (complain, complaints) = channel();
    let handling = Handling::default()
        .on_panic(OnPanic::Skip)
        .report(move |report| complain.send(report).unwrap());
    let fails = bed.informer.handle_with(handling, |_| panic!("always")).unwrap();
    let thread = bed.start();
    next(&complaints);
    fails.remove_and_wait(); // the clock stands still
    bed.stop(thread);
}

/// Run by the next test in its own process; by itself it does nothing.
#[test]
fn a_process_with_a_handler_that_panics() {
    if std::env::var_os("SEATRIAL_HANDLER_PANICS").is_none() {
        return;
    }
    let bed = Bed::new();
    bed.server.put("a");
    let registration = bed.informer.handle(|_| panic!("for ever")).unwrap();
    let thread = bed.start();
    let _never = registration.wait_for_sync();
    thread.join().unwrap();
}

#[test]
fn unless_it_may_survive_a_handler_that_panics_ends_the_process() {
    let test = "informer::tests::handlers::a_process_with_a_handler_that_panics";
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test]).env("SEATRIAL_HANDLER_PANICS", "1");
    let output = child.output().unwrap();
    assert!(!output.status.success());
    assert_eq!(output.status.code(), None, "it was aborted");
}

#[test]
fn a_slow_handler_is_reported_only_if_many_wait_for_it() {
    for (waiting, is_told) in [(1024, false), (1025, true)] {
        let bed = Bed::new();
        for number in 0..=waiting {
            bed.server.put(&format!("{number:04}"));
        }
        let (complain, complaints) = channel();
        let handling = Handling::default().report(move |report| complain.send(report).unwrap());
        let clock = bed.runtime.clone();
        let (go, gate) = channel::<()>();
        let mut is_first = true;
        let slow = bed
            .informer
            .handle_with(handling, move |_| {
                if std::mem::take(&mut is_first) {
                    gate.recv().unwrap(); // all others wait by then
                    clock.advance(Duration::from_millis(100));
                }
            })
            .unwrap();
        let thread = bed.start();
        while !bed.informer.has_synced() {
            std::thread::yield_now();
        }
        go.send(()).unwrap();
        assert!(slow.wait_for_sync());
        bed.stop(thread);
        let took = Duration::from_millis(100);
        let told = is_told.then_some(Report::Slow { took, waiting });
        assert_eq!(complaints.try_recv().ok(), told);
    }
}

#[test]
fn a_handler_that_lags_behind_its_limit_is_reported_and_ends() {
    let bed = Bed::new();
    let (complain, complaints) = channel();
    let (tell, told) = channel();
    let (go, gate) = channel::<()>();
    let handling = Handling::default()
        .wants(Wants::default().limit(2))
        .report(move |report| complain.send(report).unwrap());
    let lags = bed
        .informer
        .handle_with(handling, move |_| {
            tell.send(()).unwrap();
            gate.recv().unwrap();
        })
        .unwrap();
    let thread = bed.start();
    assert!(lags.wait_for_sync());
    bed.server.put("0");
    next(&told);
    for number in 1..9 {
        bed.server.put(&number.to_string());
    }
    let until = crate::runtime::Instant::NEVER;
    bed.informer.get_at_least("8", "9", until).unwrap();
    drop(bed.informer.subscribe().next()); // distributed, as the one before it
    bed.server.put("end");
    bed.informer.get_at_least("end", "10", until).unwrap();
    go.send(()).unwrap();
    assert_eq!(next(&complaints), Report::Lagged);
    lags.remove_and_wait();
    bed.stop(thread);
}

#[test]
fn an_informer_that_never_ran_lets_its_handlers_go() {
    let bed = Bed::new();
    let waits = bed.informer.handle(|change: ObjectChange<Object>| match change {
        Change::Added { .. } | Change::Updated { .. } | Change::Deleted(_) => {}
    });
    let mut reader = bed.informer.subscribe();
    drop(bed.informer);
    waits.unwrap().remove_and_wait();
    assert_eq!(reader.next(), Err(FeedError::Stopped));
    assert_eq!(bed.runtime.asleep(), 0);
}

#[test]
fn a_report_that_panics_ends_no_handler() {
    let bed = Bed::new();
    bed.server.put("a");
    let (tell, told) = channel();
    let handling = Handling::default().on_panic(OnPanic::Skip).report(|_| panic!("it as well"));
    let survivor = bed.informer.handle_with(handling, move |change| {
        tell.send(name(&change)).unwrap();
        panic!("always");
    });
    let thread = bed.start();
    assert_eq!(next(&told), "a");
    bed.server.put("b");
    assert!(bed.runtime.until_waiting(1, PATIENCE));
    bed.runtime.advance(Duration::from_secs(1));
    assert_eq!(next(&told), "b");
    survivor.unwrap().remove_and_wait();
    bed.stop(thread);
}
