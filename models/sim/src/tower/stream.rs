//! Bodies of answers: at once, or as a watch tells them.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::time::{Sleep, sleep_until};

use super::{Backend, Direct, Shared};
use crate::apiserver::{Attempt, Response, WatchId};

/// The body of an answer.
pub struct Stream<B = Direct> {
    /// The part that is sent at once.
    whole: Option<Bytes>,
    watch: Option<Watch<B>>,
}

/// An open watch. It is closed when its client drops the body.
struct Watch<B> {
    shared: Arc<Shared<B>>,
    id: WatchId,
    head: Response,
    close: fn(&Shared<B>, WatchId),
    alarm: Option<Pin<Box<Sleep>>>,
    /// Objects are being converted for it.
    converting: Option<Pin<Box<dyn Future<Output = Attempt> + Send>>>,
    has_ended: bool,
}

impl<B> Stream<B> {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self { whole: Some(bytes), watch: None }
    }
}

impl<B: Backend> Stream<B> {
    pub(super) fn watch(shared: Arc<Shared<B>>, id: WatchId, head: Response) -> Self {
        let close = |shared: &Shared<B>, id| shared.lock().close(id);
        let (alarm, converting) = (None, None);
        let watch = Watch { shared, id, head, close, alarm, converting, has_ended: false };
        Self { whole: None, watch: Some(watch) }
    }
}

impl<B> fmt::Debug for Stream<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let watch = self.watch.as_ref().map(|it| it.id);
        f.debug_struct("Stream").field("whole", &self.whole).field("watch", &watch).finish()
    }
}

impl<B> Drop for Watch<B> {
    fn drop(&mut self) {
        // A waker is foreign code: it is dropped outside the lock.
        let waker = self.shared.sleepers().remove(&self.id);
        drop(waker);
        (self.close)(&self.shared, self.id);
    }
}

impl<B: Backend> Watch<B> {
    /// Lets objects be converted that it is about to tell, and tells whether it has begun to.
    fn converts(&mut self, cx: &mut Context<'_>) -> bool {
        let mut attempt = Attempt::default();
        if let Some(converting) = &mut self.converting {
            let Poll::Ready(answered) = converting.as_mut().poll(cx) else { return false };
            (attempt, self.converting) = (answered, None);
        }
        let now = self.shared.now();
        let calls = self.shared.lock().unconverted(now, self.id, &mut attempt);
        if calls.is_empty() {
            return false;
        }
        let webhooks = self.shared.webhooks.clone();
        self.converting = Some(Box::pin(async move {
            webhooks.call(calls, &mut attempt).await;
            attempt
        }));
        true
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if self.has_ended {
                return Poll::Ready(None);
            }
            // The waker comes first, so that a write during this call wakes the task.
            let waker = cx.waker().clone();
            let waker = self.shared.sleepers().insert(self.id, waker);
            drop(waker);
            // Events that need no conversion do not wait for those that are being converted.
            let is_asking = self.converts(cx);
            let told = self.shared.lock().tell(self.shared.now(), self.id);
            self.has_ended = told.has_ended;
            if told.has_ended || !told.events.is_empty() {
                let waker = self.shared.sleepers().remove(&self.id);
                drop(waker);
            }
            if !told.events.is_empty() {
                let mut lines = Vec::new();
                for event in &told.events {
                    lines.extend(event.bytes(&self.head));
                }
                return Poll::Ready(Some(lines.into()));
            }
            if told.has_ended {
                return Poll::Ready(None);
            }
            if is_asking {
                continue; // the calls are made by looking whether they are done
            }
            let Some(time) = told.again_at else { return Poll::Pending };
            let instant = self.shared.instant(time);
            let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(instant)));
            if alarm.deadline() != instant {
                alarm.as_mut().reset(instant);
            }
            if alarm.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.alarm = None;
        }
    }
}

impl<B: Backend> Body for Stream<B> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(bytes) = self.whole.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match &mut self.watch {
            Some(watch) => watch.poll(cx).map(|lines| lines.map(|it| Ok(Frame::data(it)))),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.whole.is_none() && self.watch.as_ref().is_none_or(|it| it.has_ended)
    }
}
