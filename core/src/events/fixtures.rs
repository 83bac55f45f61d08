//! What the tests of the queues of objects share.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::runtime::probe::Probe;
use crate::runtime::{Runtime, System};
use crate::store::tests::Object;
use crate::store::{KnownObjects, LookupFailed};

use super::{Queue, SlowHook, SlowProcessing};

/// A consumer's store. The key `lost` cannot be looked up, `bomb` panics, and the object under
/// `nameless` has no key.
#[derive(Default)]
pub(crate) struct Store(pub(crate) Mutex<BTreeMap<&'static str, Object>>);

impl KnownObjects<&'static str, Object> for Store {
    fn keys(&self) -> Vec<&'static str> {
        self.0.lock().keys().copied().collect()
    }

    fn get(&self, key: &&'static str) -> Result<Option<Object>, LookupFailed> {
        match *key {
            "lost" => Err(LookupFailed),
            "bomb" => panic!("the store has a bug"),
            "nameless" => Ok(Some(("", 1))),
            _ => Ok(self.0.lock().get(key).copied()),
        }
    }
}

impl Store {
    pub(crate) fn of(objects: &[Object]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(objects.iter().map(|object| (object.0, *object)).collect())))
    }
}

/// Makes a hook for slow processing, which keeps what it is told and then runs the probe.
pub(crate) fn slow_hook(probe: &Arc<Probe>) -> (SlowHook, Arc<Mutex<Vec<SlowProcessing>>>) {
    let told = Arc::new(Mutex::new(vec![]));
    let (keeps, probe) = (Arc::clone(&told), Arc::clone(probe));
    let hook = Arc::new(move |slow| {
        keeps.lock().push(slow);
        probe.run();
    });
    (hook, told)
}

/// Closes a queue in which threads wait for an entry.
pub(crate) fn all_sleepers_are_woken_by_the_end<K, O>(queue: impl Queue<K, O>) {
    let (runtime, queue) = (System::new(), Arc::new(queue));
    let sleepers: Vec<_> = (0..3)
        .map(|_| {
            let queue = Arc::clone(&queue);
            runtime.spawn("popper", move || queue.pop(|_| ()).is_err())
        })
        .collect();
    queue.close();
    for sleeper in sleepers {
        assert!(runtime.join(sleeper).unwrap());
    }
}

/// Closes a queue that has one entry and no list, and drains it while a thread waits for a list.
pub(crate) fn a_wait_for_a_list_ends_with_the_queue<K, O>(queue: impl Queue<K, O>) {
    let (runtime, queue) = (System::new(), Arc::new(queue));
    queue.close();
    let waiter = {
        let queue = Arc::clone(&queue);
        runtime.spawn("waiter", move || queue.wait_for_sync())
    };
    assert!(!queue.is_empty(), "a pop would sleep");
    queue.pop(|_| ()).unwrap();
    assert!(!runtime.join(waiter).unwrap());
}
