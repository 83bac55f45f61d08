//! The calls about how far a queue of objects is, the same for all of them.

use crate::machine::{Channel, Cx, Embed, Machine, Operation, Step};

use super::SyncLatch;

/// Callers of `pop` sleep here.
pub const POPPERS: Channel = 0;
/// Callers of `wait_for_sync` sleep here.
pub const SYNC: Channel = 1;

/// What these calls need of the rules of a queue.
pub trait Progress: Machine {
    /// Notes that the queue is closed.
    fn close(&mut self);
    /// Tells whether the queue is closed.
    fn is_closed(&self) -> bool;
    /// Tells whether nothing more will be handed out unless somebody writes.
    fn is_drained(&self) -> bool;
    /// Tells how far the first list is processed.
    fn latch(&self) -> &SyncLatch;
    /// Returns how many entries wait.
    fn len(&self) -> usize;
}

/// Ends every `pop` once the queue is empty.
#[derive(Clone, Debug)]
pub struct Close;

/// Asks whether the queue is closed.
#[derive(Clone, Debug)]
pub struct IsClosed;

/// Asks whether the first list has been processed.
#[derive(Clone, Debug)]
pub struct HasSynced;

/// Waits until the first list has been processed; false if the queue was closed and drained
/// before.
#[derive(Clone, Debug)]
pub struct WaitForSync;

/// Counts the entries.
#[derive(Clone, Debug)]
pub struct Len;

impl<M: Progress> Operation<M> for Close
where
    Self: Embed<M, Ret = ()>,
{
    fn step(&mut self, queue: &mut M, cx: &mut Cx<'_>) -> Step<()> {
        queue.close();
        cx.wakes.all(POPPERS);
        cx.wakes.all(SYNC);
        Step::Done(())
    }
}

impl<M: Progress> Operation<M> for IsClosed
where
    Self: Embed<M, Ret = bool>,
{
    fn step(&mut self, queue: &mut M, _: &mut Cx<'_>) -> Step<bool> {
        Step::Done(queue.is_closed())
    }
}

impl<M: Progress> Operation<M> for HasSynced
where
    Self: Embed<M, Ret = bool>,
{
    fn step(&mut self, queue: &mut M, _: &mut Cx<'_>) -> Step<bool> {
        Step::Done(queue.latch().is_set())
    }
}

impl<M: Progress> Operation<M> for WaitForSync
where
    Self: Embed<M, Ret = bool>,
{
    fn step(&mut self, queue: &mut M, _: &mut Cx<'_>) -> Step<bool> {
        if queue.latch().is_set() || queue.is_drained() {
            Step::Done(queue.latch().is_set())
        } else {
            Step::Wait { on: SYNC, until: None }
        }
    }
}

impl<M: Progress> Operation<M> for Len
where
    Self: Embed<M, Ret = usize>,
{
    fn step(&mut self, queue: &mut M, _: &mut Cx<'_>) -> Step<usize> {
        Step::Done(queue.len())
    }
}
