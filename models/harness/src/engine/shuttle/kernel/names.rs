//! Names of threads and objects that mean the same thing in every execution.
//!
//! In which order two threads start their children depends on the schedule; which child is a
//! thread's third one does not. So a thread is known by its parent and its place among the
//! parent's children, an object by its maker and its place among what that thread made. Both get
//! a small number the first time they are seen, and keep it for the whole exploration, on all threads
//! of the operating system that share it.

use std::sync::{Arc, Mutex, PoisonError};

use super::hash::mix;

/// A thread across executions.
pub(crate) type ThreadName = usize;
/// An object (mutex, condition variable, published value) across executions.
pub(crate) type ObjectName = u32;

/// The main thread.
pub(crate) const MAIN: ThreadName = 0;
/// The thread that serves timers. It has no parent, since the schedule decides which thread starts
/// it.
pub(crate) const SERVICE: ThreadName = 1;

/// The names, as far as one thread of the operating system has met them.
pub(crate) struct Names {
    own: Tables,
    /// The names that any of them has met.
    all: Arc<Mutex<Tables>>,
}

struct Tables {
    threads: Vec<Known>,
    /// A number for each object, which depends only on its maker and its place among the maker's
    /// objects.
    objects: Vec<u64>,
}

#[derive(Clone)]
struct Known {
    path: u64,
    children: Vec<ThreadName>,
    objects: Vec<ObjectName>,
}

impl Known {
    fn new(path: u64) -> Self {
        Self { path, children: Vec::new(), objects: Vec::new() }
    }
}

impl Names {
    pub(crate) fn new() -> Self {
        Self { own: Tables::new(), all: Arc::new(Mutex::new(Tables::new())) }
    }

    /// Returns the same names for another thread of the operating system.
    pub(crate) fn shared(&self) -> Self {
        Self { own: Tables::new(), all: Arc::clone(&self.all) }
    }

    /// Returns the name of a thread's `nth` child.
    pub(crate) fn child(&mut self, parent: ThreadName, nth: usize) -> ThreadName {
        let known = self.own.threads[parent].children.get(nth).copied();
        known.unwrap_or_else(|| self.meet(|all| all.child(parent, nth)))
    }

    /// Returns the name of the `nth` object that a thread makes.
    pub(crate) fn object(&mut self, maker: ThreadName, nth: usize) -> ObjectName {
        let known = self.own.threads[maker].objects.get(nth).copied();
        known.unwrap_or_else(|| self.meet(|all| all.object(maker, nth)))
    }

    fn meet<T>(&mut self, name: impl FnOnce(&mut Tables) -> T) -> T {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let name = name(&mut all);
        self.own.catch_up(&all);
        name
    }

    /// Returns a number that identifies the thread in every exploration.
    pub(crate) fn thread_path(&self, name: ThreadName) -> u64 {
        self.own.threads[name].path
    }

    /// Returns a number that identifies the object in every exploration.
    pub(crate) fn object_path(&self, name: ObjectName) -> u64 {
        self.own.objects[name as usize]
    }
}

impl Tables {
    fn new() -> Self {
        Self { threads: vec![Known::new(mix(1)), Known::new(mix(2))], objects: Vec::new() }
    }

    fn child(&mut self, parent: ThreadName, nth: usize) -> ThreadName {
        if let Some(&known) = self.threads[parent].children.get(nth) {
            return known;
        }
        debug_assert_eq!(self.threads[parent].children.len(), nth);
        let name = self.threads.len();
        let path = mix(mix(self.threads[parent].path ^ 3).wrapping_add(nth as u64));
        self.threads.push(Known::new(path));
        self.threads[parent].children.push(name);
        name
    }

    fn object(&mut self, maker: ThreadName, nth: usize) -> ObjectName {
        if let Some(&known) = self.threads[maker].objects.get(nth) {
            return known;
        }
        debug_assert_eq!(self.threads[maker].objects.len(), nth);
        let name = self.objects.len() as ObjectName;
        self.objects.push(mix(mix(self.threads[maker].path ^ 5).wrapping_add(nth as u64)));
        self.threads[maker].objects.push(name);
        name
    }

    /// Takes over the names that others have given. Both gave the names before in the same order.
    fn catch_up(&mut self, all: &Self) {
        self.objects.extend_from_slice(&all.objects[self.objects.len()..]);
        for (mine, known) in self.threads.iter_mut().zip(&all.threads) {
            mine.children.extend_from_slice(&known.children[mine.children.len()..]);
            mine.objects.extend_from_slice(&known.objects[mine.objects.len()..]);
        }
        self.threads.extend_from_slice(&all.threads[self.threads.len()..]);
    }
}
