//! A `tracing` span around the processing of an item; does nothing without the feature.

use std::fmt;

#[cfg(feature = "tracing")]
use super::Cause;
use super::Failure;

#[cfg(feature = "tracing")]
pub(super) struct Span(tracing::Span);

#[cfg(feature = "tracing")]
impl Span {
    pub(super) fn new(key: &impl fmt::Debug) -> Self {
        Self(tracing::info_span!("reconcile", ?key))
    }

    /// Runs `work` inside the span.
    pub(super) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.in_scope(work)
    }

    /// Logs the failure, as far as it can be shown, and the next step for the item.
    pub(super) fn failed<E>(&self, failure: &Failure<E>) {
        let Failure { cause, attempt, fate } = failure;
        self.within(|| match cause {
            Cause::Error(_) => tracing::warn!(attempt, "an error: {fate}"),
            Cause::Panic(_) => {
                let says = cause.panic_message().unwrap_or("nothing");
                tracing::error!(attempt, panic = says, "a panic: {fate}");
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
