//! Several calls of one kind in one critical section, one after the other with no other call
//! between them.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::caught::Remains;

use super::{Cx, Embed, Machine, Operation, Step};

/// Calls that never wait, made one after the other. Returns all their results. They may hold foreign
/// values, such as keys that were not added.
#[derive(Clone, Debug)]
pub struct Many<O>(pub Remains<O>);

/// Repeats a call until it has returned `most` values, returns none, or would wait.
///
/// It waits like the call itself while it has no value, but never for a second one. It returns
/// nothing where the call would return `None`. If a step panics, it ends and returns the values so
/// far.
#[derive(Clone, Debug)]
pub struct UpTo<O> {
    /// The largest number of values.
    pub most: NonZeroUsize,
    /// The call.
    pub call: O,
}

impl<M: Machine, O: Operation<M>> Operation<M> for Many<O>
where
    Self: Embed<M, Ret = Vec<O::Ret>>,
{
    fn step(&mut self, machine: &mut M, cx: &mut Cx<'_>) -> Step<Vec<O::Ret>> {
        let mut returned = Vec::with_capacity(self.0.len());
        for call in self.0.iter_mut() {
            match call.step(machine, cx) {
                Step::Done(ret) => {
                    returned.push(ret);
                    cx.left_to_move += 1;
                }
                Step::Held(_) | Step::Wait { .. } => panic!("a call in a row returns at once"),
            }
        }
        Step::Done(returned)
    }
}

impl<M: Machine, O: Operation<M>, T> Operation<M> for UpTo<O>
where
    O: Embed<M, Ret = Option<T>>,
    Self: Embed<M, Ret = Vec<T>>,
{
    const SHARES_TIME: bool = O::SHARES_TIME;

    fn step(&mut self, machine: &mut M, cx: &mut Cx<'_>) -> Step<Vec<T>> {
        let mut taken = Vec::new();
        while taken.len() < self.most.get() {
            match catch_unwind(AssertUnwindSafe(|| self.call.step(machine, cx))) {
                Ok(Step::Done(Some(value))) => {
                    taken.push(value);
                    cx.left_to_move += 1;
                }
                Ok(Step::Done(None)) => break,
                Ok(Step::Wait { on, until }) if taken.is_empty() => {
                    return Step::Wait { on, until };
                }
                Ok(Step::Wait { .. }) => break,
                Ok(Step::Held(_)) => panic!("a call that is repeated does not keep the lock"),
                Err(panic) if taken.is_empty() => resume_unwind(panic),
                Err(panic) => {
                    cx.left.push(panic); // the next call will report it
                    break;
                }
            }
        }
        Step::Done(taken)
    }

    fn cancel(&mut self, machine: &mut M, cx: &mut Cx<'_>) {
        self.call.cancel(machine, cx);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;
    use crate::machine::single_step::{HandClock, Stepped};
    use crate::machine::{Boxed, Host};
    use crate::runtime::{Ambient, Instant};

    /// Hands out the numbers below its own, the largest first; at zero it ends if told to.
    #[derive(Debug, Default)]
    pub struct Countdown {
        left: u8,
        ends: bool,
        given_up: Arc<AtomicU8>,
    }

    #[derive(Clone, Debug)]
    pub struct Next;

    #[derive(Clone, Debug)]
    pub struct Raise(u8);

    crate::operations! {
        [] Countdown: Op, Ret {
            Next(Next) -> Option<u8>,
            Raise(Raise) -> u8,
            Some(UpTo<Next>) -> Vec<u8>,
            Raises(Many<Raise>) -> Vec<u8>,
        }
    }

    impl Operation<Countdown> for Next {
        fn step(&mut self, countdown: &mut Countdown, _: &mut Cx<'_>) -> Step<Option<u8>> {
            match countdown.left.checked_sub(1) {
                None if !countdown.ends => Step::Wait { on: 1, until: None },
                left => {
                    countdown.left = left.unwrap_or(0);
                    Step::Done(left)
                }
            }
        }

        fn cancel(&mut self, countdown: &mut Countdown, _: &mut Cx<'_>) {
            countdown.given_up.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Operation<Countdown> for Raise {
        fn step(&mut self, countdown: &mut Countdown, cx: &mut Cx<'_>) -> Step<u8> {
            countdown.left += self.0;
            cx.wakes.many(1, self.0.into());
            Step::Done(countdown.left)
        }
    }

    fn up_to(most: usize) -> UpTo<Next> {
        UpTo { most: NonZeroUsize::new(most).expect("some"), call: Next }
    }

    #[test]
    fn a_row_returns_what_its_calls_return_and_wakes_whom_they_wake() {
        let mut machine = Stepped::new(Countdown::default());
        assert_eq!(machine.call(Many(vec![Raise(2), Raise(1)].into())), [2, 3]);
        assert_eq!(machine.woken.get(1), 3);
        assert_eq!(machine.call(Many::<Raise>(Remains::new())), [0; 0]);
    }

    #[test]
    fn it_takes_what_is_there_and_waits_for_the_first_only() {
        let mut machine = Stepped::new(Countdown { left: 3, ..Countdown::default() });
        assert_eq!(machine.call(up_to(2)), [2, 1]);
        assert_eq!(machine.call(up_to(usize::MAX)), [0]);
        machine.waits(up_to(2));
    }

    #[test]
    fn a_machine_learns_that_a_call_is_given_up_in_whatever_form_it_came() {
        let (clock, given_up) = (HandClock::default(), Arc::<AtomicU8>::default());
        let countdown = || Countdown { given_up: Arc::clone(&given_up), ..Countdown::default() };
        let (mut machine, mut boxed) = (countdown(), Boxed::<Countdown>(Box::new(countdown())));
        let mut cx = Cx::new(&clock);
        machine.give_up(&mut Next, &mut cx);
        machine.give_up(&mut up_to(7), &mut cx);
        boxed.give_up(&mut Next, &mut cx);
        boxed.give_up(&mut up_to(2), &mut cx);
        assert_eq!(given_up.load(Ordering::Relaxed), 4);
        machine.give_up(&mut Raise(1), &mut cx);
        assert_eq!(given_up.load(Ordering::Relaxed), 4, "it never waits");
    }

    #[test]
    fn a_step_reads_the_clock_once_and_only_if_it_asks() {
        let clock = HandClock::default();
        let mut cx = Cx::new(&clock);
        assert_eq!(cx.time_read(), None);
        let now = cx.now();
        clock.advance(std::time::Duration::from_nanos(1));
        assert_eq!((cx.now(), cx.time_read()), (now, Some(now)));
        assert_ne!(clock.now(), now);
    }

    /// A shared time until which callers without a result wait, and the wake-ups for that.
    #[derive(Debug)]
    pub struct Later(Instant);

    crate::operations! {
        [] Later: LaterOp, LaterRet {
            One(Next) -> Option<u8>,
            Several(UpTo<Next>) -> Vec<u8>,
        }
    }

    impl Operation<Later> for Next {
        fn step(&mut self, later: &mut Later, cx: &mut Cx<'_>) -> Step<Option<u8>> {
            cx.wakes.one(2);
            Step::Wait { on: 3, until: Some(later.0) }
        }
    }

    #[test]
    fn it_waits_as_its_call_does() {
        let clock = HandClock::default();
        let (mut later, mut cx) = (Later(clock.now()), Cx::new(&clock));
        let step = up_to(2).step(&mut later, &mut cx);
        assert!(matches!(step, Step::Wait { on: 3, until: Some(until) } if until == later.0));
        assert_eq!(cx.wakes.get(2), 1);
    }

    #[test]
    fn nothing_is_returned_at_the_end() {
        let mut machine = Stepped::new(Countdown { left: 1, ends: true, ..Countdown::default() });
        assert_eq!(machine.call(up_to(2)), [0]);
        assert_eq!(machine.call(up_to(2)), [0; 0]);
    }
}
