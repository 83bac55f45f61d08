//! The connection between an elector and the store, on which requests and answers are lost or late
//! (`election:ENV-4`).

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use seatrial_core::elector::{
    AsyncObjectStore, Call, LeaseSpec, Object, ObjectName, ObjectStore, StoreError,
};
use seatrial_core::monitor::Monitor;
use seatrial_core::runtime::{Ambient as _, Instant, Runtime};

use super::part::{Part, Request, Serve};
use super::store::Served;
use crate::engine::AnyRuntime;

/// The store that all electors share.
pub(super) type Shared = Arc<Monitor<Part, AnyRuntime>>;

/// The time after which a client gives up a call without another limit (`election:LK-28`).
pub(super) const CLIENT_TIMEOUT: Duration = Duration::from_secs(1);

/// The fate of one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// Served and answered at once.
    Prompt,
    /// Never served; the caller gives up at its limit.
    LostRequest,
    /// Served; the answer never comes.
    LostReply,
    /// Served after the first duration and answered after the second. The client has no timeout of
    /// its own and ignores tokens.
    Slow(Duration, Duration),
    /// Served after this time, even if its caller has given up, and never answered.
    Astray(Duration),
    /// Served at once, and answered after this time, whatever the deadline.
    Late(Duration),
    /// Refused at once.
    Refused,
    /// Not served; the client hangs for this time, whatever its deadline.
    Hangs(Duration),
    /// The client panics.
    Panics,
}

/// A call on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    /// Its number among the calls of its elector, from zero.
    pub(super) nth: u32,
    /// When it is made.
    pub(super) at: Instant,
    /// Whether it writes.
    pub(super) writes: bool,
}

/// Chooses the fate of a call.
pub(super) type Network = Box<dyn Fn(&AnyRuntime, Passing) -> Fate + Send + Sync>;

/// One elector's connection to the store.
pub(super) struct Connection {
    pub(super) store: Shared,
    pub(super) number: u8,
    pub(super) calls: AtomicU32,
    pub(super) network: Network,
}

impl Connection {
    fn carry(&self, request: Request, call: Call<'_>) -> Served {
        let runtime = self.store.runtime();
        let now = runtime.now();
        let (serve, fate) = self.set_out(request);
        let limit = now + CLIENT_TIMEOUT;
        let limit = call.deadline.map_or(limit, |deadline| deadline.min(limit));
        match fate {
            Fate::Prompt => self.store.call(serve),
            Fate::Refused => Err(StoreError::Other("refused".into())),
            Fate::LostRequest => self.wait_for_nothing(limit, call),
            Fate::LostReply => {
                let _nobody_learns_it = self.store.call(serve);
                self.wait_for_nothing(limit, call)
            }
            Fate::Late(reply) => {
                let served = self.store.call(serve);
                runtime.sleep_until(now + reply);
                served
            }
            Fate::Slow(request, reply) => self.carry_slowly(serve, request, reply, call.deadline),
            Fate::Astray(late) => {
                self.send_astray(serve, now + late);
                self.wait_for_nothing(limit, call)
            }
            Fate::Hangs(long) => self.time_out(now + long),
            Fate::Panics => panic!("the client breaks"),
        }
    }

    /// Numbers a call and chooses its fate.
    fn set_out(&self, request: Request) -> (Serve, Fate) {
        let runtime = self.store.runtime();
        let nth = self.calls.fetch_add(1, Ordering::Relaxed);
        let writes = !matches!(request, Request::Get);
        let fate = (self.network)(runtime, Passing { nth, at: runtime.now(), writes });
        (Serve { by: Some(self.number), call: nth, request }, fate)
    }

    /// Lets a request arrive at a time at which its caller no longer waits for it.
    fn send_astray(&self, serve: Serve, at: Instant) {
        let store = Arc::clone(&self.store);
        let network = self.store.runtime().spawn("network", move || {
            store.runtime().sleep_until(at);
            let _nobody_learns_it = store.call(serve);
        });
        drop(network); // the thread is not joined
    }

    /// As [`carry`](Self::carry), for a task; the caller gives up by dropping the future.
    async fn carry_async(&self, request: Request) -> Served {
        let now = self.store.runtime().now();
        let (serve, fate) = self.set_out(request);
        let limit = now + CLIENT_TIMEOUT;
        match fate {
            Fate::Prompt => return self.store.call(serve),
            Fate::Refused => return Err(StoreError::Other("refused".into())),
            Fate::LostRequest => self.until(limit).await,
            Fate::LostReply => {
                let _nobody_learns_it = self.store.call(serve);
                self.until(limit).await;
            }
            Fate::Slow(request, reply) => {
                self.until(now + request).await;
                let served = self.store.call(serve);
                self.until(now + request + reply).await;
                return served;
            }
            Fate::Late(reply) => {
                let served = self.store.call(serve);
                self.until(now + reply).await;
                return served;
            }
            Fate::Astray(late) => {
                self.send_astray(serve, now + late);
                self.until(limit).await;
            }
            Fate::Hangs(long) => self.until(now + long).await,
            Fate::Panics => panic!("the client breaks"),
        }
        Err(StoreError::Timeout)
    }

    async fn until(&self, at: Instant) {
        sleep_until(self.store.runtime(), at).await;
    }

    fn carry_slowly(
        &self,
        serve: Serve,
        request: Duration,
        reply: Duration,
        deadline: Option<Instant>,
    ) -> Served {
        let runtime = self.store.runtime();
        let limit = deadline.unwrap_or(Instant::NEVER);
        let arrives = runtime.now() + request;
        runtime.sleep_until(arrives);
        let served = self.store.call(serve);
        if arrives + reply > limit {
            return self.time_out(limit);
        }
        runtime.sleep_until(arrives + reply);
        served
    }

    /// Waits for an answer that never comes, until the limit or until the caller is cancelled.
    fn wait_for_nothing(&self, limit: Instant, call: Call<'_>) -> Served {
        let Some(token) = call.token else { return self.time_out(limit) };
        let runtime = self.store.runtime();
        let mut alarms = None;
        let cancelled = runtime.block_on(poll_fn(|task| {
            if token.is_cancelled() {
                return Poll::Ready(true);
            }
            if runtime.now() >= limit {
                return Poll::Ready(false);
            }
            let wake = || task.waker().clone();
            alarms.get_or_insert_with(|| (token.on_end(wake()), runtime.wake_at(limit, wake())));
            Poll::Pending
        }));
        Err(if cancelled { StoreError::Cancelled } else { StoreError::Timeout })
    }

    fn time_out(&self, at: Instant) -> Served {
        self.store.runtime().sleep_until(at);
        Err(StoreError::Timeout)
    }
}

impl ObjectStore<LeaseSpec> for Connection {
    fn get(&self, _: &ObjectName, call: Call<'_>) -> Served {
        self.carry(Request::Get, call)
    }

    fn create(&self, lease: &Object<LeaseSpec>, call: Call<'_>) -> Served {
        self.carry(Request::Create(Box::new(lease.clone())), call)
    }

    fn update(&self, lease: &Object<LeaseSpec>, call: Call<'_>) -> Served {
        self.carry(Request::Update(Box::new(lease.clone())), call)
    }
}

impl AsyncObjectStore<LeaseSpec> for Connection {
    async fn get(&self, _: &ObjectName) -> Served {
        self.carry_async(Request::Get).await
    }

    async fn create(&self, lease: &Object<LeaseSpec>) -> Served {
        self.carry_async(Request::Create(Box::new(lease.clone()))).await
    }

    async fn update(&self, lease: &Object<LeaseSpec>) -> Served {
        self.carry_async(Request::Update(Box::new(lease.clone()))).await
    }
}

/// Sleeps without a thread.
pub(super) async fn sleep_until(runtime: &AnyRuntime, at: Instant) {
    let mut alarm = None;
    poll_fn(|task| {
        if runtime.now() >= at {
            return Poll::Ready(());
        }
        alarm = Some(runtime.wake_at(at, task.waker().clone()));
        Poll::Pending
    })
    .await;
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("number", &self.number).finish_non_exhaustive()
    }
}
