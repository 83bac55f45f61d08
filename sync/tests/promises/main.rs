//! The promises of the names, in some hundred orders of a trial; and on real threads in the same build, outside of one.

mod body;
mod of_others;
mod of_panics;
mod of_std;
mod of_tokio;

use body::Body;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use seatrial::engine::{panic_text, quietly};
use seatrial::program::{Test, run, run_task};
use seatrial_sync::crossbeam_channel::{after, never};
use seatrial_sync::fault::{Fault, with};

/// Runs a program as a trial.
fn trial(name: &'static str, budget: &'static str, body: Body) {
    let (module, package) = (module_path!(), "seatrial-sync");
    let test = Test { name, module, package, engines: None, budget, deadlines: 0, seed: 0 };
    BODY.set(Some(body));
    run(&test, || match BODY.get().expect("just set") {
        Body::Thread(body) => body(),
        Body::Task(body) => run_task(body()),
    });
}

thread_local! {
    /// What the trial runs.
    static BODY: Cell<Option<Body>> = const { Cell::new(None) };
}

#[test]
fn they_are_kept_in_the_first_orders() {
    let broken: Vec<_> = programs()
        .filter_map(|(name, body)| {
            let run = || quietly(|| trial(name, "300", body));
            let kept = catch_unwind(AssertUnwindSafe(run));
            kept.err().map(|panic| format!("{name}: {}", panic_text(&*panic)))
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn who_waits_for_nothing_waits_for_ever() {
    let bodies: [fn(); 2] = [
        || assert!(never::<u8>().recv().is_err()),
        || {
            let once = after(Duration::ZERO);
            assert!(once.recv().is_ok() && once.recv().is_err());
        },
    ];
    for body in bodies {
        let run = || quietly(|| trial("never", "10", Body::Thread(body)));
        let ended = catch_unwind(AssertUnwindSafe(run)).expect_err("it comes to no end");
        let text = panic_text(&*ended);
        assert!(text.contains("terminates"), "{text}");
    }
}

#[test]
fn they_are_kept_by_real_threads_outside_of_a_trial() {
    programs().for_each(|(_, body)| body.run());
}

fn programs() -> impl Iterator<Item = (&'static str, Body)> {
    [of_std::ALL, of_panics::ALL, of_others::ALL, of_tokio::ALL].into_iter().flatten().copied()
}

/// Runs a program with a bug in what it stands on.
fn notices(fault: Fault, name: &str) {
    let (name, body) = programs().find(|(known, _)| *known == name).expect("it is in the list");
    let run = || with(fault, || quietly(|| trial(name, "2000", body)));
    let found = catch_unwind(AssertUnwindSafe(run));
    assert!(found.is_err(), "{name} does not notice {fault:?}");
}

#[test]
fn a_bug_in_what_they_stand_on_breaks_them() {
    notices(Fault::WaitsInTwoSteps, "a_notification_needs_no_lock");
    notices(Fault::OpensEarly, "a_barrier_opens_for_all");
    notices(Fault::TriesWait, "a_try_to_lock_does_not_wait");
    notices(Fault::KeepsPermits, "what_is_given_up_is_passed_on");
    notices(Fault::ForgetsUnpark, "an_unpark_before_the_park_counts");
}
