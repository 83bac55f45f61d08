//! Keys and objects that call their queue from another thread when they are dropped.

use super::*;
use crate::runtime::probe::{Probe, Probing};
use crate::store::{KnownObjects, LookupFailed};

/// Knows the objects of three keys, and names one of them twice.
struct Known(Arc<Probe>);

impl KnownObjects<Probing, Probing> for Known {
    fn keys(&self) -> Vec<Probing> {
        [1, 1, 2, 3].map(|number| Probing(number, Arc::clone(&self.0))).into()
    }

    fn get(&self, key: &Probing) -> Result<Option<Probing>, LookupFailed> {
        Ok(Some(key.clone()))
    }
}

type Queue = DeltaFifo<Probing, Probing, Known>;

/// Makes a queue in which the objects 1 and 4 are pending, makes a call, and checks that everything
/// was dropped without the lock.
fn nothing_is_dropped_under_the_lock(call: impl Fn(&Queue, &dyn Fn(u8) -> Probing)) {
    let (system, probe) = (System::new(), Arc::<Probe>::default());
    let intake = Intake::new(&system, |object: &Probing| Ok(object.clone()));
    let options = Options::with_known(Known(Arc::clone(&probe)));
    let queue = Arc::new(Queue::with_options(&system, intake, options));
    let new = |number| Probing(number, Arc::clone(&probe));
    queue.add(new(1)).unwrap();
    queue.add(new(4)).unwrap();
    let asked = Arc::clone(&queue);
    probe.calls(move || _ = asked.len());
    call(&queue, &new);
    probe.all_got_through();
}

#[test]
fn a_write_drops_nothing_under_the_lock() {
    nothing_is_dropped_under_the_lock(|queue, new| queue.add(new(1)).unwrap());
    nothing_is_dropped_under_the_lock(|queue, new| queue.update(new(1)).unwrap());
    nothing_is_dropped_under_the_lock(|queue, new| {
        queue.delete(new(1)).unwrap();
        queue.delete(new(1)).unwrap(); // of the two one is dropped
    });
    nothing_is_dropped_under_the_lock(|queue, new| {
        queue.add_if_absent(Delta::Added(new(1)).into()).unwrap();
        queue.add_if_absent(Delta::Added(new(2)).into()).unwrap();
    });
}

#[test]
fn a_list_drops_nothing_under_the_lock() {
    nothing_is_dropped_under_the_lock(|queue, new| {
        queue.replace(vec![new(1), new(1), new(5)]).unwrap();
        queue.replace(vec![]).unwrap(); // what was deleted before is not deleted twice
    });
}

#[test]
fn a_resync_drops_nothing_under_the_lock() {
    nothing_is_dropped_under_the_lock(|queue, _| {
        queue.resync(); // one is pending, two are not
        queue.resync();
    });
    nothing_is_dropped_under_the_lock(|queue, _| {
        queue.pop(|_| ()).unwrap();
        queue.resync(); // the one that is named twice is queued once
        assert_eq!(queue.len(), 4);
    });
}
