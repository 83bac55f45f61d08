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

    /// The clocks follow tokio's, inside its runtime; `now` is the time since the Unix epoch.
    pub(crate) fn start_clock(&self, now: Duration) {
        let start = tokio::time::Instant::now();
        self.guard.set_clock(now, move || Some(start.elapsed()));
    }

    /// The clocks are the machine's again.
    pub(crate) fn stop_clock(&self) {
        self.guard.clear_clock();
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
    pub(crate) fn start_clock(&self, _: Duration) {}

    #[expect(clippy::unused_self, reason = "with the feature there is something to do")]
    pub(crate) fn stop_clock(&self) {}
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
