//! A list behind a lock, and threads that hand items from one list to another.

use std::collections::VecDeque;
use std::sync::Arc;

use seatrial_core::runtime::Runtime;

use super::heard;

/// A list of items under a lock, and where to wait for one.
struct Line<R: Runtime> {
    runtime: R,
    items: R::Mutex<VecDeque<u8>>,
    added: R::Condvar,
}

impl<R: Runtime> Line<R> {
    fn new(runtime: &R) -> Arc<Self> {
        let (items, added) = (runtime.mutex(VecDeque::new()), runtime.condvar());
        Arc::new(Self { runtime: runtime.clone(), items, added })
    }

    fn push(&self, item: u8) {
        let mut items = self.runtime.lock(&self.items);
        items.push_back(item);
        self.runtime.notify_one(&self.added);
    }

    /// Takes the next item and hands it to `then`, under the lock.
    fn pop<T>(&self, then: impl FnOnce(u8) -> T) -> T {
        let mut items = self.runtime.lock(&self.items);
        loop {
            match items.pop_front() {
                Some(item) => return then(item),
                None => items = self.runtime.wait(&self.added, items),
            }
        }
    }
}

/// Moves items from one list to another, nested in the lock of the first or not.
pub(super) fn handoff<R: Runtime>(runtime: &R, nested: bool, producers: u8) -> u64 {
    let (from, to) = (Line::new(runtime), Line::new(runtime));
    let mover = {
        let (from, to) = (Arc::clone(&from), Arc::clone(&to));
        runtime.spawn("mover", move || {
            for _ in 0..producers {
                if nested {
                    from.pop(|item| to.push(item));
                } else {
                    to.push(from.pop(|item| item));
                }
            }
        })
    };
    let consumer = {
        let to = Arc::clone(&to);
        let items = 0..=producers;
        let look = move || items.fold(0_u64, |seen, _| seen * 7 + u64::from(to.pop(|i| i)) + 1);
        runtime.spawn("consumer", look)
    };
    let mut others: Vec<_> = (0..producers)
        .map(|item| {
            let from = Arc::clone(&from);
            runtime.spawn("producer", move || from.push(item))
        })
        .collect();
    others.push(runtime.spawn("direct", move || to.push(5)));
    others.push(mover);
    for other in others {
        heard(runtime.join(other));
    }
    heard(runtime.join(consumer))
}
