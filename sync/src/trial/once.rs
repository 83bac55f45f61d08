//! What is done, or made, once; and barriers.

use std::fmt;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock as Real;

use super::fault::{Fault, has};
use super::lock::{Label, Locked, Sleepers};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    New,
    Running,
    Done,
    Poisoned,
}

/// [`std::sync::Once`].
#[derive(Debug)]
pub struct Once {
    label: Label,
    stage: Locked<Stage>,
    changed: Sleepers,
}

/// [`std::sync::OnceState`].
#[derive(Debug)]
pub struct OnceState {
    is_poisoned: bool,
}

impl OnceState {
    /// Tells whether an earlier attempt panicked.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.is_poisoned
    }
}

impl Once {
    /// Makes one that nothing has been done of.
    #[must_use]
    pub fn new() -> Self {
        Self { label: Label::new(), stage: Locked::new(Stage::New), changed: Sleepers::new() }
    }

    /// Runs `make`, unless it was run before; waits as long as another thread runs it.
    ///
    /// # Panics
    /// If an earlier attempt panicked.
    pub fn call_once<F: FnOnce()>(&self, make: F) {
        self.run(
            |state| {
                assert!(!state.is_poisoned, "Once instance has previously been poisoned");
                make();
            },
            Stage::Poisoned,
        );
    }

    /// As [`call_once`](Self::call_once), also after an attempt that panicked.
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, make: F) {
        self.run(make, Stage::Poisoned);
    }

    /// Runs `make` unless it was run before; after a panic the stage is `failed`.
    fn run(&self, make: impl FnOnce(&OnceState), failed: Stage) {
        let mut stage = self.stage.lock();
        while *stage == Stage::Running {
            stage = self.changed.wait(stage);
        }
        if *stage == Stage::Done {
            return;
        }
        let state = OnceState { is_poisoned: *stage == Stage::Poisoned };
        *stage = Stage::Running;
        drop(stage);
        self.label.note("begins once");
        let made = catch_unwind(AssertUnwindSafe(|| make(&state)));
        let mut stage = self.stage.lock();
        *stage = if made.is_ok() { Stage::Done } else { failed };
        self.changed.notify_all(&stage);
        drop(stage);
        self.label.note("has done once");
        made.unwrap_or_else(|panic| resume_unwind(panic));
    }

    /// Tells whether it was done.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        *self.stage.lock() == Stage::Done
    }

    /// Waits until it was done.
    ///
    /// # Panics
    /// If an attempt panicked.
    pub fn wait(&self) {
        let mut stage = self.stage.lock();
        while matches!(*stage, Stage::New | Stage::Running) {
            stage = self.changed.wait(stage);
        }
        assert!(*stage == Stage::Done, "Once instance has previously been poisoned");
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

/// [`std::sync::OnceLock`].
pub struct OnceLock<T> {
    once: Once,
    value: Real<T>,
}

impl<T> OnceLock<T> {
    /// Makes an empty one.
    #[must_use]
    pub fn new() -> Self {
        Self { once: Once::new(), value: Real::new() }
    }

    /// Returns the value, if there is one.
    pub fn get(&self) -> Option<&T> {
        if self.once.is_completed() { self.value.get() } else { None }
    }

    /// Waits for the value.
    pub fn wait(&self) -> &T {
        self.once.wait();
        self.made()
    }

    /// Sets the value.
    ///
    /// # Errors
    /// There is one already: yours comes back.
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("called once"));
        value.map_or(Ok(()), Err)
    }

    /// Returns the value, which `make` makes if there is none; waits as long as another thread makes it.
    pub fn get_or_init<F: FnOnce() -> T>(&self, make: F) -> &T {
        self.once.run(
            |_| {
                let is_first = self.value.set(make()).is_ok();
                assert!(is_first, "a value was made in the midst of another one");
            },
            Stage::New,
        );
        self.made()
    }

    fn made(&self) -> &T {
        self.value.get().expect("it was set before it was done")
    }

    /// Returns the value, which nobody can hold.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Takes the value out.
    pub fn take(&mut self) -> Option<T> {
        *self.once.stage.get_mut() = Stage::New;
        self.value.take()
    }

    /// Returns the value.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        let once = Self::new();
        once.get_or_init(|| value);
        once
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(Self::new, Self::from)
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// [`std::sync::LazyLock`].
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: Locked<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Makes one whose value `make` will make.
    pub fn new(make: F) -> Self {
        Self { value: OnceLock::new(), make: Locked::new(Some(make)) }
    }

    /// Returns the value, which is made the first time.
    ///
    /// # Panics
    /// If it panicked when it was made.
    pub fn force(this: &Self) -> &T {
        this.value.get_or_init(|| {
            let make = this.make.lock().take();
            make.expect("LazyLock instance has previously been poisoned")()
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// [`std::sync::Barrier`].
#[derive(Debug)]
pub struct Barrier {
    label: Label,
    size: usize,
    /// How often it opened, and who waits for the next time.
    state: Locked<(u64, usize)>,
    opened: Sleepers,
}

/// [`std::sync::BarrierWaitResult`].
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Tells whether this thread is the one of its group that leads.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Makes one that opens for groups of this size.
    #[must_use]
    pub fn new(size: usize) -> Self {
        Self { label: Label::new(), size, state: Locked::new((0, 0)), opened: Sleepers::new() }
    }

    /// Waits until a group is complete.
    pub fn wait(&self) -> BarrierWaitResult {
        self.label.note("comes to");
        let size = if has(Fault::OpensEarly) { self.size - 1 } else { self.size };
        let mut state = self.state.lock();
        state.1 += 1;
        if state.1 >= size {
            *state = (state.0 + 1, 0);
            self.opened.notify_all(&state);
            return BarrierWaitResult(true);
        }
        let mine = state.0;
        while state.0 == mine {
            state = self.opened.wait(state);
        }
        BarrierWaitResult(false)
    }
}
