//! What machines say of their state, while an execution is watched.
//!
//! All threads of a watched execution run on one thread of the operating system.

use std::cell::RefCell;

use crate::outcome::Shown;

thread_local! {
    static SHOWN: RefCell<Option<Vec<Shown>>> = const { RefCell::new(None) };
}

/// Notes a state, if this thread watches an execution.
pub(super) fn note(object: u8, look: impl FnOnce() -> (usize, Option<String>)) {
    if SHOWN.with_borrow(Option::is_none) {
        return;
    }
    if let (events, Some(text)) = look() {
        let shown = Shown { object, events, text };
        SHOWN.with_borrow_mut(|all| all.get_or_insert_default().push(shown));
    }
}

/// Watches what this thread runs.
#[cfg(feature = "shuttle")]
pub(crate) fn watching<T>(run: impl FnOnce() -> T) -> (T, Vec<Shown>) {
    SHOWN.set(Some(Vec::new()));
    let ran = run();
    (ran, SHOWN.take().unwrap_or_default())
}
