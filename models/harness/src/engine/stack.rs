//! Room for deep calls: the threads of checkers have small stacks.

/// In words: a mebibyte of address space, of which only what is used takes memory.
#[cfg(any(feature = "loom", feature = "shuttle"))]
pub(super) const ROOM: usize = 0x2_0000;

/// Does work on a stack of its own, within the thread that calls. It must not reach what the checker
/// replaces, such as a lock or a wait of the runtime.
///
/// # Panics
/// If the work does.
pub fn on_a_stack<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    {
        use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

        let mut ran = None;
        let caught = || ran = Some(catch_unwind(AssertUnwindSafe(work)));
        let mut stack = generator::Gn::<()>::new_scoped_opt_local(ROOM, |_| caught());
        stack.resume();
        drop(stack);
        ran.expect("it ran to its end").unwrap_or_else(|panic| resume_unwind(panic))
    }
    #[cfg(not(any(feature = "loom", feature = "shuttle")))]
    work()
}

#[cfg(all(test, any(feature = "loom", feature = "shuttle")))]
pub(super) mod tests {
    use super::*;
    use crate::engine::{panic_text, quietly};

    /// Uses more than a checker's thread has.
    pub(in crate::engine) fn deep(calls: u32) -> u64 {
        let frame = std::hint::black_box([u64::from(calls); 64]);
        if calls == 0 { 0 } else { deep(calls - 1) + frame[calls as usize % 64] }
    }

    #[test]
    fn deep_calls_fit_and_values_come_back() {
        let sum = std::thread::Builder::new().stack_size(64 << 10);
        let sum = sum.spawn(|| on_a_stack(|| deep(500))).expect("a thread").join();
        assert_eq!(sum.expect("it fits"), 500 * 501 / 2);
    }

    #[test]
    fn a_panic_goes_on_in_the_caller() {
        let panics = || on_a_stack(|| panic!("of the work"));
        let caught = quietly(|| std::panic::catch_unwind(panics)).expect_err("it panics");
        assert_eq!(panic_text(&*caught), "of the work");
        assert_eq!(on_a_stack(|| on_a_stack(|| 7)), 7, "and the next works, also within another");
    }
}
