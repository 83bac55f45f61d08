//! One run: a server, the user's steps, and the controller's process, which may die and begin anew.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::exact::{Hold, Wanted, is_exact, moments, under_control};
use super::learn::Learned;
use super::normal::{Normal, Times, View, normalise};
use super::panics::{self, Notes};
use super::plan::{Fault, Plan};
use super::rights::{Granted, Needs};
use super::rules::Rules;
use super::script::{Step, refusal};
use super::state::State;
use super::trace::{Entry, What};
use super::world::{Connection, Outside};
use crate::apiserver::{Server, Written};
use crate::tower::Face;

/// How long nothing may be written before the user goes on.
const PAUSE: Duration = Duration::from_secs(30);
/// How long nothing may be written before a run ends: long enough for a controller that looks again
/// every five minutes.
const REST: Duration = Duration::from_secs(6 * 60);
/// After this time without rest, a controller counts as restless.
pub(crate) const LIMIT: Duration = Duration::from_secs(40 * 60);
/// How long a new process takes to begin.
const RESTART: Duration = Duration::from_secs(1);
/// How often a process may be polled at one time. Requests take time, so such a process spins
/// without making any.
const POLLS: u32 = 200_000;
/// How often a process may end by itself in a run.
const ENDS: u32 = 5;

/// How often the user tries a step, with a pause in between.
const TRIES: u32 = 10;

/// The controller's process.
pub(crate) type Process = Pin<Box<dyn Future<Output = ()>>>;

/// The inputs that stay the same from run to run.
pub(crate) struct Setup {
    pub(crate) server: Server,
    pub(crate) script: Vec<Step>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) controller: Box<dyn Fn(Connection) -> Process + Send + Sync>,
    pub(crate) wanted: Wanted,
    pub(crate) learned: Arc<Learned>,
    /// What the controller may do, if not everything.
    pub(crate) granted: Option<Arc<Granted>>,
}

/// The record of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) trace: Vec<Entry>,
    pub(crate) changes: Vec<Written>,
    /// The state at the end.
    pub(crate) state: State,
    /// The moments of the run, to know numbers by that are times.
    pub(crate) times: Times,
    /// The state at the end, as it is compared.
    pub(crate) end: Normal,
    /// Two runs of the plan are the same to the byte.
    pub(crate) is_exact: bool,
    /// The faults that did not strike.
    pub(crate) left: Vec<Fault>,
    /// The changes that have made garbage.
    pub(crate) garbage: Vec<u32>,
    pub(crate) panics: Vec<String>,
    pub(crate) broken_rule: Option<String>,
    pub(crate) refused_step: Option<String>,
    /// Why it never came to rest.
    pub(crate) restless: Option<String>,
    /// Requests in each minute of the rest.
    pub(crate) per_minute: u32,
    /// The rights that it has needed, if it has not all.
    pub(crate) needs: Needs,
}

/// Why a process has ended.
enum Death {
    /// The run is over.
    Rest,
    Crash,
    Restart,
    Itself(String),
    Panic(String),
    Limit(String),
}

/// The next act of a run.
enum Next {
    Wait(Duration),
    /// The garbage collector has had its turn.
    Collected,
    Act,
    Die(Death),
}

impl Run {
    /// What of it is not compared as it is.
    pub(crate) fn view<'a>(&self, rules: &'a Rules, learned: &'a Learned) -> View<'a> {
        View { rules, learned, times: self.times.clone() }
    }
}

impl Setup {
    /// Runs the controller under a plan.
    pub(crate) fn run(&self, plan: &Plan) -> Run {
        // Random plans also differ in the random numbers that a process draws.
        let wanted = self.wanted.with(plan.seed());
        under_control(wanted, |hold| self.run_here(plan, self.server.clone(), hold))
    }

    /// Runs it without faults, with another seed, on a cluster that begins later.
    pub(crate) fn run_otherwise(&self, seed: u64, later: Duration) -> Run {
        let mut server = self.server.clone();
        server.advance(server.now() + later);
        under_control(self.wanted.with(seed), |hold| self.run_here(&Plan::default(), server, hold))
    }

    /// The end of a run, as it is compared.
    pub(crate) fn end(&self, run: &Run) -> Normal {
        normalise(&run.state, &run.changes, &self.view(run))
    }

    /// What of a run is not compared as it is.
    pub(crate) fn view(&self, run: &Run) -> View<'_> {
        run.view(&self.rules, &self.learned)
    }

    /// The code that asks for chance and time in a run.
    #[cfg(feature = "exact")]
    pub(crate) fn asks(&self, plan: &Plan) -> Vec<seatrial_sim_libc::Ask> {
        let wanted = self.wanted.with(plan.seed());
        under_control(wanted, |hold| {
            hold.asks(|| drop(self.run_here(plan, self.server.clone(), hold)))
        })
    }

    fn run_here(&self, plan: &Plan, server: Server, hold: &Hold) -> Run {
        let (rules, learned) = (self.rules.clone(), self.learned.clone());
        let mut world = Outside::new(server, plan, rules, learned);
        world.granted.clone_from(&self.granted);
        let world = Arc::new(Mutex::new(world));
        let (mut driver, mut ends, mut restless) = (Driver::new(self, &world, hold), 0, None);
        loop {
            driver.note("begins");
            let death = driver.life();
            let mut open = lock(&world);
            open.bury();
            let later = open.now() + RESTART;
            match death {
                Death::Rest => break,
                Death::Limit(why) => {
                    restless = Some(why);
                    break;
                }
                Death::Crash => open.note(What::Life { text: "dies".to_owned() }),
                Death::Restart => open.note(What::Life { text: "restarts".to_owned() }),
                Death::Itself(why) | Death::Panic(why) => {
                    ends += 1;
                    open.note(What::Life { text: why.clone() });
                    if ends >= ENDS {
                        restless = Some(format!("{why}, {ENDS} times"));
                        break;
                    }
                }
            }
            open.server.advance(later);
            open.last_change = later;
        }
        let Driver { refused, panics, .. } = driver;
        self.record(&lock(&world), refused, panics, restless)
    }

    /// The record of a run that is over.
    fn record(
        &self,
        world: &Outside,
        refused_step: Option<String>,
        panics: Vec<String>,
        restless: Option<String>,
    ) -> Run {
        let state = State::of(&world.server).collected();
        let rest = world.now().saturating_sub(REST);
        let in_rest = world.requests.iter().filter(|at| **at >= rest).count();
        let broken = world.broken_rule.clone();
        let is_exact = is_exact() && !self.wanted.is_ordered;
        let is_jitter = |fault: &Fault| matches!(fault, Fault::Jitter { .. });
        let mut run = Run {
            trace: world.trace.clone(),
            changes: world.changes.clone(),
            broken_rule: broken.or_else(|| self.rules.at_end(&state)),
            state,
            times: Times { around: moments(world.now(), is_exact) },
            end: Normal::new(),
            is_exact,
            left: world.faults.iter().filter(|it| !is_jitter(it)).cloned().collect(),
            garbage: world.garbage.causes.clone(),
            panics,
            refused_step,
            restless,
            per_minute: (in_rest as u64 * 60 / REST.as_secs()) as u32,
            needs: world.needs.clone(),
        };
        run.end = self.end(&run);
        run
    }
}

fn lock(world: &Mutex<Outside>) -> MutexGuard<'_, Outside> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the user act and the controller live.
struct Driver<'a> {
    setup: &'a Setup,
    world: &'a Arc<Mutex<Outside>>,
    hold: &'a Hold,
    /// When the user or a fault last did something.
    active: Duration,
    refused: Option<String>,
    /// How often the user has tried the present step.
    tries: u32,
    /// The panics so far, each once.
    panics: Vec<String>,
}

impl<'a> Driver<'a> {
    fn new(setup: &'a Setup, world: &'a Arc<Mutex<Outside>>, hold: &'a Hold) -> Self {
        let active = lock(world).now();
        Self { setup, world, hold, active, refused: None, tries: 0, panics: Vec::new() }
    }

    fn note(&self, text: &str) {
        lock(self.world).note(What::Life { text: text.to_owned() });
    }

    /// One process, in a runtime of its own: whatever it has spawned ends with it.
    fn life(&mut self) -> Death {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        // Controllers may wait for signals, which needs more than time.
        let runtime = match builder.enable_all().start_paused(true).build() {
            Ok(runtime) => runtime,
            Err(error) => return Death::Limit(format!("tokio does not start: {error}")),
        };
        let notes = Notes::begin();
        let death = runtime.block_on(async {
            let now = lock(self.world).now();
            self.hold.start_clock(now);
            let death = self.live(Face::over(self.world.clone(), now)).await;
            self.hold.stop_clock();
            death
        });
        drop(runtime);
        drop(notes);
        death
    }

    /// The process, until something ends it.
    async fn live(&mut self, face: Face<Outside>) -> Death {
        let mut process = Some((self.setup.controller)(face.service()));
        let signal = lock(self.world).signal.clone();
        let mut polls = (Instant::now(), 0);
        loop {
            match self.next(face.now()) {
                Next::Die(death) => return death,
                Next::Collected => face.wake(),
                Next::Act => {
                    self.act();
                    face.wake();
                }
                Next::Wait(until) => {
                    let sleep = Box::pin(tokio::time::sleep_until(face.instant(until)));
                    let told = Box::pin(signal.notified());
                    let race = Race { told, process: &mut process, polls: &mut polls, sleep };
                    let death = race.await;
                    let panics = panics::taken();
                    if let Some(first) = panics.first().filter(|it| !self.panics.contains(it)) {
                        self.panics.push(first.clone());
                    }
                    match (death, panics.into_iter().next()) {
                        // The first of them is the cause, and others hand it on.
                        (Some(Death::Panic(_)), Some(first)) => {
                            return Death::Panic(format!("panics: {first}"));
                        }
                        (Some(death), _) => return death,
                        (None, Some(first)) => self.note(&format!("a task panics: {first}")),
                        (None, None) => {}
                    }
                }
            }
        }
    }

    fn next(&mut self, now: Duration) -> Next {
        let mut world = lock(self.world);
        world.server.advance(now);
        if world.is_fenced {
            return Next::Die(match world.is_endless() {
                true => Death::Limit("sends requests without end: a hot loop".to_owned()),
                false => Death::Crash,
            });
        }
        if world.collect(now) {
            return Next::Collected;
        }
        if now > self.active + LIMIT {
            let minutes = LIMIT.as_secs() / 60;
            return Next::Die(Death::Limit(format!("still writes after {minutes} minutes")));
        }
        let steps = self.setup.script.len() as u32;
        let is_over = world.steps == steps && !world.waits_to_restart();
        let quiet = world.last_change.max(self.active) + if is_over { REST } else { PAUSE };
        let quiet = quiet.max(world.disturbed_until(is_over).unwrap_or_default());
        if now < quiet {
            return Next::Wait(world.garbage.due().map_or(quiet, |it| it.min(quiet)));
        }
        if is_over {
            return Next::Die(Death::Rest);
        }
        self.active = now;
        world.busy = 0;
        if world.restart_is_due() { Next::Die(Death::Restart) } else { Next::Act }
    }

    /// The user's next step.
    fn act(&mut self) {
        let mut world = lock(self.world);
        let Some(step) = self.setup.script.get(world.steps as usize) else { return };
        if self.tries == 0 {
            world.note(What::Step { text: step.to_string() });
        }
        let refusal = match step.request(&world.server) {
            Ok(request) => refusal(&world.user(&request)),
            Err(why) => Some(why),
        };
        self.tries += 1;
        if refusal.is_some() && self.tries < TRIES {
            // Under a fault the cluster may not be ready for it: people try again.
            return;
        }
        self.tries = 0;
        world.steps += 1;
        if let Some(why) = refusal {
            self.refused.get_or_insert(format!("{step}: {why}"));
        }
    }
}

/// The first of these: a signal, the end of the process, or a time.
struct Race<'a, N, S> {
    told: Pin<Box<N>>,
    process: &'a mut Option<Process>,
    /// How often the process was polled at that time.
    polls: &'a mut (Instant, u32),
    sleep: Pin<Box<S>>,
}

impl<N: Future<Output = ()>, S: Future<Output = ()>> Future for Race<'_, N, S> {
    type Output = Option<Death>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Death>> {
        if self.told.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        let now = Instant::now();
        let count = if self.polls.0 == now { self.polls.1 + 1 } else { 1 };
        *self.polls = (now, count);
        if count > POLLS {
            return Poll::Ready(Some(Death::Limit(
                "spins without requests: a hot loop".to_owned(),
            )));
        }
        if let Some(process) = self.process.as_mut() {
            let polled = catch_unwind(AssertUnwindSafe(|| process.as_mut().poll(cx)));
            let end = match polled {
                Ok(Poll::Pending) => None,
                Ok(Poll::Ready(())) => Some(Death::Itself("ends by itself".to_owned())),
                Err(panic) => Some(Death::Panic(format!("panics: {}", panics::message(&*panic)))),
            };
            if end.is_some() {
                *self.process = None;
                return Poll::Ready(end);
            }
        }
        self.sleep.as_mut().poll(cx).map(|()| None)
    }
}
