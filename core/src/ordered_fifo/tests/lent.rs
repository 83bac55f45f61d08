//! Objects that carry their keys.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;

/// A key that counts how often it is cloned.
#[derive(Debug)]
struct Counted(u32, Arc<AtomicUsize>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.1.fetch_add(1, Relaxed);
        Self(self.0, Arc::clone(&self.1))
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl std::hash::Hash for Counted {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// Queues of more than two chunks, one of which makes keys, are taken in the same batches.
#[test]
fn batches_are_those_of_a_queue_that_makes_keys() {
    let names: Vec<&'static str> = (0..40).map(|n| &*format!("{n}").leak()).collect();
    let (made, lent) = (in_batches(50), lending(50));
    let (mut random, mut batches) = (1_u32, 0);
    for version in 0..2500 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let name = names[(random >> 16) as usize % names.len()];
        for queue in [&made, &lent] {
            let object = (name, version);
            match random >> 28 {
                0 => queue.delete(object),
                1 => queue.delete_last_state(LastState::unknown(name, Some(object))),
                2..=8 => queue.update(object),
                _ => queue.add(object),
            }
            .unwrap();
        }
    }
    while !made.is_empty() {
        let next = |queue: &Atomic| queue.pop_batch(|_| ()).unwrap().0;
        assert_eq!(next(&lent), next(&made));
        batches += 1;
    }
    assert!(lent.is_empty());
    assert!((100..2400).contains(&batches), "some are of one event, some of several: {batches}");
}

#[test]
fn a_key_that_is_carried_is_never_cloned_and_one_that_is_made_once() {
    for (carried, expected) in [(true, [0, 0, 0]), (false, [3, 6, 8])] {
        let (runtime, clones) = (System::new(), Arc::new(AtomicUsize::new(0)));
        let intake = if carried {
            Intake::lending(&runtime, |object: &Arc<Counted>| Ok(&**object))
        } else {
            Intake::new(&runtime, |object: &Arc<Counted>| Ok((**object).clone()))
        };
        let queue: OrderedFifo<_, _> =
            OrderedFifo::with_options(&runtime, intake, Options::default());
        let object = |number| Arc::new(Counted(number, Arc::clone(&clones)));
        queue.add(object(1)).unwrap();
        queue.update(object(2)).unwrap();
        queue.delete(object(3)).unwrap();
        let put = clones.load(Relaxed);
        assert_eq!(queue.pop_batch(|batch| batch.events.len()).unwrap().1, 3);
        let taken = clones.load(Relaxed); // what came before the first batch is marked when it is taken
        queue.add(object(1)).unwrap();
        queue.add(object(2)).unwrap();
        assert_eq!(queue.pop_batch(|batch| batch.events.len()).unwrap().1, 2);
        assert_eq!([put, taken, clones.load(Relaxed)], expected);
    }
}

#[test]
fn an_object_that_the_transformer_took_the_key_from_is_the_last_of_its_batch() {
    let runtime = System::new();
    let intake = Intake::lending(&runtime, show).with_transform(transform);
    let queue: Atomic = OrderedFifo::with_options(&runtime, intake, Options::default());
    for version in [1, 14, 2] {
        queue.add((["a", "b", "c"][version as usize % 3], version)).unwrap();
    }
    assert!(matches!(queue.add(("a", 13)), Err(EnqueueError::Transform(_))));
    assert!(matches!(queue.add(("", 1)), Err(EnqueueError::Key(_))));
    let taken = || queue.pop_batch(|batch| batch.events.len()).unwrap().1;
    assert_eq!([taken(), taken()], [2, 1]);
}
