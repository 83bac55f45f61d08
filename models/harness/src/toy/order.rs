//! Bugs that need steps of several threads in one order out of very many.

use std::sync::Arc;

use seatrial_core::runtime::Runtime;

use super::heard;

/// All threads but one set the first value and then the second; one looks at the first and then at
/// the second. The bug shows if it sees one of them set alone.
pub(super) fn reorder<R: Runtime>(runtime: &R, threads: u8, started: bool) -> Result<u64, String> {
    let values = Arc::new((runtime.mutex(0_i8), runtime.mutex(0_i8)));
    let starts = runtime.mutex(0);
    let start = |number: u8| {
        if started {
            *runtime.lock(&starts) = number;
        }
        (runtime.clone(), Arc::clone(&values))
    };
    let setters: Vec<_> = (1..threads)
        .map(|number| {
            let (seam, values) = start(number);
            runtime.spawn("setter", move || {
                *seam.lock(&values.0) = 1;
                *seam.lock(&values.1) = -1;
            })
        })
        .collect();
    let looker = {
        let (seam, values) = start(threads);
        runtime.spawn("looker", move || {
            let first = *seam.lock(&values.0);
            (first, *seam.lock(&values.1))
        })
    };
    for setter in setters {
        heard(runtime.join(setter));
    }
    match heard(runtime.join(looker)) {
        seen @ ((0, 0) | (1, -1)) => Ok(u64::from(seen == (1, -1))),
        seen => Err(format!("saw {seen:?}")),
    }
}

/// Two threads take four locks, one after the other. The bug shows if they come to them first in
/// turn: the one that starts at once, the late one, the first again, the late one again.
pub(super) fn alternate<R: Runtime>(runtime: &R, behind: u8) -> Result<u64, String> {
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
    if late_was_first == [false, true, false, true] {
        return Err("they take turns".to_owned());
    }
    Ok(late_was_first.iter().fold(0, |seen, &late| seen * 2 + u64::from(late)))
}
