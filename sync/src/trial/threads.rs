//! `std`'s threads.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

pub use std::thread::Result;

use seatrial::program::{Seam, Thread as Engine};
use seatrial_core::runtime::Runtime as _;

use super::fault::{Fault, has};
use super::lock::{Locked, Sleepers};
use super::moment::Moment;

/// [`std::thread::ThreadId`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Id {
    Real(std::thread::ThreadId),
    OfRun(u64),
}

/// [`std::thread::Thread`].
#[derive(Clone, Debug)]
pub struct Thread(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Real(std::thread::Thread),
    OfRun(Arc<OfRun>),
}

/// A thread of a run.
#[derive(Debug)]
struct OfRun {
    name: Option<String>,
    id: u64,
    /// Whether it was unparked since it last parked.
    token: Locked<bool>,
    given: Sleepers,
}

impl OfRun {
    fn new(seam: &Seam, name: Option<String>) -> Arc<Self> {
        let (token, given) = (Locked::new(false), Sleepers::new());
        Arc::new(Self { name, id: seam.number(), token, given })
    }
}

/// A run, and its threads by their numbers.
type Known = (Seam, BTreeMap<u8, Arc<OfRun>>);

thread_local! {
    /// The threads of the run that this thread of the system is in the middle of.
    static THREADS: RefCell<Option<Known>> = const { RefCell::new(None) };
}

/// Returns what is known of the running thread, or was just told.
fn known(seam: &Seam, told: Option<Arc<OfRun>>) -> Option<Arc<OfRun>> {
    THREADS.with_borrow_mut(|threads| {
        if threads.as_ref().is_none_or(|(run, _)| !run.is_same_run(seam)) {
            *threads = Some((seam.clone(), BTreeMap::new()));
        }
        let (_, threads) = threads.as_mut().expect("just put there");
        if let Some(thread) = told {
            threads.insert(seam.thread(), thread);
        }
        threads.get(&seam.thread()).cloned()
    })
}

/// [`std::thread::current`].
#[must_use]
pub fn current() -> Thread {
    let Some(seam) = Seam::current() else {
        return Thread(Kind::Real(std::thread::current()));
    };
    let thread = known(&seam, None).or_else(|| {
        let name = (seam.thread() == 0).then(|| "main".to_owned());
        known(&seam, Some(OfRun::new(&seam, name)))
    });
    Thread(Kind::OfRun(thread.expect("just told")))
}

impl Thread {
    /// Returns the number of the thread.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Kind::Real(thread) => Id::Real(thread.id()),
            Kind::OfRun(thread) => Id::OfRun(thread.id),
        })
    }

    /// Returns its name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Real(thread) => thread.name(),
            Kind::OfRun(thread) => thread.name.as_deref(),
        }
    }

    /// Ends its next park, or the one under way.
    pub fn unpark(&self) {
        match &self.0 {
            Kind::Real(thread) => thread.unpark(),
            Kind::OfRun(thread) => {
                let mut token = thread.token.lock();
                *token = true;
                thread.given.notify_all(&token);
            }
        }
    }
}

fn park_until(until: Option<Moment>) -> bool {
    let Kind::OfRun(thread) = current().0 else { return false };
    let mut token = thread.token.lock();
    if has(Fault::ForgetsUnpark) {
        *token = false;
    }
    let mut is_late = false;
    while !*token && !is_late {
        (token, is_late) = thread.given.wait_until(token, until);
    }
    *token = false;
    true
}

/// [`std::thread::panicking`].
#[must_use]
pub fn panicking() -> bool {
    Seam::current().map_or_else(std::thread::panicking, |seam| seam.is_unwinding())
}

/// [`std::thread::park`].
pub fn park() {
    if !park_until(None) {
        std::thread::park();
    }
}

/// [`std::thread::park_timeout`].
pub fn park_timeout(time: Duration) {
    if !park_until(Moment::now().after(time)) {
        std::thread::park_timeout(time);
    }
}

/// [`std::thread::sleep`].
pub fn sleep(time: Duration) {
    match Seam::current() {
        Some(seam) => seam.sleep(time),
        None => std::thread::sleep(time),
    }
}

/// [`std::thread::yield_now`]: in a run, until no other thread can move.
pub fn yield_now() {
    match Seam::current() {
        Some(seam) => {
            seam.sleep(Duration::from_nanos(1));
            seam.runtime().give_turn();
        }
        None => std::thread::yield_now(),
    }
}

/// [`std::thread::available_parallelism`].
///
/// # Errors
/// The system does not tell.
pub fn available_parallelism() -> io::Result<std::num::NonZero<usize>> {
    match Seam::current() {
        Some(_) => Ok(std::num::NonZero::<usize>::MIN.saturating_add(1)),
        None => std::thread::available_parallelism(),
    }
}

/// [`std::thread::Builder`].
#[derive(Default, Debug)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Makes one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the thread.
    #[must_use]
    pub fn name(self, name: String) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Sets the size of its stack, which engines choose themselves.
    #[must_use]
    pub fn stack_size(self, size: usize) -> Self {
        Self { stack_size: Some(size), ..self }
    }

    /// Starts it.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn spawn<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let Some(seam) = Seam::current() else {
            let mut real = std::thread::Builder::new();
            if let Some(name) = self.name {
                real = real.name(name);
            }
            if let Some(size) = self.stack_size {
                real = real.stack_size(size);
            }
            return real.spawn(body).map(|real| JoinHandle(Handle::Real(real)));
        };
        let label = self.name.clone().unwrap_or_else(|| "thread".to_owned());
        let thread = OfRun::new(&seam, self.name);
        let (theirs, inner) = (Arc::clone(&thread), seam.clone());
        let engine = seam.spawn(&label, move || {
            drop(known(&inner, Some(theirs)));
            body()
        });
        Ok(JoinHandle(Handle::OfRun(engine, Thread(Kind::OfRun(thread)))))
    }
}

/// [`std::thread::spawn`].
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(body).expect("failed to spawn thread")
}

/// [`std::thread::JoinHandle`].
#[derive(Debug)]
pub struct JoinHandle<T: Send + 'static>(Handle<T>);

#[derive(Debug)]
enum Handle<T: Send + 'static> {
    Real(std::thread::JoinHandle<T>),
    OfRun(Engine<T>, Thread),
}

impl<T: Send + 'static> JoinHandle<T> {
    /// Waits for the thread to end.
    ///
    /// # Errors
    /// It panicked; the payload is returned.
    pub fn join(self) -> Result<T> {
        match self.0 {
            Handle::Real(real) => real.join(),
            Handle::OfRun(engine, _) => engine.try_join(),
        }
    }

    /// Returns the thread.
    pub fn thread(&self) -> Thread {
        match &self.0 {
            Handle::Real(real) => Thread(Kind::Real(real.thread().clone())),
            Handle::OfRun(_, thread) => thread.clone(),
        }
    }
}
