//! The blocking driver: carries out the orders of the rules.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Wake;

use crate::cancel::{CancelToken, OnEnd};
use crate::caught;
use crate::machine::Operation;
use crate::monitor::Monitor;
use crate::queue::WorkQueue;
use crate::runtime::{Panic, Runtime};

use super::leadership::Leadership;
use super::lock::{Call, Lock, Token};
use super::operations::{Abort, Begin, Cancel, GiveUp, Reply, Report, Rest, Runs, Try};
use super::record::Name;
use super::state::Election;
use super::turn::{Io, Next, Notes, Turn};
use super::work::Passed;
use super::{Config, ConfigError, Elector, HealthCheck};

/// Callbacks of a run: the work of a leader, and reports (`election:LE-1`).
pub trait Callbacks<R: Runtime>: Send + Sync + 'static {
    /// Does the protected work, on its own thread, as long as the leadership is valid. Called at
    /// most once per run (`election:LE-49`). Work that returns earlier ends the term and the run,
    /// unless [`Config::work_ends_term`] says otherwise; work that panics always ends them.
    fn started_leading(&self, leadership: &Leadership<R>);

    /// Called when the run is over, even if it never led (`election:LE-47`). Leadership was revoked
    /// before; the work may not have returned yet (`election:LE-48`). The elector can be used
    /// again.
    fn stopped_leading(&self);

    /// Called when a different leader is seen: this elector, another one, or nobody
    /// (`election:LE-52`), in the order of observation. It runs on its own thread. A panic ends
    /// nothing: the panic hook reports it, and later leaders are told.
    fn new_leader(&self, leader: &Name) {
        let _ = leader;
    }

    /// Tells whether [`new_leader`](Self::new_leader) is to be called. If not, no thread is started
    /// for it.
    fn wants_new_leader(&self) -> bool {
        true
    }
}

/// The elector is already in use, by a run, an attempt or a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlreadyRunning;

impl fmt::Display for AlreadyRunning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this elector runs already")
    }
}

impl std::error::Error for AlreadyRunning {}

/// Ends a run: passes on the first panic of its loop, its work and its stop callback, if any.
pub(super) fn ended(
    ran: Result<bool, Panic>,
    work: Option<Panic>,
    stopped: Option<Panic>,
) -> Result<bool, AlreadyRunning> {
    let (led, broken) = ran.map_or_else(|panic| (false, Some(panic)), |led| (led, None));
    match caught::first_of([broken, work, stopped]) {
        Some(panic) => resume_unwind(panic),
        None => Ok(led),
    }
}

impl<L: Lock, R: Runtime> Elector<L, R> {
    /// Competes for the lease, leads once, and returns when that term is over or the token has
    /// ended (`election:LE-46`). Returns whether it led. The end of the token interrupts sleeps at
    /// once, and leadership is revoked before a cancelled run returns.
    ///
    /// # Errors
    /// This elector is already in use.
    ///
    /// # Panics
    /// If a call on the lock, the work or the stop callback panics; of several panics the first is
    /// passed on. The stop callback has run before. Work that panics ends the term like a
    /// cancellation, so the lease is freed if the settings say so. Work that panics after the run
    /// is over does so on its own thread.
    pub fn run<C: Callbacks<R>>(
        &self,
        token: &CancelToken<R>,
        callbacks: &Arc<C>,
    ) -> Result<bool, AlreadyRunning> {
        let mut lock = self.lend().ok_or(AlreadyRunning)?;
        let token = token.child(); // of this run; the end of its work cancels it
        let (first, end) = self.begin(&token)?;
        let broken = Arc::new(Passed::new(self.runtime()));
        let ran = catch_unwind(AssertUnwindSafe(|| {
            self.drive(&mut lock, first, &token, callbacks, &broken)
        }));
        drop(end);
        if ran.is_err() {
            let notes = self.ask(Abort);
            // A second panic may follow; only the first one is passed on.
            caught::tell(|| self.tell_all(notes, &*lock, callbacks));
        }
        drop(lock);
        self.end_reports();
        let stopped = catch_unwind(AssertUnwindSafe(|| callbacks.stopped_leading()));
        ended(ran, broken.close(), stopped.err())
    }

    /// Makes one attempt to acquire or renew, for callers with their own loop (`election:LE-16`).
    ///
    /// # Errors
    /// This elector is already in use.
    pub fn attempt(&self) -> Result<bool, AlreadyRunning> {
        self.drive_once(Try)
    }

    /// Gives up the lease, for callers with their own loop (`election:LE-41`). True if it was given
    /// up or not held.
    ///
    /// # Errors
    /// This elector is already in use.
    pub fn release(&self) -> Result<bool, AlreadyRunning> {
        self.drive_once(GiveUp)
    }

    /// Returns the new leader, if one is to be reported after [`attempt`](Self::attempt).
    pub fn take_report(&self) -> Option<Name> {
        self.monitor.call(Report)
    }

    fn drive_once(
        &self,
        begin: impl Operation<Election, Ret = Turn>,
    ) -> Result<bool, AlreadyRunning> {
        let mut lock = self.lend().ok_or(AlreadyRunning)?;
        let turn = accepted(self.ask(begin))?;
        let driven = catch_unwind(AssertUnwindSafe(|| self.drive_single(&mut lock, turn)));
        driven.map_or_else(
            |panic| {
                self.ask(Abort); // ready for the next attempt
                resume_unwind(panic)
            },
            Ok,
        )
    }

    fn drive_single(&self, lock: &mut L, mut turn: Turn) -> bool {
        loop {
            self.tell_slow_path(&turn.notes);
            turn = match turn.next {
                Next::Call { io, deadline, .. } => {
                    self.call(lock, &io, Call { deadline, token: None })
                }
                Next::Rest => self.ask(Rest),
                next => return matches!(next, Next::Done(true)),
            };
        }
    }

    fn call(&self, lock: &mut L, io: &Io, call: Call<'_>) -> Turn {
        let reply = match io {
            Io::Get => lock.get(call),
            Io::Create(record) => lock.create(record, call),
            Io::Update(record, version) => lock.update(record, version, call),
        };
        self.ask(Reply(Some(reply)))
    }

    fn drive<C: Callbacks<R>>(
        &self,
        lock: &mut L,
        first: Turn,
        token: &CancelToken<R>,
        callbacks: &Arc<C>,
        broken: &Arc<Passed<R>>,
    ) -> bool {
        let mut turn = first;
        loop {
            self.tell_all(turn.notes, lock, callbacks);
            turn = match turn.next {
                Next::Call { io, deadline, releases } => {
                    // A release is not part of the run that was cancelled (LE-40).
                    let token: Option<&dyn Token> = if releases { None } else { Some(token) };
                    self.call(lock, &io, Call { deadline, token })
                }
                Next::Rest => self.ask(Rest),
                Next::Lead { term, fence } => {
                    let leadership = Leadership::new(&self.monitor, term, fence, token);
                    self.start_work(leadership, callbacks, broken);
                    self.ask(Rest)
                }
                Next::Ended { led } => return led,
                Next::Done(_) | Next::Refused => {
                    unreachable!("a run goes on until it has ended")
                }
            };
        }
    }

    fn start_work<C: Callbacks<R>>(
        &self,
        leadership: Leadership<R>,
        callbacks: &Arc<C>,
        broken: &Arc<Passed<R>>,
    ) {
        let (callbacks, broken) = (Arc::clone(callbacks), Arc::clone(broken));
        let work = self.runtime().spawn("leading", move || {
            let mut end = leadership.end_of_work();
            let work = AssertUnwindSafe(|| callbacks.started_leading(&leadership));
            let worked = catch_unwind(work);
            end.panicked = worked.is_err();
            if let Err(panic) = worked {
                broken.pass(panic); // passed on before the end of the work ends the run
            }
            drop(end);
        });
        drop(work); // detached: nobody waits for the work (LE-48)
    }

    fn tell_all<C: Callbacks<R>>(&self, notes: Notes, lock: &L, callbacks: &Arc<C>) {
        let event = |text| lock.record_event(&self.identity, text);
        self.tell(notes, event, |leader| {
            if callbacks.wants_new_leader() {
                self.report(leader, callbacks);
            }
        });
    }

    fn report<C: Callbacks<R>>(&self, leader: Name, callbacks: &Arc<C>) {
        let mut reporter = self.runtime().lock(&self.reporter);
        if reporter.queue.is_none() {
            let queue = Arc::new(WorkQueue::new(self.runtime()));
            let previous = reporter.thread.take();
            let (runtime, callbacks) = (self.runtime().clone(), Arc::clone(callbacks));
            reporter.queue = Some(Arc::clone(&queue));
            reporter.thread = Some(self.runtime().spawn("new leaders", move || {
                if let Some(previous) = previous {
                    let _panicked = runtime.join(previous); // its reports come first
                }
                queue.work(|(_, leader)| caught::tell(|| callbacks.new_leader(leader)));
            }));
        }
        reporter.count += 1;
        let report = (reporter.count, leader);
        if let Some(queue) = &reporter.queue {
            queue.add(report);
        }
    }

    /// Lets the reporting thread of this run end once it has delivered all reports.
    fn end_reports(&self) {
        if let Some(queue) = self.runtime().lock(&self.reporter).queue.take() {
            queue.shut_down();
        }
    }
}

/// The parts that all drivers share.
impl<L: Send + 'static, R: Runtime> Elector<L, R> {
    /// Begins a run. While the second value lives, the run ends with its token.
    pub(super) fn begin(&self, token: &CancelToken<R>) -> Result<(Turn, OnEnd<R>), AlreadyRunning> {
        let first = accepted(self.ask(Begin { cancelled: token.is_cancelled() }))?;
        let run = self.monitor.call(Runs);
        let end = EndRun { monitor: Arc::clone(&self.monitor), run };
        Ok((first, token.on_end(Arc::new(end).into())))
    }

    pub(super) fn tell_slow_path(&self, notes: &Notes) {
        if notes.slow_path
            && let Some(metrics) = &self.metrics
        {
            caught::tell(|| metrics.slow_path(&self.name));
        }
    }

    /// Reports the notes to the metrics, the event log and the callbacks, in the order of the
    /// rules. If one of them panics, the others are still told.
    pub(super) fn tell(
        &self,
        notes: Notes,
        event: impl Fn(&'static str),
        report: impl FnOnce(Name),
    ) {
        let (metrics, mut panics) = (self.metrics.as_deref(), Vec::new());
        self.tell_slow_path(&notes);
        if let Some(leader) = notes.new_leader {
            caught::kept(&mut panics, || report(leader));
        }
        if notes.became_leader {
            caught::kept(&mut panics, || event("became leader"));
            if let Some(metrics) = metrics {
                caught::tell(|| metrics.on(&self.name));
            }
        }
        if notes.metric_off
            && let Some(metrics) = metrics
        {
            caught::tell(|| metrics.off(&self.name));
        }
        if notes.stopped_leading {
            caught::kept(&mut panics, || event("stopped leading"));
        }
        caught::pass_on(caught::first_of(panics.into_iter().map(Some)));
    }
}

/// Returns an error if the machine refused.
pub(super) fn accepted(turn: Turn) -> Result<Turn, AlreadyRunning> {
    if matches!(turn.next, Next::Refused) { Err(AlreadyRunning) } else { Ok(turn) }
}

/// Cancels a run when its token ends.
struct EndRun<R: Runtime> {
    monitor: Arc<Monitor<Election, R>>,
    run: u64,
}

impl<R: Runtime> Wake for EndRun<R> {
    fn wake(self: Arc<Self>) {
        self.monitor.call(Cancel { run: self.run });
    }
}

/// The single ordered channel to `new_leader` (`election:LE-52`).
pub(super) struct Reporter<R: Runtime> {
    queue: Option<Arc<WorkQueue<(u64, Name), R>>>,
    /// The thread that delivers reports, of this run or of the last one.
    thread: Option<R::Join<()>>,
    /// Numbers the reports, so that equal ones are not merged.
    count: u64,
}

impl<R: Runtime> Default for Reporter<R> {
    fn default() -> Self {
        Self { queue: None, thread: None, count: 0 }
    }
}

impl<L: Lock, R: Runtime> Elector<L, R> {
    /// Makes an elector, attaches the watchdog and runs, all in one call (`election:LE-7`).
    ///
    /// # Errors
    /// The settings are refused.
    pub fn run_new<C: Callbacks<R>>(
        runtime: &R,
        lock: L,
        config: Config,
        token: &CancelToken<R>,
        callbacks: &Arc<C>,
        watchdog: Option<&HealthCheck<R>>,
    ) -> Result<bool, ConfigError> {
        let elector = Self::new(runtime, lock, config)?;
        if let Some(watchdog) = watchdog {
            watchdog.attach(&elector);
        }
        Ok(elector.run(token, callbacks).expect("a new elector does not run"))
    }

    /// As [`run_new`](Self::run_new).
    ///
    /// # Panics
    /// If the settings are refused.
    pub fn run_or_die<C: Callbacks<R>>(
        runtime: &R,
        lock: L,
        config: Config,
        token: &CancelToken<R>,
        callbacks: &Arc<C>,
        watchdog: Option<&HealthCheck<R>>,
    ) -> bool {
        Self::run_new(runtime, lock, config, token, callbacks, watchdog)
            .unwrap_or_else(|error| panic!("the elector cannot run: {error}"))
    }
}
