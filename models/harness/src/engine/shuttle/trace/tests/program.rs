//! Random programs: locks, nested or not, waits with and without deadlines, notifications,
//! branches on what was seen, choices of data, published values, atomic numbers, read-write locks,
//! sleeps, children.

use std::sync::Arc;

use std::sync::atomic::Ordering::SeqCst;

use seatrial_core::runtime::{Ambient, Atomic, Instant, Runtime};

use super::super::super::{Held, Join, ShuttleAtomic, ShuttleCondvar, ShuttleMutex};
use super::super::super::{ShuttlePublished, ShuttleRwLock};
use super::ShuttleRuntime;

/// One instruction of a thread.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// Takes a lock for some instructions.
    Locked(usize, Vec<Self>),
    /// Adds to what lies under a lock that is held.
    Add(usize, u64),
    /// Waits until enough lies under the lock, then takes one.
    Wait(usize, u64),
    /// The same as `Wait`, but gives up at a time.
    WaitUntil(usize, u64, u64),
    NotifyOne(usize),
    NotifyAll(usize),
    /// Some instructions, if enough lies under the lock.
    If(usize, u64, Vec<Self>),
    Choose(u32),
    Now,
    Sleep(u64),
    Load(usize),
    Publish(usize, u64),
    /// Reads an atomic number.
    Read(usize),
    /// Writes an atomic number.
    Write(usize, u64),
    /// Adds to an atomic number.
    Increase(usize),
    /// Writes an atomic number that is zero.
    Claim(usize, u64),
    /// Takes a share of a read-write lock for some instructions.
    Share(usize, Vec<Self>),
    /// Takes a read-write lock for some instructions, and adds to what lies under it.
    Whole(usize, Vec<Self>),
    Spawn(Vec<Self>),
    Join,
}

/// The elements that programs may contain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    pub(super) locks: usize,
    pub(super) data: bool,
    pub(super) cells: bool,
    pub(super) time: bool,
    /// Atomic numbers and read-write locks.
    pub(super) shared: bool,
}

/// Draws programs.
pub(super) struct Generator {
    state: u64,
    features: Features,
    /// Instructions that touch something shared, still to be given out.
    budget: u32,
}

impl Generator {
    pub(super) fn new(seed: u64, features: Features) -> Self {
        let state = super::super::super::kernel::mix(seed.wrapping_add(77)) | 1;
        Self { state, features, budget: 0 }
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        super::super::super::kernel::mix(self.state) % bound
    }

    /// Draws the threads of a program.
    pub(super) fn program(&mut self, threads: usize, budget: u32) -> Vec<Vec<Instruction>> {
        (0..threads)
            .map(|_| {
                self.budget = 1 + self.below(u64::from(budget)) as u32;
                let mut body = Vec::new();
                self.outside(2, &mut Vec::new(), &mut body);
                body
            })
            .collect()
    }

    /// Draws instructions between critical sections, or nested into one.
    fn outside(&mut self, depth: u32, held: &mut Vec<usize>, body: &mut Vec<Instruction>) {
        for _ in 0..=self.below(3) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            if self.features.shared && self.below(2) == 0 {
                self.shared(depth, held, body);
                continue;
            }
            let cell = self.features.cells && self.below(3) == 0;
            let sleep = self.features.time && held.is_empty() && self.below(6) == 0;
            if cell {
                let cell = self.below(2) as usize;
                body.push(if self.below(2) == 0 {
                    Instruction::Load(cell)
                } else {
                    Instruction::Publish(cell, self.below(100))
                });
            } else if sleep {
                body.push(Instruction::Sleep(1 + self.below(3)));
            } else {
                self.locked(depth, held, body);
            }
            if depth > 0 && held.is_empty() && self.budget > 0 && self.below(8) == 0 {
                let mut child = Vec::new();
                self.outside(0, &mut Vec::new(), &mut child);
                body.push(Instruction::Spawn(child));
                if self.below(2) == 0 {
                    body.push(Instruction::Join);
                }
            }
        }
    }

    /// Draws an access to an atomic number, or a read-write lock with something under it.
    fn shared(&mut self, depth: u32, held: &mut Vec<usize>, body: &mut Vec<Instruction>) {
        let place = self.below(2) as usize;
        let lock = READ_WRITE + place;
        let instruction = match self.below(8) {
            0 | 1 => Instruction::Read(place),
            2 => Instruction::Write(place, self.below(3)),
            3 => Instruction::Increase(place),
            4 => Instruction::Claim(place, 1 + self.below(2)),
            _ if held.contains(&lock) => return,
            kind => {
                held.push(lock);
                let mut inside = Vec::new();
                if depth > 0 {
                    self.outside(depth - 1, held, &mut inside);
                }
                held.pop();
                let make = if kind == 7 { Instruction::Whole } else { Instruction::Share };
                make(place, inside)
            }
        };
        body.push(instruction);
    }

    fn locked(&mut self, depth: u32, held: &mut Vec<usize>, body: &mut Vec<Instruction>) {
        let lock = self.below(self.features.locks as u64) as usize;
        if held.contains(&lock) {
            return;
        }
        held.push(lock);
        let mut inside = Vec::new();
        for _ in 0..=self.below(3) {
            self.inside(lock, depth, held, &mut inside);
        }
        held.pop();
        body.push(Instruction::Locked(lock, inside));
    }

    fn inside(
        &mut self,
        lock: usize,
        depth: u32,
        held: &mut Vec<usize>,
        body: &mut Vec<Instruction>,
    ) {
        let may_wait = held.len() == 1 || self.below(4) == 0;
        match self.below(12) {
            0 | 1 => body.push(Instruction::Add(lock, 1 + self.below(2))),
            2 | 3 if may_wait && self.features.time && self.below(2) == 0 => {
                body.push(Instruction::WaitUntil(lock, 1 + self.below(2), 1 + self.below(3)));
            }
            2 | 3 if may_wait => body.push(Instruction::Wait(lock, 1 + self.below(2))),
            4 | 5 => body.extend([Instruction::Add(lock, 1), Instruction::NotifyOne(lock)]),
            6 => body.push(Instruction::NotifyAll(lock)),
            7 if depth > 0 => {
                let mut then = Vec::new();
                self.outside(depth - 1, held, &mut then);
                body.push(Instruction::If(lock, 1 + self.below(2), then));
            }
            8 if depth > 0 => self.outside(depth - 1, held, body),
            9 if self.features.data => body.push(Instruction::Choose(2)),
            10 if self.features.time => body.push(Instruction::Now),
            _ => body.push(Instruction::Add(lock, 1)),
        }
    }
}

/// The objects that the threads of a program share.
struct Shared {
    locks: Vec<(ShuttleMutex<u64>, ShuttleCondvar)>,
    cells: Vec<ShuttlePublished<u64>>,
    numbers: Vec<ShuttleAtomic>,
    read_write: Vec<ShuttleRwLock<u64>>,
}

/// The first read-write lock among the locks that a thread holds.
const READ_WRITE: usize = 100;

/// Runs a program; returns a number that depends on what its threads saw. The main thread is one of
/// them, or looks at the locks after their end.
pub(super) fn run(
    runtime: &ShuttleRuntime,
    threads: &[Vec<Instruction>],
    locks: usize,
    takes_part: bool,
) -> u64 {
    let shared = Arc::new(Shared {
        locks: (0..locks).map(|_| (runtime.mutex(0), runtime.condvar())).collect(),
        cells: (0..2).map(|_| runtime.published(Arc::new(0))).collect(),
        numbers: (0..2).map(|_| runtime.atomic(0)).collect(),
        read_write: (0..2).map(|_| runtime.rw_lock(0)).collect(),
    });
    let (own, others) = threads.split_at(usize::from(takes_part));
    let others: Vec<_> = others.iter().map(|body| spawn(*runtime, &shared, body.clone())).collect();
    let mut seen = own.iter().fold(0, |_, body| execute(*runtime, &shared, body));
    for thread in others {
        seen = combine(seen, runtime.join(thread).unwrap());
    }
    if takes_part {
        return seen;
    }
    shared.locks.iter().fold(seen, |seen, lock| combine(seen, *runtime.lock(&lock.0)))
}

fn combine(seen: u64, more: u64) -> u64 {
    super::super::super::kernel::mix(seen.wrapping_mul(31).wrapping_add(more + 1))
}

fn spawn(runtime: ShuttleRuntime, shared: &Arc<Shared>, body: Vec<Instruction>) -> Join<u64> {
    let shared = Arc::clone(shared);
    runtime.spawn("thread", move || execute(runtime, &shared, &body))
}

/// Executes instructions on the calling thread; returns what it saw.
fn execute(runtime: ShuttleRuntime, shared: &Arc<Shared>, body: &[Instruction]) -> u64 {
    let held = shared.locks.iter().map(|_| None).collect();
    let mut thread = Thread { runtime, shared, held, seen: 1, children: Vec::new() };
    thread.execute(body);
    let Thread { mut seen, children, .. } = thread;
    for child in children {
        seen = combine(seen, runtime.join(child).unwrap());
    }
    seen
}

/// A thread that executes instructions.
struct Thread<'a> {
    runtime: ShuttleRuntime,
    shared: &'a Arc<Shared>,
    held: Vec<Option<Held<'a, u64>>>,
    seen: u64,
    children: Vec<Join<u64>>,
}

impl Thread<'_> {
    fn execute(&mut self, body: &[Instruction]) {
        body.iter().for_each(|instruction| self.step(instruction));
    }

    fn see(&mut self, what: u64) {
        self.seen = combine(self.seen, what);
    }

    fn value(&mut self, lock: usize) -> &mut u64 {
        self.held[lock].as_mut().expect("the lock is held")
    }

    fn step(&mut self, instruction: &Instruction) {
        let runtime = self.runtime;
        match instruction {
            Instruction::Locked(lock, inside) => {
                self.held[*lock] = Some(runtime.lock(&self.shared.locks[*lock].0));
                let value = *self.value(*lock);
                self.see(value);
                self.execute(inside);
                self.held[*lock] = None;
            }
            Instruction::Add(lock, more) => *self.value(*lock) += more,
            Instruction::Wait(lock, enough) => self.wait(*lock, *enough, None),
            Instruction::WaitUntil(lock, enough, at) => {
                self.wait(*lock, *enough, Some(millis(*at)));
            }
            Instruction::NotifyOne(lock) => runtime.notify_one(&self.shared.locks[*lock].1),
            Instruction::NotifyAll(lock) => runtime.notify_all(&self.shared.locks[*lock].1),
            Instruction::If(lock, enough, then) => {
                if *self.value(*lock) >= *enough {
                    self.execute(then);
                }
            }
            Instruction::Choose(options) => self.see(u64::from(runtime.choose(*options))),
            Instruction::Now => self.see(runtime.now().as_nanos()),
            Instruction::Sleep(at) => runtime.sleep_until(millis(*at)),
            Instruction::Load(cell) => {
                let value = *runtime.load(&self.shared.cells[*cell]);
                self.see(value);
            }
            Instruction::Publish(cell, value) => {
                runtime.publish(&self.shared.cells[*cell], Arc::new(*value));
            }
            Instruction::Read(place) => {
                let value = self.shared.numbers[*place].load(SeqCst);
                self.see(value);
            }
            Instruction::Write(place, value) => self.shared.numbers[*place].store(*value, SeqCst),
            Instruction::Increase(place) => {
                let before = self.shared.numbers[*place].fetch_add(1, SeqCst);
                self.see(before);
            }
            Instruction::Claim(place, value) => {
                let number = &self.shared.numbers[*place];
                let before = number.compare_exchange(0, *value, SeqCst, SeqCst);
                self.see(before.unwrap_or_else(|claimed| claimed + 10));
            }
            Instruction::Share(place, inside) => {
                let shared = self.shared;
                let value = runtime.read(&shared.read_write[*place]);
                self.see(*value);
                self.execute(inside);
            }
            Instruction::Whole(place, inside) => {
                let shared = self.shared;
                let mut value = runtime.write(&shared.read_write[*place]);
                *value += 1;
                self.see(*value);
                self.execute(inside);
            }
            Instruction::Spawn(body) => {
                self.children.push(spawn(runtime, self.shared, body.clone()));
            }
            Instruction::Join => {
                if let Some(child) = self.children.pop() {
                    let seen = runtime.join(child).unwrap();
                    self.see(seen);
                }
            }
        }
    }

    fn wait(&mut self, lock: usize, enough: u64, deadline: Option<Instant>) {
        let (runtime, condvar) = (self.runtime, &self.shared.locks[lock].1);
        let mut held = self.held[lock].take().expect("the lock is held");
        while *held < enough {
            let late;
            (held, late) = match deadline {
                None => (runtime.wait(condvar, held), false),
                Some(deadline) => runtime.wait_until(condvar, held, deadline),
            };
            self.seen = combine(self.seen, *held * 2 + u64::from(late));
            if late {
                break;
            }
        }
        *held = held.saturating_sub(1);
        self.held[lock] = Some(held);
    }
}

fn millis(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}
