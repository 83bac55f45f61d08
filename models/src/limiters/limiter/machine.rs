//! A limiter as a machine: every question is one critical section.

use std::time::Duration;

use seatrial_core::limiter::{Item, Limiter as Asked};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Instant;

use crate::single_step::hash;

/// A question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// An item failed: how long must it wait?
    When(u8),
    /// An item succeeded.
    Forget(u8),
    /// How often did an item fail?
    NumRequeues(u8),
}

/// An answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// This long.
    Delay(Duration),
    /// It is forgotten.
    Forgotten,
    /// This often.
    Count(u32),
}

/// A limiter that is asked.
#[derive(Debug)]
pub struct Alone<L>(pub L);

impl<L: Asked<u8>> Machine for Alone<L> {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, cx: &mut Cx<'_>) -> Step<Said> {
        let (Call::When(key) | Call::Forget(key) | Call::NumRequeues(key)) = *call;
        let item = Item::new(&key, hash(&key));
        // A limiter that does not read the time is given one at which nothing would come out right.
        // The lock that ships gives it zero.
        let now = if self.0.reads_time() { cx.now() } else { Instant::NEVER };
        Step::Done(match call {
            Call::When(_) => Said::Delay(self.0.when(item, now)),
            Call::Forget(_) => {
                self.0.forget(item, &mut Vec::new());
                Said::Forgotten
            }
            Call::NumRequeues(_) => Said::Count(self.0.num_requeues(item)),
        })
    }
}
