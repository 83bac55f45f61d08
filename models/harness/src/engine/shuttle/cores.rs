//! The search of all traces on several threads of the operating system.
//!
//! The search of one thread is the rule: the others explore, in advance, parts that it would come to
//! later. What a part finds depends on nothing but its beginning, so the search takes the results over
//! when it comes there, in place of exploring the part. If it has found meanwhile that the part begins
//! with more than it did, it ends the loan and explores the part itself. So executions have the numbers,
//! and violations the schedules, that they have on one thread. Parts lend parts of themselves: nobody is
//! idle while a large part is explored, and who waits for one explores others.

use std::collections::VecDeque;
use std::ops::{ControlFlow, RangeInclusive};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use super::kernel::{Kernel, Names};
use super::part::{Found, Judging, Part};
use super::session::{self, Session};
use super::trace::{Lent, Trace};
use super::{Body, Config, conclude, coroutines, run_one, with_stacks};
use crate::engine::{End, Exploration, Spare, quietly};

/// Makes the program of a part and its judge.
type Begin<'a, J> = &'a (dyn Fn() -> (Body, J) + Sync);

/// Runs one execution of every trace, up to a number of executions: on this thread, on some helpers, and
/// on cores that have nothing to do. The results do not depend on how many there are.
pub fn explore_on_cores<J: Judging>(
    config: &Config,
    executions: u64,
    helpers: usize,
    begin: Begin<'_, J>,
) -> (Exploration, J) {
    search(Team::new(config, begin), executions, helpers)
}

/// The same with a loan before every execution, so that nothing depends on the machine.
#[cfg(test)]
pub(super) fn explore_eagerly<J: Judging>(
    config: &Config,
    executions: u64,
    begin: Begin<'_, J>,
) -> (Exploration, J) {
    search(Team { eager: true, alone: true, ..Team::new(config, begin) }, executions, 0)
}

fn search<J: Judging>(team: Team<'_, J>, executions: u64, helpers: usize) -> (Exploration, J) {
    let whole = std::thread::scope(|scope| {
        let _over = Over(&team);
        (0..helpers).for_each(|_| team.hire(scope, None));
        team.explore(scope, Trace::new(executions), None)
    });
    let whole = whole.unwrap_or_else(|| {
        // What cannot be searched twice alike is searched by one alone, on a thread on which no stack
        // is stuck.
        let alone = Team { alone: true, ..Team::new(team.config, team.begin) };
        let explore = || std::thread::scope(|s| alone.explore(s, Trace::new(executions), None));
        let whole = match team.is_stuck.load(Ordering::Relaxed) {
            false => explore(),
            true => std::thread::scope(|scope| scope.spawn(explore).join())
                .unwrap_or_else(|panic| resume_unwind(panic)),
        };
        whole.expect("it is not given up")
    });
    (whole.exploration, whole.judging)
}

/// A part that was lent.
struct Loan<J> {
    lent: Lent,
    place: Mutex<Place<J>>,
}

enum Place<J> {
    /// Nobody has begun it.
    Offered(Box<Trace>),
    Begun,
    /// `None` if it was given up.
    Ended(Option<Box<Part<J>>>),
}

/// Those who search together.
struct Team<'a, J> {
    config: &'a Config,
    begin: Begin<'a, J>,
    names: Mutex<Names>,
    /// Loans that nobody has begun, oldest first.
    offers: Mutex<VecDeque<Arc<Loan<J>>>>,
    changed: Condvar,
    /// How many wait for an offer, and how many offers there are.
    idle: AtomicUsize,
    offered: AtomicUsize,
    helpers: AtomicUsize,
    /// Whether all is over, because it ended or for [`Team::give_up`].
    over: AtomicBool,
    /// Whether a thread of the operating system can run nothing more.
    is_stuck: AtomicBool,
    /// Whether no core is taken that has nothing else to do.
    alone: bool,
    /// Whether every part is lent, and explored at once: so every loan that can end does.
    #[cfg(test)]
    eager: bool,
}

/// Ends the search of all, also if one panics.
struct Over<'a, 'b, J: Judging>(&'a Team<'b, J>);

impl<J: Judging> Drop for Over<'_, '_, J> {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Executions before help is asked for: to start a thread costs as much as many of them.
const FEW: u64 = 64;

/// How many executions a part may have that is lent: enough to be worth the trouble, and so few that
/// little is lost if the loan ends.
const LENT: RangeInclusive<u64> = 8..=2_000;

impl<'a, J: Judging> Team<'a, J> {
    fn new(config: &'a Config, begin: Begin<'a, J>) -> Self {
        Self {
            config,
            begin,
            names: Mutex::new(Names::new()),
            offers: Mutex::default(),
            changed: Condvar::new(),
            idle: AtomicUsize::new(0),
            offered: AtomicUsize::new(0),
            helpers: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            is_stuck: AtomicBool::new(false),
            alone: false,
            #[cfg(test)]
            eager: false,
        }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn has_helpers(&self) -> bool {
        self.helpers.load(Ordering::Relaxed) > 0
    }

    /// Starts another thread.
    fn hire<'s>(&'s self, scope: &'s Scope<'s, '_>, core: Option<Spare>) {
        self.helpers.fetch_add(1, Ordering::Relaxed);
        scope.spawn(move || {
            let _core = core;
            while let Some(loan) = self.next_offer() {
                self.work(scope, &loan);
            }
        });
    }

    /// Waits for an offer; `None` when all is over.
    fn next_offer(&self) -> Option<Arc<Loan<J>>> {
        let mut offers = lock(&self.offers);
        while !self.is_over() {
            if let Some(offer) = self.pop(&mut offers) {
                return Some(offer);
            }
            offers = self.wait(offers);
        }
        None
    }

    fn pop(&self, offers: &mut VecDeque<Arc<Loan<J>>>) -> Option<Arc<Loan<J>>> {
        let offer = offers.pop_front()?;
        self.offered.store(offers.len(), Ordering::Relaxed);
        Some(offer)
    }

    fn wait<'g, T>(&self, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
        self.idle.fetch_add(1, Ordering::Relaxed);
        let guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        self.idle.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// Ends the search of all.
    fn give_up(&self) {
        let offers = lock(&self.offers); // who is about to wait does so before, and is woken
        self.over.store(true, Ordering::Relaxed);
        drop(offers);
        self.changed.notify_all();
    }

    /// Explores a part for the one who lent it.
    fn work<'s>(&'s self, scope: &'s Scope<'s, '_>, loan: &Loan<J>) {
        let place = std::mem::replace(&mut *lock(&loan.place), Place::Begun);
        let Place::Offered(trace) = place else { return };
        let explore = || self.explore(scope, *trace, Some(&loan.lent));
        let ended = catch_unwind(AssertUnwindSafe(explore)).unwrap_or_else(|_| {
            self.give_up(); // the search alone comes to the same panic, and passes it on
            None
        });
        *lock(&loan.place) = Place::Ended(ended.map(Box::new));
        drop(lock(&self.offers)); // as above
        self.changed.notify_all();
    }

    fn offer(&self, lent: Lent, trace: Trace) -> Arc<Loan<J>> {
        let place = Mutex::new(Place::Offered(Box::new(trace)));
        let loan = Arc::new(Loan { lent, place });
        let mut offers = lock(&self.offers);
        offers.push_back(Arc::clone(&loan));
        self.offered.store(offers.len(), Ordering::Relaxed);
        drop(offers);
        self.changed.notify_all();
        loan
    }

    /// Takes an offer back, if nobody has begun it.
    fn take_back(&self, loan: &Arc<Loan<J>>) -> bool {
        let mut offers = lock(&self.offers);
        let before = offers.len();
        offers.retain(|offer| !Arc::ptr_eq(offer, loan));
        self.offered.store(offers.len(), Ordering::Relaxed);
        offers.len() < before
    }

    /// Waits for a part that was lent, and does other work meanwhile. `None` if it is to be explored
    /// here.
    fn collect<'s>(&'s self, scope: &'s Scope<'s, '_>, loan: &Arc<Loan<J>>) -> Option<Part<J>> {
        if self.take_back(loan) {
            return None;
        }
        loop {
            let mut offers = lock(&self.offers);
            let place = std::mem::replace(&mut *lock(&loan.place), Place::Begun);
            match place {
                Place::Ended(part) => return part.map(|part| *part),
                Place::Begun if !self.is_over() => {}
                // Who was about to begin finds that it has begun.
                Place::Begun | Place::Offered(_) => return None,
            }
            match self.pop(&mut offers) {
                Some(other) => {
                    drop(offers);
                    self.work(scope, &other);
                }
                None => drop(self.wait(offers)),
            }
        }
    }

    /// Explores the whole, or a part that somebody has lent. `None` if that is given up.
    fn explore<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        trace: Trace,
        lent: Option<&Lent>,
    ) -> Option<Part<J>> {
        let (body, judging) = (self.begin)();
        let kernel = Kernel::with_names(self.config.clone(), lock(&self.names).shared());
        let chooser = Box::new(trace);
        let session = Session { kernel, chooser, alarms: None, was_free: false };
        let _entered = session::enter(session);
        let mut found = Found { exploration: Exploration::default(), judging };
        let through = || self.go_through(scope, lent, &body, &mut found);
        let broke_off = with_stacks(self.config.stack, through)?;
        let Found { mut exploration, judging } = found;
        exploration.exhausted = !broke_off && session::with(|session| session.chooser.exhausted());
        let leaves = session::with(|session| session.chooser.yields())?;
        Some(Part { exploration, judging, leaves, broke_off })
    }

    /// Runs one execution after the other, and takes over what was lent. Tells whether the judge broke
    /// off.
    fn go_through<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        lent: Option<&Lent>,
        body: &Body,
        found: &mut Found<J>,
    ) -> Option<bool> {
        let coroutines = coroutines(self.config);
        let mut loans = Loans { team: self, open: Vec::new() };
        loop {
            if self.is_over() || lent.is_some_and(Lent::has_ended) {
                return None;
            }
            if !self.alone && found.exploration.executions >= FEW {
                Spare::take().into_iter().for_each(|core| self.hire(scope, Some(core)));
            }
            if self.idle.load(Ordering::Relaxed) > self.offered.load(Ordering::Relaxed) {
                loans.lend(&LENT);
            }
            #[cfg(test)]
            if self.eager && loans.lend(&(0..=u64::MAX)) {
                let offer = self.pop(&mut lock(&self.offers));
                self.work(scope, &offer.expect("just offered"));
            }
            let goes_on = if session::with(Session::begin) {
                self.execute(&coroutines, body, lent.is_some(), found)?
            } else {
                let awaited = session::with(|session| session.chooser.awaited().cloned());
                let Some(awaited) = awaited else { return Some(false) };
                let part = self.collect(scope, &loans.take(&awaited));
                found.take_over(part)
            };
            if goes_on.is_break() {
                return Some(true);
            }
        }
    }

    /// Runs one execution. `None` if the search is given up.
    fn execute(
        &self,
        coroutines: &::shuttle::Config,
        body: &Body,
        is_part: bool,
        found: &mut Found<J>,
    ) -> Option<ControlFlow<()>> {
        let mut is_odd = false;
        let Found { exploration, judging } = found;
        let clean = quietly(|| run_one(coroutines, body));
        let goes_on = conclude(exploration, &mut |execution| {
            is_odd = matches!(execution.end, End::Diverged(_) | End::Refused(_));
            judging.judge(execution)
        });
        if (is_odd || !clean) && (is_part || self.has_helpers()) {
            self.is_stuck.fetch_or(!clean, Ordering::Relaxed);
            self.give_up();
            return None;
        }
        Some(if clean { goes_on } else { ControlFlow::Break(()) })
    }
}

/// The loans of one part that it has not come to.
struct Loans<'t, 'a, J: Judging> {
    team: &'t Team<'a, J>,
    open: Vec<Arc<Loan<J>>>,
}

impl<J: Judging> Loans<'_, '_, J> {
    fn lend(&mut self, executions: &RangeInclusive<u64>) -> bool {
        let Some((lent, part)) = session::with(|session| session.chooser.lend(executions)) else {
            return false;
        };
        self.open.retain(|loan| !loan.lent.has_ended());
        self.open.push(self.team.offer(lent, part));
        true
    }

    /// Takes a loan that is awaited.
    fn take(&mut self, lent: &Lent) -> Arc<Loan<J>> {
        let place = self.open.iter().position(|loan| loan.lent.is(lent));
        self.open.swap_remove(place.expect("a loan that is awaited is open"))
    }
}

impl<J: Judging> Drop for Loans<'_, '_, J> {
    fn drop(&mut self) {
        for loan in &self.open {
            loan.lent.end();
            self.team.take_back(loan);
        }
    }
}
