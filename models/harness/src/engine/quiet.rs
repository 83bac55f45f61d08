//! Keeps the panics of checked code off the terminal: they belong into the report.

use std::any::Any;
use std::cell::Cell;
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use super::origin;

thread_local! {
    static QUIET: Cell<u32> = const { Cell::new(0) };
}

/// How many runs on real threads are under way: their threads are not ours to mark.
static QUIET_EVERYWHERE: AtomicU32 = AtomicU32::new(0);

static HOOK: Once = Once::new();

/// Runs `body` without the panic hook printing anything on this thread.
pub fn quietly<T>(body: impl FnOnce() -> T) -> T {
    HOOK.call_once(install);
    struct Louder;
    impl Drop for Louder {
        fn drop(&mut self) {
            QUIET.set(QUIET.get() - 1);
        }
    }
    QUIET.set(QUIET.get() + 1);
    let _louder = Louder;
    body()
}

/// Runs `body`, which is not the code under test, as if the innermost [`quietly`] were not there.
#[cfg(feature = "loom")]
pub(super) fn loudly<T>(body: impl FnOnce() -> T) -> T {
    struct Former(u32);
    impl Drop for Former {
        fn drop(&mut self) {
            QUIET.set(self.0);
        }
    }
    let _former = Former(QUIET.replace(QUIET.get().saturating_sub(1)));
    body()
}

/// Runs `body` without the panic hook printing anything on any thread.
pub(super) fn quietly_everywhere<T>(body: impl FnOnce() -> T) -> T {
    HOOK.call_once(install);
    struct Louder;
    impl Drop for Louder {
        fn drop(&mut self) {
            QUIET_EVERYWHERE.fetch_sub(1, Ordering::Relaxed);
        }
    }
    QUIET_EVERYWHERE.fetch_add(1, Ordering::Relaxed);
    let _louder = Louder;
    body()
}

/// Puts a layer over the panic hook: where [`quietly`] says so it prints nothing, and notes where
/// the panic begins.
///
/// With its first execution, the crate shuttle puts a printing hook of its own over the present
/// one. So that hook must be installed before ours, and taken away.
fn install() {
    let loud = panic::take_hook();
    #[cfg(feature = "shuttle")]
    {
        super::shuttle::install_its_hook();
        drop(panic::take_hook()); // it would print about every later panic, of other code too
    }
    panic::set_hook(Box::new(move |info| {
        let own = QUIET.get() > 0;
        if own || QUIET_EVERYWHERE.load(Ordering::Relaxed) > 0 {
            origin::note(info, own);
        } else {
            loud(info);
        }
    }));
}

/// Returns what a panic said, as text; never nothing.
pub fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = match payload.downcast_ref::<&str>() {
        Some(text) => Some(*text),
        None => payload.downcast_ref::<String>().map(String::as_str),
    };
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => text.to_owned(),
        None if is_full_stack(payload) => FULL_STACK.to_owned(),
        None => "a panic without text".to_owned(),
    }
}

const FULL_STACK: &str = "the stack of a thread is full. Checkers keep stacks small (loom: 32 KiB for \
    main, 256 KiB for others): box large values and futures, or have a thread do the work of main";

/// Tells whether a panic is the way in which an engine ends a thread. It is not for the program to catch.
#[must_use]
pub fn is_of_engine(payload: &(dyn Any + Send)) -> bool {
    #[cfg(feature = "loom")]
    if payload.is::<super::loom::Down>() {
        return true;
    }
    #[cfg(feature = "shuttle")]
    if payload.is::<super::shuttle::Leave>() {
        return true;
    }
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    return payload.is::<generator::Error>();
    #[cfg(not(any(feature = "loom", feature = "shuttle")))]
    {
        let _ = payload;
        false
    }
}

/// Tells whether a checker's thread ran out of stack.
fn is_full_stack(payload: &(dyn Any + Send)) -> bool {
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    return matches!(payload.downcast_ref(), Some(generator::Error::StackErr));
    #[cfg(not(any(feature = "loom", feature = "shuttle")))]
    {
        let _ = payload;
        false
    }
}
