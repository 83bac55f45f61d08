//! Reports of a client about its calls.

use std::sync::Arc;
use std::time::Duration;

use crate::caught::tell;

use super::execution::Retry;
use super::transport::TransportKind;
use super::verb::Verb;
use super::warning::Warning;

/// Receives reports about the calls of a client, for metrics and logs. It is called outside every
/// lock, on the thread or in the task of the call. Its panics are dropped: the call goes on.
pub trait Observer: Send + Sync + 'static {
    /// An attempt has ended. `host` is the server's, `count` is the number of the attempt, from
    /// one, and `result` is the status of the answer or the kind of failure.
    fn attempted(&self, verb: &Verb, host: &str, count: u32, result: Result<u16, TransportKind>) {
        let _ = (verb, host, count, result);
    }

    /// An attempt is about to be repeated.
    fn retries(&self, verb: &Verb, template: &str, retry: &Retry) {
        let _ = (verb, template, retry);
    }

    /// The limiter delayed a call by this time.
    fn throttled(&self, verb: &Verb, template: &str, waited: Duration) {
        let _ = (verb, template, waited);
    }

    /// A call begins.
    fn began(&self, verb: &Verb, template: &str) {
        let _ = (verb, template);
    }

    /// A call has ended after this time; `succeeded` tells whether it has a result. For a stream or
    /// a watch this is when it begins. A call that is dropped is reported, too.
    fn finished(&self, verb: &Verb, template: &str, took: Duration, succeeded: bool) {
        let _ = (verb, template, took, succeeded);
    }

    /// A server sent a warning.
    fn warned(&self, warning: &Warning) {
        let _ = warning;
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// An observer whose panics do not end a call.
pub(super) struct Heard(pub(super) Arc<dyn Observer>);

impl Observer for Heard {
    fn attempted(&self, verb: &Verb, host: &str, count: u32, result: Result<u16, TransportKind>) {
        tell(|| self.0.attempted(verb, host, count, result));
    }

    fn retries(&self, verb: &Verb, template: &str, retry: &Retry) {
        tell(|| self.0.retries(verb, template, retry));
    }

    fn throttled(&self, verb: &Verb, template: &str, waited: Duration) {
        tell(|| self.0.throttled(verb, template, waited));
    }

    fn began(&self, verb: &Verb, template: &str) {
        tell(|| self.0.began(verb, template));
    }

    fn finished(&self, verb: &Verb, template: &str, took: Duration, succeeded: bool) {
        tell(|| self.0.finished(verb, template, took, succeeded));
    }

    fn warned(&self, warning: &Warning) {
        tell(|| self.0.warned(warning));
    }
}
