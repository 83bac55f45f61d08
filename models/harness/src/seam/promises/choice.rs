//! Choices of data.

use seatrial_core::runtime::Runtime;

use crate::seam::{Facts, Promise};

/// Every answer to every choice is visited, in every combination: the course is the combination.
#[derive(Clone, Copy, Debug)]
pub struct EveryAnswer;

impl Promise for EveryAnswer {
    const NAME: &'static str = "every_answer";
    const COURSES: &'static [u32] = &[0, 1, 2, 3, 4, 5];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let inner = runtime.clone();
        let other = runtime.spawn("other", move || inner.choose(3));
        let mine = runtime.choose(2);
        let theirs = runtime.join(other).expect("a choice does not panic");
        assert!(mine < 2 && theirs < 3, "an answer that was no option");
        mine * 3 + theirs
    }
}
