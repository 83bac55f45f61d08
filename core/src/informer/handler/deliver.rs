//! The loop of a handler's thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::caught::discard;
use crate::informer::change::ObjectChange;
use crate::informer::feed::{FeedError, Subscription};
use crate::informer::health::message;
use crate::runtime::Runtime;
use crate::store::Handle;

use super::{Handler, Handling, OnPanic, Report};

/// A handler that takes this long for one change is slow, if other changes wait (`cache:PL-17`).
const SLOW: Duration = Duration::from_millis(100);
/// A slow handler is reported when more changes than this wait.
const MANY: usize = 1024;
/// The pause after a handler panics (`cache:PL-15`).
const PAUSE: Duration = Duration::from_secs(1);

/// Tells a handler of changes until no more come.
pub(super) fn deliver<O: Handle, R: Runtime>(
    mut changes: Subscription<ObjectChange<O>, R>,
    mut handler: impl Handler<O>,
    handling: &Handling,
    life: &CancelToken<R>,
) {
    // A report that panics must not end the handler unnoticed.
    let report = |what| {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (handling.report)(what))) {
            discard(panic);
        }
    };
    let runtime = life.runtime();
    loop {
        let change = match changes.next() {
            Ok(change) => change,
            Err(FeedError::Lagged) => return report(Report::Lagged),
            Err(FeedError::Stopped) => return,
        };
        let began = runtime.now();
        // A panic can break only the handler's own state.
        let result = catch_unwind(AssertUnwindSafe(|| handler.handle(change)));
        let took = runtime.now().since(began);
        if took >= SLOW {
            let waiting = changes.waiting();
            if waiting > MANY {
                report(Report::Slow { took, waiting });
            }
        }
        if let Err(panic) = result {
            if handling.on_panic == OnPanic::Abort {
                std::process::abort(); // the panic hook of the process has printed the panic
            }
            changes.disown();
            report(Report::Panicked { message: message(&panic) });
            discard(panic);
            life.wait_until(runtime.now() + PAUSE);
        }
    }
}
