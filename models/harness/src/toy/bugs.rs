//! Programs with a known bug on which checkers are compared in the literature.
//!
//! They are written anew over the seam. Data that threads share without a lock lies under a mutex
//! of its own, which is taken for every single access, so that each access is one step.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::runtime::Runtime;

use super::heard;

/// A value that is read and written one access at a time.
struct Shared<R: Runtime, T: Copy + Send + 'static> {
    runtime: R,
    value: R::Mutex<T>,
}

impl<R: Runtime, T: Copy + Send + 'static> Shared<R, T> {
    fn new(runtime: &R, value: T) -> Self {
        Self { runtime: runtime.clone(), value: runtime.mutex(value) }
    }

    fn get(&self) -> T {
        *self.runtime.lock(&self.value)
    }

    fn set(&self, value: T) {
        *self.runtime.lock(&self.value) = value;
    }

    fn update(&self, change: impl FnOnce(T) -> T) -> T {
        let mut value = self.runtime.lock(&self.value);
        *value = change(*value);
        *value
    }
}

/// All threads but one set a value under one lock and, under another, a second value that is the
/// first plus one; one looks. The bug shows if it sees the first set and the second not derived.
pub(super) fn two_stage<R: Runtime>(runtime: &R, threads: u8) -> Result<u64, String> {
    let stages = Arc::new((Shared::new(runtime, 0_u8), Shared::new(runtime, 0_u8)));
    let setters: Vec<_> = (1..threads)
        .map(|_| {
            let stages = Arc::clone(&stages);
            runtime.spawn("setter", move || {
                stages.0.set(1);
                // The published program reads the first value here, under the second lock alone:
                // it is one by then, and it does not matter which thread set it.
                stages.1.set(1 + 1);
            })
        })
        .collect();
    let looker = {
        let stages = Arc::clone(&stages);
        runtime.spawn("looker", move || {
            let first = stages.0.get();
            (first != 0).then(|| (first, stages.1.get()))
        })
    };
    for setter in setters {
        heard(runtime.join(setter));
    }
    match heard(runtime.join(looker)) {
        Some((first, second)) if second != first + 1 => {
            Err(format!("saw {first} and then {second}, which is not derived from it"))
        }
        seen => Ok(u64::from(seen.is_some())),
    }
}

/// The data that pusher and popper of [`stack`] share, under one lock.
#[derive(Clone, Copy)]
struct Pile {
    height: u8,
    /// Whether anything was ever pushed; the popper pops if this is set.
    pushed: bool,
}

/// One thread pushes, another pops as often, each time if anything was ever pushed. The bug shows
/// if it pops from an empty stack.
pub(super) fn stack<R: Runtime>(runtime: &R) -> Result<u64, String> {
    const TIMES: u8 = 3;
    let pile = Arc::new(Shared::new(runtime, Pile { height: 0, pushed: false }));
    let pusher = {
        let pile = Arc::clone(&pile);
        runtime.spawn("pusher", move || {
            for _ in 0..TIMES {
                pile.update(|pile| Pile { height: pile.height + 1, pushed: true });
            }
        })
    };
    let popper = {
        let pile = Arc::clone(&pile);
        runtime.spawn("popper", move || {
            let mut underflows = 0;
            for _ in 0..TIMES {
                pile.update(|pile| {
                    underflows += u64::from(pile.pushed && pile.height == 0);
                    Pile { height: pile.height.saturating_sub(u8::from(pile.pushed)), ..pile }
                });
            }
            underflows
        })
    };
    heard(runtime.join(pusher));
    match heard(runtime.join(popper)) {
        0 => Ok(u64::from(pile.get().height)),
        _ => Err("it popped from an empty stack".to_owned()),
    }
}

/// A driver that counts requests under way, itself included, and stops when none is left.
struct Driver<R: Runtime> {
    runtime: R,
    under_way: Shared<R, u8>,
    stopping: Shared<R, bool>,
    stopped: Shared<R, bool>,
    /// Set when the last request has ended.
    idle: R::Mutex<bool>,
    becomes_idle: R::Condvar,
}

impl<R: Runtime> Driver<R> {
    fn end_request(&self) {
        if self.under_way.update(|count| count - 1) == 0 {
            let mut idle = self.runtime.lock(&self.idle);
            *idle = true;
            self.runtime.notify_one(&self.becomes_idle);
        }
    }

    fn stop(&self) {
        self.stopping.set(true);
        self.end_request();
        let mut idle = self.runtime.lock(&self.idle);
        while !*idle {
            idle = self.runtime.wait(&self.becomes_idle, idle);
        }
        drop(idle);
        self.stopped.set(true);
    }

    /// Serves a request, unless the driver stops; says whether it was stopped meanwhile.
    fn request(&self) -> Option<bool> {
        if self.stopping.get() {
            return None;
        }
        // Here the driver can stop: the request is not counted yet.
        self.under_way.update(|count| count + 1);
        let stopped = self.stopped.get();
        self.end_request();
        Some(stopped)
    }
}

/// A driver is stopped while it is asked for something. The bug shows if it serves the request
/// after it has stopped. After the driver that Qadeer and Wu checked (2004).
pub(super) fn bluetooth<R: Runtime>(runtime: &R) -> Result<u64, String> {
    let driver = Arc::new(Driver {
        runtime: runtime.clone(),
        under_way: Shared::new(runtime, 1),
        stopping: Shared::new(runtime, false),
        stopped: Shared::new(runtime, false),
        idle: runtime.mutex(false),
        becomes_idle: runtime.condvar(),
    });
    let stopper = {
        let driver = Arc::clone(&driver);
        runtime.spawn("stopper", move || driver.stop())
    };
    let served = driver.request();
    heard(runtime.join(stopper));
    match served {
        Some(true) => Err("a stopped driver served a request".to_owned()),
        served => Ok(u64::from(served.is_some())),
    }
}

/// A text is appended to another in two steps, its length and then its content, while somebody
/// empties it. The bug shows if less content is left than the length said. After the class of the
/// same name in an early Java.
pub(super) fn string_buffer<R: Runtime>(runtime: &R) -> Result<u64, String> {
    const LENGTH: u8 = 5;
    let text = Arc::new(Shared::new(runtime, LENGTH));
    let eraser = {
        let text = Arc::clone(&text);
        runtime.spawn("eraser", move || text.set(0))
    };
    let length = text.get();
    let left = text.get();
    heard(runtime.join(eraser));
    if left < length {
        return Err(format!("{length} characters are to be copied, and {left} are left"));
    }
    Ok(u64::from(length))
}

/// One thread waits a millisecond for another, which comes without waiting for anything. The bug
/// shows if it gives up.
pub(super) fn impatient<R: Runtime>(runtime: &R) -> Result<u64, String> {
    let place = Arc::new((runtime.mutex(false), runtime.condvar()));
    let comes = {
        let (runtime, place) = (runtime.clone(), Arc::clone(&place));
        runtime.clone().spawn("comes", move || {
            let mut is_here = runtime.lock(&place.0);
            *is_here = true;
            runtime.notify_one(&place.1);
        })
    };
    let deadline = runtime.now() + Duration::from_millis(1);
    let (mut is_here, mut gave_up) = (runtime.lock(&place.0), false);
    while !*is_here && !gave_up {
        (is_here, gave_up) = runtime.wait_until(&place.1, is_here, deadline);
    }
    let met = *is_here;
    drop(is_here);
    heard(runtime.join(comes));
    if met { Ok(1) } else { Err("gave up waiting for somebody who could come".to_owned()) }
}
