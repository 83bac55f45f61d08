//! The driver for tasks: carries out the orders of the rules on any executor, without a thread.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

use crate::cancel::{CancelToken, OnEnd};
use crate::caught;
use crate::machine::Operation;
use crate::runtime::{Instant, Panic, Runtime};

use super::Elector;
use super::driver::{AlreadyRunning, accepted, ended};
use super::leadership::Leadership;
use super::lent::Lent;
use super::lock::{AsyncLock, StoreError, Stored};
use super::operations::{Abort, GiveUp, Reply, Rest, Try};
use super::record::Name;
use super::state::Election;
use super::turn::{Io, Next, Notes, Turn};
use super::work::EndOfWork;

/// Callbacks of a run that is awaited: the work of a leader, and reports.
pub trait AsyncCallbacks<R: Runtime>: Send + Sync {
    /// Does the protected work, inside the task that awaits the run. The lease is renewed between
    /// two of its waits, so work that keeps a processor busy belongs on its own executor.
    ///
    /// The work should end when its leadership is [`lost`](Leadership::lost). If it ends earlier,
    /// the term ends, as in the [blocking](super::Callbacks::started_leading) form. Work that is
    /// unfinished when the run ends, or when the lease is freed, is dropped, so it has stopped
    /// before the stop callback is called.
    fn started_leading(&self, leadership: Leadership<R>) -> impl Future<Output = ()> + Send;

    /// Called when the run is over, even if it never led or was dropped (`election:LE-47`). The
    /// elector can be used again.
    fn stopped_leading(&self) {}

    /// Called when a different leader is seen: this elector, another one, or nobody
    /// (`election:LE-52`), in the order of observation. The run waits for it, so pass the name on
    /// and return.
    fn new_leader(&self, leader: &Name) {
        let _ = leader;
    }
}

impl<L: AsyncLock, R: Runtime> Elector<L, R> {
    /// As [`run`](Self::run), for tasks (`election:LE-46`): competes for the lease, leads once, and
    /// returns when that term is over or the token has ended. Returns whether it led.
    ///
    /// Nothing happens until it is polled. A run that is dropped loses its leadership at once and
    /// does not free the lease; to free it, cancel the token and await the end.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use seatrial_core::cancel::CancelToken;
    /// use seatrial_core::elector::{
    ///     AsyncCallbacks, Config, Elector, Leadership, LeaseLock, MemoryStore,
    /// };
    /// use seatrial_core::runtime::{Runtime, System};
    ///
    /// struct Worker(CancelToken);
    ///
    /// impl AsyncCallbacks<System> for Worker {
    ///     async fn started_leading(&self, leadership: Leadership<System>) {
    ///         self.0.cancel(); // enough for an example
    ///         leadership.lost().await;
    ///     }
    /// }
    ///
    /// let system = System::new();
    /// let store: Arc<MemoryStore<System>> = Arc::new(MemoryStore::new(&system));
    /// let lock = LeaseLock::new(store, "default", "controller");
    /// let elector = Elector::new(&system, lock, Config::new("pod-1_4711")).unwrap();
    /// let token = CancelToken::new(&system);
    /// let worker = Worker(token.clone());
    /// let led = system.block_on(elector.run_async(&token, &worker)).unwrap();
    /// assert!(led);
    /// ```
    ///
    /// # Errors
    /// This elector is already in use.
    ///
    /// # Panics
    /// If a call on the lock, the work or a callback panics. The stop callback has run before.
    pub async fn run_async<C: AsyncCallbacks<R>>(
        &self,
        token: &CancelToken<R>,
        callbacks: &C,
    ) -> Result<bool, AlreadyRunning> {
        let lock = self.lend().ok_or(AlreadyRunning)?;
        let token = token.child(); // of this run; the end of its work cancels it
        let (first, end) = self.begin(&token)?;
        let mut running = Running {
            elector: self,
            callbacks,
            token,
            broken: None,
            end: Some(end),
            lock: Some(lock),
            work: None,
            is_over: false,
        };
        let ran = unless_it_panics(running.drive(first)).await;
        running.is_over = ran.is_ok();
        let stopped = running.stop();
        ended(ran, running.broken.take(), stopped)
    }

    /// As [`attempt`](Self::attempt), for tasks.
    ///
    /// # Errors
    /// This elector is already in use.
    pub async fn attempt_async(&self) -> Result<bool, AlreadyRunning> {
        self.drive_once_async(Try).await
    }

    /// As [`release`](Self::release), for tasks.
    ///
    /// # Errors
    /// This elector is already in use.
    pub async fn release_async(&self) -> Result<bool, AlreadyRunning> {
        self.drive_once_async(GiveUp).await
    }

    async fn drive_once_async(
        &self,
        begin: impl Operation<Election, Ret = Turn>,
    ) -> Result<bool, AlreadyRunning> {
        let mut lock = self.lend().ok_or(AlreadyRunning)?;
        let mut turn = accepted(self.ask(begin))?;
        // It drops before the lock goes back, so the next borrower finds no attempt under way.
        let mut aborts = AbortsOnDrop { elector: self, armed: true };
        let success = loop {
            self.tell_slow_path(&turn.notes);
            turn = match turn.next {
                Next::Call { io, deadline, .. } => {
                    let call = send(&mut *lock, &io);
                    let reply = limited(self.runtime(), call, deadline, None).await;
                    self.ask(Reply(Some(reply)))
                }
                Next::Rest => self.monitor.call_async(Rest).await,
                next => break matches!(next, Next::Done(true)),
            };
        };
        aborts.armed = false;
        Ok(success)
    }
}

/// Drops the attempt of an elector unless it was completed.
struct AbortsOnDrop<'a, L: Send + 'static, R: Runtime> {
    elector: &'a Elector<L, R>,
    armed: bool,
}

impl<L: Send + 'static, R: Runtime> Drop for AbortsOnDrop<'_, L, R> {
    fn drop(&mut self) {
        if self.armed {
            let _nothing_to_tell = self.elector.ask(Abort);
        }
    }
}

/// A run that is under way.
struct Running<'a, L: AsyncLock, R: Runtime, C: AsyncCallbacks<R>> {
    elector: &'a Elector<L, R>,
    callbacks: &'a C,
    token: CancelToken<R>,
    /// The panic of the work.
    broken: Option<Panic>,
    end: Option<OnEnd<R>>,
    /// `None` once the run was stopped.
    lock: Option<Lent<'a, L, R>>,
    work: Option<Work<'a, R>>,
    /// Whether the rules have ended the run.
    is_over: bool,
}

/// The protected work that is under way.
struct Work<'a, R: Runtime> {
    task: Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
    /// Dropped after the task.
    end: EndOfWork<R>,
}

impl<L: AsyncLock, R: Runtime, C: AsyncCallbacks<R>> Running<'_, L, R, C> {
    async fn drive(&mut self, first: Turn) -> bool {
        let mut turn = first;
        loop {
            self.tell(turn.notes);
            turn = match turn.next {
                Next::Call { io, deadline, releases } => self.call(&io, deadline, releases).await,
                Next::Rest => self.rest().await,
                Next::Lead { term, fence } => {
                    let leadership =
                        Leadership::new(&self.elector.monitor, term, fence, &self.token);
                    let end = leadership.end_of_work();
                    let callbacks = self.callbacks;
                    let task = Box::pin(async { callbacks.started_leading(leadership).await });
                    self.work = Some(Work { task, end });
                    self.rest().await
                }
                Next::Ended { led } => return led,
                Next::Done(_) | Next::Refused => {
                    unreachable!("a run goes on until it has ended")
                }
            };
        }
    }

    async fn rest(&mut self) -> Turn {
        let rest = self.elector.monitor.call_async(Rest);
        beside(&mut self.work, &mut self.broken, rest).await
    }

    async fn call(&mut self, io: &Io, deadline: Option<Instant>, releases: bool) -> Turn {
        // A release is not part of the run that was cancelled (LE-40). Unfinished work is dropped
        // here, so that nothing works under a lease that is given away (LE-42).
        let token = if releases { None } else { Some(&self.token) };
        if releases {
            self.work = None;
        }
        let lock = self.lock.as_mut().expect("the lock is lent until the run stops");
        let call = limited(self.elector.runtime(), send(&mut **lock, io), deadline, token);
        let reply = beside(&mut self.work, &mut self.broken, call).await;
        self.elector.ask(Reply(Some(reply)))
    }

    fn tell(&self, notes: Notes) {
        let event = |text| {
            if let Some(lock) = &self.lock {
                lock.record_event(&self.elector.identity, text);
            }
        };
        self.elector.tell(notes, event, |leader| self.callbacks.new_leader(&leader));
    }

    /// Ends the run, once: first the leadership, then the work, then calls the stop callback.
    /// Returns the panic of the stop callback.
    fn stop(&mut self) -> Option<Panic> {
        self.lock.as_ref()?;
        drop(self.end.take());
        if !self.is_over {
            let notes = self.elector.ask(Abort);
            // A second panic may follow; only the first one is passed on.
            caught::tell(|| self.tell(notes));
        }
        let work = self.work.take();
        caught::tell(|| drop(work));
        drop(self.lock.take());
        catch_unwind(AssertUnwindSafe(|| self.callbacks.stopped_leading())).err()
    }
}

/// A run that is dropped before its end.
impl<L: AsyncLock, R: Runtime, C: AsyncCallbacks<R>> Drop for Running<'_, L, R, C> {
    fn drop(&mut self) {
        caught::pass_on(self.stop());
    }
}

impl<L: AsyncLock, R: Runtime, C: AsyncCallbacks<R>> fmt::Debug for Running<'_, L, R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

async fn send<L: AsyncLock>(lock: &mut L, io: &Io) -> Result<Stored, StoreError> {
    match io {
        Io::Get => lock.get().await,
        Io::Create(record) => lock.create(record).await,
        Io::Update(record, version) => lock.update(record, version).await,
    }
}

/// Awaits something while the work goes on. A panic of the work is kept.
async fn beside<R: Runtime, T>(
    work: &mut Option<Work<'_, R>>,
    broken: &mut Option<Panic>,
    awaited: impl Future<Output = T>,
) -> T {
    let mut awaited = pin!(awaited);
    poll_fn(|context| {
        if let Some(under_way) = work {
            let task = AssertUnwindSafe(|| under_way.task.as_mut().poll(context));
            let polled = catch_unwind(task);
            under_way.end.panicked = polled.is_err();
            if !matches!(polled, Ok(Poll::Pending)) {
                *broken = polled.err();
                *work = None;
            }
        }
        awaited.as_mut().poll(context)
    })
    .await
}

/// Awaits a call until its deadline or the end of its token; then gives it up.
pub(super) async fn limited<R: Runtime, T>(
    runtime: &R,
    call: impl Future<Output = Result<T, StoreError>>,
    deadline: Option<Instant>,
    token: Option<&CancelToken<R>>,
) -> Result<T, StoreError> {
    let mut call = pin!(call);
    let mut alarms = (None, None);
    poll_fn(|context| {
        if let Poll::Ready(answer) = call.as_mut().poll(context) {
            return Poll::Ready(answer);
        }
        if token.is_some_and(CancelToken::is_cancelled) {
            return Poll::Ready(Err(StoreError::Cancelled));
        }
        if deadline.is_some_and(|deadline| runtime.now() >= deadline) {
            return Poll::Ready(Err(StoreError::Timeout));
        }
        let waker = context.waker();
        let at_deadline = deadline.filter(|deadline| *deadline != Instant::NEVER);
        alarms = (
            token.map(|token| token.on_end(waker.clone())),
            at_deadline.map(|deadline| runtime.wake_at(deadline, waker.clone())),
        );
        Poll::Pending
    })
    .await
}

/// Awaits a future and returns its panic as a value.
async fn unless_it_panics<T>(awaited: impl Future<Output = T>) -> Result<T, Panic> {
    let mut awaited = pin!(awaited);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| awaited.as_mut().poll(context)));
        match polled {
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}
