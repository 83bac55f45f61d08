//! One run: a server, the user's steps, and the processes, which may die and begin anew. Time is real.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::Notify;

use super::act::Act;
use super::face;
use super::inside::Inside;
use super::process::{Process, Used, filled, folder, last_line};
use crate::controllers::{AGAIN, Controllers};
use crate::http::Tls;
use crate::simulation::learn::Learned;
use crate::simulation::network::Pace;
use crate::simulation::normal::{Normal, Times};
use crate::simulation::rules::Rules;
use crate::simulation::run::Run;
use crate::simulation::trace::{What, Who};
use crate::simulation::{Fault, Outside, Plan, State};
use crate::tower::Face;

/// How often everything is looked at that nobody tells of.
const LOOK: Duration = Duration::from_millis(20);
/// A look that is later than this shows that the machine has stood still, and that is no rest.
const STALL: Duration = Duration::from_millis(300);
/// How long a new process takes to begin.
const RESTART: Duration = Duration::from_millis(200);
/// How long a process may take until it watches what it has watched without faults.
const START: Duration = Duration::from_secs(30);
/// A process that looks again and again is at rest after this number of times of rest without a change.
const LOOKS: u32 = 5;
/// How often a process may end by itself in a run.
const ENDS: u32 = 5;
/// How often the user tries a step, with a rest in between.
const TRIES: u32 = 10;

/// A name, and a command.
pub(super) type Program = (String, Vec<String>);

/// The inputs that stay the same from run to run.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) programs: Vec<Program>,
    pub(super) given: Vec<Value>,
    pub(super) acts: Vec<Act>,
    pub(super) controllers: bool,
    pub(super) rules: Arc<Rules>,
    pub(super) learned: Arc<Learned>,
    pub(super) tls: Tls,
    pub(super) rest: Duration,
    pub(super) limit: Duration,
    /// What a process watches once it has begun, if there is one alone.
    pub(super) watched: BTreeSet<String>,
    pub(super) stop: Arc<AtomicBool>,
}

/// A run, and where its output is.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) run: Run,
    pub(super) folder: PathBuf,
    pub(super) used: Used,
    pub(super) watched: BTreeSet<String>,
}

impl Setting {
    /// Runs the processes under a plan.
    pub(super) fn run(&self, plan: &Plan, seed: u64, at: PathBuf) -> io::Result<Ran> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let at = folder(at)?;
        runtime.block_on(async {
            let server = self.server(seed).map_err(io::Error::other)?;
            let (rules, learned) = (Arc::clone(&self.rules), Arc::clone(&self.learned));
            let mut outside = Outside::new(server, plan, rules, learned);
            let (lag, patience, collector) = (self.rest * 3, self.rest * 10, self.rest / 8);
            outside.pace = Pace { lag, patience, collector };
            let (signal, now) = (Arc::clone(&outside.signal), outside.now());
            let world = Arc::new(Mutex::new(Inside::new(outside, self.programs.len())));
            let face = Face::over(Arc::clone(&world), now);
            let address = face::listen(face.service(), &self.tls).await?;
            let mut runner = Runner::new(self, &world, &face, at);
            let restless = runner.live(address, &signal).await?;
            Ok(runner.record(restless))
        })
    }
}

/// One process of a run, while it lives and between its lives.
#[derive(Debug, Default)]
struct Life {
    process: Option<Process>,
    /// When the next one begins.
    begins: Duration,
    /// When this one has begun.
    begun: Duration,
}

struct Runner<'a> {
    setting: &'a Setting,
    world: &'a Arc<Mutex<Inside>>,
    face: &'a Face<Inside>,
    folder: PathBuf,
    lives: Vec<Life>,
    /// When the user or a fault last did something.
    active: Duration,
    /// When the machine last stood still, and for how long it has done so in all.
    stalled: (Duration, Duration),
    controllers: Option<Controllers>,
    /// The revision that the controllers have seen, when they want to look again, and their pause.
    settled: (u64, Option<Duration>, Duration),
    refused: Option<String>,
    tries: u32,
    exits: Vec<String>,
    ends: u32,
    used: Used,
    per_minute: u32,
}

impl<'a> Runner<'a> {
    fn new(
        setting: &'a Setting,
        world: &'a Arc<Mutex<Inside>>,
        face: &'a Face<Inside>,
        folder: PathBuf,
    ) -> Self {
        let now = face.now();
        Self {
            setting,
            world,
            face,
            folder,
            lives: setting.programs.iter().map(|_| Life::default()).collect(),
            active: now,
            stalled: (now, Duration::ZERO),
            controllers: setting.controllers.then(Controllers::all),
            settled: (0, None, AGAIN),
            refused: None,
            tries: 0,
            exits: Vec::new(),
            ends: 0,
            used: Used::default(),
            per_minute: 0,
        }
    }

    fn lock(&self) -> MutexGuard<'a, Inside> {
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
        if self.controllers.is_none() {
            world.outside.collect(now);
        }
    }

    fn name(&self, index: usize, text: &str) -> String {
        match self.lives.len() {
            1 => text.to_owned(),
            _ => format!("{} {text}", self.setting.programs[index].0),
        }
    }

    fn note(&self, index: usize, text: &str) {
        self.lock().outside.note(What::Life { text: self.name(index, text) });
    }

    /// Ends the processes that are to die, and those that have ended by themselves. Why that is the end of
    /// the run, if it is.
    fn bury(&mut self, now: Duration) -> Option<String> {
        for index in 0..self.lives.len() {
            let is_dying = self.lock().callers[index].is_dying;
            let Some(process) = self.lives[index].process.as_mut() else { continue };
            if is_dying {
                self.end(index, now, RESTART);
                self.note(index, "dies");
            } else if let Some(status) = process.ended() {
                self.end(index, now, RESTART * (1 << self.ends.min(4)));
                self.ends += 1;
                let text = match status.as_str() {
                    "" => self.name(index, "ends by itself"),
                    status => self.name(index, &format!("ends by itself with {status}")),
                };
                self.lock().outside.note(What::Life { text: text.clone() });
                let says = last_line(&self.output(index));
                if !status.is_empty() && self.exits.is_empty() {
                    self.exits.push(format!("it {text}; the last line of its output: {says}"));
                }
                if self.ends >= ENDS {
                    return Some(format!("{text}, {ENDS} times: {says}"));
                }
            }
        }
        let is_endless = self.lock().outside.is_endless();
        is_endless.then(|| "sends requests without end: a hot loop".to_owned())
    }

    /// Ends a process; the next one begins later.
    fn end(&mut self, index: usize, now: Duration, later: Duration) {
        if let Some(process) = self.lives[index].process.take() {
            self.measure(&process);
            process.end();
        }
        let mut world = self.lock();
        let caller = &mut world.callers[index];
        (caller.is_dying, caller.token) = (false, String::new());
        world.outside.last_change = now;
        self.lives[index].begins = now + later;
        self.active = self.active.max(now);
    }

    fn measure(&mut self, process: &Process) {
        let used = process.used();
        self.used.memory = self.used.memory.max(used.memory);
        self.used.time += used.time;
    }

    fn output(&self, index: usize) -> PathBuf {
        self.folder.join(format!("{}.log", self.setting.programs[index].0))
    }

    /// Begins the processes whose time has come.
    fn begin(&mut self, now: Duration, address: std::net::SocketAddr) -> io::Result<()> {
        for index in 0..self.lives.len() {
            if self.lives[index].process.is_some() || self.lives[index].begins > now {
                continue;
            }
            let (name, command) = &self.setting.programs[index];
            let token = token(&self.folder);
            let kubeconfig = self.folder.join(format!("{name}.kubeconfig"));
            face::kubeconfig(&kubeconfig, address, &self.setting.tls, &token)?;
            let command = filled(command, &kubeconfig, &self.folder)?;
            let mut world = self.lock();
            let caller = &mut world.callers[index];
            (caller.token, caller.requests) = (token.clone(), 0);
            caller.watched.clear();
            drop(world);
            self.note(index, "begins");
            let process = Process::start(&command, &kubeconfig, &self.output(index), token);
            let failed =
                |error| io::Error::other(format!("{} cannot be started: {error}", command[0]));
            self.lives[index].process = Some(process.map_err(failed)?);
            self.lives[index].begun = now;
        }
        Ok(())
    }

    /// Lets the user act once all is quiet. At the end: why there is no rest, if there is none.
    fn turn(&mut self, now: Duration) -> Option<Option<String>> {
        let steps = self.setting.acts.len() as u32;
        let mut world = self.lock();
        let is_over = world.outside.steps == steps && !world.outside.waits_to_restart();
        // A busy machine has more time, but not without end.
        let longer = self.stalled.1.min(self.setting.limit * 4);
        if now > self.active + self.setting.limit + longer {
            let seconds = self.setting.limit.as_secs();
            return Some(Some(format!("does not come to rest within {seconds} s")));
        }
        let began = self.lives.iter().map(|it| it.begun).max().unwrap_or_default();
        let disturbed = world.outside.disturbed_until(is_over).unwrap_or_default();
        let since = world.outside.last_change.max(self.active).max(began);
        let since = since.max(self.stalled.0).max(disturbed);
        let calm = now.saturating_sub(since);
        let rest = self.setting.rest;
        let works = world.work.last().is_some_and(|it| now.saturating_sub(*it) < rest);
        let is_up = self.lives.iter().all(|it| it.process.is_some())
            && world.callers.iter().all(|it| self.is_up(it));
        if calm < rest || works && calm < rest * LOOKS || !is_up && now < began + START {
            return None;
        }
        if is_over {
            if works {
                let count = world.work.iter().filter(|it| **it >= since).count();
                self.per_minute = (count as f64 * 60.0 / calm.as_secs_f64()) as u32;
            }
            return Some(None);
        }
        self.active = now;
        world.outside.busy = 0;
        if world.outside.restart_is_due() {
            drop(world);
            for index in 0..self.lives.len() {
                self.end(index, now, RESTART);
                self.note(index, "restarts");
            }
            return None;
        }
        self.act(&mut world.outside);
        None
    }

    /// Whether a process has come as far as it comes without faults.
    fn is_up(&self, caller: &super::inside::Caller) -> bool {
        caller.requests > 0 && self.setting.watched.is_subset(&caller.watched)
    }

    /// The user's next step.
    fn act(&mut self, outside: &mut Outside) {
        let Some(act) = self.setting.acts.get(outside.steps as usize) else { return };
        if self.tries == 0 {
            outside.note(What::Step { text: act.to_string() });
        }
        let lacks = act.attempt(outside);
        self.tries += 1;
        if lacks.is_some() && self.tries < TRIES {
            return;
        }
        self.tries = 0;
        outside.steps += 1;
        if let Some(why) = lacks {
            self.refused.get_or_insert(format!("{act}: {why}"));
        }
    }

    /// Ends all processes, and returns the record of the run.
    fn record(mut self, restless: Option<String>) -> Ran {
        let watched = self.lock().callers.iter().flat_map(|it| it.watched.clone()).collect();
        for index in 0..self.lives.len() {
            let process = self.lives[index].process.take();
            process.iter().for_each(|it| self.measure(it));
            process.into_iter().for_each(Process::end);
        }
        let world = self.lock();
        let outside = &world.outside;
        let state = State::of(&outside.server).collected();
        let broken = outside.broken_rule.clone();
        let is_jitter = |fault: &Fault| matches!(fault, Fault::Jitter { .. });
        let mut run = Run {
            trace: outside.trace.clone(),
            changes: outside.changes.clone(),
            broken_rule: broken.or_else(|| self.setting.rules.at_end(&state)),
            state,
            times: Times { around: vec![outside.now()] },
            end: Normal::new(),
            is_exact: false,
            left: outside.faults.iter().filter(|it| !is_jitter(it)).cloned().collect(),
            panics: self.exits.clone(),
            refused_step: self.refused.clone(),
            restless,
            per_minute: self.per_minute,
            each: Vec::new(),
            garbage: Vec::new(), // a collector that is late would take a minute of everybody's time
            needs: outside.needs.clone(),
        };
        run.end = self.setting.end(&run);
        Ran { run, folder: self.folder.clone(), used: self.used, watched }
    }
}

/// A credential that no other life has.
fn token(folder: &Path) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    format!("seatrial-{}-{name}-{number}", std::process::id())
}
