//! The simulated cluster: processes that run the elector of `core`, a server, time.
//!
//! Everything that happens is an event of the agenda. The faults decide how late it happens, or
//! whether it happens at all. A process is driven exactly as the blocking driver drives it: each
//! order of its machine is carried out, the answer is handed in, and a sleep ends when it is due on
//! the node's own clock.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::elector::{
    Config, Election, Fence, Gate, Io, Name, RUN, StoreError, Stored, TERM,
};
use seatrial_core::machine::{Boxed, Cx, Host, Operation, Step};
use seatrial_core::runtime::{Ambient, Instant, WallTime};
use seatrial_sim::world::{Agenda, Fate, NodeClock};

use super::due::Due;
use super::faults::{Action, Faults};
use super::run::{Happening, Process, Run, What};
use super::server::Server;
use crate::election::plain;

/// The reading of every wall clock at the beginning: some day in 2001.
const WALL_AT_START: i64 = 1_000_000_000_000_000_000;

/// One machine of the cluster.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeSetup {
    /// The reading of its monotonic clock at the beginning.
    pub offset: u64,
    /// How many millionths its clock gains.
    pub rate_ppm: i64,
    /// How far its wall clock is ahead, in nanoseconds.
    pub wall_offset: i64,
    /// When its process starts.
    pub starts_at: u64,
    /// The identity of its process, if several processes are to share one.
    pub identity: Option<Name>,
}

/// A cluster and the actions on it.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The set-up of every process; only the identity differs.
    pub config: Config,
    /// The machines.
    pub nodes: Vec<NodeSetup>,
    /// The time after which a client gives up a call, on the node's clock; `None` for no limit.
    pub client_timeout: Option<Duration>,
    /// The actions, and when each is done.
    pub actions: Vec<(u64, Action)>,
    /// The length of the simulation.
    pub horizon: u64,
    /// Whether every observation of a process is written down, step by step.
    pub probe: bool,
}

/// The view that one step of a process has of the world.
struct View {
    now: Instant,
    wall: WallTime,
    entropy: u64,
}

impl Ambient for View {
    fn now(&self) -> Instant {
        self.now
    }

    fn wall(&self) -> WallTime {
        self.wall
    }

    fn entropy(&self) -> u64 {
        self.entropy
    }
}

pub(super) struct Node {
    pub(super) clock: NodeClock,
    pub(super) wall_offset: i64,
    pub(super) frozen_wall: Option<i64>,
    pub(super) blocked_until: u64,
    /// The time until which its clock stands still: the latest end of all stalls.
    pub(super) stalled_until: u64,
    /// The youngest process of the node.
    pub(super) process: u16,
    pub(super) processes: u32,
}

pub(super) struct Runner {
    pub(super) host: Boxed<Election>,
    pub(super) node: u8,
    pub(super) alive: bool,
    pub(super) running: bool,
    pub(super) leads: bool,
    /// The number of sleeps so far, and whether it sleeps now.
    pub(super) sleep: u32,
    pub(super) sleeping: bool,
    /// The number of checks of the watchdog so far, and the term of the one that is due.
    pub(super) look: u32,
    pub(super) watches: Option<u32>,
    /// The term whose work is about to start.
    pub(super) starting: Option<(u32, Fence)>,
    pub(super) acts_until: u64,
    pub(super) call: Option<u32>,
    pub(super) cancelled: bool,
    pub(super) observed_at: u64,
}

pub(super) struct Call {
    pub(super) process: u16,
    pub(super) io: Option<Io>,
    pub(super) fate: Fate,
    pub(super) answer: Option<Result<Stored, StoreError>>,
}

/// Makes the machine of a process.
pub type Make = Arc<dyn Fn(Config) -> Boxed<Election> + Send + Sync>;

/// A cluster under faults of kind `F`.
pub struct Simulated<F> {
    pub(super) now: u64,
    pub(super) agenda: Agenda<Due>,
    pub(super) server: Server,
    pub(super) nodes: Vec<Node>,
    pub(super) runners: Vec<Runner>,
    pub(super) calls: Vec<Call>,
    pub(super) gate: Gate,
    pub(super) setup: Setup,
    pub(super) faults: F,
    pub(super) make: Make,
    pub(super) run: Run,
}

/// Simulates a cluster of the electors that ship, or of the reference's if the set-up says so.
pub fn simulate<F: Faults>(setup: Setup, faults: F) -> Run {
    Simulated::new(setup, faults, Arc::new(plain::elector)).finish()
}

impl<F: Faults> Simulated<F> {
    /// Makes a cluster; `make` makes the machine of a process.
    pub fn new(setup: Setup, faults: F, make: Make) -> Self {
        let mut world = Self {
            now: 0,
            agenda: Agenda::default(),
            server: Server::new(),
            nodes: Vec::new(),
            runners: Vec::new(),
            calls: Vec::new(),
            gate: Gate::new(),
            setup,
            faults,
            make,
            run: Run::default(),
        };
        world.prepare();
        world
    }

    /// Begins another simulation in the memory of the last one.
    pub fn restart(&mut self, setup: Setup, faults: F, mut run: Run) {
        run.happenings.clear();
        run.processes.clear();
        run.steps = 0;
        self.now = 0;
        self.agenda.clear();
        self.server.restart(std::mem::take(&mut run.versions));
        self.nodes.clear();
        self.runners.clear();
        self.calls.clear();
        self.gate = Gate::new();
        self.setup = setup;
        self.faults = faults;
        self.run = run;
        self.prepare();
    }

    fn prepare(&mut self) {
        for index in 0..self.setup.nodes.len() {
            let NodeSetup { offset, rate_ppm, wall_offset, starts_at, .. } =
                self.setup.nodes[index];
            self.nodes.push(Node {
                clock: NodeClock::new(offset, rate_ppm),
                wall_offset,
                frozen_wall: None,
                blocked_until: 0,
                stalled_until: 0,
                process: 0,
                processes: 0,
            });
            let process = self.add_process(index as u8, None);
            self.agenda.at(starts_at, Due::Begins { process });
        }
        for (index, (at, _)) in self.setup.actions.iter().enumerate() {
            self.agenda.at(*at, Due::Intervenes { index: index as u32 });
        }
    }

    /// Runs to the end.
    pub fn finish(mut self) -> Run {
        self.run_to_end()
    }

    /// Runs to the end; the world can be [`restart`](Self::restart)ed with the run that this
    /// returns.
    pub fn run_to_end(&mut self) -> Run {
        while let Some((at, due)) = self.agenda.pop() {
            if at > self.setup.horizon {
                break;
            }
            self.now = at;
            self.run.steps += 1;
            self.happen(due);
        }
        self.run.end = self.setup.horizon;
        self.run.versions = self.server.take_history();
        std::mem::take(&mut self.run)
    }

    /// Lets a clock go on, unless another stall holds it.
    fn resume(&mut self, node: u8) {
        let place = &mut self.nodes[usize::from(node)];
        if place.stalled_until <= self.now {
            place.clock.resume(self.now);
        }
    }

    fn happen(&mut self, due: Due) {
        let Some(process) = self.process_of(due) else {
            match due {
                Due::Arrives { call } => self.arrive(call),
                Due::Resumes { node } => self.resume(node),
                Due::Intervenes { index } => self.intervene(index),
                _ => {}
            }
            return;
        };
        let runner = &self.runners[usize::from(process)];
        if !runner.alive {
            return;
        }
        let blocked_until = self.nodes[usize::from(runner.node)].blocked_until;
        if blocked_until > self.now {
            self.agenda.at(blocked_until, due);
            return;
        }
        match due {
            Due::Wake { sleep, .. } => self.wake(process, sleep),
            Due::Watch { look, .. } => self.watch(process, look),
            Due::Start { .. } => self.start_work(process),
            Due::Look { term, .. } => self.look(process, term),
            Due::Act { term, .. } => self.act(process, term),
            Due::WorkEnds { term, .. } => self.end_work(process, term),
            Due::Answers { call } => self.answer(process, call),
            Due::GivesUp { call } => self.give_up(process, call),
            Due::Begins { .. } => self.begin(process),
            Due::Arrives { .. } | Due::Resumes { .. } | Due::Intervenes { .. } => {}
        }
    }

    /// Returns the process that a due thing happens to, if it happens to a process.
    fn process_of(&self, due: Due) -> Option<u16> {
        match due {
            Due::Wake { process, .. }
            | Due::Watch { process, .. }
            | Due::Start { process }
            | Due::Look { process, .. }
            | Due::Act { process, .. }
            | Due::WorkEnds { process, .. }
            | Due::Begins { process } => Some(process),
            Due::Answers { call } | Due::GivesUp { call } => {
                Some(self.calls[call as usize].process)
            }
            Due::Arrives { .. } | Due::Resumes { .. } | Due::Intervenes { .. } => None,
        }
    }

    pub(super) fn add_process(&mut self, node: u8, identity: Option<Name>) -> u16 {
        let process = self.runners.len() as u16;
        let place = &mut self.nodes[usize::from(node)];
        place.processes += 1;
        place.process = process;
        let fixed = identity.or_else(|| self.setup.nodes[usize::from(node)].identity.clone());
        let identity = fixed.unwrap_or_else(|| identity_of(node, place.processes));
        let config = self.setup.config.clone().identity(identity);
        self.runners.push(Runner {
            host: (self.make)(config.clone()),
            node,
            alive: true,
            running: false,
            leads: false,
            sleep: 0,
            sleeping: false,
            look: 0,
            watches: None,
            starting: None,
            acts_until: 0,
            call: None,
            cancelled: false,
            observed_at: 0,
        });
        self.run.processes.push(Process { node, config, fences: Vec::new() });
        process
    }

    pub(super) fn note(&mut self, process: u16, what: What) {
        let node = self.runners.get(usize::from(process)).map_or(0, |runner| runner.node);
        let local = self.nodes[usize::from(node)].clock.read(self.now);
        self.run.happenings.push(Happening { at: self.now, local, process, what });
    }

    /// Steps an operation of a process, and schedules the sleepers that it wakes.
    #[inline]
    pub(super) fn ask<O: Operation<Election>>(&mut self, process: u16, mut op: O) -> Step<O::Ret> {
        let runner = &mut self.runners[usize::from(process)];
        let node = &self.nodes[usize::from(runner.node)];
        let wall = node.frozen_wall.unwrap_or(self.now as i64);
        let view = View {
            now: Instant::from_nanos(node.clock.read(self.now)),
            wall: WallTime::from_nanos(WALL_AT_START + wall + node.wall_offset),
            entropy: self.faults.entropy(runner.node, self.now),
        };
        let mut cx = Cx::new(&view);
        let step = runner.host.run(&mut op, &mut cx);
        if cx.wakes.get(RUN) > 0 && runner.sleeping {
            self.agenda.at(self.now, Due::Wake { process, sleep: runner.sleep });
        }
        if cx.wakes.get(TERM) > 0 && runner.watches.is_some() {
            self.agenda.at(self.now, Due::Watch { process, look: runner.look });
        }
        step
    }

    /// As [`ask`](Self::ask), for operations that never wait.
    pub(super) fn ask_now<O: Operation<Election>>(&mut self, process: u16, op: O) -> O::Ret {
        match self.ask(process, op) {
            Step::Done(ret) | Step::Held(ret) => ret,
            Step::Wait { .. } => unreachable!("only a rest and a watch wait"),
        }
    }
}

impl<F> std::fmt::Debug for Simulated<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulated").field("now", &self.now).finish_non_exhaustive()
    }
}

/// Names the `incarnation`-th process of a node: `a`, `a2`, `b` and so on.
fn identity_of(node: u8, incarnation: u32) -> Name {
    let letter = char::from(b'a' + node % 26);
    if incarnation == 1 {
        Name::new(letter.encode_utf8(&mut [0; 4]))
    } else {
        Name::new(&format!("{letter}{incarnation}"))
    }
}
