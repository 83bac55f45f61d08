//! The informer that ships, or the plain one, behind one interface.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::{Handler, Handling, Informer, Registration};
use seatrial_core::store::IndexedStore;

use super::reference::{Plain, Registration as PlainRegistration};
use super::source::Object;
use crate::engine::AnyRuntime;

/// The informer under trial.
pub(super) enum Tried {
    Ships(Arc<Informer<Object, AnyRuntime>>),
    Plain(Arc<Plain>),
}

/// A handler of that informer.
pub(super) enum Registered {
    Ships(Registration<Object, AnyRuntime>),
    Plain(PlainRegistration),
}

impl Tried {
    pub(super) fn store(&self) -> &Arc<IndexedStore<String, Object, AnyRuntime>> {
        match self {
            Self::Ships(informer) => informer.store(),
            Self::Plain(plain) => plain.store(),
        }
    }

    /// Runs until the token ends; false if the informer runs or ran already.
    pub(super) fn run(&self, token: &CancelToken<AnyRuntime>) -> bool {
        match self {
            Self::Ships(informer) => informer.run(token).is_ok(),
            Self::Plain(plain) => Arc::clone(plain).run(token),
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        match self {
            Self::Ships(informer) => informer.is_stopped(),
            Self::Plain(plain) => plain.is_stopped(),
        }
    }

    /// Adds a handler, unless the informer has stopped.
    pub(super) fn add(
        &self,
        handling: Handling,
        resync: Option<Duration>,
        handler: impl Handler<Object>,
    ) -> Option<Registered> {
        match self {
            Self::Ships(informer) => {
                informer.handle_with(handling, handler).ok().map(Registered::Ships)
            }
            Self::Plain(plain) => plain.add(handling, resync, handler).map(Registered::Plain),
        }
    }
}

impl Registered {
    pub(super) fn wait_for_sync(&self) -> bool {
        match self {
            Self::Ships(handler) => handler.wait_for_sync(),
            Self::Plain(handler) => handler.wait_for_sync(),
        }
    }

    /// Removes the handler. It waits for the last call if `waits` is true.
    pub(super) fn remove(&self, waits: bool) {
        match (self, waits) {
            (Self::Ships(handler), true) => handler.remove_and_wait(),
            (Self::Ships(handler), false) => handler.remove(),
            (Self::Plain(handler), true) => handler.remove_and_wait(),
            (Self::Plain(handler), false) => handler.remove(),
        }
    }
}
