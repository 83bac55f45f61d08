//! The tokens as a sequential object: the meaning of every call when nothing overlaps.

use seatrial_core::cancel::Reason;
use seatrial_core::runtime::Instant;

/// All tokens of a tree, in the order in which they were made.
#[derive(Clone, Debug)]
pub struct Spec {
    tokens: Vec<Token>,
    /// The token of each hook, and whether the hook is still there.
    hooks: Vec<(usize, bool)>,
}

#[derive(Clone, Debug)]
struct Token {
    parent: Option<usize>,
    deadline: Instant,
    cancelled: Option<Reason>,
}

impl Spec {
    /// Makes a tree of one token without a deadline.
    #[must_use]
    pub fn new() -> Self {
        let root = Token { parent: None, deadline: Instant::NEVER, cancelled: None };
        Self { tokens: vec![root], hooks: Vec::new() }
    }

    pub(super) fn child(&mut self, of: usize, deadline: Instant, now: Instant) {
        let deadline = deadline.min(self.tokens[of].deadline);
        let cancelled = self.reason(of, now);
        self.tokens.push(Token { parent: Some(of), deadline, cancelled });
    }

    /// Ends a token and all tokens below it; those come after it in the list.
    pub(super) fn cancel(&mut self, token: usize, now: Instant) {
        for at in token..self.tokens.len() {
            if at == token || self.descends(at, token) {
                self.tokens[at].cancelled = self.reason(at, now).or(Some(Reason::Cancelled));
            }
        }
    }

    fn descends(&self, token: usize, from: usize) -> bool {
        self.tokens[token].parent.is_some_and(|above| above == from || self.descends(above, from))
    }

    pub(super) fn reason(&self, token: usize, now: Instant) -> Option<Reason> {
        let Token { deadline, cancelled, .. } = self.tokens[token];
        cancelled.or((deadline <= now).then_some(Reason::DeadlineExceeded))
    }

    pub(super) fn hook(&mut self, token: usize) {
        self.hooks.push((token, true));
    }

    /// Takes a hook back, unless its token has ended; then the hook has run.
    pub(super) fn unhook(&mut self, hook: usize, now: Instant) {
        let ended = self.reason(self.hooks[hook].0, now).is_some();
        self.hooks[hook].1 &= ended;
    }

    pub(super) fn has_run(&self, hook: usize, now: Instant) -> bool {
        let (token, there) = self.hooks[hook];
        there && self.reason(token, now).is_some()
    }
}

impl Default for Spec {
    fn default() -> Self {
        Self::new()
    }
}
