//! Lets the user act and the processes of a run live, die and begin anew.
//!
//! Each process has a runtime with a clock of its own, and tokio does not tell when such a clock will move
//! next. So each is let move by itself until something of it is due, or a short time has passed, and the one
//! that is behind works first: all that is done, is done in the order of time. One that is ahead learns of
//! what the others have done meanwhile when its own clock says so, as by a watch that takes some time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::exact::{Chance, Hold, Wanted};
use super::life::{Death, Life, Mode, Turn};
use super::network::TRAVEL;
use super::orders::Delivered;
use super::panics;
use super::run::{LIMIT, REST, Setup};
use super::script::refusal;
use super::trace::What;
use super::webhooks::{bury, user};
use super::world::Outside;

/// How long nothing may be written before the user goes on.
const PAUSE: Duration = Duration::from_secs(30);
/// How long a new process takes to begin.
const RESTART: Duration = Duration::from_secs(1);
/// How often a process may end by itself in a run.
const ENDS: u32 = 5;
/// How often the user tries a step, with a pause in between.
const TRIES: u32 = 10;
/// How long a clock may be ahead: a share of the time in which nothing has happened, and at least and at most
/// this.
const SHARE: u32 = 8;
const AHEAD: [Duration; 2] = [Duration::from_millis(5), Duration::from_secs(2)];

pub(crate) fn lock(world: &Mutex<Outside>) -> MutexGuard<'_, Outside> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process with the most requests since the last step: the one that runs may be another.
fn busiest(world: &Outside) -> usize {
    let mut counts = vec![0_u64; world.names.len()];
    world.requests_since().iter().for_each(|it| counts[it.0] += 1);
    let most = (0..counts.len()).max_by_key(|it| counts[*it]);
    most.unwrap_or(world.current)
}

/// The next act of a run.
enum Next {
    Wait(Duration),
    /// The garbage collector has had its turn.
    Collected,
    Act,
    /// The process that is the current one begins anew.
    Restart,
    /// The run is over, and this is why it does not rest.
    Over(Option<String>),
}

/// A process, in one of its lives or between two.
struct Slot {
    life: Option<Life>,
    /// Its time, or when it begins anew.
    now: Duration,
    /// It may have something to do at that time.
    is_due: bool,
    /// How often it has ended by itself.
    ends: u32,
    /// Where its random numbers are.
    chance: Chance,
}

/// Lets the user act and the processes live.
pub(crate) struct Driver<'a> {
    setup: &'a Setup,
    world: &'a Arc<Mutex<Outside>>,
    hold: &'a Hold,
    slots: Vec<Slot>,
    /// When the user or a fault last did something.
    active: Duration,
    /// When something last changed that others may see, and the number of changes then.
    stirred: (Duration, usize),
    pub(crate) refused: Option<String>,
    /// The process that the last delivery has reached.
    reached: usize,
    /// How often the user has tried the present step.
    tries: u32,
    /// The panics so far, each once.
    pub(crate) panics: Vec<String>,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        setup: &'a Setup,
        world: &'a Arc<Mutex<Outside>>,
        hold: &'a Hold,
        wanted: Wanted,
    ) -> Self {
        let now = lock(world).now();
        let slot = |index| Slot {
            life: None,
            now,
            is_due: true,
            ends: 0,
            chance: wanted.chance(index, &setup.programs),
        };
        let slots = (0..setup.programs.len()).map(slot).collect();
        let (refused, panics, stirred) = (None, Vec::new(), (now, 0));
        Self {
            setup,
            world,
            hold,
            slots,
            active: now,
            stirred,
            refused,
            reached: 0,
            tries: 0,
            panics,
        }
    }

    /// The world, in which this process runs now.
    fn open(&self, index: usize) -> MutexGuard<'a, Outside> {
        let mut world = lock(self.world);
        world.current = index;
        world
    }

    /// Runs it to the end; the reason if there is no rest.
    pub(crate) fn conduct(&mut self) -> Option<String> {
        loop {
            let now = self.slots.iter().map(|it| it.now).min().unwrap_or_default();
            if let Err(why) = self.begin(now) {
                return Some(why);
            }
            match self.next(now) {
                Next::Over(restless) => return restless,
                Next::Restart => {
                    let index = lock(self.world).current;
                    if let Some(why) = self.died(index, Death::Restart) {
                        return Some(why);
                    }
                }
                Next::Collected => self.wake(),
                Next::Act => {
                    self.act();
                    self.wake();
                }
                Next::Wait(until) => {
                    if let Some(why) = self.pass(now, until) {
                        return Some(why);
                    }
                }
            }
        }
    }

    /// Begins the lives that are due.
    fn begin(&mut self, now: Duration) -> Result<(), String> {
        let is_alone = self.is_alone();
        for index in 0..self.slots.len() {
            if self.slots[index].life.is_some() || self.slots[index].now > now {
                continue;
            }
            let mut world = self.open(index);
            world.server.advance(now);
            world.lives[index] += 1;
            world.note(What::Life { text: "begins".to_owned() });
            drop(world);
            let run = &*self.setup.programs[index].1;
            let hold = self.hold;
            hold.swap(&mut self.slots[index].chance);
            let life = Life::begin(run, self.world, (now, is_alone), hold);
            hold.swap(&mut self.slots[index].chance);
            self.slots[index].life = Some(life?);
            self.slots[index].is_due = true;
        }
        Ok(())
    }

    /// Lets all of them work and their time pass, at most until then. Only those whose time is the first one
    /// work, so that everything happens in the order of time.
    fn pass(&mut self, now: Duration, until: Duration) -> Option<String> {
        if self.is_alone() {
            return self.turn(0, Mode::Free, until);
        }
        let all: Vec<_> = (0..self.slots.len()).filter(|it| self.slots[*it].now == now).collect();
        while let Some(&index) = all.iter().find(|it| self.slots[**it].is_due) {
            self.slots[index].is_due = false;
            if let Some(why) = self.seen(index, Mode::Work, now) {
                return Some(why);
            }
        }
        let silence = now.saturating_sub(self.stirred.0) / SHARE;
        let mut limit = until.min(now + silence.clamp(AHEAD[0], AHEAD[1]));
        let delivered = self.deliver();
        match delivered {
            Delivered::Nothing => {}
            Delivered::Travels => limit = limit.min(now + TRAVEL),
            Delivered::To(index) => {
                let slot = &mut self.slots[index];
                slot.is_due = true;
                slot.life.iter().for_each(Life::wake);
                self.reached = index;
                return None;
            }
            Delivered::Wasted => return Some("stops: the order is another one's".to_owned()),
        }
        let dead = self.slots.iter().filter(|it| it.life.is_none()).map(|it| it.now);
        let limit = dead.chain([limit]).min().unwrap_or(limit);
        all.into_iter().find_map(|index| {
            let over = self.seen(index, Mode::Pass, limit);
            let slot = &mut self.slots[index];
            slot.is_due |= slot.now < limit || matches!(delivered, Delivered::Travels);
            over
        })
    }

    /// Whether no other process' time must pass with that of the only one, nor wait for an order.
    fn is_alone(&self) -> bool {
        self.slots.len() == 1 && lock(self.world).gate.is_none()
    }

    /// Lets a delivery through, if the process of the last one can do nothing more: its clock may be ahead.
    fn deliver(&self) -> Delivered {
        let reached = &self.slots[self.reached];
        lock(self.world).deliver(reached.is_due && reached.life.is_some())
    }

    /// One turn of a process of several: the watches of all look at what it has changed.
    fn seen(&mut self, index: usize, mode: Mode, until: Duration) -> Option<String> {
        let (now, before) = (self.slots[index].now, lock(self.world).server.revision());
        let over = self.turn(index, mode, until);
        let world = lock(self.world);
        let (changes, revision) = (world.changes.len(), world.server.revision());
        drop(world);
        if changes != self.stirred.1 {
            self.stirred = (now, changes);
        }
        if revision != before {
            self.wake();
        }
        over
    }

    /// One turn of a process, if it lives. Why there is no rest, if it shows.
    fn turn(&mut self, index: usize, mode: Mode, until: Duration) -> Option<String> {
        loop {
            let mut life = self.slots[index].life.take()?;
            let (signal, hold) = (self.open(index).signal.clone(), self.hold);
            hold.swap(&mut self.slots[index].chance);
            let turn = life.turn((mode, until), &signal, hold);
            hold.swap(&mut self.slots[index].chance);
            self.slots[index].now = life.now;
            self.slots[index].life = Some(life);
            let panics = panics::taken();
            if let Some(first) = panics.first().filter(|it| !self.panics.contains(it)) {
                self.panics.push(first.clone());
            }
            let mut world = lock(self.world);
            let mut guilty = index;
            let death = match (turn, panics.into_iter().next()) {
                // The first of them is the cause, and others hand it on.
                (Turn::Died(Death::Panic(_)), Some(first)) => {
                    Some(Death::Panic(format!("panics: {first}")))
                }
                (Turn::Died(death), _) => Some(death),
                _ if world.is_endless() => {
                    guilty = busiest(&world);
                    Some(Death::Limit("sends requests without end: a hot loop".to_owned()))
                }
                _ if world.is_fenced => Some(Death::Crash),
                (turn, first) => {
                    if let Some(first) = first {
                        world.note(What::Life { text: format!("a task panics: {first}") });
                    }
                    if matches!(turn, Turn::Told) && mode == Mode::Work {
                        continue;
                    }
                    None
                }
            };
            drop(world);
            return death.and_then(|it| self.died(guilty, it));
        }
    }

    /// A life is over, and the next one begins later. Why there is no rest, if it shows.
    fn died(&mut self, index: usize, death: Death) -> Option<String> {
        let late = self.end(index);
        let mut world = self.open(index);
        // What panics while a life is taken down is of that life, and not of the one that runs next.
        if let Some(first) = late.into_iter().next() {
            world.note(What::Life { text: format!("a task panics: {first}") });
            if !self.panics.contains(&first) {
                self.panics.push(first);
            }
        }
        let later = world.now() + RESTART;
        let name = world.names[index].clone();
        let subject = |why: &str| format!("{name} {why}").trim_start().to_owned();
        let text = match death {
            Death::Limit(why) => return Some(subject(&why)),
            Death::Crash => "dies".to_owned(),
            Death::Restart => "restarts".to_owned(),
            Death::Itself(why) | Death::Panic(why) => {
                self.slots[index].ends += 1;
                why
            }
        };
        world.note(What::Life { text: text.clone() });
        if self.slots[index].ends >= ENDS {
            return Some(subject(&format!("{text}, {ENDS} times")));
        }
        self.slots[index].now = later;
        world.last_change = later;
        None
    }

    /// Ends a life, if there is one. What panics meanwhile is returned.
    fn end(&mut self, index: usize) -> Vec<String> {
        drop(self.open(index));
        if let Some(life) = self.slots[index].life.take() {
            self.hold.swap(&mut self.slots[index].chance);
            life.end(self.hold);
            self.hold.swap(&mut self.slots[index].chance);
        }
        bury(self.world, index);
        panics::taken()
    }

    pub(crate) fn end_all(&mut self) {
        (0..self.slots.len()).for_each(|index| drop(self.end(index)));
    }

    /// Lets all watches look.
    fn wake(&mut self) {
        for slot in &mut self.slots {
            slot.is_due = true;
            slot.life.iter().for_each(Life::wake);
        }
    }

    fn next(&mut self, now: Duration) -> Next {
        let mut world = lock(self.world);
        world.server.advance(now);
        if world.collect(now) {
            return Next::Collected;
        }
        if now > self.active + LIMIT {
            let minutes = LIMIT.as_secs() / 60;
            return Next::Over(Some(format!("still writes after {minutes} minutes")));
        }
        let steps = self.setup.script.len() as u32;
        let is_over = world.steps == steps && !world.waits_to_restart();
        let quiet = world.last_change.max(self.active) + if is_over { REST } else { PAUSE };
        let quiet = quiet.max(world.disturbed_until(is_over).unwrap_or_default());
        if now < quiet {
            return Next::Wait(world.garbage.due().map_or(quiet, |it| it.min(quiet)));
        }
        if is_over {
            return Next::Over(None);
        }
        self.active = now;
        world.next_step();
        if world.restart_is_due() { Next::Restart } else { Next::Act }
    }

    /// The user's next step.
    fn act(&mut self) {
        let mut world = lock(self.world);
        let Some(step) = self.setup.script.get(world.steps as usize) else { return };
        if self.tries == 0 {
            world.note(What::Step { text: step.to_string() });
        }
        let request = step.request(&world.server);
        drop(world);
        let refusal = match request {
            Ok(request) => refusal(&user(self.world, request)),
            Err(why) => Some(why),
        };
        self.tries += 1;
        if refusal.is_some() && self.tries < TRIES {
            // Under a fault the cluster may not be ready for it: people try again.
            return;
        }
        self.tries = 0;
        lock(self.world).steps += 1;
        if let Some(why) = refusal {
            self.refused.get_or_insert(format!("{step}: {why}"));
        }
    }
}
