//! One HTTP/2 connection, and how many streams it carries.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

use hyper::client::conn::http2;
use hyper::rt::Executor;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::request::TransportError;

use super::connect::Stream;
use super::error::{failure, not_sent};
use super::pool::Body;

/// The windows of a stream and of its connection, in bytes, as in the reference. A stream that
/// nobody reads fills its own window, and the others go on: the windows of all streams fit into that
/// of the connection.
pub(super) const STREAM_WINDOW: u32 = 4 << 20;
pub(super) const CONNECTION_WINDOW: u32 = 1 << 30;

/// The largest number of streams on a connection, whatever the server allows.
const MOST: usize = (CONNECTION_WINDOW / STREAM_WINDOW) as usize;

/// How many streams are opened before the server has said how many it allows. With more, those that
/// it does not allow would wait until others end.
pub(super) const BEFORE_SETTINGS: usize = 0;

/// Moves the bytes of a connection.
type Driver = http2::Connection<Stream, Body, Tells>;

/// Runs the tasks of connections, and tells whenever bytes may have come.
#[derive(Clone)]
pub(super) struct Tells(pub(super) Arc<Notify>);

impl<F> Executor<F> for Tells
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    fn execute(&self, task: F) {
        let (mut task, news) = (Box::pin(task), Arc::clone(&self.0));
        drop(tokio::spawn(std::future::poll_fn(move |context| {
            let polled = task.as_mut().poll(context);
            news.notify_waiters();
            polled
        })));
    }
}

/// An HTTP/2 connection. It ends when it and all its streams are dropped.
pub(super) struct Link {
    pub(super) sender: http2::SendRequest<Body>,
    /// Polled by a task of its own, which puts the reason here at the end, if there is one.
    driver: Arc<Mutex<Result<Driver, Option<TransportError>>>>,
    open: AtomicUsize,
    allowed: AtomicUsize,
    /// Told whenever bytes may have come.
    news: Arc<Notify>,
    is_new: AtomicBool,
    was_used: AtomicBool,
}

impl Link {
    pub(super) fn new(sender: http2::SendRequest<Body>, driver: Driver, news: Arc<Notify>) -> Self {
        Self {
            sender,
            driver: Arc::new(Mutex::new(Ok(driver))),
            open: AtomicUsize::new(0),
            allowed: AtomicUsize::new(BEFORE_SETTINGS),
            news,
            is_new: AtomicBool::new(true),
            was_used: AtomicBool::new(true),
        }
    }

    /// Returns a future that moves the bytes until the connection ends.
    pub(super) fn drive(&self) -> impl Future<Output = ()> + Send + use<> {
        let (driver, news) = (Arc::clone(&self.driver), Arc::clone(&self.news));
        std::future::poll_fn(move |context| {
            let mut driver = driver.lock();
            if let Ok(moves) = &mut *driver {
                let Poll::Ready(ended) = Pin::new(moves).poll(context) else {
                    return Poll::Pending;
                };
                *driver = Err(ended.err().map(|why| failure(Box::new(why))));
                news.notify_waiters();
            }
            Poll::Ready(())
        })
    }

    /// Waits until the server has said how many streams it allows, or the connection has ended.
    ///
    /// # Errors
    /// It has ended, for this reason.
    pub(super) async fn settled(&self) -> Result<(), TransportError> {
        loop {
            let mut news = std::pin::pin!(self.news.notified());
            news.as_mut().enable();
            let allowed = match &*self.driver.lock() {
                Ok(driver) => Some(driver.current_max_send_streams()),
                Err(Some(why)) => return Err(not_sent(why.clone())),
                Err(None) => None,
            };
            if allowed != Some(BEFORE_SETTINGS) {
                let allowed = allowed.unwrap_or_default().clamp(1, MOST);
                self.allowed.store(allowed, Ordering::Relaxed);
                return Ok(());
            }
            news.await;
        }
    }

    /// Returns how many streams the server allows at present. A server may change that at any time.
    fn allowed(&self) -> usize {
        // If the connection is being polled, the number of a moment ago will do.
        if let Some(Ok(driver)) = self.driver.try_lock().as_deref() {
            let allowed = driver.current_max_send_streams().clamp(1, MOST);
            self.allowed.store(allowed, Ordering::Relaxed);
        }
        self.allowed.load(Ordering::Relaxed)
    }

    /// Opens a stream, if the server allows one more. Only one thread may do that at a time.
    pub(super) fn place(self: &Arc<Self>, room: &Arc<Notify>) -> Option<Place> {
        if self.open.load(Ordering::SeqCst) >= self.allowed() {
            return None;
        }
        self.open.fetch_add(1, Ordering::SeqCst);
        self.was_used.store(true, Ordering::Relaxed);
        let is_first = self.is_new.swap(false, Ordering::Relaxed);
        Some(Place { link: Arc::clone(self), is_first, room: Arc::clone(room) })
    }

    /// Tells whether it was not used since the last time that this was asked.
    pub(super) fn rests(&self) -> bool {
        self.open.load(Ordering::SeqCst) == 0 && !self.was_used.swap(false, Ordering::Relaxed)
    }
}

/// The place of a stream on a connection, until it is dropped.
pub(super) struct Place {
    pub(super) link: Arc<Link>,
    /// It is the first on its connection.
    pub(super) is_first: bool,
    room: Arc<Notify>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.link.open.fetch_sub(1, Ordering::SeqCst);
        self.room.notify_one();
    }
}
