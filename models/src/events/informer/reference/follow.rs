//! The reflector's loop of the plain informer.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::reflector::{Config, Delivery, Got, Reflector, Want};
use seatrial_core::informer::{ListOptions, ListWatch, OpenWatch, Page, SourceError};
use seatrial_core::polling::ExponentialDelays;
use seatrial_core::runtime::{Ambient, Instant, Runtime, WallTime};
use seatrial_core::store::{Cause, LastState};

use super::super::source::{Object, transformed};
use super::Plain;
use crate::engine::AnyRuntime;

type Listed = Result<Page<Object>, SourceError>;

/// A clock that stands still.
struct Standing<'a>(Instant, &'a AnyRuntime);

impl Ambient for Standing<'_> {
    fn now(&self) -> Instant {
        self.0
    }

    fn wall(&self) -> WallTime {
        self.1.wall()
    }

    fn entropy(&self) -> u64 {
        self.1.entropy()
    }
}

/// Awaits a future; `None` if the token ends first.
async fn unless_ended<T>(
    token: &CancelToken<AnyRuntime>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let (mut work, mut end) = (pin!(work), pin!(token.wait_async()));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => end.as_mut().poll(context).map(|_| None),
    })
    .await
}

impl Plain {
    /// Keeps the queue up to date with the server until the token ends.
    pub(super) async fn follow(&self, token: &CancelToken<AnyRuntime>) {
        let began = self.runtime.now();
        let (initial, max) = (Duration::from_millis(800), Duration::from_secs(30));
        let reset = Duration::from_secs(120);
        let backoff = ExponentialDelays::new(initial, max, reset, 2.0, 1.0, began);
        let config = Config::default().resync(self.lock().resync);
        let mut machine = Reflector::new(config, self.source.streams_lists(), backoff);
        let mut stream: Option<Box<dyn OpenWatch<Object>>> = None;
        let mut want = machine.begin(&self.runtime);
        // Whether the last request was for a list.
        let mut listed = false;
        while !token.is_cancelled() {
            if matches!(want, Want::List(_) | Want::Watch(_) | Want::Sleep { .. }) {
                stream = None;
            }
            let got = match want {
                Want::List(options) => {
                    listed = true;
                    self.list(options, token).await.map(Got::Listed)
                }
                Want::Watch(options) => {
                    listed = false;
                    let opened = unless_ended(token, self.source.watch(options)).await;
                    opened.map(|opened| Got::Opened(opened.map(|it| stream = Some(it))))
                }
                Want::Next { resync } => {
                    let stream = stream.as_mut().expect("a stream is open while it is read");
                    self.next(stream.as_mut(), resync, token).await
                }
                Want::Deliver(delivery) => Some(Got::Delivered(self.deliver(delivery))),
                Want::Sleep { until, .. } => {
                    self.pause(until, listed, token).await;
                    Some(Got::Slept)
                }
                _ => unreachable!("a reflector wants nothing else"),
            };
            let Some(got) = got else { break };
            want = if self.makes("back_off_has_another_clock") {
                machine.next(got, &Standing(began, &self.runtime))
            } else {
                machine.next(got, &self.runtime)
            };
        }
        if self.makes("stream_stays_open") {
            self.lock().kept.extend(stream);
        }
    }

    async fn list(&self, options: ListOptions, token: &CancelToken<AnyRuntime>) -> Option<Listed> {
        if !self.makes("list_goes_on") {
            return unless_ended(token, self.source.list(options)).await;
        }
        let (page, done) = (Arc::new(self.runtime.mutex(None)), CancelToken::new(&self.runtime));
        let (runtime, source) = (self.runtime.clone(), self.source.clone());
        let (kept, said) = (Arc::clone(&page), done.clone());
        drop(self.runtime.spawn("list", move || {
            let listed = runtime.block_on(source.list(options));
            *runtime.lock(&kept) = Some(listed);
            said.cancel();
        }));
        unless_ended(token, done.wait_async()).await?;
        self.runtime.lock(&page).take()
    }

    async fn next(
        &self,
        stream: &mut dyn OpenWatch<Object>,
        resync: Option<Instant>,
        token: &CancelToken<AnyRuntime>,
    ) -> Option<Got<Object>> {
        let Some(due) = resync else {
            return unless_ended(token, stream.next()).await.map(Got::Event);
        };
        let timer = token.child_with_deadline(due);
        let event = unless_ended(&timer, stream.next()).await.map(Got::Event);
        if event.is_none() && token.is_cancelled() {
            return None;
        }
        Some(event.unwrap_or(Got::ResyncDue))
    }

    async fn pause(&self, until: Instant, listed: bool, token: &CancelToken<AnyRuntime>) {
        let stays = if listed {
            "pause_of_lists_delays_the_end"
        } else {
            "pause_of_streams_delays_the_end"
        };
        if self.makes(stays) {
            CancelToken::with_deadline(&self.runtime, until).wait_async().await;
        } else if !self.makes("pauses_on_another_clock") {
            token.child_with_deadline(until).wait_async().await;
        }
    }

    fn deliver(&self, delivery: Delivery<Object>) -> Result<(), Cause> {
        let once = |object: Object| transformed(&object);
        let result = match delivery {
            Delivery::Replace(objects, version) => {
                let objects = objects.into_iter().map(|object| {
                    if self.makes("lists_stay_as_they_came") {
                        return object;
                    }
                    let again = self.makes("lists_are_transformed_twice");
                    if again { once(once(object)) } else { once(object) }
                });
                self.queue.replace(objects.collect(), &version)
            }
            Delivery::Add(object) => self.queue.add(once(object)),
            Delivery::Update(object) => self.queue.update(once(object)),
            Delivery::Delete(object) => {
                self.queue.delete_last_state(LastState::Final(once(object)))
            }
            Delivery::Bookmark(version) => {
                self.queue.bookmark(&version);
                Ok(())
            }
            _ if self.resync_due() => self.queue.resync(),
            _ => Ok(()),
        };
        result.map_err(|error| Arc::new(error) as Cause)
    }
}
