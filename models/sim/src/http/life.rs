//! The controllers of a server that listens: they have their turn after every write, and when
//! something is due.

use std::sync::PoisonError;
use std::time::Duration;

use super::{Shared, now};
use crate::controllers::{AGAIN, Controllers};

/// The longest sleep.
const LOOK: Duration = Duration::from_secs(1);

/// The longest pause between attempts to settle, while nothing is written.
const LONGEST: Duration = Duration::from_secs(60);

/// Lets the controllers work until the server stops.
pub(super) fn live(shared: &Shared, mut controllers: Controllers) {
    let (mut seen, mut next, mut pause) = (None, None::<Duration>, AGAIN);
    let mut inner = shared.lock();
    while !shared.door.is_stopped() {
        let time = now();
        if next.is_some_and(|next| next <= time) || seen != Some(inner.server.revision()) {
            next = controllers.attempt(&mut inner.server, time, &mut pause);
            pause = pause.min(LONGEST);
            seen = Some(inner.server.revision());
            shared.changed.notify_all();
            shared.wake_streams();
        }
        let sleep = next.map_or(LOOK, |next| next.saturating_sub(time));
        let slept = shared.changed.wait_timeout(inner, sleep.min(LOOK));
        inner = slept.unwrap_or_else(PoisonError::into_inner).0;
    }
}
