//! The tokens of a history: which descend from which, which must have ended, which may have.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_core::cancel::{Op, Reason, Ret};
use seatrial_core::machine::Step;
use seatrial_core::runtime::Instant;

use super::{Cancel, Event};
use crate::trial::{self, What};

/// A token: the number of its machine, in the order in which they were made.
pub(super) type Token = u64;

/// Packs two numbers into one note.
pub(super) const fn pair(first: u64, second: u64) -> u64 {
    first * 16 + second
}

const fn two(value: u64) -> (u64, u64) {
    (value / 16, value % 16)
}

/// Packs an answer into the number of a note.
pub(super) fn word(reason: Option<Reason>) -> u64 {
    match reason {
        None => 0,
        Some(Reason::Cancelled) => 1,
        Some(Reason::DeadlineExceeded) => 2,
    }
}

/// The state before an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Family {
    /// The parent of each token that a call has returned.
    parents: BTreeMap<Token, Token>,
    deadlines: BTreeMap<Token, Instant>,
    /// Tokens whose cancellation has begun, and when it did.
    pub(super) cancels: BTreeMap<Token, Instant>,
    /// Tokens whose deadline had come before their cancellation began.
    pub(super) expired: BTreeSet<Token>,
    /// Tokens whose cancellation has returned, with the threads to which it returned.
    cancelled: BTreeSet<(Token, u8)>,
    /// The first reason that was given for the end of each token.
    pub(super) told: BTreeMap<Token, u64>,
    /// Tokens that have ended, each with a thread that was told so.
    learned: BTreeSet<(Token, u8)>,
    /// The token that each thread asks about, and whether it must have ended when the question
    /// began.
    pub(super) asks: BTreeMap<u8, (Token, bool)>,
    /// The token that each thread waits for.
    pub(super) waits: BTreeMap<u8, Token>,
    pub(super) hooks: BTreeMap<u64, Hook>,
    /// Hooks that have run.
    pub(super) rung: BTreeSet<u64>,
    /// The number of children of each machine that were added and have not left.
    pub(super) children: BTreeMap<Token, i64>,
    /// Tokens that forgot their children.
    pub(super) forgot: BTreeSet<Token>,
    /// Tokens whose copies are all dropped.
    dropped: BTreeSet<Token>,
}

/// A registered hook.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hook {
    pub(super) token: Token,
    /// Whether it was taken back before anything could run it.
    pub(super) taken_back: bool,
    /// Whether it was taken back.
    pub(super) gone: bool,
}

impl Family {
    /// Iterates over the token and all tokens above it.
    fn line(&self, token: Token) -> impl Iterator<Item = Token> {
        std::iter::successors(Some(token), |token| self.parents.get(token).copied())
    }

    /// Returns when the deadline of a token comes; a token above it may have the deadline.
    pub(super) fn deadline(&self, token: Token) -> Instant {
        let deadlines = self.line(token).filter_map(|token| self.deadlines.get(&token).copied());
        deadlines.min().unwrap_or(Instant::NEVER)
    }

    /// Tells whether a token must have ended.
    pub(super) fn must_have_ended(&self, token: Token, now: Instant) -> bool {
        let told = self.told.contains_key(&token);
        let cancelled =
            |token| self.cancelled.range((token, 0)..=(token, u8::MAX)).next().is_some();
        told || self.line(token).any(cancelled) || self.deadline(token) <= now
    }

    /// Tells whether a token must have ended for a thread that asks. Only the thread's own calls
    /// and the answers to it count: a question takes no lock, so the calls of others may become
    /// visible later.
    fn must_have_ended_for(&self, token: Token, thread: u8, now: Instant) -> bool {
        let cancelled = |token| self.cancelled.contains(&(token, thread));
        let learned = self.learned.contains(&(token, thread));
        learned || self.line(token).any(cancelled) || self.deadline(token) <= now
    }

    /// Returns the time since which a token may be cancelled, if it may be.
    pub(super) fn may_be_cancelled(&self, token: Token) -> Option<Instant> {
        self.line(token).filter_map(|token| self.cancels.get(&token).copied()).min()
    }

    pub(super) fn may_have_ended(&self, token: Token, now: Instant) -> bool {
        self.may_be_cancelled(token).is_some() || self.deadline(token) <= now
    }

    /// Counts the children of a token that still have a copy, or a descendant with one.
    pub(super) fn living_children(&self, token: Token) -> i64 {
        let children = self.parents.iter().filter(|(_, parent)| **parent == token);
        children.filter(|(child, _)| self.lives(**child)).count() as i64
    }

    fn lives(&self, token: Token) -> bool {
        !self.dropped.contains(&token) || self.living_children(token) > 0
    }

    fn begins_to_cancel(&mut self, token: Token, now: Instant) {
        let known = self.parents.keys().copied().chain([token]);
        let late = known.filter(|it| {
            let below = self.line(*it).any(|above| above == token);
            below && self.may_be_cancelled(*it).is_none() && self.deadline(*it) <= now
        });
        let late: Vec<_> = late.collect();
        self.expired.extend(late);
        self.cancels.entry(token).or_insert(now);
    }

    fn note(&mut self, event: &Event, label: &str, value: u64) {
        match label {
            "child" => {
                let (parent, child) = two(value);
                self.parents.insert(child, parent);
            }
            "dropped" => drop(self.dropped.insert(value)),
            "cancels" => self.begins_to_cancel(value, event.at),
            "cancelled" => drop(self.cancelled.insert((value, event.thread))),
            "asks" => {
                let must = self.must_have_ended_for(value, event.thread, event.at);
                self.asks.insert(event.thread, (value, must));
            }
            "waits" => drop(self.waits.insert(event.thread, value)),
            "answers" => {
                let (token, told) = two(value);
                self.asks.remove(&event.thread);
                self.waits.remove(&event.thread);
                if told > 0 {
                    self.learned.insert((token, event.thread));
                    self.told.entry(token).or_insert(told);
                }
            }
            "hooks" => {
                let (hook, token) = two(value);
                let hooked = Hook { token, taken_back: false, gone: false };
                self.hooks.insert(hook, hooked);
            }
            "rings" => drop(self.rung.insert(value)),
            "unhooks" => {
                let hooked = self.hooks.get(&value).map(|hook| hook.token);
                let may = hooked.is_some_and(|token| self.may_have_ended(token, event.at));
                if let Some(hook) = self.hooks.get_mut(&value) {
                    (hook.gone, hook.taken_back) = (true, !may);
                }
            }
            _ => {}
        }
    }
}

impl trial::Ledger<Cancel> for Family {
    fn apply(&mut self, event: &Event) {
        let token = u64::from(event.object);
        match &event.what {
            What::Note { label, value } => self.note(event, label, *value),
            What::Step { op: Op::Begin(begin), .. } => {
                self.deadlines.insert(token, begin.deadline);
            }
            What::Step { outcome: Step::Done(Ret::Adopt(Ok(_))), .. } => {
                *self.children.entry(token).or_default() += 1;
            }
            What::Step { outcome: Step::Done(Ret::Leave(Some(_))), .. } => {
                *self.children.entry(token).or_default() -= 1;
            }
            What::Step { op: Op::Forget(_), .. } => drop(self.forgot.insert(token)),
            _ => {}
        }
    }
}
