//! The informers of a program: one of a kind (client-go `SharedInformerFactory`).

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::cancel::CancelToken;
use crate::caught::{each, pass_on};
use crate::runtime::{Instant, Runtime, System};
use crate::store::{Described, Handle};

use super::feed::Over;
use super::list_watch::Awaited;
use super::shared::Informer;

/// Informers by the types of their objects and by names: the same type and name give the same
/// informer.
///
/// ```
/// # use std::sync::Arc;
/// # use std::time::Duration;
/// # use seatrial_core::informer::{Informer, ListWatch, Over, Registry};
/// # use seatrial_core::runtime::{Ambient, System};
/// # use seatrial_core::store::{Described, Handle};
/// # fn run<Pod: Handle + Described>(source: Arc<dyn ListWatch<Pod>>) -> Result<(), Over> {
/// let system = System::new();
/// let registry = Registry::new(&system);
/// let pods = registry.informer("pods", || Informer::new(&system, source))?;
/// registry.start();
/// let until = system.now() + Duration::from_secs(60);
/// if let Err(late) = registry.wait_for_sync(until) {
///     println!("no first list yet: {late:?}");
/// }
/// println!("{} pods", pods.store().len());
/// registry.shut_down(); // every thread has ended
/// # Ok(())
/// # }
/// ```
///
/// To drop it is to stop all informers that it started, without waiting for them.
pub struct Registry<R: Runtime = System> {
    runtime: R,
    /// Ends when it is shut down.
    life: CancelToken<R>,
    inside: R::Mutex<Inside<R>>,
}

struct Inside<R: Runtime> {
    /// What is there, by type and name.
    entries: BTreeMap<(TypeId, String), Entry<R>>,
    /// The ends of runs that somebody stops.
    leaving: Vec<CancelToken<R>>,
    is_over: bool,
}

struct Entry<R: Runtime> {
    name: String,
    informer: Arc<dyn Runs<R>>,
    /// Ends when the informer is to stop.
    life: CancelToken<R>,
    running: Option<Running<R>>,
}

/// A run of an informer.
struct Running<R: Runtime> {
    /// Ends with the run.
    ended: CancelToken<R>,
    /// `None` for a task.
    thread: Option<R::Join<()>>,
}

/// An informer of any type.
trait Runs<R: Runtime>: Send + Sync {
    fn run(&self, token: &CancelToken<R>);
    fn run_async<'a>(&'a self, token: &'a CancelToken<R>) -> Awaited<'a, ()>;
    fn wait_for_sync_async(&self, until: Instant) -> Awaited<'_, bool>;
    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<O: Handle + Described, R: Runtime> Runs<R> for Informer<O, R> {
    fn run(&self, token: &CancelToken<R>) {
        let _ran_already = Self::run(self, token); // by its user: it is watched all the same
    }

    fn run_async<'a>(&'a self, token: &'a CancelToken<R>) -> Awaited<'a, ()> {
        Box::pin(async move {
            let _ran_already = Self::run_async(self, token).await;
        })
    }

    fn wait_for_sync_async(&self, until: Instant) -> Awaited<'_, bool> {
        Box::pin(Self::wait_for_sync_async(self, until))
    }

    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl<R: Runtime> Registry<R> {
    /// A registry without informers.
    pub fn new(runtime: &R) -> Self {
        let inside =
            runtime.mutex(Inside { entries: BTreeMap::new(), leaving: Vec::new(), is_over: false });
        Self { runtime: runtime.clone(), life: CancelToken::new(runtime), inside }
    }

    /// Returns the informer of this type and name; `make` makes it if there is none yet. It runs
    /// from the next [`start`](Self::start).
    ///
    /// # Errors
    /// The registry is shut down.
    pub fn informer<O: Handle + Described>(
        &self,
        name: &str,
        make: impl FnOnce() -> Informer<O, R>,
    ) -> Result<Arc<Informer<O, R>>, Over> {
        if let Some(informer) = self.get(name) {
            return Ok(informer);
        }
        let made = Arc::new(make()); // foreign code, so without the lock
        let key = (TypeId::of::<O>(), name.to_owned());
        let mut inside = self.runtime.lock(&self.inside);
        if inside.is_over {
            return Err(Over::Stopped);
        }
        if let Some(entry) = inside.entries.get(&key) {
            let there = entry.typed();
            drop(inside); // before what was made
            return Ok(there);
        }
        let (informer, life) = (Arc::<Informer<O, R>>::clone(&made), self.life.child());
        let name = format!("{name} ({})", type_name::<O>());
        inside.entries.insert(key, Entry { name, informer, life, running: None });
        Ok(made)
    }

    /// Returns the informer of this type and name, if there is one.
    pub fn get<O: Handle + Described>(&self, name: &str) -> Option<Arc<Informer<O, R>>> {
        let key = (TypeId::of::<O>(), name.to_owned());
        self.runtime.lock(&self.inside).entries.get(&key).map(Entry::typed)
    }

    /// Starts a thread for every informer that does not run yet.
    pub fn start(&self) {
        self.start_each(|run| {
            let Run { informer, life, ended, name } = run;
            let body = move || {
                let _ended = ended;
                informer.run(&life);
            };
            Some(self.runtime.spawn(&name, body))
        });
    }

    /// As [`start`](Self::start), with tasks: `spawn` has each run by an executor. Where that has
    /// one thread only, its tasks wait with [`wait_for_sync_async`](Self::wait_for_sync_async),
    /// [`remove_async`](Self::remove_async) and [`shut_down_async`](Self::shut_down_async): the
    /// blocking forms would keep the informers from running.
    pub fn start_with(&self, mut spawn: impl FnMut(Awaited<'static, ()>)) {
        let mut tasks: Vec<Awaited<'static, ()>> = Vec::new();
        self.start_each(|run| {
            let Run { informer, life, ended, .. } = run;
            tasks.push(Box::pin(async move {
                let _ended = ended;
                informer.run_async(&life).await;
            }));
            None
        });
        tasks.into_iter().for_each(&mut spawn); // foreign code, so without the lock
    }

    fn start_each(&self, mut run: impl FnMut(Run<R>) -> Option<R::Join<()>>) {
        let mut inside = self.runtime.lock(&self.inside);
        if inside.is_over {
            return;
        }
        for entry in inside.entries.values_mut().filter(|entry| entry.running.is_none()) {
            let ended = CancelToken::new(&self.runtime);
            let thread = run(Run {
                informer: Arc::clone(&entry.informer),
                life: entry.life.clone(),
                ended: Ended(ended.clone()),
                name: entry.name.clone(),
            });
            entry.running = Some(Running { ended, thread });
        }
    }

    /// Sleeps until every informer has its first list.
    ///
    /// # Errors
    /// Some have not by then, or never will: their names.
    pub fn wait_for_sync(&self, until: Instant) -> Result<(), Vec<String>> {
        self.runtime.block_on(self.wait_for_sync_async(until))
    }

    /// As [`wait_for_sync`](Self::wait_for_sync), for tasks.
    ///
    /// # Errors
    /// As [`wait_for_sync`](Self::wait_for_sync).
    pub async fn wait_for_sync_async(&self, until: Instant) -> Result<(), Vec<String>> {
        let all: Vec<_> = {
            let inside = self.runtime.lock(&self.inside);
            inside.entries.values().map(|it| (it.name.clone(), Arc::clone(&it.informer))).collect()
        };
        let mut late = Vec::new();
        for (name, informer) in all {
            if !informer.wait_for_sync_async(until).await {
                late.push(name);
            }
        }
        if late.is_empty() { Ok(()) } else { Err(late) }
    }

    /// Stops the informer of this type and name, forgets it, and sleeps until it has ended with all
    /// its handlers; so it is not to be called by one of these. Tells whether there was one.
    pub fn remove<O: Handle + Described>(&self, name: &str) -> bool {
        self.runtime.block_on(self.remove_async::<O>(name))
    }

    /// As [`remove`](Self::remove), for tasks: to drop the future is to wait no longer.
    pub async fn remove_async<O: Handle + Described>(&self, name: &str) -> bool {
        let key = (TypeId::of::<O>(), name.to_owned());
        let entry = {
            let mut inside = self.runtime.lock(&self.inside);
            let entry = inside.entries.remove(&key);
            inside.take_leave(entry.iter());
            entry
        };
        let found = entry.is_some();
        self.stop(entry.into_iter().collect()).await;
        found
    }

    /// Stops all informers, and sleeps until they have ended with all their handlers; so it is not
    /// to be called by one of these. There are none after it. If some panicked, it panics with what
    /// the first of them did, once all have ended.
    pub fn shut_down(&self) {
        self.runtime.block_on(self.shut_down_async());
    }

    /// As [`shut_down`](Self::shut_down), for tasks: to drop the future is to wait no longer.
    pub async fn shut_down_async(&self) {
        let (entries, leaving) = {
            let mut inside = self.runtime.lock(&self.inside);
            inside.is_over = true;
            let (entries, leaving) = (std::mem::take(&mut inside.entries), inside.leaving.clone());
            inside.take_leave(entries.values());
            (entries, leaving)
        };
        self.life.cancel();
        for ended in leaving {
            ended.wait_async().await;
        }
        self.stop(entries.into_values().collect()).await;
    }

    async fn stop(&self, entries: Vec<Entry<R>>) {
        entries.iter().for_each(|entry| entry.life.cancel());
        for running in entries.iter().filter_map(|entry| entry.running.as_ref()) {
            running.ended.wait_async().await;
        }
        pass_on(each(entries, |entry| {
            let thread = entry.running.and_then(|running| running.thread);
            if let Some(Err(panic)) = thread.map(|thread| self.runtime.join(thread)) {
                std::panic::resume_unwind(panic);
            }
        }));
    }
}

impl<R: Runtime> Inside<R> {
    /// Takes note of runs that end, so that others can wait for that.
    fn take_leave<'a>(&mut self, entries: impl Iterator<Item = &'a Entry<R>>) {
        self.leaving.retain(|ended| !ended.is_cancelled());
        let running = entries.filter_map(|entry| entry.running.as_ref());
        self.leaving.extend(running.map(|running| running.ended.clone()));
    }
}

/// What is started.
struct Run<R: Runtime> {
    informer: Arc<dyn Runs<R>>,
    life: CancelToken<R>,
    ended: Ended<R>,
    name: String,
}

/// Says that a run has ended, whatever ends it.
struct Ended<R: Runtime>(CancelToken<R>);

impl<R: Runtime> Drop for Ended<R> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl<R: Runtime> Entry<R> {
    fn typed<O: Handle + Described>(&self) -> Arc<Informer<O, R>> {
        let informer = Arc::clone(&self.informer).any().downcast();
        informer.expect("an informer is kept under its own type")
    }
}

impl<R: Runtime> Drop for Registry<R> {
    fn drop(&mut self) {
        self.life.cancel();
    }
}

impl<R: Runtime> fmt::Debug for Registry<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Registry")
    }
}
