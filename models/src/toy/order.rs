//! Bugs that need steps of several threads in one order out of very many.

use std::sync::Arc;

use seatrial_core::runtime::Runtime;

use super::heard;

/// All threads but one set the first value and then the second; one looks, and panics if it sees
/// the first value set and the second not. So it must look while all others stand between the two.
pub(super) fn reorder<R: Runtime>(runtime: &R, threads: u8, started: bool) -> u64 {
    let values = Arc::new((runtime.published(Arc::new(0_i8)), runtime.published(Arc::new(0_i8))));
    let starts = runtime.published(Arc::new(0));
    let start = |number: u8| {
        if started {
            runtime.publish(&starts, Arc::new(number));
        }
        (runtime.clone(), Arc::clone(&values))
    };
    let setters: Vec<_> = (1..threads)
        .map(|number| {
            let (seam, values) = start(number);
            runtime.spawn("setter", move || {
                seam.publish(&values.0, Arc::new(1));
                seam.publish(&values.1, Arc::new(-1));
            })
        })
        .collect();
    let looker = {
        let (seam, values) = start(threads);
        runtime.spawn("looker", move || {
            let seen = (*seam.load(&values.0), *seam.load(&values.1));
            assert!(matches!(seen, (0, 0) | (1, -1)), "saw {seen:?}");
            u64::from(seen == (1, -1))
        })
    };
    for setter in setters {
        heard(runtime.join(setter));
    }
    heard(runtime.join(looker))
}

/// Two threads take four locks, one after the other. Panics if they come to them first in turn:
/// the one that starts at once, the late one, the first again, the late one again.
pub(super) fn alternate<R: Runtime>(runtime: &R, behind: u8) -> u64 {
    let locks: Arc<[_; 4]> = Arc::new(std::array::from_fn(|_| runtime.mutex(None)));
    let [early, late] = [(false, 0), (true, behind)].map(|(is_late, delay)| {
        let (seam, locks) = (runtime.clone(), Arc::clone(&locks));
        runtime.spawn(if is_late { "late" } else { "early" }, move || {
            let own = seam.mutex(());
            for _ in 0..delay {
                drop(seam.lock(&own));
            }
            for lock in &*locks {
                seam.lock(lock).get_or_insert(is_late);
            }
        })
    });
    heard(runtime.join(early));
    heard(runtime.join(late));
    let late_was_first = locks.each_ref().map(|lock| *runtime.lock(lock) == Some(true));
    assert_ne!(late_was_first, [false, true, false, true], "they take turns");
    late_was_first.iter().fold(0, |seen, &late| seen * 2 + u64::from(late))
}
