//! A tree of tokens: who has ended, when, and why.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Weak;
use std::task::Waker;

use crate::machine::{Channel, Cx};
use crate::runtime::Instant;

/// Where those sleep who wait for a token to end. One cancellation may end many tokens, so it
/// wakes them all and each looks at its own.
pub const WAITERS: Channel = 0;

/// Names a token in its tree. Numbers are never used again, and a child's is above its parent's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TokenId(u64);

impl TokenId {
    /// The token that a tree begins with.
    pub const ROOT: Self = Self(0);
}

/// Names a hook of a token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HookId(u64);

/// Why a token ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// It was cancelled, or one that it descends from.
    Cancelled,
    /// Its deadline passed, or that of one that it descends from.
    DeadlineExceeded,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cancelled => "cancelled",
            Self::DeadlineExceeded => "deadline exceeded",
        })
    }
}

impl std::error::Error for Reason {}

/// The tokens of one tree.
#[derive(Clone, Debug)]
pub struct Tree {
    tokens: BTreeMap<TokenId, Token>,
    made: u64,
    hooks: u64,
}

#[derive(Clone, Debug)]
struct Token {
    parent: Option<TokenId>,
    /// The earliest deadline on the way to the root; [`Instant::NEVER`] if there is none.
    deadline: Instant,
    /// Set by a cancellation; a deadline that has passed may not have been noticed yet.
    ended: Option<Reason>,
    /// Alive as long as somebody outside can name it; the root, which has none, always can be.
    ///
    /// A token is forgotten when the next child is added, and not when its last holder goes: whose
    /// copy is the last one is decided outside every lock, so nothing that others could notice may
    /// hang on it.
    holder: Option<Weak<()>>,
    children: usize,
    hooks: BTreeMap<HookId, Waker>,
}

impl Tree {
    /// Makes a tree of one token.
    #[must_use]
    pub fn new(deadline: Instant) -> Self {
        let mut tree = Self { tokens: BTreeMap::new(), made: 0, hooks: 0 };
        tree.insert(None, deadline, None, None);
        tree
    }

    /// Returns how many tokens the tree holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Tells whether no token is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Adds a child; a child of a token that has ended has ended for the same reason.
    pub(super) fn add_child(
        &mut self,
        parent: TokenId,
        deadline: Instant,
        holder: Weak<()>,
        cx: &mut Cx<'_>,
    ) -> TokenId {
        let ended = self.reason(parent, cx);
        self.forget();
        let inherited = self.tokens.get_mut(&parent).map_or(Instant::NEVER, |parent| {
            parent.children += 1;
            parent.deadline
        });
        let parent = self.tokens.contains_key(&parent).then_some(parent);
        self.insert(parent, deadline.min(inherited), ended, Some(holder))
    }

    fn insert(
        &mut self,
        parent: Option<TokenId>,
        deadline: Instant,
        ended: Option<Reason>,
        holder: Option<Weak<()>>,
    ) -> TokenId {
        let id = TokenId(self.made);
        self.made += 1;
        let (children, hooks) = (0, BTreeMap::new());
        self.tokens.insert(id, Token { parent, deadline, ended, holder, children, hooks });
        id
    }

    /// Returns why a token ended, `None` as long as it has not. One that is unknown is cancelled.
    pub(super) fn reason(&self, id: TokenId, cx: &mut Cx<'_>) -> Option<Reason> {
        self.tokens.get(&id).map_or(Some(Reason::Cancelled), |token| token.reason(cx))
    }

    /// Returns the deadline of a token.
    pub(super) fn deadline(&self, id: TokenId) -> Instant {
        self.tokens.get(&id).map_or(Instant::NEVER, |token| token.deadline)
    }

    /// Cancels a token and all that descend from it, and returns the hooks to run.
    ///
    /// A token whose deadline has passed before ended then, whoever noticed.
    pub(super) fn cancel(&mut self, id: TokenId, cx: &mut Cx<'_>) -> Vec<Waker> {
        let mut hooks = Vec::new();
        if self.reason(id, cx).is_some() {
            return hooks; // and so have all its descendants, for that reason or an earlier one
        }
        let mut cancelled = Vec::new();
        for (&at, token) in self.tokens.range_mut(id..) {
            if at == id || token.parent.is_some_and(|parent| cancelled.contains(&parent)) {
                cancelled.push(at);
                token.ended = token.reason(cx).or(Some(Reason::Cancelled));
                hooks.extend(std::mem::take(&mut token.hooks).into_values());
            }
        }
        cx.wakes.all(WAITERS);
        hooks
    }

    /// Adds a hook to a token that has not ended.
    pub(super) fn add_hook(&mut self, id: TokenId, waker: Waker) -> Option<HookId> {
        let token = self.tokens.get_mut(&id)?;
        let hook = HookId(self.hooks);
        self.hooks += 1;
        token.hooks.insert(hook, waker);
        Some(hook)
    }

    /// Takes a hook away.
    pub(super) fn remove_hook(&mut self, id: TokenId, hook: HookId) -> Option<Waker> {
        self.tokens.get_mut(&id)?.hooks.remove(&hook)
    }

    /// Forgets tokens that nobody can name and that lead to no other.
    fn forget(&mut self) {
        let idle = |token: &Token| token.children == 0 && !token.is_held();
        let mut next = self.tokens.keys().next_back().copied();
        while let Some(id) = next {
            if self.tokens.get(&id).is_some_and(idle) {
                let gone = self.tokens.remove(&id).and_then(|token| token.parent);
                if let Some(parent) = gone.and_then(|parent| self.tokens.get_mut(&parent)) {
                    parent.children -= 1; // it is below: its turn is still to come
                }
            }
            next = self.tokens.range(..id).next_back().map(|(id, _)| *id);
        }
    }

    /// Checks the rules that every step keeps.
    ///
    /// # Panics
    /// If one is broken.
    pub fn check(&self) {
        for (id, token) in &self.tokens {
            let children = self.tokens.values().filter(|child| child.parent == Some(*id)).count();
            assert_eq!(token.children, children, "a token knows how many children it has");
            assert!(token.ended.is_none() || token.hooks.is_empty(), "a hook runs at the end");
            let Some(parent) = token.parent else { continue };
            assert!(parent < *id, "a child is younger than its parent");
            let parent = self.tokens.get(&parent).expect("a parent stays as long as its children");
            assert!(
                token.deadline <= parent.deadline,
                "a child ends with its parent at the latest"
            );
            assert!(
                parent.ended.is_none() || token.ended.is_some(),
                "a child ends with its parent"
            );
        }
    }
}

impl Token {
    fn is_held(&self) -> bool {
        self.holder.as_ref().is_none_or(|holder| holder.strong_count() > 0)
    }

    fn reason(&self, cx: &mut Cx<'_>) -> Option<Reason> {
        if self.ended.is_none() && self.deadline != Instant::NEVER && self.deadline <= cx.now() {
            return Some(Reason::DeadlineExceeded);
        }
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::machine::by_hand::{HandClock, each_is_noticed};

    const DEADLINE: Instant = Instant::from_nanos(1_000);

    impl Tree {
        fn token(&mut self, number: u64) -> &mut Token {
            self.tokens.get_mut(&TokenId(number)).unwrap()
        }
    }

    /// A root, its child with a deadline and a hook, and a child of that.
    fn tree() -> Tree {
        let mut tree = Tree::new(Instant::NEVER);
        let clock = HandClock::default();
        let mut cx = Cx::new(&clock);
        let child = tree.add_child(TokenId::ROOT, DEADLINE, Weak::new(), &mut cx);
        assert!(tree.add_hook(child, Waker::noop().clone()).is_some());
        tree.insert(Some(child), DEADLINE, None, None);
        tree.token(1).children += 1;
        tree
    }

    #[test]
    fn a_tree_that_is_wrong_is_noticed() {
        let breaks: [fn(&mut Tree); 9] = [
            |tree| tree.token(0).children += 1,
            |tree| tree.token(0).children = 0,
            |tree| tree.token(2).children = 1,
            |tree| {
                tree.token(1).ended = Some(Reason::Cancelled);
                tree.token(2).ended = Some(Reason::Cancelled);
            },
            |tree| {
                tree.token(1).hooks.clear();
                tree.token(1).ended = Some(Reason::Cancelled);
            },
            |tree| tree.token(2).deadline = DEADLINE + Duration::from_nanos(1),
            |tree| drop(tree.tokens.remove(&TokenId::ROOT)),
            |tree| drop(tree.tokens.remove(&TokenId(2))),
            |tree| {
                tree.token(0).children = 0;
                tree.token(1).parent = Some(TokenId(2));
                tree.token(2).children = 1;
            },
        ];
        each_is_noticed(tree, breaks, Tree::check);
    }

    #[test]
    fn a_tree_checks_a_child_that_ends_before_its_parent() {
        let mut tree = tree();
        tree.token(2).deadline = Instant::ZERO;
        tree.token(2).ended = Some(Reason::DeadlineExceeded);
        tree.check();
        assert_eq!((tree.len(), tree.is_empty()), (3, false));
        tree.tokens.clear();
        assert_eq!((tree.len(), tree.is_empty()), (0, true));
    }

    #[test]
    fn a_reason_is_shown_in_words() {
        assert_eq!(Reason::Cancelled.to_string(), "cancelled");
        assert_eq!(Reason::DeadlineExceeded.to_string(), "deadline exceeded");
    }
}
