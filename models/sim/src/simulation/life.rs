//! One life of a process: a runtime of its own, so that whatever it has spawned ends with it and with
//! nothing else. Where there are several, each is let work until it has nothing to do, and is then
//! moved on to the next time at which it has.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

use super::exact::Hold;
use super::panics;
use super::webhooks;
use super::world::{Connection, Outside};
use crate::tower::Face;

/// How often a process may be polled at one time. Requests take time, so such a process spins
/// without making any.
const POLLS: u32 = 200_000;

/// The code of a process.
pub(crate) type Process = Pin<Box<dyn Future<Output = ()>>>;
/// What runs in each life of a process.
pub(crate) type Run = dyn Fn(Connection) -> Process + Send + Sync;

/// Why a process has ended.
pub(crate) enum Death {
    Crash,
    Restart,
    Itself(String),
    Panic(String),
    Limit(String),
}

/// What a process is let do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It works, and its time passes.
    #[default]
    Free,
    /// It works, and its time stands still.
    Work,
    /// Its time passes, and it works no more once that has happened.
    Pass,
}

/// Why a turn is over: the process has died, or it has done what it was let do.
pub(crate) enum Turn {
    Died(Death),
    /// The world has something to tell.
    Told,
    Done,
}

/// A life, between two turns.
pub(crate) struct Life {
    runtime: Runtime,
    face: Face<Outside>,
    process: Option<Process>,
    bell: Arc<Bell>,
    polls: (Instant, u32),
    /// Its time.
    pub(crate) now: Duration,
}

impl Life {
    /// Begins one. `is_alone`: there is no other process whose time must pass with its own.
    pub(crate) fn begin(
        run: &Run,
        world: &Arc<Mutex<Outside>>,
        (now, is_alone): (Duration, bool),
        hold: &Hold,
    ) -> Result<Self, String> {
        let (mut builder, bell) = (Builder::new_current_thread(), Arc::new(Bell::default()));
        if !is_alone {
            let (parks, passes) = (bell.clone(), bell.clone());
            builder.on_thread_park(move || parks.parks());
            builder.on_thread_unpark(move || passes.passes());
        }
        // Controllers may wait for signals, which needs more than time.
        let runtime = builder.enable_all().start_paused(true).build();
        let runtime = runtime.map_err(|error| format!("tokio does not start: {error}"))?;
        let inside = runtime.enter();
        let start = Instant::now();
        hold.start_clock(now, start);
        let face = Face::calling(world.clone(), now, webhooks::caller(world));
        let process = run(face.service());
        hold.stop_clock();
        drop(inside);
        let process = Some(process);
        bell.wake_by_ref();
        Ok(Self { runtime, face, process, bell, polls: (start, 0), now })
    }

    /// Lets it work, or its time pass until then.
    pub(crate) fn turn(
        &mut self,
        (mode, until): (Mode, Duration),
        signal: &Notify,
        hold: &Hold,
    ) -> Turn {
        let Self { runtime, face, process, bell, polls, now } = self;
        hold.start_clock(*now, face.instant(*now));
        let turn = runtime.block_on(async {
            bell.set(mode, Instant::now());
            let told = Box::pin(signal.notified());
            let is_timed = mode != Mode::Work;
            let sleep = is_timed.then(|| Box::pin(tokio::time::sleep_until(face.instant(until))));
            let turn = Taken { told, process, polls, bell, sleep, since: Instant::now() }.await;
            bell.set(Mode::Free, Instant::now());
            *now = face.now();
            turn
        });
        hold.stop_clock();
        turn
    }

    /// Lets its watches look whether there is something to tell.
    pub(crate) fn wake(&self) {
        self.face.wake();
    }

    /// Ends it, and whatever it has spawned.
    pub(crate) fn end(self, hold: &Hold) {
        let Self { runtime, face, process, now, .. } = self;
        let inside = runtime.enter();
        hold.start_clock(now, face.instant(now));
        drop(process);
        hold.stop_clock();
        drop(inside);
        drop(runtime);
    }
}

/// Tells a turn that its process was woken, that its runtime has nothing to do, or that its time has
/// passed.
#[derive(Default)]
struct Bell(Mutex<Rung>);

#[derive(Default)]
struct Rung {
    mode: Mode,
    since: Option<Instant>,
    is_woken: bool,
    is_idle: bool,
    waker: Option<Waker>,
}

impl Bell {
    fn lock(&self) -> MutexGuard<'_, Rung> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, mode: Mode, since: Instant) {
        let mut rung = self.lock();
        (rung.mode, rung.since, rung.is_idle) = (mode, Some(since), false);
    }

    /// The runtime has nothing to do at this time. A turn that it wakes keeps the time from passing.
    fn parks(&self) {
        let mut rung = self.lock();
        if rung.mode == Mode::Work {
            rung.is_idle = true;
            Self::ring(rung);
        }
    }

    /// The runtime's time may have passed. The turn comes before all that is due then.
    fn passes(&self) {
        let rung = self.lock();
        if rung.mode == Mode::Pass && rung.since.is_some_and(|it| it < Instant::now()) {
            Self::ring(rung);
        }
    }

    /// A waker is foreign code: it is called outside the lock.
    fn ring(rung: MutexGuard<'_, Rung>) {
        let waker = rung.waker.clone();
        drop(rung);
        waker.iter().for_each(Waker::wake_by_ref);
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut rung = self.lock();
        rung.is_woken = true;
        Self::ring(rung);
    }
}

impl fmt::Debug for Bell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bell")
    }
}

/// The first of these: the world has something to tell, the process ends, it has nothing to do, its time
/// has passed.
struct Taken<'a, N> {
    told: Pin<Box<N>>,
    process: &'a mut Option<Process>,
    /// How often the process was polled at that time.
    polls: &'a mut (Instant, u32),
    bell: &'a Arc<Bell>,
    sleep: Option<Pin<Box<Sleep>>>,
    since: Instant,
}

impl<N: Future<Output = ()>> Future for Taken<'_, N> {
    type Output = Turn;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn> {
        if self.told.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Turn::Told);
        }
        let now = Instant::now();
        let mut rung = self.bell.lock();
        let old = rung.waker.replace(cx.waker().clone());
        let (mode, is_idle) = (rung.mode, rung.is_idle);
        let has_passed = mode == Mode::Pass && self.since < now;
        let is_woken = !has_passed && std::mem::take(&mut rung.is_woken);
        drop(rung);
        drop(old);
        if has_passed || (is_idle && !is_woken) {
            return Poll::Ready(Turn::Done);
        }
        if is_woken && let Some(death) = self.work(now) {
            return Poll::Ready(Turn::Died(death));
        }
        self.bell.lock().is_idle = false;
        match self.sleep.as_mut() {
            Some(sleep) => sleep.as_mut().poll(cx).map(|()| Turn::Done),
            None => Poll::Pending,
        }
    }
}

impl<N> Taken<'_, N> {
    /// Polls the process.
    fn work(&mut self, now: Instant) -> Option<Death> {
        let count = if self.polls.0 == now { self.polls.1 + 1 } else { 1 };
        *self.polls = (now, count);
        if count > POLLS {
            return Some(Death::Limit("spins without requests: a hot loop".to_owned()));
        }
        let process = self.process.as_mut()?;
        let waker = Waker::from(self.bell.clone());
        let mut cx = Context::from_waker(&waker);
        let polled = catch_unwind(AssertUnwindSafe(|| process.as_mut().poll(&mut cx)));
        let end = match polled {
            Ok(Poll::Pending) => return None,
            Ok(Poll::Ready(())) => Death::Itself("ends by itself".to_owned()),
            Err(panic) => Death::Panic(format!("panics: {}", panics::message(&*panic))),
        };
        *self.process = None;
        Some(end)
    }
}
