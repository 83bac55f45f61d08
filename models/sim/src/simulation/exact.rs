//! The inputs that come from the machine; the feature `exact` puts them under control.

use std::time::Duration;

/// Whether runs are the same bit for bit: with the feature `exact`, where it works.
#[cfg(feature = "exact")]
pub fn is_exact() -> bool {
    static IS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *IS.get_or_init(|| seatrial_sim_libc::is_supported() && seatrial_sim_libc::is_effective())
}

/// Whether runs are the same bit for bit: not without the feature `exact`.
#[cfg(not(feature = "exact"))]
pub fn is_exact() -> bool {
    false
}

/// The inputs to put under control, and the seed for them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// The runs are compared as at the level `ordered`.
    pub(crate) is_ordered: bool,
    /// The seed of hash maps and of whatever else a process draws; the server has its own.
    #[cfg(feature = "exact")]
    pub(crate) seed: u64,
    #[cfg(feature = "exact")]
    pub(crate) remedies: seatrial_sim_libc::Remedies,
}

impl Wanted {
    /// The same with a seed of its own.
    #[cfg(feature = "exact")]
    pub(crate) fn with(self, seed: u64) -> Self {
        Self { seed: self.seed.wrapping_add(seed), ..self }
    }

    /// The same: nothing is drawn by a seed.
    #[cfg(not(feature = "exact"))]
    pub(crate) fn with(self, _: u64) -> Self {
        self
    }
}

impl Wanted {
    /// Where the random numbers of a process begin. One that is alone has those of the thread.
    #[cfg(feature = "exact")]
    pub(crate) fn chance<T>(self, index: usize, programs: &[(std::sync::Arc<str>, T)]) -> Chance {
        let seed = self.seed.wrapping_add((index as u64) << 48);
        let own = programs.get(index).filter(|_| programs.len() > 1);
        Chance(own.map(|(name, _)| seatrial_sim_libc::Machine::new(seed, name)))
    }

    /// Nothing is drawn by a seed.
    #[cfg(not(feature = "exact"))]
    pub(crate) fn chance<T>(self, _: usize, _: &[T]) -> Chance {
        Chance
    }
}

/// The random numbers of a process of several, and the name of its machine.
#[cfg(feature = "exact")]
#[derive(Debug)]
pub(crate) struct Chance(Option<seatrial_sim_libc::Machine>);

/// Nothing is drawn by a seed.
#[cfg(not(feature = "exact"))]
#[derive(Debug)]
pub(crate) struct Chance;

/// The moments around which a number is a time: that of the simulation, and that of the machine where it
/// may show through.
pub(crate) fn moments(now: Duration, is_exact: bool) -> Vec<Duration> {
    let machine = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let machine = machine.ok().filter(|_| !is_exact);
    std::iter::once(now).chain(machine).collect()
}

/// This thread is under control.
#[derive(Debug)]
pub(crate) struct Hold {
    #[cfg(feature = "exact")]
    guard: seatrial_sim_libc::Guard,
}

#[cfg(feature = "exact")]
impl Hold {
    fn new(wanted: Wanted) -> Self {
        Self { guard: seatrial_sim_libc::Guard::new(wanted.seed, wanted.remedies) }
    }

    /// The clocks follow tokio's, inside its runtime; `now` is the time since the Unix epoch at an instant
    /// of it. Outside the runtime they stand still: it measures its own work from before it begins.
    pub(crate) fn start_clock(&self, now: Duration, start: tokio::time::Instant) {
        let is_inside = || tokio::runtime::Handle::try_current().is_ok();
        let elapsed = move || if is_inside() { start.elapsed() } else { Duration::ZERO };
        self.guard.set_clock(now, move || Some(elapsed()));
    }

    /// The clocks are the machine's again.
    pub(crate) fn stop_clock(&self) {
        self.guard.clear_clock();
    }

    /// Gives the thread what is a process' own, and takes it back if it has it.
    pub(crate) fn swap(&self, chance: &mut Chance) {
        if let Some(machine) = &mut chance.0 {
            self.guard.swap(machine);
        }
    }

    /// Does the work, and tells who asked for chance and time meanwhile.
    pub(crate) fn asks(&self, work: impl FnOnce()) -> Vec<seatrial_sim_libc::Ask> {
        self.guard.note_asks();
        work();
        self.guard.asks()
    }
}

#[cfg(not(feature = "exact"))]
impl Hold {
    #[expect(clippy::unused_self, reason = "with the feature there is something to do")]
    pub(crate) fn start_clock(&self, _: Duration, _: tokio::time::Instant) {}

    #[expect(clippy::unused_self, reason = "with the feature there is something to do")]
    pub(crate) fn stop_clock(&self) {}

    #[expect(clippy::unused_self, reason = "with the feature there is something to do")]
    pub(crate) fn swap(&self, _: &mut Chance) {}
}

/// Does the work under control: on a thread that has drawn nothing yet.
#[cfg(feature = "exact")]
pub(crate) fn under_control<R: Send>(wanted: Wanted, work: impl FnOnce(&Hold) -> R + Send) -> R {
    std::thread::scope(|scope| {
        let done = scope.spawn(|| work(&Hold::new(wanted))).join();
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Does the work.
#[cfg(not(feature = "exact"))]
pub(crate) fn under_control<R>(_: Wanted, work: impl FnOnce(&Hold) -> R) -> R {
    work(&Hold {})
}
