//! A bug that needs one thread to run at one moment out of many: with a hundred threads, choosing
//! among them at random never gets there.

use std::sync::Arc;

use seatrial_core::runtime::Runtime;

use super::heard;

/// All threads but one set the first value and then the second; one looks, and panics if it sees
/// the first value set and the second not.
pub(super) fn reorder<R: Runtime>(runtime: &R, threads: u8) -> u64 {
    let values = Arc::new((runtime.published(Arc::new(0_i8)), runtime.published(Arc::new(0_i8))));
    let setters: Vec<_> = (1..threads)
        .map(|_| {
            let (runtime, values) = (runtime.clone(), Arc::clone(&values));
            runtime.clone().spawn("setter", move || {
                runtime.publish(&values.0, Arc::new(1));
                runtime.publish(&values.1, Arc::new(-1));
            })
        })
        .collect();
    let looker = {
        let (runtime, values) = (runtime.clone(), Arc::clone(&values));
        runtime.clone().spawn("looker", move || {
            let seen = (*runtime.load(&values.0), *runtime.load(&values.1));
            assert!(matches!(seen, (0, 0) | (1, -1)), "saw {seen:?}");
            u64::from(seen == (1, -1))
        })
    };
    for setter in setters {
        heard(runtime.join(setter));
    }
    heard(runtime.join(looker))
}
