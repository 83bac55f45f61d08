//! The scene of every scenario: a store, electors that share it, and their callbacks.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::elector::Elector as CoreElector;
use seatrial_core::elector::{
    AsyncCallbacks, Bounds, Callbacks, Config, ConfigError, Leadership, LeaseLock, LeaseSpec, Meta,
    Name, Object, ObjectName, Timing,
};
use seatrial_core::monitor::Monitor;
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::Elector;
use super::network::{Connection, Fate, Network, Passing, Shared};
use super::part::{Edit, Request, Serve, SetUp, seat};
use super::store::Served;
use crate::election::plain::reference;
use crate::engine::AnyRuntime;
use crate::shared::Lock;
use crate::trial::World;

/// The notes that callbacks leave; their value is the elector's number. The work starts.
pub(super) const STARTS: &str = "starts to work";
/// The protected work returns.
pub(super) const ENDS: &str = "ends its work";
/// The stop callback was called.
pub(super) const STOPS: &str = "is told to stop";
/// The run has returned.
pub(super) const RETURNS: &str = "returns";
/// The new-leader callback was called: [`told`] packs elector and leader into the value.
pub(super) const IS_TOLD: &str = "is told of a leader";

/// A check was answered with yes.
pub(super) const IS_HEALTHY: &str = "is said to be healthy";
pub(super) const IS_WEDGED: &str = "is said to be wedged";

/// Packs an elector's number and the identity of a leader into the value of a note.
pub(super) fn told(number: u8, leader: &Name) -> u64 {
    let letter = leader.as_str().bytes().next().unwrap_or(0);
    u64::from(number) << 8 | u64::from(letter)
}

/// The elector of `core`, as scenarios run it.
pub(super) type Tried = CoreElector<LeaseLock<Connection>, AnyRuntime>;
/// The leadership of that elector.
pub(super) type Leads = Leadership<AnyRuntime>;

/// Three, two and one seconds: short durations make short histories.
pub(super) const TIMING: Timing = Timing::seconds(3, 2, 1);
/// The longest time for which the work of these electors goes on after its cancellation.
pub(super) const WORK: Duration = Duration::from_millis(500);

/// A strict set-up over perfect clocks.
pub(super) fn strict(identity: &str) -> Config {
    let bounds = Bounds::PERFECT.work(WORK);
    Config::new(identity).timing(TIMING).bounds(bounds)
}

/// The same, and it frees the lease when it is cancelled.
pub(super) fn releasing(identity: &str) -> Config {
    strict(identity).release_on_cancel(true)
}

/// The reference's rules. Retry and renew take less than the lease, as they must.
pub(super) fn classic(identity: &str) -> Config {
    reference(identity).timing(Timing::seconds(15, 10, 2))
}

/// A store and the electors that share it.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) world: World<Elector>,
    store: Shared,
    electors: Arc<AtomicU8>,
}

impl Scene {
    pub(super) fn new(world: &World<Elector>) -> Self {
        let store = Arc::new(Monitor::new(world.runtime(), world.machine()));
        Self { world: world.clone(), store, electors: Arc::default() }
    }

    /// Adds an elector with a prompt connection.
    pub(super) fn elector(&self, config: Config) -> Participant {
        self.elector_on(|_, _| Fate::Prompt, config)
    }

    /// Adds an elector with the connection `network`.
    pub(super) fn elector_on(
        &self,
        network: impl Fn(&AnyRuntime, Passing) -> Fate + Send + Sync + 'static,
        config: Config,
    ) -> Participant {
        self.try_elector_on(Box::new(network), config).expect("the set-up is accepted")
    }

    /// Adds an elector, unless its set-up is refused.
    pub(super) fn try_elector(&self, config: Config) -> Result<Participant, ConfigError> {
        self.try_elector_on(Box::new(|_, _| Fate::Prompt), config)
    }

    fn try_elector_on(&self, network: Network, config: Config) -> Result<Participant, ConfigError> {
        let number = self.electors.fetch_add(1, Ordering::Relaxed);
        let runtime = self.world.runtime();
        let set_up = SetUp { config: config.clone(), number };
        let seat = seat(self.world.machine(), set_up, runtime)?;
        let calls = AtomicU32::new(0);
        let connection = Connection { store: Arc::clone(&self.store), number, calls, network };
        let lock = LeaseLock::new(connection, LEASE.0, LEASE.1);
        let elector = Arc::new(CoreElector::with_host(runtime, lock, &config, seat));
        let token = CancelToken::new(runtime);
        Ok(Participant { elector, number, token, world: self.world.clone() })
    }

    /// Sends the store a request from outside.
    pub(super) fn interfere(&self, request: Request) -> Served {
        self.store.call(Serve { by: None, call: 0, request })
    }

    /// Changes the lease from outside.
    pub(super) fn edit(&self, edit: Edit) -> Served {
        self.interfere(Request::Edit(edit))
    }

    /// Creates a lease as another program may: with a holder and almost nothing else.
    pub(super) fn strange_lease(&self) {
        let holder = Some(Name::new("stranger"));
        let content = LeaseSpec::default().holder(holder);
        let lease = Box::new(Object::new(Meta::new(lease_name()), content));
        self.interfere(Request::Create(lease)).expect("there was none");
    }

    /// Creates a lease as a server that chooses the holder does.
    pub(super) fn nominate(&self, holder: &str) {
        let content = LeaseSpec::default()
            .holder(Some(Name::new(holder)))
            .duration_seconds(Some(3))
            .transitions(Some(1));
        let lease = Box::new(Object::new(Meta::new(lease_name()), content));
        self.interfere(Request::Create(lease)).expect("there was none");
    }

    /// Sleeps for this time.
    pub(super) fn sleep(&self, time: Duration) {
        let runtime = self.world.runtime();
        runtime.sleep_until(runtime.now() + time);
    }
}

impl fmt::Debug for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scene")
    }
}

const LEASE: (&str, &str) = ("default", "lease");

fn lease_name() -> ObjectName {
    ObjectName::new(LEASE.0, LEASE.1)
}

/// An elector of the scene, with the token of its next run.
#[derive(Clone)]
pub(super) struct Participant {
    elector: Arc<Tried>,
    number: u8,
    token: CancelToken<AnyRuntime>,
    world: World<Elector>,
}

impl Deref for Participant {
    type Target = Tried;

    fn deref(&self) -> &Tried {
        &self.elector
    }
}

impl fmt::Debug for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Participant").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Participant {
    /// Runs on this thread until the run is over; the work is done on a thread of its own.
    pub(super) fn lead(&self, work: impl Fn(&Self, &Leads) + Send + Sync + 'static) -> bool {
        self.run_as(self.worker(None, Box::new(work)))
    }

    /// As [`lead`](Self::lead), with reports of new leaders.
    pub(super) fn lead_and_watch(
        &self,
        work: impl Fn(&Self, &Leads) + Send + Sync + 'static,
    ) -> bool {
        self.watch_slowly(Duration::ZERO, work)
    }

    /// As [`lead_and_watch`](Self::lead_and_watch); each report takes this time.
    pub(super) fn watch_slowly(
        &self,
        report: Duration,
        work: impl Fn(&Self, &Leads) + Send + Sync + 'static,
    ) -> bool {
        self.run_as(self.worker(Some(report), Box::new(work)))
    }

    fn worker(&self, watches: Option<Duration>, work: Work) -> Worker {
        Worker { of: self.clone(), watches, leaders: self.runtime().mutex(()), work }
    }

    /// Cancels the run.
    pub(super) fn cancel(&self) {
        self.token.cancel();
    }

    /// Returns the same elector with a new token, for another run.
    pub(super) fn again(&self) -> Self {
        Self { token: CancelToken::new(self.world.runtime()), ..self.clone() }
    }

    /// As [`lead`](Self::lead), as a task: the work is part of it.
    pub(super) async fn lead_async<F: Future<Output = ()> + Send>(
        &self,
        work: impl Fn(Self, Leads) -> F + Send + Sync,
    ) -> bool {
        let task = Task { of: self.clone(), work };
        let led = self.elector.run_async(&self.token, &task).await.expect("it does not run yet");
        self.returned();
        led
    }

    /// Leads as a task on this thread alone. The orders of such a run do not multiply those of what comes
    /// before and after it, as those of [`lead`](Self::lead) do.
    pub(super) fn lead_alone<F: Future<Output = ()> + Send>(
        &self,
        work: impl Fn(Self, Leads) -> F + Send + Sync,
    ) -> bool {
        self.runtime().block_on(self.lead_async(work))
    }

    /// Checks the elector, and writes down the answer.
    pub(super) fn is_checked(&self, tolerance: Duration) {
        let healthy = self.elector.check(tolerance).is_ok();
        self.world.note(if healthy { IS_HEALTHY } else { IS_WEDGED }, self.number.into());
    }

    /// Writes down that a run has returned.
    pub(super) fn returned(&self) {
        self.world.note(RETURNS, self.number.into());
    }

    /// Returns the runtime of the scene.
    pub(super) fn runtime(&self) -> &AnyRuntime {
        self.world.runtime()
    }

    fn run_as(&self, worker: Worker) -> bool {
        self.run_with(Arc::new(worker))
    }

    /// As [`lead`](Self::lead), with callbacks that make their own notes.
    pub(super) fn run_with(&self, callbacks: Arc<impl Callbacks<AnyRuntime>>) -> bool {
        let led = self.elector.run(&self.token, &callbacks).expect("it does not run yet");
        self.returned();
        led
    }

    /// Writes down that this participant does something.
    pub(super) fn note(&self, what: &'static str) {
        self.world.note(what, self.number.into());
    }

    /// Tells whether the token of its runs has ended.
    pub(super) fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }
}

/// Writes down the calls of the callbacks of a task.
struct Task<W> {
    of: Participant,
    work: W,
}

/// Writes down that the work of a task has ended, or was dropped.
struct NotesItsEnd<'a>(&'a Participant);

impl Drop for NotesItsEnd<'_> {
    fn drop(&mut self) {
        self.0.world.note(ENDS, self.0.number.into());
    }
}

impl<W, F> AsyncCallbacks<AnyRuntime> for Task<W>
where
    W: Fn(Participant, Leads) -> F + Send + Sync,
    F: Future<Output = ()> + Send,
{
    async fn started_leading(&self, leadership: Leads) {
        self.of.world.note(STARTS, self.of.number.into());
        let ends = NotesItsEnd(&self.of);
        (self.work)(self.of.clone(), leadership).await;
        drop(ends);
    }

    fn stopped_leading(&self) {
        self.of.world.note(STOPS, self.of.number.into());
    }
}

/// Writes down the calls of the callbacks.
struct Worker {
    of: Participant,
    /// How long a report of a new leader takes; `None` if it wants none.
    watches: Option<Duration>,
    /// Stands for the list of a user. There, reports meet that come side by side.
    leaders: Lock<()>,
    work: Work,
}

/// The work of a leader while it leads.
type Work = Box<dyn Fn(&Participant, &Leads) + Send + Sync>;

impl Worker {
    fn note(&self, what: &'static str) {
        self.of.world.note(what, self.of.number.into());
    }
}

impl Callbacks<AnyRuntime> for Worker {
    fn started_leading(&self, leadership: &Leads) {
        self.note(STARTS);
        (self.work)(&self.of, leadership);
        self.note(ENDS);
    }

    fn stopped_leading(&self) {
        self.note(STOPS);
    }

    fn new_leader(&self, leader: &Name) {
        let runtime = self.of.runtime();
        let list = runtime.lock(&self.leaders);
        self.of.world.note(IS_TOLD, told(self.of.number, leader));
        drop(list);
        if let Some(time) = self.watches.filter(|time| !time.is_zero()) {
            runtime.sleep_until(runtime.now() + time);
        }
    }

    fn wants_new_leader(&self) -> bool {
        self.watches.is_some()
    }
}

/// Waits until the leadership is over.
pub(super) fn until_it_ends(_: &Participant, leadership: &Leads) {
    leadership.wait();
}
