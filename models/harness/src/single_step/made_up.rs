//! The made-up calls of one caller, in words, for the report of a failure.

use std::cell::RefCell;
use std::fmt::Debug;

thread_local! {
    /// The calls since the last sequence began, while they are asked for.
    static CALLS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Goes through a sequence of made-up calls. If one of them fails, the report shows all up to that one.
pub fn each_call<T: Debug>(calls: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    CALLS.with_borrow_mut(|asked| asked.as_mut().map(Vec::clear));
    calls.into_iter().inspect(|call| {
        CALLS.with_borrow_mut(|asked| {
            if let Some(asked) = asked {
                asked.push(format!("{call:?}"));
            }
        });
    })
}

/// Runs something, and returns the calls that it went through last.
pub(crate) fn calls_of<T>(run: impl FnOnce() -> T) -> (T, Vec<String>) {
    let former = CALLS.replace(Some(Vec::new()));
    let ran = run();
    (ran, CALLS.replace(former).unwrap_or_default())
}
