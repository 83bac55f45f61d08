//! One run: a server, the user's steps, and the processes, which may die and begin anew. Time is real.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::Act;
use super::face;
use super::inside::{Inside, rate_at_rest};
use super::lives::{Life, RESTART};
use super::process::{Ports, Used, folder};
use super::tried;
use crate::apiserver::WebhookCall;
use crate::controllers::{AGAIN, Controller, Controllers};
use crate::http::Tls;
use crate::http::webhooks::{Services, caller};
use crate::simulation::learn::Learned;
use crate::simulation::network::Pace;
use crate::simulation::normal::{Normal, Times};
use crate::simulation::rights::Granted;
use crate::simulation::rules::Rules;
use crate::simulation::run::Run;
use crate::simulation::trace::{What, Who};
use crate::simulation::webhooks::struck;
use crate::simulation::{Outside, Plan, State};
use crate::tower::{Face, Webhooks};

/// How often everything is looked at that nobody tells of.
const LOOK: Duration = Duration::from_millis(20);
/// A look that is later than this shows that the machine has stood still, and that is no rest.
const STALL: Duration = Duration::from_millis(300);
/// How long a process may take until it watches what it has watched without faults.
const START: Duration = Duration::from_secs(30);
/// How often the user tries a step, with a rest in between.
const TRIES: u32 = 10;
/// How many times of rest a webhook is down.
pub(super) const DOWN: u32 = 2;

/// A name, and a command.
pub(super) type Program = (String, Vec<String>);

/// The inputs that stay the same from run to run.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) programs: Vec<Program>,
    pub(super) given: Vec<Value>,
    pub(super) acts: Vec<Act>,
    pub(super) controllers: bool,
    /// The namespace of the pods as which the processes run, if they do.
    pub(super) pod: Option<String>,
    pub(super) rules: Arc<Rules>,
    pub(super) granted: Option<Arc<Granted>>,
    pub(super) learned: Arc<Learned>,
    pub(super) tls: Tls,
    pub(super) rest: Duration,
    pub(super) limit: Duration,
    /// How many processes watch each resource once all have begun: of several, one that is elected may be the
    /// only one.
    pub(super) watched: BTreeMap<String, usize>,
    pub(super) stop: Arc<AtomicBool>,
    /// How the credentials of this campaign begin, which mark its processes as well.
    pub(super) mark: String,
    /// How many of them there were.
    pub(super) lives: Arc<AtomicU64>,
    /// The services whose webhooks the processes are, by name and namespace.
    pub(super) services: Vec<(String, String)>,
    /// The folder with a certificate for them, and who has signed it.
    pub(super) certificates: PathBuf,
    pub(super) authority: String,
}

/// A run, and where its output is.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) run: Run,
    pub(super) folder: PathBuf,
    pub(super) used: Used,
    pub(super) watched: BTreeMap<String, usize>,
}

impl Setting {
    /// A credential that no other life has.
    pub(super) fn token(&self) -> String {
        format!("{}{}", self.mark, self.lives.fetch_add(1, Ordering::Relaxed))
    }

    /// Calls webhooks at their addresses, and those of services at the ports that are theirs.
    fn webhooks(&self, world: &Arc<Mutex<Inside>>, services: Services) -> Webhooks {
        let world = Arc::clone(world);
        let strike = move |call: &WebhookCall| {
            let mut world = world.lock().unwrap_or_else(PoisonError::into_inner);
            world.outside.strike_call(call, false)
        };
        let (answer, authority) = (caller(services), self.authority.clone());
        let answer = move |mut call: WebhookCall| {
            // As an injector of authorities does, where there is one.
            if call.to.service.is_some() && call.authorities.trim_ascii().is_empty() {
                call.authorities = authority.clone().into_bytes();
            }
            answer(call)
        };
        struck(strike, Arc::new(answer))
    }

    /// Runs the processes under a plan.
    pub(super) fn run(&self, plan: &Plan, seed: u64, at: PathBuf) -> io::Result<Ran> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let at = folder(at)?;
        let ran = runtime.block_on(async {
            let server = self.server(seed).map_err(io::Error::other)?;
            let (rules, learned) = (Arc::clone(&self.rules), Arc::clone(&self.learned));
            let mut outside = Outside::new(server, plan, rules, learned);
            let (lag, patience, collector) = (self.rest * 3, self.rest * 10, self.rest / 8);
            outside.pace = Pace { lag, patience, collector };
            outside.granted.clone_from(&self.granted);
            if self.programs.len() > 1 {
                outside.names = self.programs.iter().map(|it| it.0.as_str().into()).collect();
                outside.lives = vec![0; outside.names.len()];
            }
            let (signal, now) = (Arc::clone(&outside.signal), outside.now());
            let world = Arc::new(Mutex::new(Inside::new(outside, self.programs.len())));
            let ports = Ports::of(&self.services)?;
            let webhooks = self.webhooks(&world, ports.services.clone());
            let face = Face::calling(Arc::clone(&world), now, webhooks.clone());
            let address = face::listen(face.service(), &self.tls)?;
            let mut runner = Runner::new(self, &world, &face, (at, ports, webhooks));
            let restless = runner.live(address, &signal).await;
            runner.finish();
            Ok(runner.record(restless?))
        });
        // A name that is still looked up is not waited for.
        runtime.shutdown_background();
        ran
    }
}

/// The controllers of a cluster; the collector has its turns from the world, where faults delay it.
fn others() -> Controllers {
    Controllers::all().without(Controller::Garbage)
}

/// One run under way.
pub(super) struct Runner<'a> {
    pub(super) setting: &'a Setting,
    pub(super) world: &'a Arc<Mutex<Inside>>,
    face: &'a Face<Inside>,
    pub(super) folder: PathBuf,
    /// Where the processes listen.
    pub(super) ports: Ports,
    webhooks: Webhooks,
    /// The step of the user that is under way.
    acting: Option<JoinHandle<Option<String>>>,
    pub(super) lives: Vec<Life>,
    /// When the user or a fault last did something.
    pub(super) active: Duration,
    /// When the processes were last on their way to where they come without faults.
    down: Duration,
    /// When the last fault ends that lasts a while.
    disturbed: Duration,
    /// When the machine last stood still, and for how long it has done so in all.
    stalled: (Duration, Duration),
    controllers: Option<Controllers>,
    /// The revision that the controllers have seen, when they want to look again, and their pause.
    settled: (u64, Option<Duration>, Duration),
    refused: Option<String>,
    tries: u32,
    pub(super) exits: Vec<String>,
    pub(super) used: Used,
    per_minute: u32,
}

impl<'a> Runner<'a> {
    fn new(
        setting: &'a Setting,
        world: &'a Arc<Mutex<Inside>>,
        face: &'a Face<Inside>,
        (folder, ports, webhooks): (PathBuf, Ports, Webhooks),
    ) -> Self {
        let now = face.now();
        Self {
            setting,
            world,
            face,
            folder,
            ports,
            webhooks,
            lives: setting.programs.iter().map(|_| Life::default()).collect(),
            active: now,
            down: now,
            disturbed: now,
            stalled: (now, Duration::ZERO),
            controllers: setting.controllers.then(others),
            settled: (0, None, AGAIN),
            refused: None,
            acting: None,
            tries: 0,
            exits: Vec::new(),
            used: Used::default(),
            per_minute: 0,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'a, Inside> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until rest, or the reason why there is none.
    async fn live(
        &mut self,
        address: std::net::SocketAddr,
        signal: &Notify,
    ) -> io::Result<Option<String>> {
        loop {
            if self.setting.stop.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let now = self.face.now();
            self.play(now);
            if let Some(why) = self.bury(now) {
                return Ok(Some(why));
            }
            self.begin(now, address)?;
            if let Some(acting) = self.acting.take_if(|it| it.is_finished()) {
                self.acted(now, acting.await?);
            }
            if let Some(end) = self.turn(now) {
                return Ok(end);
            }
            self.face.wake();
            let began = Instant::now();
            drop(tokio::time::timeout(LOOK, signal.notified()).await);
            if began.elapsed() > STALL {
                self.stalled = (self.face.now(), self.stalled.1 + began.elapsed());
            }
        }
    }

    /// Lets the controllers of the cluster have their turn.
    fn play(&mut self, now: Duration) {
        let mut world = self.lock();
        world.outside.server.advance(now);
        if let Some(controllers) = &mut self.controllers {
            let (seen, due, pause) = &mut self.settled;
            if *seen != world.outside.server.revision() || due.is_some_and(|it| it <= now) {
                *due = controllers.attempt(&mut world.outside.server, now, pause);
                *seen = world.outside.server.revision();
            }
        }
        world.outside.absorb(Who::User);
        world.outside.collect(now);
    }

    /// Lets the user act once all is quiet. At the end: why there is no rest, if there is none.
    fn turn(&mut self, now: Duration) -> Option<Option<String>> {
        // A busy machine has more time, but not without end.
        let longer = self.stalled.1.min(self.setting.limit * 4);
        if now > self.active + self.setting.limit + longer {
            self.acting.take().iter().for_each(JoinHandle::abort);
            let seconds = self.setting.limit.as_secs();
            return Some(Some(format!("does not come to rest within {seconds} s")));
        }
        if self.acting.is_some() {
            return None;
        }
        let steps = self.setting.acts.len() as u32;
        let mut world = self.lock();
        let is_over = world.outside.steps == steps && !world.outside.waits_to_restart();
        let began = self.lives.iter().map(|it| it.begun).max().unwrap_or_default();
        // What has ended is forgotten there, and the processes have yet to see what they have missed.
        self.disturbed =
            self.disturbed.max(world.outside.disturbed_until(true).unwrap_or_default());
        // Who was refused for so long tries again as long after it.
        let down = world.outside.hooks.down.values().max().map(|it| *it + self.setting.rest * DOWN);
        self.disturbed = self.disturbed.max(down.unwrap_or_default());
        let lag = world.outside.disturbed_until(false).unwrap_or_default();
        let disturbed = if is_over { self.disturbed } else { lag };
        let since = world.outside.last_change.max(self.active).max(began);
        // One that is elected long after the last change has its work before it.
        let is_up = self.lives.iter().all(|it| it.process.is_some()) && self.is_up(&world);
        // Who has not come so far by then is waited for no longer, and has time to come to rest.
        let start = START.min(self.setting.limit / 2);
        self.down = if is_up || now >= began + start { self.down } else { now };
        let since = since.max(self.stalled.0).max(disturbed).max(self.down);
        let per_minute = rate_at_rest(now, since, &world.work, self.setting.rest)?;
        if is_over {
            self.per_minute = per_minute;
            return Some(None);
        }
        self.active = now;
        world.outside.next_step();
        if world.outside.restart_is_due() {
            let index = world.outside.current;
            drop(world);
            self.end(index, now, RESTART);
            self.note(index, "restarts");
            return None;
        }
        let act = self.setting.acts.get(world.outside.steps as usize)?.clone();
        if self.tries == 0 {
            world.outside.note(What::Step { text: act.to_string() });
        }
        let (world, webhooks) = (Arc::clone(self.world), self.webhooks.clone());
        self.acting = Some(tokio::spawn(tried::attempt(act, world, webhooks)));
        None
    }

    /// Whether the processes have come as far as they come without faults.
    fn is_up(&self, world: &Inside) -> bool {
        let watched = world.watched();
        let is_watched = |(resource, count)| watched.get(resource).is_some_and(|it| it >= count);
        world.callers.iter().all(|it| it.requests > 0)
            && self.setting.watched.iter().all(is_watched)
    }

    /// The user has tried a step: why it is not done, if it is not.
    fn acted(&mut self, now: Duration, lacks: Option<String>) {
        // What it has changed only now, as a webhook was slow, has all the time from here on.
        self.active = now;
        self.tries += 1;
        if lacks.is_some() && self.tries < TRIES {
            return;
        }
        self.tries = 0;
        let mut world = self.lock();
        let act = self.setting.acts.get(world.outside.steps as usize);
        world.outside.steps += 1;
        if let (Some(why), Some(act)) = (lacks, act) {
            self.refused.get_or_insert(format!("{act}: {why}"));
        }
    }

    /// The record of a run that is over.
    fn record(&self, restless: Option<String>) -> Ran {
        let world = self.lock();
        let watched = world.watched();
        let outside = &world.outside;
        let state = State::of(&outside.server).collected();
        let broken = outside.broken_rule.clone();
        let mut run = Run {
            trace: outside.trace.clone(),
            changes: outside.changes.clone(),
            broken_rule: broken.or_else(|| self.setting.rules.at_end(&state)),
            state,
            times: Times { around: vec![outside.now()] },
            end: Normal::new(),
            is_exact: false,
            left: outside.faults.iter().filter(|it| !it.strikes_nothing()).cloned().collect(),
            panics: self.exits.clone(),
            refused_step: self.refused.clone(),
            restless,
            per_minute: self.per_minute,
            each: Vec::new(),
            calls: outside.hooks.calls.clone(),
            ignored: outside.hooks.ignored.clone(),
            garbage: Vec::new(), // a collector that is late would take a minute of everybody's time
            needs: outside.needs.clone(),
            guide: None,
        };
        run.end = self.setting.end(&run);
        Ran { run, folder: self.folder.clone(), used: self.used, watched }
    }
}
