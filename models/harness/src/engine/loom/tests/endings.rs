//! How executions end, and how they are brought down.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Arc;

use seatrial_core::runtime::{Instant, Runtime};

use super::{MS, all, body, outcomes, unbounded};
use crate::engine::End;
use crate::engine::loom::{Config, LoomMutex, LoomRuntime, explore};
use crate::engine::stack::tests::deep;

#[test]
fn a_deadlock_names_the_threads_and_what_they_wait_for() {
    let ends = all(&unbounded(), |runtime| {
        let locks = Arc::new((runtime.mutex(()), runtime.mutex(())));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&locks));
        let thread = runtime.spawn("other", move || {
            let _second = inner.lock(&theirs.1);
            let _first = inner.lock(&theirs.0);
        });
        {
            let _first = runtime.lock(&locks.0);
            let _second = runtime.lock(&locks.1);
        }
        runtime.join(thread).unwrap();
    });
    let deadlock = "at 0ns: main waits for lock 1, held by other; \
                    other waits for lock 0, held by main";
    assert!(ends.iter().any(|(end, _)| *end == End::Deadlock(deadlock.to_owned())), "{ends:?}");
    assert!(ends.iter().any(|(end, _)| *end == End::Finished), "explored beyond the deadlock");
}

#[test]
fn a_thread_that_nobody_notifies_is_a_deadlock() {
    let ends = all(&unbounded(), |runtime| {
        let (lock, condvar) = (runtime.mutex(()), runtime.condvar());
        let guard = runtime.lock(&lock);
        drop(runtime.wait(&condvar, guard));
    });
    let text = "at 0ns: main waits on condition variable 0";
    assert_eq!(ends.iter().map(|e| &e.0).collect::<Vec<_>>(), [&End::Deadlock(text.to_owned())]);
}

#[test]
fn a_panic_goes_to_the_joiner_and_else_ends_the_execution() {
    let joined = outcomes(&unbounded(), |runtime| {
        let thread = runtime.spawn("fails", || panic!("on purpose"));
        crate::engine::panic_text(&*runtime.join(thread).unwrap_err())
    });
    assert_eq!(joined, BTreeSet::from(["on purpose".to_owned()]));
    for (end, _) in all(&unbounded(), |runtime| drop(runtime.spawn("fails", || panic!("alone")))) {
        assert_eq!(end, End::Panicked("fails: alone".to_owned()));
    }
    for (end, _) in all(&unbounded(), |runtime| {
        let inner = runtime.clone();
        drop(runtime.spawn("sleeps", move || inner.sleep_until(Instant::NEVER)));
        panic!("main is over");
    }) {
        assert_eq!(end, End::Panicked("main: main is over".to_owned()));
    }
}

#[test]
fn a_full_stack_is_named() {
    let ends = all(&unbounded(), |_| assert!(deep(500) > 0));
    let says = |end: &End| matches!(end, End::Panicked(text) if text.contains("stack of a thread is full"));
    assert!(!ends.is_empty() && ends.iter().all(|(end, _)| says(end)), "{ends:?}");
}

#[test]
fn a_panic_while_a_lock_is_held_leaves_it_usable() {
    let sums = outcomes(&unbounded(), |runtime| {
        let sum = Arc::new(runtime.mutex(0));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&sum));
        let thread = runtime.spawn("fails", move || {
            *inner.lock(&theirs) += 1;
            let mut guard = inner.lock(&theirs);
            *guard += 1;
            panic!("with the lock");
        });
        let caught = catch_unwind(AssertUnwindSafe(|| {
            *runtime.lock(&sum) += 10;
            let _guard = runtime.lock(&sum);
            panic!("with the lock");
        }));
        assert!(caught.is_err());
        *runtime.lock(&sum) += 100;
        assert!(runtime.join(thread).is_err());
        *runtime.lock(&sum)
    });
    assert_eq!(sums, BTreeSet::from([112]));
}

#[test]
fn destructors_take_locks_on_the_way_down() {
    struct Counts(LoomRuntime, Arc<LoomMutex<u32>>);
    impl Drop for Counts {
        fn drop(&mut self) {
            *self.0.lock(&self.1) += 1;
        }
    }
    let ends = all(&unbounded(), |runtime| {
        let count = Arc::new(runtime.mutex(0));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&count));
        drop(runtime.spawn("other", move || {
            let _counts = Counts(inner.clone(), Arc::clone(&theirs));
            inner.sleep_until(Instant::NEVER);
        }));
        let _counts = Counts(runtime.clone(), Arc::clone(&count));
        runtime.sleep_until(Instant::NEVER);
    });
    assert!(ends.iter().all(|(end, _)| matches!(end, End::Deadlock(_))), "{ends:?}");
}

#[test]
fn an_execution_without_end_is_cut_short() {
    let config = Config { max_steps: 50, ..unbounded() };
    let mut seen = None;
    let spin = body(|runtime| {
        let lock = runtime.mutex(());
        loop {
            drop(runtime.lock(&lock));
        }
    });
    explore(&config, spin, &mut |execution| {
        seen = Some((execution.end.clone(), execution.steps));
        ControlFlow::Break(())
    });
    assert_eq!(seen, Some((End::Endless("at 0ns: main can move".to_owned()), 50)));
}

#[test]
fn a_notification_without_the_lock_is_refused() {
    let refused = End::Panicked("main: a notification without the lock".to_owned());
    for used_before in [false, true] {
        let ends = all(&unbounded(), move |runtime| {
            let (lock, other) = (runtime.mutex(()), runtime.mutex(()));
            let condvar = runtime.condvar();
            if used_before {
                let guard = runtime.lock(&lock);
                drop(runtime.wait_until(&condvar, guard, Instant::ZERO + MS));
            }
            let _wrong = used_before.then(|| runtime.lock(&other));
            runtime.notify_one(&condvar);
        });
        assert_eq!(ends.iter().map(|end| &end.0).collect::<Vec<_>>(), [&refused]);
    }
}

#[test]
fn the_sixth_thread_is_refused() {
    let ends = all(&unbounded(), |runtime| {
        let threads: Vec<_> = (0..5).map(|_| runtime.spawn("one too many", || {})).collect();
        drop(threads);
    });
    let text = "main: loom runs 5 threads at most, main included";
    assert!(ends.iter().all(|(end, _)| *end == End::Panicked(text.to_owned())), "{ends:?}");
}

/// Tells a test that it runs in a process that may die.
const CHILD: &str = "SEATRIAL_TEST_MAY_DIE";

/// Runs a program that ends its process in one of its own, by running the named test again there;
/// returns what it said.
fn last_words(test: &str, program: impl FnOnce()) -> String {
    if std::env::var_os(CHILD).is_some() {
        program();
        return "it is still alive".to_owned();
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    let name = format!("engine::loom::tests::endings::{test}");
    child.args(["--exact", "--nocapture", &name]).env(CHILD, "");
    let output = child.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn destructors_that_wait_for_each_other_end_the_process() {
    struct Waits(LoomRuntime);
    impl Drop for Waits {
        fn drop(&mut self) {
            let (lock, condvar) = (self.0.mutex(()), self.0.condvar());
            drop(self.0.wait(&condvar, self.0.lock(&lock)));
        }
    }
    let said = last_words("destructors_that_wait_for_each_other_end_the_process", || {
        all(&unbounded(), |runtime| {
            let _waits = Waits(runtime.clone());
            runtime.sleep_until(Instant::NEVER);
        });
    });
    assert!(said.contains("destructors wait for each other for ever: at 0ns: main"), "{said}");
}

#[test]
fn a_thread_that_catches_every_panic_ends_the_process() {
    let said = last_words("a_thread_that_catches_every_panic_ends_the_process", || {
        let config = Config { max_steps: 100, ..unbounded() };
        all(&config, |runtime| {
            let lock = runtime.mutex(());
            loop {
                drop(catch_unwind(AssertUnwindSafe(|| drop(runtime.lock(&lock)))));
            }
        });
    });
    assert!(said.contains("main catches every panic and goes on for ever"), "{said}");
}

#[test]
fn a_deadlock_after_a_panic_is_that_panic() {
    let ends = all(&unbounded(), |runtime| {
        let _fails = runtime.spawn("worker", || panic!("the cause"));
        let (lock, condvar) = (runtime.mutex(()), runtime.condvar());
        drop(runtime.wait(&condvar, runtime.lock(&lock)));
    });
    let cause = End::Panicked("worker: the cause".to_owned());
    assert!(ends.iter().all(|(end, _)| *end == cause), "{ends:?}");
}

#[test]
fn an_execution_can_be_brought_down_while_two_threads_unwind() {
    struct Busy(LoomRuntime, Arc<LoomMutex<u32>>);
    impl Drop for Busy {
        fn drop(&mut self) {
            for _ in 0..3 {
                *self.0.lock(&self.1) += 1;
            }
        }
    }
    fn fail(runtime: &LoomRuntime, count: &Arc<LoomMutex<u32>>) {
        let _busy = Busy(runtime.clone(), Arc::clone(count));
        panic!("on purpose");
    }
    for max_steps in 2..16 {
        let config = Config { max_steps, ..unbounded() };
        let ends = all(&config, |runtime| {
            let count = Arc::new(runtime.mutex(0));
            let failing = [(); 2].map(|()| {
                let (inner, count) = (runtime.clone(), Arc::clone(&count));
                runtime.spawn("fails", move || fail(&inner, &count))
            });
            for thread in failing {
                assert!(runtime.join(thread).is_err());
            }
        });
        let cut_short = ends.iter().filter(|(end, _)| matches!(end, End::Endless(_))).count();
        assert!(cut_short > 0 || max_steps > 10, "{max_steps}");
    }
}

#[test]
fn two_threads_may_unwind_at_the_same_time() {
    struct Counts(LoomRuntime, Arc<LoomMutex<u32>>);
    impl Drop for Counts {
        fn drop(&mut self) {
            *self.0.lock(&self.1) += 1;
        }
    }
    fn fail(runtime: &LoomRuntime, count: &Arc<LoomMutex<u32>>) {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _counts = Counts(runtime.clone(), Arc::clone(count));
            panic!("on purpose");
        }));
        assert!(caught.is_err());
        *runtime.lock(count) += 10;
    }
    let counts = outcomes(&unbounded(), |runtime| {
        let count = Arc::new(runtime.mutex(0));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&count));
        let other = runtime.spawn("other", move || fail(&inner, &theirs));
        fail(runtime, &count);
        runtime.join(other).unwrap();
        *runtime.lock(&count)
    });
    assert_eq!(counts, BTreeSet::from([22]));
}
