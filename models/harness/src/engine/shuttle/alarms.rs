//! Wakers that go off at a time.
//!
//! The wakers lie under a lock of the runtime itself and one thread waits for the earliest of
//! them, as on a real machine; so who arms, disarms and wakes in which order is explored like
//! everything else. The thread starts with the first waker and does not keep the execution alive.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;

use seatrial_core::runtime::{Instant, Runtime};

use super::kernel::{Phase, SERVICE};
use super::runtime::{ShuttleCondvar, ShuttleMutex, ShuttleRuntime};
use super::{session, threads};

type AlarmId = (Instant, u64);

/// A waker armed for a deadline of one execution; dropping it disarms it.
#[derive(Debug)]
pub struct Timer(Option<(Arc<Alarms>, AlarmId)>);

/// All armed wakers of one execution.
#[derive(Debug)]
pub(super) struct Alarms {
    armed: ShuttleMutex<Armed>,
    earlier: ShuttleCondvar,
}

#[derive(Default)]
struct Armed {
    wakers: BTreeMap<AlarmId, Waker>,
    next: u64,
    served: bool,
}

/// Arms a waker.
pub(super) fn arm(runtime: ShuttleRuntime, deadline: Instant, waker: Waker) -> Timer {
    let running = session::try_with(|session| session.kernel.phase() == Phase::Running);
    if deadline == Instant::NEVER || running != Some(true) {
        return Timer(None);
    }
    let alarms = alarms();
    let mut armed = runtime.lock(&alarms.armed);
    armed.next += 1;
    let id = (deadline, armed.next);
    armed.wakers.insert(id, waker);
    if armed.wakers.first_key_value().is_some_and(|(first, _)| *first == id) {
        runtime.notify_one(&alarms.earlier);
    }
    if !std::mem::replace(&mut armed.served, true) {
        let alarms = Arc::clone(&alarms);
        let service = threads::spawn(SERVICE, "alarms", move || alarms.serve(runtime));
        drop(service); // nobody joins it
    }
    drop(armed);
    Timer(Some((alarms, id)))
}

/// Returns the alarms of this execution. The schedule decides which thread makes them, so their
/// objects belong to no thread.
fn alarms() -> Arc<Alarms> {
    if let Some(alarms) = session::with(|session| session.alarms.clone()) {
        return alarms;
    }
    let (mutex, condvar) =
        session::with(|session| (session.kernel.new_service_lock(), session.kernel.new_condvar()));
    let alarms = Arc::new(Alarms {
        armed: ShuttleMutex::with_id(mutex, Armed::default()),
        earlier: ShuttleCondvar::with_id(condvar),
    });
    session::with(|session| session.alarms = Some(Arc::clone(&alarms)));
    alarms
}

impl Alarms {
    fn serve(&self, runtime: ShuttleRuntime) {
        let mut armed = runtime.lock(&self.armed);
        loop {
            let first = armed.wakers.first_key_value().map(|(id, _)| *id);
            armed = match first {
                None => runtime.wait(&self.earlier, armed),
                Some((deadline, _)) => match runtime.wait_until(&self.earlier, armed, deadline) {
                    (armed, false) => armed,
                    (armed, true) => self.go_off(runtime, armed),
                },
            };
        }
    }

    /// Wakes the earliest waker outside the lock: it runs foreign code.
    fn go_off<'a>(
        &'a self,
        runtime: ShuttleRuntime,
        mut armed: super::runtime::Held<'a, Armed>,
    ) -> super::runtime::Held<'a, Armed> {
        let due = armed.wakers.first_key_value().map(|(id, _)| *id);
        let due = due.filter(|(deadline, _)| *deadline <= session::with(|s| s.kernel.now()));
        let Some(waker) = due.and_then(|id| armed.wakers.remove(&id)) else { return armed };
        drop(armed);
        waker.wake();
        runtime.lock(&self.armed)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let Some((alarms, id)) = self.0.take() else { return };
        let inside = session::try_with(|session| session.kernel.phase() != Phase::Outside);
        if inside == Some(true) {
            let mut armed = ShuttleRuntime.lock(&alarms.armed);
            let waker = armed.wakers.remove(&id);
            drop(armed);
            drop(waker); // outside the lock: it runs foreign code
        }
    }
}
