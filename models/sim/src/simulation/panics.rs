//! Panics of simulated processes: noted with the line of the source, which a panic that is handed on from
//! task to task loses, and not printed.

use std::any::Any;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static NOTED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// As long as this lives, panics on its thread are noted.
#[derive(Debug)]
pub(crate) struct Notes {
    _here: PhantomData<*const ()>,
}

impl Notes {
    pub(crate) fn begin() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(install);
        NOTED.set(Some(Vec::new()));
        Self { _here: PhantomData }
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        NOTED.set(None);
    }
}

/// The panics on this thread that were not taken yet.
pub(crate) fn taken() -> Vec<String> {
    NOTED.with_borrow_mut(|it| it.as_mut().map(std::mem::take).unwrap_or_default())
}

/// Runs something that is no process; none if it panics, which nobody hears of.
pub(crate) fn apart<R>(run: impl FnOnce() -> R) -> Option<R> {
    let before = taken();
    let result = panic::catch_unwind(AssertUnwindSafe(run)).ok();
    NOTED.with_borrow_mut(|it| it.iter_mut().for_each(|it| it.clone_from(&before)));
    result
}

fn install() {
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let noted = NOTED.try_with(|it| {
            let Ok(mut it) = it.try_borrow_mut() else { return false };
            let Some(noted) = it.as_mut() else { return false };
            let place = info.location().map(|it| format!(", at {}:{}", it.file(), it.line()));
            noted.push(format!("{}{}", message(info.payload()), place.unwrap_or_default()));
            true
        });
        // Who asks for backtraces gets them.
        let is_wanted = std::env::var_os("RUST_BACKTRACE").is_some_and(|it| it != "0");
        if !noted.unwrap_or(false) || is_wanted {
            others(info);
        }
    }));
}

/// The text of a panic.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
