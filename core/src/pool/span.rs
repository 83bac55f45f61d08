//! A span of `tracing` around the processing of an item; without the feature, nothing.

use std::fmt;

use super::Failure;

#[cfg(feature = "tracing")]
pub(super) struct Span(tracing::Span);

#[cfg(feature = "tracing")]
impl Span {
    pub(super) fn new(key: &impl fmt::Debug) -> Self {
        Self(tracing::info_span!("reconcile", ?key))
    }

    /// Runs something inside the span.
    pub(super) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.in_scope(work)
    }

    /// Says why the item is tried again, as far as that can be said.
    pub(super) fn failed<E>(&self, failure: &Failure<E>) {
        self.within(|| match failure {
            Failure::Error(_) => tracing::warn!("an error: to be tried again"),
            Failure::Panic(_) => {
                let says = failure.panic_message().unwrap_or("nothing");
                tracing::error!(panic = says, "a panic: to be tried again");
            }
        });
    }
}

#[cfg(not(feature = "tracing"))]
pub(super) struct Span;

#[cfg(not(feature = "tracing"))]
impl Span {
    pub(super) fn new(_: &impl fmt::Debug) -> Self {
        Self
    }

    pub(super) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    pub(super) fn failed<E>(&self, _: &Failure<E>) {}
}
