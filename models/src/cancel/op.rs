//! Sequences of calls, and the property that a tree of tokens agrees with the sequential object.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

use seatrial_core::cancel::{CancelToken, OnEnd, Tree};
use seatrial_core::machine::Boxed;
use seatrial_core::runtime::{Ambient, Instant, Manual};

use super::Spec;
use crate::single_step::{AtOnce, each_call};

/// The largest number of tokens, and of hooks, in one sequence.
const MOST: usize = 24;

/// A call. The numbers of tokens and hooks are taken modulo their count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Makes a child, perhaps with a deadline this many milliseconds from now.
    Child(u8, Option<u8>),
    /// Cancels a token.
    Cancel(u8),
    /// Copies a token, and drops the original.
    Copy(u8),
    /// Drops the last copy of a token.
    Drop(u8),
    /// Registers a hook with a token.
    Hook(u8),
    /// Takes a hook back.
    Unhook(u8),
    /// Lets this many milliseconds pass.
    Advance(u8),
}

/// Runs calls on the machines that ship and on the sequential object.
///
/// # Panics
/// If the two disagree, or a machine breaks a rule of its own.
pub fn check(ops: &[Op]) {
    check_on(ops, || Boxed(Box::new(AtOnce::but(|_| false, Tree::new()))));
}

/// As [`check`], on machines in place of those that ship.
///
/// # Panics
/// As [`check`].
pub fn check_on(ops: &[Op], make: impl Fn() -> Boxed<Tree> + Send + Sync + 'static) {
    let clock = Manual::new();
    let root = CancelToken::with_host(&clock, Instant::NEVER, make);
    let mut pair = Pair { clock, tokens: vec![Some(root)], hooks: vec![], spec: Spec::new() };
    for op in each_call(ops) {
        pair.step(op);
        pair.compare();
    }
}

type Token = CancelToken<Manual>;
/// The number of runs of a hook, and the hook, unless it was taken back.
type Hooked = (Arc<Counts>, Option<OnEnd<Manual>>);

#[derive(Default)]
struct Counts(AtomicUsize);

impl Wake for Counts {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The tokens and the sequential object, which get the same calls.
struct Pair {
    clock: Manual,
    tokens: Vec<Option<Token>>,
    hooks: Vec<Hooked>,
    spec: Spec,
}

impl Pair {
    fn step(&mut self, op: &Op) {
        match *op {
            Op::Child(of, after) => self.child(of, after),
            Op::Cancel(token) => {
                if let (at, Some(token)) = self.named(token) {
                    token.cancel();
                    self.spec.cancel(at, self.clock.now());
                }
            }
            Op::Copy(token) => {
                if let (at, Some(token)) = self.named(token) {
                    self.tokens[at] = Some(token.clone());
                }
            }
            Op::Drop(token) => {
                let at = self.named(token).0;
                self.tokens[at] = None;
            }
            Op::Hook(token) => {
                if let (at, Some(token)) = self.named(token)
                    && self.hooks.len() < MOST
                {
                    let counts = Arc::<Counts>::default();
                    let left = token.on_end(Waker::from(Arc::clone(&counts)));
                    self.hooks.push((counts, Some(left)));
                    self.spec.hook(at);
                }
            }
            Op::Unhook(hook) => {
                if !self.hooks.is_empty() {
                    let at = usize::from(hook) % self.hooks.len();
                    self.hooks[at].1 = None;
                    self.spec.unhook(at, self.clock.now());
                }
            }
            Op::Advance(by) => self.clock.advance(Duration::from_millis(by.into())),
        }
    }

    fn named(&self, number: u8) -> (usize, Option<Token>) {
        let at = usize::from(number) % self.tokens.len();
        (at, self.tokens[at].clone())
    }

    fn child(&mut self, of: u8, after: Option<u8>) {
        let (at, Some(token)) = self.named(of) else { return };
        if self.tokens.len() < MOST {
            let now = self.clock.now();
            let after = after.map(|after| now + Duration::from_millis(after.into()));
            let deadline = after.unwrap_or(Instant::NEVER);
            self.tokens.push(Some(token.child_with_deadline(deadline)));
            self.spec.child(at, deadline, now);
        }
    }

    fn compare(&self) {
        let now = self.clock.now();
        for (at, token) in self.tokens.iter().enumerate() {
            let Some(token) = token else { continue };
            let expected = self.spec.reason(at, now);
            // A wait lets the token find out that it must have ended, so the reason is read first.
            assert_eq!(token.reason(), expected, "token {at}");
            assert_eq!(token.wait_until(now), expected.is_some(), "token {at}, waited for");
        }
        for (at, (counts, _)) in self.hooks.iter().enumerate() {
            let ran = counts.0.load(Ordering::Relaxed) > 0;
            assert_eq!(ran, self.spec.has_run(at, now), "hook {at}");
        }
    }
}

/// Reads calls from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let mut bytes = bytes.iter().copied();
    std::iter::from_fn(|| decode_op(&mut bytes)).collect()
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let number = bytes.next()?;
    Some(match code % 16 {
        0..4 => Op::Child(number, None),
        4..6 => Op::Child(number, Some(bytes.next()? % 8)),
        6..8 => Op::Cancel(number),
        8 => Op::Copy(number),
        9..11 => Op::Drop(number),
        11..13 => Op::Hook(number),
        13 => Op::Unhook(number),
        _ => Op::Advance(number % 4),
    })
}
