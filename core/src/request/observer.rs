//! What a client tells about its calls.

use std::sync::Arc;
use std::time::Duration;

use crate::caught::tell;

use super::execution::Retry;
use super::transport::TransportKind;
use super::verb::Verb;
use super::warning::Warning;

/// Learns of the calls of a client, for metrics and logs. It is called outside every lock, on the
/// thread or in the task of the call. Its panics are dropped: the call goes on.
pub trait Observer: Send + Sync + 'static {
    /// An attempt has ended: the server's host, which attempt of its call it was, from one on, and
    /// its answer's status or what went wrong.
    fn attempted(&self, verb: &Verb, host: &str, count: u32, result: Result<u16, TransportKind>) {
        let _ = (verb, host, count, result);
    }

    /// An attempt is about to be repeated.
    fn retries(&self, verb: &Verb, template: &str, retry: &Retry) {
        let _ = (verb, template, retry);
    }

    /// The limiter let a call wait for so long.
    fn throttled(&self, verb: &Verb, template: &str, waited: Duration) {
        let _ = (verb, template, waited);
    }

    /// A call begins.
    fn began(&self, verb: &Verb, template: &str) {
        let _ = (verb, template);
    }

    /// A call has ended, after so long; true if it has a result. Of a stream and a watch the call
    /// is over when they begin. A call that is dropped has ended, too.
    fn finished(&self, verb: &Verb, template: &str, took: Duration, succeeded: bool) {
        let _ = (verb, template, took, succeeded);
    }

    /// A server warns.
    fn warned(&self, warning: &Warning) {
        let _ = warning;
    }
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// An observer whose panics end no call.
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
