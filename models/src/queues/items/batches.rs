//! Batches: read as the single calls that they stand for, and taken in turn with those.

use std::borrow::Cow;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::time::Duration;

use seatrial_core::machine::{Channel, Step};
use seatrial_core::queue::{Done, Finished, Token};
use seatrial_core::runtime::Instant;

use crate::trial::Event;

/// Reads a batch that was taken as gets, the last of which found nothing if it is empty.
pub(crate) fn gets<Op: Clone, Ret: Clone, T: Copy>(
    batch: &Event<Op, Ret>,
    get: &Op,
    taken: &[T],
    got: impl Fn(Option<T>) -> Ret,
) -> Cow<'static, [Event<Op, Ret>]> {
    let none = taken.is_empty().then_some(None);
    let all = taken.iter().copied().map(Some).chain(none);
    all.map(|taken| batch.instead(get.clone(), Step::Done(got(taken)))).collect()
}

/// Reads a consumer that waits for a batch as one that waits in a get.
pub(crate) fn waits<Op: Clone, Ret: Clone>(
    batch: &Event<Op, Ret>,
    get: Op,
    (on, until): (Channel, Option<Instant>),
) -> Cow<'static, [Event<Op, Ret>]> {
    vec![batch.instead(get, Step::Wait { on, until })].into()
}

/// Reads a batch of ends as ends one by one.
pub(crate) fn dones<Op: Clone, Ret: Clone>(
    batch: &Event<Op, Ret>,
    all: &[Done],
    finished: &[Finished<u8>],
    done: impl Fn(Done) -> Op,
    ended: impl Fn(Finished<u8>) -> Ret,
) -> Cow<'static, [Event<Op, Ret>]> {
    let one = |(token, finished): (&Done, &Finished<u8>)| {
        batch.instead(done(token.clone()), Step::Done(ended(finished.clone())))
    };
    all.iter().zip(finished).map(one).collect()
}

/// Returns how many the n-th take of a lone caller asks for together: two, one, or none of it, which
/// is a single get.
pub(crate) fn asked(take: usize) -> Option<NonZeroUsize> {
    NonZeroUsize::new(take % 3)
}

/// Holds what a lone caller was given against what it should be, and returns the tokens. `over` says
/// that the queue is shut down, `earliest` when the next item comes.
///
/// # Panics
/// If they differ.
pub(crate) fn given<T: Debug + PartialEq>(
    step: Step<Vec<(Token, T)>>,
    expected: &[T],
    over: bool,
    earliest: Option<Duration>,
) -> Vec<Token> {
    match step {
        Step::Done(taken) => {
            assert!(over || !taken.is_empty(), "nobody is sent home before shutdown");
            let (tokens, items): (Vec<_>, Vec<_>) = taken.into_iter().unzip();
            assert_eq!(items, expected);
            tokens
        }
        Step::Wait { until, .. } => {
            assert!(!over, "nobody sleeps after shutdown");
            assert!(expected.is_empty(), "a consumer sleeps where {expected:?} wait");
            assert_eq!(until, earliest.map(|time| Instant::ZERO + time));
            vec![]
        }
        Step::Held(_) => panic!("get keeps the lock"),
    }
}
