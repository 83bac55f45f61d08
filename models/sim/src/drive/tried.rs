//! A step of the user is tried while the run goes on.

use std::sync::{Arc, Mutex, PoisonError};

use super::Act;
use super::inside::Inside;
use crate::apiserver::{Attempt, Step};
use crate::simulation::script::refusal;
use crate::simulation::trace::Who;
use crate::tower::Webhooks;

/// Tries a step, and calls webhooks meanwhile. The reason why it is not done, if it is not.
pub(super) async fn attempt(
    act: Act,
    world: Arc<Mutex<Inside>>,
    webhooks: Webhooks,
) -> Option<String> {
    let lock = || world.lock().unwrap_or_else(PoisonError::into_inner);
    let request = match act.request(&lock().outside.server) {
        Ok(request) => request?,
        Err(why) => return Some(why),
    };
    let mut attempt = Attempt::default();
    loop {
        let calls = {
            let outside = &mut lock().outside;
            let step = outside.server.attempt(outside.now(), &request, &mut attempt);
            outside.absorb(Who::User);
            match step {
                Step::Answered(answer) => return refusal(&answer),
                Step::Waits(calls) => calls,
            }
        };
        webhooks.call(calls, &mut attempt).await;
    }
}
