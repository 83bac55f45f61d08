//! How the threads of the program under test start, switch and end.
//!
//! An execution that is given up must not leave stacks behind, or a long search would run out of
//! memory. So its threads are resumed one after the other and leave by unwinding: the payload is a
//! token that the thread's boundary recognises. Destructors run on the way and may lock. A thread
//! that unwinds cannot be told to unwind again, so its calls are granted as soon as the other
//! threads have released their locks. A thread that does not leave is abandoned.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::kernel::{Operation, Phase, ThreadName};
use super::session;
use crate::engine::{origin, panic_text};

/// The payload of the panic that makes a thread leave.
pub(in crate::engine) struct Leave;

/// How a thread ended, for its joiner.
type Outcome<T> = Result<T, Box<dyn Any + Send>>;

/// A thread that can be joined.
#[derive(Debug)]
pub struct Join<T> {
    thread: usize,
    outcome: Arc<Mutex<Option<Outcome<T>>>>,
}

/// Lets others run; returns when the scheduler chose this thread again.
fn switch() {
    ::shuttle::thread::sleep(Duration::ZERO);
}

/// Performs an operation that others can come before or after.
///
/// Returns false if the execution is over and this thread is unwinding: the operation has not
/// been granted, and the caller is to get by without.
pub(super) fn perform(operation: Operation) -> bool {
    perform_after(|session| session.kernel.publish(operation))
}

/// The same as [`perform`], for an operation that is published as part of a larger act.
pub(super) fn perform_after(publish: impl FnOnce(&mut session::Session)) -> bool {
    let running = session::with(|session| {
        let running = session.kernel.phase() == Phase::Running;
        if running {
            publish(session);
        }
        running
    });
    if running {
        switch();
        if session::with(|session| session.kernel.phase() == Phase::Running) {
            return true;
        }
    }
    leave();
    false
}

/// Unwinds the thread, unless it is unwinding already: then others get a turn to do so.
///
/// All threads share one operating-system thread, so it is unknown whether *this* one unwinds. If
/// another one does, this one goes on for a little, and unwinds a bit later.
pub(super) fn leave() {
    if !session::with(|session| session.kernel.tell_to_leave()) {
        abandon();
    }
    if !std::thread::panicking() {
        resume_unwind(Box::new(Leave));
    }
    switch();
}

/// Never returns: the stack is given up together with the execution.
fn abandon() -> ! {
    loop {
        switch();
        // The switch returns only if shuttle insists on the end of an unwinding that has none.
        ::shuttle::future::block_on(std::future::pending::<()>());
    }
}

/// Runs the main thread of an execution.
pub(super) fn run_main(body: impl FnOnce()) {
    let ended = run(body);
    drop(ended); // the kernel has the text of a panic
}

/// Starts a thread.
pub(super) fn spawn<T: Send + 'static>(
    name: ThreadName,
    label: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> Join<T> {
    let thread = session::with(|session| {
        let thread = session.kernel.start(name, label);
        session.chooser.started(&session.kernel, thread);
        thread
    });
    let outcome = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&outcome);
    let handle = ::shuttle::thread::spawn(move || run_for_joiner(body, slot));
    debug_assert_eq!(usize::from(handle.thread().id()), thread, "both number in order of start");
    Join { thread, outcome }
}

/// Returns the handle of a thread that is not started, because its execution is about to end.
pub(super) fn never_started<T>() -> Join<T> {
    Join { thread: 0, outcome: Arc::new(Mutex::new(None)) }
}

fn run_for_joiner<T>(body: impl FnOnce() -> T, slot: Arc<Mutex<Option<Outcome<T>>>>) {
    let joiner = Arc::downgrade(&slot);
    let ended = run(move || {
        let value = body();
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(Ok(value));
        drop(slot); // if nobody can join any more, the value drops while the thread still runs
    });
    if let Err(panic) = ended
        && let Some(joiner) = joiner.upgrade()
    {
        *joiner.lock().unwrap_or_else(PoisonError::into_inner) = Some(Err(panic));
    }
}

/// Runs the whole of a thread and tells the kernel how it ended.
fn run(body: impl FnOnce()) -> Outcome<()> {
    let begins = session::with(|session| session.kernel.phase() == Phase::Running);
    let ended = catch_unwind(AssertUnwindSafe(|| if begins { body() } else { drop(body) }));
    let ended = ended.or_else(|panic| if panic.is::<Leave>() { Ok(()) } else { Err(panic) });
    let text = ended.as_ref().err().map(|panic| panic_text(panic.as_ref()));
    session::with(|session| {
        let kernel = &mut session.kernel;
        if let Some(text) = &text {
            origin::ended(kernel.thread_label(kernel.running()), text);
        }
        kernel.finish(text);
    });
    ended
}

/// Waits for a thread to end.
pub(super) fn join<T>(join: Join<T>) -> Outcome<T> {
    while !session::with(|session| session.kernel.has_ended(join.thread)) {
        perform(Operation::Join(join.thread));
    }
    session::with(|session| {
        session.kernel.joined(join.thread);
        session.chooser.joined(&session.kernel, join.thread);
    });
    let outcome = join.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
    outcome.unwrap_or_else(|| Err(Box::new("the thread left with its execution")))
}
