//! Published values.

use std::sync::Arc;

use seatrial_core::runtime::Runtime;

use crate::seam::{Facts, Promise};

/// A reader sees values whole, never an older one after a newer one, and in the end the last. The
/// course is the first value that it sees.
#[derive(Clone, Copy, Debug)]
pub struct NewestValue;

impl Promise for NewestValue {
    const NAME: &'static str = "newest_value";
    const COURSES: &'static [u32] = &[0, 1, 2];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let cell = Arc::new(runtime.published(Arc::new((0, 0))));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&cell));
        let writer = runtime.spawn("writer", move || {
            for n in 1..=2 {
                inner.publish(&theirs, Arc::new((n, n)));
            }
        });
        let seen = [(); 2].map(|()| *runtime.load(&cell));
        for (left, right) in seen {
            assert_eq!(left, right, "half of a value");
        }
        assert!(seen[0] <= seen[1], "an older value after a newer one");
        runtime.join(writer).expect("a writer does not panic");
        assert_eq!(*runtime.load(&cell), (2, 2), "not the last value");
        seen[0].0
    }
}
