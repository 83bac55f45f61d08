//! Members that replace informers. They do only the things that a registry can notice.

use std::any::Any;
use std::sync::{Arc, Weak};

use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::BoxFuture;
use seatrial_core::informer::Runs;
use seatrial_core::informer::fresh::{Fresh, Visible};
use seatrial_core::runtime::Instant;

use super::book::{Entry, Name, Number};
use super::stage::{Pen, Tried};
use crate::engine::AnyRuntime;

/// How a member behaves.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Manners {
    /// The member that it asks for while it is made.
    pub(super) first: Option<Name>,
    /// The member that it asks for when it runs.
    pub(super) asks: Option<Name>,
    /// Whether its first list never comes.
    pub(super) never_lists: bool,
    /// Whether it panics when it has its first list.
    pub(super) panics: bool,
}

/// A member: it runs until it is stopped, and has its first list at once.
pub(super) struct Member {
    pub(super) number: Number,
    pen: Pen,
    tried: Weak<Tried>,
    manners: Manners,
    /// The state that callers read while they wait for its first list.
    visible: Visible<AnyRuntime>,
}

impl Member {
    pub(super) fn new(number: Number, pen: Pen, tried: &Arc<Tried>, manners: Manners) -> Self {
        let visible = Visible::new(pen.runtime(), Fresh::default(), 1);
        Self { number, pen, tried: Arc::downgrade(tried), manners, visible }
    }

    /// Begins a run.
    fn begin(&self) -> Run<'_> {
        self.pen.write(Entry::Runs(self.number));
        let run = Run(self);
        if let (Some(asks), Some(tried)) = (self.manners.asks, self.tried.upgrade()) {
            drop(tried.get(asks));
        }
        if !self.manners.never_lists {
            self.pen.write(Entry::Lists(self.number));
            self.visible.synced();
        }
        if self.manners.panics {
            self.pen.write(Entry::Panics(self.number));
            panic!("a member panics");
        }
        run
    }
}

/// A run. Its end is recorded, whatever the cause.
struct Run<'a>(&'a Member);

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.0.visible.over();
        self.0.pen.write(Entry::Ends(self.0.number));
    }
}

impl Runs<AnyRuntime> for Member {
    fn run(&self, token: &CancelToken<AnyRuntime>) {
        let _run = self.begin();
        token.wait();
    }

    fn run_async<'a>(&'a self, token: &'a CancelToken<AnyRuntime>) -> BoxFuture<'a, ()> {
        Box::pin(async {
            let _run = self.begin();
            token.wait_async().await;
        })
    }

    fn wait_for_sync_async(&self, until: Instant) -> BoxFuture<'_, bool> {
        Box::pin(self.visible.wait_for_sync(until))
    }

    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.pen.write(Entry::Gone(self.number));
    }
}
