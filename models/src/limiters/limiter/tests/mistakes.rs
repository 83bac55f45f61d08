//! Limiters with a mistake: the property must notice each of them.

use std::time::Duration;

use seatrial_core::limiter::{Item, Limiter};
use seatrial_core::runtime::Instant;

use crate::limiter::{check_on, decode, limiter};
use crate::single_step::doubt::notices;

/// A limiter whose answers are changed, or that does not forget.
struct Mistaken {
    inner: Box<dyn Limiter<u8>>,
    answer: fn(Duration) -> Duration,
    forgets: bool,
    counts: u32,
}

impl Limiter<u8> for Mistaken {
    fn when(&mut self, item: Item<'_, u8>, now: Instant) -> Duration {
        (self.answer)(self.inner.when(item, now))
    }

    fn forget(&mut self, item: Item<'_, u8>, left: &mut Vec<u8>) {
        if self.forgets {
            self.inner.forget(item, left);
        }
    }

    fn num_requeues(&self, item: Item<'_, u8>) -> u32 {
        self.inner.num_requeues(item) + self.counts
    }

    fn reads_time(&self) -> bool {
        self.inner.reads_time()
    }
}

fn convicts(answer: fn(Duration) -> Duration, forgets: bool, counts: u32) -> bool {
    notices(|bytes| {
        let (shape, ops) = decode(bytes);
        let ours = Mistaken { inner: limiter(&shape), answer, forgets, counts };
        check_on(&shape, &ops, Box::new(ours));
    })
}

fn mistakes_are_noticed_and_their_absence_too() {
    assert!(!convicts(|delay| delay, true, 0));
    assert!(convicts(|delay| delay, false, 0), "a limiter that never forgets");
    assert!(convicts(|delay| delay, true, 1), "a count that is off by one");
    let wraps = |delay: Duration| if delay.as_nanos() > 1 << 62 { Duration::ZERO } else { delay };
    assert!(convicts(wraps, true, 0), "W8: a delay that wraps to nothing");
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![mistakes_are_noticed_and_their_absence_too];
