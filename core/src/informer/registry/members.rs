//! The members of a registry by types and names. They need not be informers, so tests can use less.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cancel::CancelToken;
use crate::caught::{each, pass_on};
use crate::informer::feed::FeedError;
use crate::informer::health::Unwell;
use crate::informer::list_watch::BoxFuture;
use crate::runtime::{Instant, Runtime};

/// Something that runs until it is stopped: an informer of any type.
pub trait Runs<R: Runtime>: Send + Sync + 'static {
    /// Runs until the token ends.
    fn run(&self, token: &CancelToken<R>);
    /// As [`run`](Self::run), for tasks.
    fn run_async<'a>(&'a self, token: &'a CancelToken<R>) -> BoxFuture<'a, ()>;
    /// Waits for its first list; false if it is not there in time, or never will be.
    fn wait_for_sync_async(&self, until: Instant) -> BoxFuture<'_, bool>;
    /// Tells whether it runs as it should.
    ///
    /// # Errors
    /// The reason why it does not.
    fn check(&self) -> Result<(), Unwell> {
        Ok(())
    }
    /// Returns it as `Any`, for a downcast.
    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// Members by type and name, each with a thread or a task.
pub struct Members<R: Runtime> {
    runtime: R,
    /// Ends when the registry is shut down.
    life: CancelToken<R>,
    inside: R::Mutex<Inside<R>>,
}

struct Inside<R: Runtime> {
    /// The members, by type and name.
    entries: BTreeMap<(TypeId, String), Entry<R>>,
    /// The end tokens of runs that are being stopped.
    leaving: Vec<CancelToken<R>>,
    is_over: bool,
}

struct Entry<R: Runtime> {
    name: String,
    member: Arc<dyn Runs<R>>,
    /// Cancelled to stop the member.
    life: CancelToken<R>,
    running: Option<Running<R>>,
}

/// A run of a member.
struct Running<R: Runtime> {
    /// Ends when the run has ended.
    ended: CancelToken<R>,
    /// `None` for a task.
    thread: Option<R::Join<()>>,
}

impl<R: Runtime> Members<R> {
    /// Makes an empty registry.
    pub fn new(runtime: &R) -> Self {
        let inside =
            runtime.mutex(Inside { entries: BTreeMap::new(), leaving: Vec::new(), is_over: false });
        Self { runtime: runtime.clone(), life: CancelToken::new(runtime), inside }
    }

    /// Returns the member of this type and name. If there is none yet, `make` makes it; `kind`
    /// names the type.
    ///
    /// # Errors
    /// The registry is shut down.
    pub fn get_or_make<T: Runs<R>>(
        &self,
        name: &str,
        kind: &str,
        make: impl FnOnce() -> T,
    ) -> Result<Arc<T>, FeedError> {
        if let Some(member) = self.get(name) {
            return Ok(member);
        }
        let made = Arc::new(make()); // foreign code, so without the lock
        let key = (TypeId::of::<T>(), name.to_owned());
        let mut inside = self.runtime.lock(&self.inside);
        if inside.is_over {
            return Err(FeedError::Stopped);
        }
        if let Some(entry) = inside.entries.get(&key) {
            let there = entry.typed();
            drop(inside); // release the lock before the new member drops
            return Ok(there);
        }
        let (member, life) = (Arc::<T>::clone(&made), self.life.child());
        let name = format!("{name} ({kind})");
        inside.entries.insert(key, Entry { name, member, life, running: None });
        Ok(made)
    }

    /// Returns the member of this type and name, if there is one.
    pub fn get<T: Runs<R>>(&self, name: &str) -> Option<Arc<T>> {
        let key = (TypeId::of::<T>(), name.to_owned());
        self.runtime.lock(&self.inside).entries.get(&key).map(Entry::typed)
    }

    /// Starts a thread for every member that does not run yet.
    pub fn start(&self) {
        self.start_each(|run| {
            let Run { member, life, ended, name } = run;
            let body = move || {
                let _ended = ended;
                let member = member; // dropped before the end of the run is told
                member.run(&life);
            };
            Some(self.runtime.spawn(&name, body))
        });
    }

    /// As [`start`](Self::start), with tasks: `spawn` runs each on an executor.
    pub fn start_with(&self, mut spawn: impl FnMut(BoxFuture<'static, ()>)) {
        let mut tasks: Vec<BoxFuture<'static, ()>> = Vec::new();
        self.start_each(|run| {
            let Run { member, life, ended, .. } = run;
            tasks.push(Box::pin(async move {
                let _ended = ended;
                let member = member;
                member.run_async(&life).await;
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
                member: Arc::clone(&entry.member),
                life: entry.life.clone(),
                ended: Ended(ended.clone()),
                name: entry.name.clone(),
            });
            entry.running = Some(Running { ended, thread });
        }
    }

    /// Checks all members; a member whose thread or task has ended is not well.
    ///
    /// # Errors
    /// The names of the members that are not well, and why.
    pub fn check(&self) -> Result<(), Vec<(String, Unwell)>> {
        let is_over = |it: &Entry<R>| it.running.as_ref().is_some_and(|it| it.ended.is_cancelled());
        let all: Vec<_> = {
            let inside = self.runtime.lock(&self.inside);
            let entries = inside.entries.values();
            entries.map(|it| (it.name.clone(), Arc::clone(&it.member), is_over(it))).collect()
        };
        let mut unwell = Vec::new();
        for (name, member, is_over) in all {
            match member.check() {
                Err(why) => unwell.push((name, why)),
                Ok(()) if is_over => unwell.push((name, Unwell::Ended { panic: None })),
                Ok(()) => {}
            }
        }
        if unwell.is_empty() { Ok(()) } else { Err(unwell) }
    }

    /// Waits until every member has its first list.
    ///
    /// # Errors
    /// The names of members that have no list in time, or never will.
    pub async fn wait_for_sync(&self, until: Instant) -> Result<(), Vec<String>> {
        let all: Vec<_> = {
            let inside = self.runtime.lock(&self.inside);
            inside.entries.values().map(|it| (it.name.clone(), Arc::clone(&it.member))).collect()
        };
        let mut late = Vec::new();
        for (name, member) in all {
            if !member.wait_for_sync_async(until).await {
                late.push(name);
            }
        }
        if late.is_empty() { Ok(()) } else { Err(late) }
    }

    /// Stops the member of this type and name, forgets it, and waits until it has ended. Returns
    /// whether there was one.
    pub async fn remove<T: Runs<R>>(&self, name: &str) -> bool {
        let key = (TypeId::of::<T>(), name.to_owned());
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

    /// Stops all members, and waits until they have ended. No members are left. If some panicked,
    /// it panics with the first panic, once all have ended.
    pub async fn shut_down(&self) {
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
    /// Notes runs that are ending, so that others can wait for them.
    fn take_leave<'a>(&mut self, entries: impl Iterator<Item = &'a Entry<R>>) {
        self.leaving.retain(|ended| !ended.is_cancelled());
        let running = entries.filter_map(|entry| entry.running.as_ref());
        self.leaving.extend(running.map(|running| running.ended.clone()));
    }
}

/// A run that is being started.
struct Run<R: Runtime> {
    member: Arc<dyn Runs<R>>,
    life: CancelToken<R>,
    ended: Ended<R>,
    name: String,
}

/// Says that a run has ended, however it ends.
struct Ended<R: Runtime>(CancelToken<R>);

impl<R: Runtime> Drop for Ended<R> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl<R: Runtime> Entry<R> {
    fn typed<T: Runs<R>>(&self) -> Arc<T> {
        let member = Arc::clone(&self.member).any().downcast();
        member.expect("a member is kept under its own type")
    }
}

impl<R: Runtime> Drop for Members<R> {
    fn drop(&mut self) {
        self.life.cancel();
    }
}

impl<R: Runtime> std::fmt::Debug for Members<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Members")
    }
}
