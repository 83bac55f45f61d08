//! Foreign code that detects whether it runs under a lock.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::Wake;
use std::time::Duration;

use parking_lot::Mutex;

use super::{Runtime, System};

/// How long to wait for a call before it counts as blocked by a lock.
const PATIENCE: Duration = Duration::from_secs(3);

type Call = Arc<dyn Fn() + Send + Sync>;

/// Makes a call from another thread whenever it is run. The call gets through unless the thread
/// that runs the probe holds a lock.
#[derive(Default)]
pub(crate) struct Probe {
    call: Mutex<Option<Call>>,
    /// Whether each call got through.
    through: Mutex<Vec<bool>>,
}

impl Probe {
    /// Sets the call to make.
    pub(crate) fn calls(&self, call: impl Fn() + Send + Sync + 'static) {
        *self.call.lock() = Some(Arc::new(call));
    }

    /// Stops calling. Returns how often it called, and how many of these calls got through.
    pub(crate) fn ends(&self) -> (usize, usize) {
        *self.call.lock() = None; // breaks a cycle: the call holds its target
        let through = self.through.lock();
        (through.len(), through.iter().filter(|through| **through).count())
    }

    /// As [`ends`](Self::ends), for tests that do not care about the number of calls.
    ///
    /// # Panics
    /// If it made no call, or one of them did not get through.
    pub(crate) fn all_got_through(&self) {
        let (calls, through) = self.ends();
        assert!(calls > 0 && calls == through, "{through} of {calls} calls got through");
    }

    pub(crate) fn run(&self) {
        let Some(call) = self.call.lock().clone() else { return };
        let (tell, hear) = channel();
        let calling = System::new().spawn("calling", move || {
            call();
            drop(call);
            tell.send(())
        });
        let through = hear.recv_timeout(PATIENCE).is_ok();
        self.through.lock().push(through);
        drop(calling);
    }
}

impl Wake for Probe {
    fn wake(self: Arc<Self>) {
        self.run();
    }
}

/// A key, or an object, that runs a probe when it is dropped.
#[derive(Clone)]
pub(crate) struct Probing(pub(crate) u8, pub(crate) Arc<Probe>);

impl Drop for Probing {
    fn drop(&mut self) {
        self.1.run();
    }
}

impl PartialEq for Probing {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Probing {}

impl PartialOrd for Probing {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Probing {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl Hash for Probing {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Debug for Probing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
