//! Real threads: the runtime that ships, run again and again. A sanity check, not a search.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{Ordering, fence};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use seatrial_core::runtime::System;

use super::execution::{End, Execution, Exploration, Judge};
use super::quiet::{panic_text, quietly_everywhere};
use crate::engine::Observed;

/// The names of the threads of the execution under way, in the order in which they were seen.
static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());

thread_local! {
    static NUMBER: Cell<Option<u8>> = const { Cell::new(None) };
}

fn names() -> std::sync::MutexGuard<'static, Vec<String>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn number_of_this_thread() -> u8 {
    let mut names = names();
    names.push(std::thread::current().name().unwrap_or("unnamed").to_owned());
    u8::try_from(names.len() - 1).unwrap_or(u8::MAX)
}

impl Observed for System {
    fn jumps_when_quiet(&self) -> bool {
        false
    }

    fn thread(&self) -> u8 {
        let number = NUMBER.get().unwrap_or_else(number_of_this_thread);
        NUMBER.set(Some(number));
        number
    }

    fn thread_name(&self, thread: u8) -> String {
        names().get(usize::from(thread)).cloned().unwrap_or_else(|| "unnamed".to_owned())
    }

    fn fence(&self, order: Ordering) {
        fence(order);
    }
}

/// How often to run, and how long to wait for one execution.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Executions.
    pub executions: u64,
    /// After this long an execution counts as stuck; its threads are left behind.
    pub patience: Duration,
}

/// Runs `body` on real threads as often as `config` says.
pub fn explore(
    config: Config,
    body: &Arc<dyn Fn(&System) + Send + Sync>,
    judge: &mut Judge<'_>,
) -> Exploration {
    // Threads are told apart by a table of the process, so one exploration runs at a time.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut exploration = Exploration::default();
    while exploration.executions < config.executions {
        exploration.executions += 1;
        let execution = Execution {
            number: exploration.executions,
            end: quietly_everywhere(|| run_once(body, config.patience)),
            steps: 0,
            preemptions: None,
            schedule: None,
            trace: None,
            stands_for: None,
            is_only: false,
        };
        // Threads that are stuck stay behind and burden every later run: one is enough.
        let stuck = matches!(execution.end, End::Deadlock(_));
        if judge(&execution) == ControlFlow::Break(()) || stuck {
            break;
        }
    }
    exploration
}

/// Patience is spent in slices of this number. While the machine is asleep or busy elsewhere, this thread
/// gets no turn either, and at most one slice passes.
const SLICES: u32 = 100;

fn run_once(body: &Arc<dyn Fn(&System) + Send + Sync>, patience: Duration) -> End {
    names().clear();
    let body = Arc::clone(body);
    let (report, ended) = channel();
    let started = std::thread::Builder::new().name("main".to_owned()).spawn(move || {
        let system = System::new();
        let _main_is_number_zero = system.thread();
        let outcome = catch_unwind(AssertUnwindSafe(|| body(&system)));
        // If this execution was given up as stuck, no receiver is left.
        drop(report.send(outcome.map_err(|panic| panic_text(&*panic))));
    });
    if let Err(error) = started {
        return End::Panicked(format!("the operating system started no thread: {error}"));
    }
    for _ in 0..SLICES {
        match ended.recv_timeout(patience / SLICES) {
            Ok(Ok(())) => return End::Finished,
            Ok(Err(text)) => return End::Panicked(text),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return End::Panicked("the main thread vanished".to_owned());
            }
        }
    }
    End::Deadlock(format!("still running after {patience:?} on real threads"))
}

#[cfg(test)]
mod tests {
    use seatrial_core::runtime::{Ambient as _, Runtime as _};

    use super::*;

    /// More than any execution takes that ends.
    const MUCH: Duration = Duration::from_secs(600);

    /// Runs a body three times at most; returns how the executions ended.
    fn ends(patience: Duration, body: impl Fn(&System) + Send + Sync + 'static) -> Vec<End> {
        let body: Arc<dyn Fn(&System) + Send + Sync> = Arc::new(body);
        let config = Config { executions: 3, patience };
        let mut ends = vec![];
        let explored = explore(config, &body, &mut |execution| {
            ends.push(execution.end.clone());
            ControlFlow::Continue(())
        });
        assert_eq!(explored.executions, ends.len() as u64);
        ends
    }

    #[test]
    fn an_execution_finishes_panics_or_is_stuck() {
        assert_eq!(ends(MUCH, |_| ()), [End::Finished, End::Finished, End::Finished]);
        let panicked = ends(MUCH, |_| panic!("on purpose"));
        assert_eq!(panicked, vec![End::Panicked("on purpose".to_owned()); 3]);
        let little = Duration::from_millis(100);
        let stuck = ends(little, |system| system.sleep_until(system.now() + 6 * MUCH));
        assert!(matches!(&stuck[..], [End::Deadlock(_)]), "one that is stuck is enough: {stuck:?}");
    }

    #[test]
    fn threads_are_numbered_anew_in_every_execution() {
        let seen = Arc::new(Mutex::new(vec![]));
        let log = Arc::clone(&seen);
        ends(MUCH, move |system| {
            let inner = *system;
            let other = system.spawn("other", move || inner.thread());
            let numbers = (system.thread(), system.join(other).expect("it does not panic"));
            log.lock().expect("nobody panics").push((numbers, system.thread_name(1)));
        });
        let expected = ((0, 1), "other".to_owned());
        assert_eq!(*seen.lock().expect("nobody panics"), vec![expected; 3]);
    }
}
