//! Drives a reflector: makes the calls, sleeps, and feeds the consumer.

use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::cancel::until::unless_ended;
use crate::events::Queue;
use crate::informer::list_watch::{Event, ListWatch, OpenWatch, SourceError, SourceKind};
use crate::polling::ExponentialDelays;
use crate::runtime::{Instant, Runtime};
use crate::store::{Cause, Described, Handle};

use super::config::Config;
use super::consistency::Consistency;
use super::consumer::{Consumer, Queued};
use super::known::{self, Known};
use super::machine::Reflector;
use super::want::{Delivery, Got, ReflectorError, Skipped, Want};

/// Functions that a reflector calls.
#[derive(Clone)]
pub struct Hooks {
    /// Called when a resync is due: returns whether the consumer wants it. A panic means no.
    pub should_resync: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Called with the reason when the reflector begins anew (`cache:RE-31`). The back-off runs
    /// meanwhile.
    pub failed: Arc<dyn Fn(&ReflectorError) + Send + Sync>,
    /// Called for an event of a stream that the consumer does not have (`cache:RE-23`, `RE-25`).
    pub skipped: Arc<dyn Fn(&Skipped) + Send + Sync>,
    /// Called every ten seconds while a stream that should begin with all objects is incomplete and
    /// sends nothing. The argument is the length of the silence (`cache:WL-15`). After a minute a
    /// list follows.
    pub quiet: Arc<dyn Fn(Duration) + Send + Sync>,
}

/// After this many answers the driver yields. Otherwise a source that always has another event
/// would starve the tasks on its thread, among them those that read the changes.
const TURN: u32 = 64;

/// The interval of calls to `quiet`.
const QUIET: Duration = Duration::from_secs(10);

/// After a silence of this length such a stream is given up, and a list follows. A server that does not
/// know such streams may ignore the wish for one, and then never says that all objects have come.
const SILENT: Duration = Duration::from_secs(60);

impl Default for Hooks {
    /// Resyncs whenever one is due, and ignores everything else.
    fn default() -> Self {
        let (failed, skipped) = (Arc::new(|_: &ReflectorError| ()), Arc::new(|_: &Skipped| ()));
        Self { should_resync: Arc::new(|| true), failed, skipped, quiet: Arc::new(|_| ()) }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooks")
    }
}

/// A reflector and its source.
pub struct Driver<O, R: Runtime> {
    runtime: R,
    source: Arc<dyn ListWatch<O>>,
    config: Config,
    hooks: Hooks,
    check: Option<Consistency<O>>,
    known: Option<Known<O>>,
    /// The newest version that the consumer was given.
    last: R::Published<String>,
}

impl<O: Handle + Described, R: Runtime> Driver<O, R> {
    /// Makes a reflector of `source` that has seen nothing.
    pub fn new(runtime: &R, source: Arc<dyn ListWatch<O>>, config: Config, hooks: Hooks) -> Self {
        let last = runtime.published(Arc::new(String::new()));
        Self { runtime: runtime.clone(), source, config, hooks, check: None, known: None, last }
    }

    /// Compares streams with lists.
    #[must_use]
    pub fn checking(mut self, check: Option<Consistency<O>>) -> Self {
        self.check = check;
        self
    }

    /// Exchanges objects that come again unchanged for the consumer's copies.
    #[must_use]
    pub(in crate::informer) fn knowing(mut self, known: Option<Known<O>>) -> Self {
        self.known = known;
        self
    }

    /// Reports that the reflector begins anew.
    pub(in crate::informer) fn tell_failed(&self, failed: &ReflectorError) {
        crate::caught::tell(|| (self.hooks.failed)(failed));
    }

    /// Returns the newest version that the consumer was given; empty before the first
    /// (`cache:RE-1`).
    pub fn last_resource_version(&self) -> Arc<String> {
        self.runtime.load(&self.last)
    }

    /// Keeps `queue` in step with the source until the token ends.
    pub async fn run<Q: Queue<String, O>>(&self, queue: &Q, token: &CancelToken<R>) {
        self.run_with(self.config.clone(), &mut Queued(queue), token).await;
    }

    /// As [`run`](Self::run), with other settings and any consumer.
    pub(in crate::informer) async fn run_with(
        &self,
        config: Config,
        consumer: &mut impl Consumer<O>,
        token: &CancelToken<R>,
    ) {
        let backoff = delays(&self.runtime);
        let streams = self.source.streams_lists();
        let mut machine = Reflector::new(config, streams, backoff);
        let mut stream: Option<Box<dyn OpenWatch<O>>> = None;
        let mut want = machine.begin(&self.runtime);
        let mut left = TURN;
        while !token.is_cancelled() {
            left -= 1;
            if left == 0 {
                left = TURN;
                consumer.settle().await;
                pause().await;
            }
            let got = match want {
                Want::Next { .. } if machine.gathers() => {
                    let stream = stream.as_mut().expect("a stream is open while it is read");
                    unless_ended(token, self.next_of_all(stream.as_mut(), token)).await.ok()
                }
                want => {
                    if let (Some(check), Some(all)) = (&self.check, machine.gathered(&want)) {
                        check.check(&*self.source, all, token).await;
                    }
                    self.answer(want, &mut stream, consumer, token).await
                }
            };
            let Some(got) = got else { return };
            want = machine.next(got, &self.runtime);
            if let Some(skipped) = machine.take_skipped() {
                crate::caught::tell(|| (self.hooks.skipped)(&skipped));
            }
            if *self.runtime.load(&self.last) != machine.last_resource_version() {
                let last = Arc::new(machine.last_resource_version().to_owned());
                self.runtime.publish(&self.last, last);
            }
        }
    }

    /// Does what the machine asks for; `None` once the token has ended.
    async fn answer(
        &self,
        want: Want<O>,
        stream: &mut Option<Box<dyn OpenWatch<O>>>,
        consumer: &mut impl Consumer<O>,
        token: &CancelToken<R>,
    ) -> Option<Got<O>> {
        // The next step does not read a stream, so an open stream ends here (`cache:RE-21`).
        if matches!(want, Want::List(_) | Want::Watch(_) | Want::Sleep { .. }) {
            // What it has brought comes first: its destructor may panic.
            consumer.settle().await;
            *stream = None;
        }
        Some(match want {
            Want::List(options) => {
                let page = unless_ended(token, self.source.list(options)).await.ok()?;
                let known = self.known.as_ref();
                Got::Listed(page.map(|page| match known {
                    Some(known) => known::page(known, page),
                    None => page,
                }))
            }
            Want::Watch(options) => {
                let opened = unless_ended(token, self.source.watch(options)).await.ok()?;
                Got::Opened(opened.map(|opened| *stream = Some(opened)))
            }
            Want::Next { resync } => {
                let stream = stream.as_mut().expect("a stream is open while it is read");
                let next = unless_ended(token, self.next(stream.as_mut(), resync, token));
                settled(consumer, next).await.ok()?
            }
            Want::Deliver(delivery) => Got::Delivered(self.deliver(delivery, consumer).await),
            Want::Sleep { until, failed } => {
                if let Some(failed) = failed {
                    self.tell_failed(&failed);
                }
                token.child_with_deadline(until).wait_async().await;
                Got::Slept
            }
        })
    }

    /// Waits for the next event of a stream that has not told all objects yet.
    async fn next_of_all(&self, stream: &mut dyn OpenWatch<O>, token: &CancelToken<R>) -> Got<O> {
        let (began, mut next) = (self.runtime.now(), stream.next());
        loop {
            let timer = token.child_with_deadline(self.runtime.now() + QUIET);
            let mut timer = pin!(timer.wait_async());
            let event = poll_fn(|context| match next.as_mut().poll(context) {
                Poll::Ready(event) => Poll::Ready(Some(event)),
                Poll::Pending => timer.as_mut().poll(context).map(|_| None),
            });
            match event.await {
                Some(mut event) => {
                    if let Some((known, event)) = self.known.as_ref().zip(event.as_mut()) {
                        known::event(known, event);
                    }
                    return Got::Event(event);
                }
                None if token.is_cancelled() => pending().await,
                None => {
                    let since = self.runtime.now().since(began);
                    crate::caught::tell(|| (self.hooks.quiet)(since));
                    if since >= SILENT {
                        let why = format!("the stream says nothing for {since:?}");
                        let error = SourceError::new(SourceKind::Other, why);
                        return Got::Event(Some(Event::Error(error)));
                    }
                }
            }
        }
    }

    /// Waits for the next event, or until a resync is due.
    async fn next(
        &self,
        stream: &mut dyn OpenWatch<O>,
        resync: Option<Instant>,
        token: &CancelToken<R>,
    ) -> Got<O> {
        let Some(due) = resync else { return Got::Event(stream.next().await) };
        let timer = token.child_with_deadline(due);
        let (mut next, mut timer) = (pin!(stream.next()), pin!(timer.wait_async()));
        poll_fn(|context| match timer.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(Got::ResyncDue),
            Poll::Pending => next.as_mut().poll(context).map(Got::Event),
        })
        .await
    }

    async fn deliver(
        &self,
        delivery: Delivery<O>,
        consumer: &mut impl Consumer<O>,
    ) -> Result<(), Cause> {
        if matches!(delivery, Delivery::Resync) {
            let mut wanted = false;
            crate::caught::tell(|| wanted = (self.hooks.should_resync)());
            if !wanted {
                return Ok(());
            }
        }
        consumer.take(delivery).await.map_err(|error| Arc::new(error) as Cause)
    }
}

/// Awaits an answer. If it is not there yet, the consumer settles first.
async fn settled<O, T>(consumer: &mut impl Consumer<O>, answer: impl Future<Output = T>) -> T {
    let mut answer = pin!(answer);
    if let Poll::Ready(value) = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await
    {
        return value;
    }
    consumer.settle().await;
    answer.await
}

/// Returns the pauses between attempts that follow each other.
pub(in crate::informer) fn delays<R: Runtime>(runtime: &R) -> ExponentialDelays {
    let (initial, max) = (Duration::from_millis(800), Duration::from_secs(30));
    let reset = Duration::from_secs(120);
    ExponentialDelays::new(initial, max, reset, 2.0, 1.0, runtime.now())
}

/// Yields once to the other tasks of this thread.
pub(in crate::informer) async fn pause() {
    let mut paused = false;
    poll_fn(|context| {
        if std::mem::replace(&mut paused, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl<O, R: Runtime> fmt::Debug for Driver<O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("config", &self.config).finish_non_exhaustive()
    }
}
