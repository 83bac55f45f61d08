//! The search of all traces on several threads of the operating system.
//!
//! The search of one thread is the rule: the others explore, in advance, parts that it would come to
//! later. What a part finds depends on nothing but its beginning, so the search takes the results over
//! when it comes there, in place of exploring the part. If it has found meanwhile that the part begins
//! with more than it did, it ends the loan and explores the part itself; so it does if the part met a
//! thread that the search had not met, or an execution after which nothing can run. So executions have
//! the numbers, and violations the schedules, that they have on one thread. Parts lend parts of
//! themselves: nobody is idle while a large part is explored, and who waits for one has others explored.

use std::collections::VecDeque;
use std::ops::{ControlFlow, RangeInclusive};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope, panicking, scope};

use super::kernel::{Kernel, Names};
use super::part::{Debt, Found, Judging, Lends, Part, search};
use super::session::{self, Session};
use super::trace::{Lent, Trace};
use super::{Body, Config, conclude, coroutines, run_one, with_stacks};
use crate::engine::{End, Exploration, Spare, quietly};

/// Makes the program of a part and its judge.
type Begin<'a, J> = &'a (dyn Fn() -> (Body, J) + Sync);

/// Runs one execution of every trace, up to a number of executions: on this thread, on some helpers, and
/// on cores that have nothing to do. The results do not depend on how many there are, if executions
/// share nothing. Tells also whether some ran beside others.
pub fn explore_on_cores<J: Judging>(
    config: &Config,
    executions: u64,
    helpers: usize,
    begin: Begin<'_, J>,
) -> (Exploration, J, bool) {
    Team::new(config, begin).search(executions, helpers)
}

/// The same with loans that depend on nothing but the search.
#[cfg(test)]
pub(super) fn explore_lending<J: Judging>(
    lends: Lends,
    config: &Config,
    executions: u64,
    begin: Begin<'_, J>,
) -> (Exploration, J, bool) {
    let helpers = usize::from(lends == Lends::ToAnother);
    Team { lends, ..Team::new(config, begin) }.search(executions, helpers)
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
    /// `None` if the lender is to explore it.
    Ended(Option<Box<Part<J>>>),
}

/// Those who search together.
struct Team<'a, J> {
    config: &'a Config,
    begin: Begin<'a, J>,
    lends: Lends,
    names: Mutex<Names>,
    /// Loans that nobody has begun, oldest first.
    offers: Mutex<VecDeque<Arc<Loan<J>>>>,
    changed: Condvar,
    /// How many more wait for an offer than there are offers.
    wanted: AtomicIsize,
    /// How many steps the parts have to leave to those who lent them.
    owed: Arc<AtomicUsize>,
    /// Whether a part was begun.
    shared: AtomicBool,
    /// Whether all is over.
    over: AtomicBool,
}

/// Ends the work of all, also if the search panics.
struct Over<'a, 'b, J: Judging>(&'a Team<'b, J>);

impl<J: Judging> Drop for Over<'_, '_, J> {
    fn drop(&mut self) {
        let offers = lock(&self.0.offers); // who is about to wait does so before, and is woken
        self.0.over.store(true, Ordering::Relaxed);
        drop(offers);
        self.0.changed.notify_all();
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

/// Parts are given up that owe more steps together, since memory is bounded: each takes some 60 bytes.
/// With half of it, no more is lent.
const MOST_OWED: usize = 1_000_000;

impl<'a, J: Judging> Team<'a, J> {
    fn new(config: &'a Config, begin: Begin<'a, J>) -> Self {
        Self {
            config,
            begin,
            lends: Lends::WhenWanted,
            names: Mutex::new(Names::new()),
            offers: Mutex::default(),
            changed: Condvar::new(),
            wanted: AtomicIsize::new(0),
            owed: Arc::default(),
            shared: AtomicBool::new(false),
            over: AtomicBool::new(false),
        }
    }

    fn search(&self, executions: u64, helpers: usize) -> (Exploration, J, bool) {
        let whole = scope(|scope| {
            let _over = Over(self);
            (0..helpers).for_each(|_| self.hire(scope, None));
            self.explore(scope, Trace::new(executions), None)
        });
        let found = whole.expect("the whole is not given up").found;
        (found.exploration, found.judging, self.shared.load(Ordering::Relaxed))
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn owe_more_than(&self, steps: usize) -> bool {
        self.owed.load(Ordering::Relaxed) > steps
    }

    /// Starts another thread, if the system lets it.
    #[expect(
        clippy::only_used_in_recursion,
        reason = "the core is given back when the thread ends"
    )]
    fn hire<'s>(&'s self, scope: &'s Scope<'s, '_>, core: Option<Spare>) {
        let help = move || {
            while !panicking() {
                let Some(loan) = self.next_offer() else { return };
                self.work(scope, &loan);
            }
            self.hire(scope, core); // a stack is stuck in its unwinding: nothing more can run here
        };
        let _started = Builder::new().spawn_scoped(scope, help);
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
        self.wanted.fetch_add(1, Ordering::Relaxed);
        Some(offer)
    }

    fn wait<'g, T>(&self, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
        self.wanted.fetch_add(1, Ordering::Relaxed);
        let guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// Explores a part for the one who lent it.
    fn work<'s>(&'s self, scope: &'s Scope<'s, '_>, loan: &Loan<J>) {
        let place = std::mem::replace(&mut *lock(&loan.place), Place::Begun);
        let Place::Offered(trace) = place else { return };
        self.shared.store(true, Ordering::Relaxed);
        let explore = || self.explore(scope, *trace, Some(&loan.lent));
        // The search comes to the same panic, and passes it on.
        let ended = catch_unwind(AssertUnwindSafe(explore)).unwrap_or(None);
        *lock(&loan.place) = Place::Ended(ended.map(Box::new));
        drop(lock(&self.offers)); // as above
        self.changed.notify_all();
    }

    /// Has a part explored on a thread of its own, and waits for that. The thread that waits must be fit
    /// for more executions, whatever those of the part do. If there is no thread, the lender explores it.
    fn have_done<'s>(&'s self, scope: &'s Scope<'s, '_>, loan: Arc<Loan<J>>) {
        let started = Builder::new().spawn_scoped(scope, move || self.work(scope, &loan));
        let _ended = started.map(std::thread::ScopedJoinHandle::join);
    }

    fn offer(&self, lent: Lent, trace: Trace) -> Arc<Loan<J>> {
        let place = Mutex::new(Place::Offered(Box::new(trace)));
        let loan = Arc::new(Loan { lent, place });
        lock(&self.offers).push_back(Arc::clone(&loan));
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        self.changed.notify_all();
        loan
    }

    /// Takes an offer back, if nobody has begun it.
    fn take_back(&self, loan: &Arc<Loan<J>>) -> bool {
        let mut offers = lock(&self.offers);
        let place = offers.iter().position(|offer| Arc::ptr_eq(offer, loan));
        let offer = place.and_then(|place| offers.remove(place));
        self.wanted.fetch_add(isize::from(offer.is_some()), Ordering::Relaxed);
        offer.is_some()
    }

    /// Waits for a part that was lent, and has other work done meanwhile. `None` if it is to be explored
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
                    self.have_done(scope, other);
                }
                None => drop(self.wait(offers)),
            }
        }
    }

    /// Explores the whole, or a part that somebody has lent. `None` if the part is given up.
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
        let debt = Debt::new(&self.owed);
        let mut found = Found { exploration: Exploration::default(), judging, debt };
        let through = || self.go_through(scope, lent, &body, &mut found);
        let broke_off = with_stacks(self.config.stack, through)?;
        let exhausted = session::with(|session| session.chooser.exhausted());
        found.exploration.exhausted = !broke_off && exhausted;
        Some(Part { found, leaves: search(Trace::yields), broke_off })
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
            let is_useless = |lent: &Lent| lent.has_ended() || self.owe_more_than(MOST_OWED);
            if self.is_over() || lent.is_some_and(is_useless) {
                return None;
            }
            loans.drop_ended();
            self.share(scope, lent, found.exploration.executions, &mut loans);
            let goes_on = if session::with(Session::begin) {
                self.execute(&coroutines, body, lent.is_some(), found)?
            } else {
                let awaited = search(|search| search.awaited().cloned());
                let Some(awaited) = awaited else { return Some(false) };
                let part = self.collect(scope, &loans.take(&awaited));
                found.take_over(part)
            };
            found.debt.set(search(|search| search.owes()));
            if goes_on.is_break() {
                return Some(true);
            }
        }
    }

    /// Takes cores that have nothing to do, and lends a part.
    fn share<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        #[cfg_attr(not(test), expect(unused_variables, reason = "tests ask"))] lent: Option<&Lent>,
        executions: u64,
        loans: &mut Loans<'_, 'a, J>,
    ) {
        match self.lends {
            Lends::WhenWanted if executions >= FEW => {
                Spare::take().into_iter().for_each(|core| self.hire(scope, Some(core)));
            }
            #[cfg(test)]
            Lends::AtOnce if loans.lend(&(0..=u64::MAX)) => {
                let offer = self.pop(&mut lock(&self.offers));
                self.work(scope, &offer.expect("just offered"));
            }
            #[cfg(test)]
            Lends::ToAnother if lent.is_none() && loans.lend(&(0..=u64::MAX)) => {
                while !lock(&self.offers).is_empty() {
                    std::thread::yield_now();
                }
            }
            _ => {}
        }
        if self.wanted.load(Ordering::Relaxed) > 0 && !self.owe_more_than(MOST_OWED / 2) {
            loans.lend(&LENT);
        }
    }

    /// Runs one execution. `None` if it is for the search to run: a refusal depends on the threads that
    /// were met before, and after one that is not clean nothing can run on this thread.
    fn execute(
        &self,
        coroutines: &::shuttle::Config,
        body: &Body,
        is_part: bool,
        found: &mut Found<J>,
    ) -> Option<ControlFlow<()>> {
        let (mut is_refused, mut diverged) = (false, false);
        let Found { exploration, judging, .. } = found;
        let clean = quietly(|| run_one(coroutines, body));
        let goes_on = conclude(exploration, &mut |execution| {
            is_refused = matches!(execution.end, End::Refused(_));
            diverged = matches!(execution.end, End::Diverged(_));
            judging.judge(execution)
        });
        if is_part && (is_refused || !clean) {
            return None;
        }
        Some(if clean && !diverged { goes_on } else { ControlFlow::Break(()) })
    }
}

/// The loans of one part that it has not come to.
struct Loans<'t, 'a, J: Judging> {
    team: &'t Team<'a, J>,
    open: Vec<Arc<Loan<J>>>,
}

impl<J: Judging> Loans<'_, '_, J> {
    fn lend(&mut self, executions: &RangeInclusive<u64>) -> bool {
        let Some((lent, part)) = search(|search| search.lend(executions)) else {
            return false;
        };
        self.open.push(self.team.offer(lent, part));
        true
    }

    /// Frees what ended loans have led to.
    fn drop_ended(&mut self) {
        let ended = self.open.extract_if(.., |loan| loan.lent.has_ended());
        ended.for_each(|loan| _ = self.team.take_back(&loan));
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
