//! The calls on a feed.

use std::collections::VecDeque;
use std::fmt::Debug;

use crate::machine::{Cx, Operation, Step};

use super::state::{Feed, FeedError, READERS, SYNC, Told};

/// The type of a change. Every type that meets the bounds implements it.
pub trait Carried: Clone + Debug + Send + 'static {}

impl<C: Clone + Debug + Send + 'static> Carried for C {}

/// Appends changes in their order. Returns those that are not told: all of them if the feed is
/// over.
#[derive(Clone, Debug)]
pub struct Push<C>(pub VecDeque<Told<C>>);

/// Takes the next change, waiting for one.
#[derive(Clone, Debug)]
pub struct Next;

/// Confirms that a change of the first list was handled.
#[derive(Clone, Debug)]
pub struct Finish;

/// Says that the first list is complete.
#[derive(Clone, Debug)]
pub struct Complete;

/// Ends the feed. Returns the waiting changes, which are not told any more.
#[derive(Clone, Debug)]
pub struct End;

/// Counts the changes that wait.
#[derive(Clone, Debug)]
pub struct Len;

/// Asks whether the whole first list was handled.
#[derive(Clone, Debug)]
pub struct HasSynced;

/// Waits until the whole first list was handled; false if the feed ended before.
#[derive(Clone, Debug)]
pub struct WaitForSync;

crate::operations! {
    [C: Carried] Feed<C>: Op, Ret {
        Push(Push<C>) -> VecDeque<Told<C>>,
        Next(Next) -> Result<Told<C>, FeedError>,
        Finish(Finish) -> (),
        Complete(Complete) -> (),
        End(End) -> VecDeque<Told<C>>,
        Len(Len) -> usize,
        HasSynced(HasSynced) -> bool,
        WaitForSync(WaitForSync) -> bool,
    }
}

impl<C: Carried> Operation<Feed<C>> for Push<C> {
    fn step(&mut self, feed: &mut Feed<C>, cx: &mut Cx<'_>) -> Step<VecDeque<Told<C>>> {
        if feed.over.is_some() {
            return Step::Done(std::mem::take(&mut self.0));
        }
        let initial = self.0.iter().filter(|told| told.initial).count();
        let later = self.0.len() - initial;
        if feed.later + later > feed.limit {
            cx.wakes.all(READERS);
            cx.wakes.all(SYNC);
            let mut lost = feed.end(FeedError::Lagged);
            lost.append(&mut self.0);
            return Step::Done(lost);
        }
        feed.unfinished += initial;
        feed.later += later;
        for _ in 0..self.0.len() {
            cx.wakes.one(READERS);
        }
        feed.waiting.append(&mut self.0);
        Step::Done(VecDeque::new())
    }
}

impl<C: Carried> Operation<Feed<C>> for Next {
    fn step(&mut self, feed: &mut Feed<C>, _: &mut Cx<'_>) -> Step<Result<Told<C>, FeedError>> {
        match (feed.waiting.pop_front(), feed.over) {
            (Some(told), _) => {
                feed.later -= usize::from(!told.initial);
                feed.shrink();
                Step::Done(Ok(told))
            }
            (None, Some(over)) => Step::Done(Err(over)),
            (None, None) => Step::Wait { on: READERS, until: None },
        }
    }
}

impl<C: Carried> Operation<Feed<C>> for Finish {
    fn step(&mut self, feed: &mut Feed<C>, cx: &mut Cx<'_>) -> Step<()> {
        feed.unfinished -= 1;
        if feed.latch() {
            cx.wakes.all(SYNC);
        }
        Step::Done(())
    }
}

impl<C: Carried> Operation<Feed<C>> for Complete {
    fn step(&mut self, feed: &mut Feed<C>, cx: &mut Cx<'_>) -> Step<()> {
        feed.is_complete = true;
        if feed.latch() {
            cx.wakes.all(SYNC);
        }
        Step::Done(())
    }
}

impl<C: Carried> Operation<Feed<C>> for End {
    fn step(&mut self, feed: &mut Feed<C>, cx: &mut Cx<'_>) -> Step<VecDeque<Told<C>>> {
        cx.wakes.all(READERS);
        cx.wakes.all(SYNC);
        Step::Done(feed.end(FeedError::Stopped))
    }
}

impl<C: Carried> Operation<Feed<C>> for Len {
    fn step(&mut self, feed: &mut Feed<C>, _: &mut Cx<'_>) -> Step<usize> {
        Step::Done(feed.waiting.len())
    }
}

impl<C: Carried> Operation<Feed<C>> for HasSynced {
    fn step(&mut self, feed: &mut Feed<C>, _: &mut Cx<'_>) -> Step<bool> {
        Step::Done(feed.has_synced)
    }
}

impl<C: Carried> Operation<Feed<C>> for WaitForSync {
    fn step(&mut self, feed: &mut Feed<C>, _: &mut Cx<'_>) -> Step<bool> {
        if feed.has_synced || feed.over.is_some() {
            return Step::Done(feed.has_synced);
        }
        Step::Wait { on: SYNC, until: None }
    }
}
