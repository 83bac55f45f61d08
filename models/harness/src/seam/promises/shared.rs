//! Objects that many threads may access at once: read-write locks and atomic numbers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::time::Duration;

use seatrial_core::runtime::{Atomic, Runtime};

use crate::seam::{Facts, Promise};

/// Threads read under a lock at the same time: each waits under it for the other.
#[derive(Clone, Copy, Debug)]
pub struct ReadersMeet;

impl Promise for ReadersMeet {
    const NAME: &'static str = "readers_meet";

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let lock = Arc::new(runtime.rw_lock(()));
        let room = Arc::new((runtime.mutex(0_u32), runtime.condvar()));
        let (inner, theirs) = (runtime.clone(), (Arc::clone(&lock), Arc::clone(&room)));
        let other = runtime.spawn("other", move || meet(&inner, &theirs.0, &theirs.1));
        meet(runtime, &lock, &room);
        runtime.join(other).expect("readers do not panic");
        0
    }
}

/// Reads, and waits until another one does.
fn meet<R: Runtime>(runtime: &R, lock: &R::RwLock<()>, room: &(R::Mutex<u32>, R::Condvar)) {
    let _reads = runtime.read(lock);
    let mut here = runtime.lock(&room.0);
    *here += 1;
    runtime.notify_all(&room.1);
    while *here < 2 {
        here = runtime.wait(&room.1, here);
    }
}

/// A writer under a lock is alone: no reader sees a half-done write, and no value changes while it
/// is read. A guard that a panic drops unlocks. The course is the value that was read first.
#[derive(Clone, Copy, Debug)]
pub struct WriterAlone;

impl Promise for WriterAlone {
    const NAME: &'static str = "writer_alone";
    const COURSES: &'static [u32] = &[0, 2, 4];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let shared = Arc::new((runtime.rw_lock(0_u64), runtime.mutex(())));
        let (inner, theirs) = (runtime.clone(), Arc::clone(&shared));
        let writer = runtime.spawn("writer", move || {
            for _ in 0..2 {
                let mut value = inner.write(&theirs.0);
                *value += 1;
                drop(inner.lock(&theirs.1)); // other threads may run in between
                *value += 1;
            }
        });
        let reads = runtime.read(&shared.0);
        let seen = *reads;
        drop(runtime.lock(&shared.1));
        assert_eq!(*reads, seen, "a value changed while it was read");
        drop(reads);
        runtime.join(writer).expect("the writer does not panic");
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _guard = runtime.write(&shared.0);
            panic!("while the lock is held");
        }));
        assert!(caught.is_err());
        assert_eq!(*runtime.read(&shared.0), 4, "something written was lost");
        seen as u32
    }
}

/// Nothing comes between the reading and the writing of an access that does both. The course is
/// which of the two threads came first.
#[derive(Clone, Copy, Debug)]
pub struct OneAccess;

impl Promise for OneAccess {
    const NAME: &'static str = "one_access";
    const COURSES: &'static [u32] = &[0, 1];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let numbers = Arc::new((runtime.atomic(0), runtime.atomic(0)));
        let theirs = Arc::clone(&numbers);
        let claim =
            |claimed: &R::Atomic, mine| claimed.compare_exchange(0, mine, AcqRel, Acquire).is_ok();
        let other = runtime.spawn("other", move || {
            theirs.0.fetch_add(1, Relaxed);
            claim(&theirs.1, 1)
        });
        let before = numbers.0.fetch_add(1, Relaxed);
        let mine = claim(&numbers.1, 2);
        let theirs = runtime.join(other).expect("an access does not panic");
        assert_eq!(numbers.0.load(Relaxed), 2, "an addition was lost");
        assert!(mine != theirs, "one of the two claims it");
        let claimed = numbers.1.swap(7, AcqRel);
        assert_eq!(claimed, if mine { 2 } else { 1 }, "what was claimed is not there");
        assert_eq!(numbers.1.load(Acquire), 7, "what was written is not there");
        before as u32
    }
}

/// A read of a number with acquire sees all that came before it was written with release. The
/// course is whether it was read in time.
#[derive(Clone, Copy, Debug)]
pub struct ReleasedToAcquirer;

impl Promise for ReleasedToAcquirer {
    const NAME: &'static str = "released_to_acquirer";
    const COURSES: &'static [u32] = &[0, 1];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let numbers = Arc::new((runtime.atomic(0), runtime.atomic(0)));
        let theirs = Arc::clone(&numbers);
        let writer = runtime.spawn("writer", move || {
            theirs.0.store(1, Relaxed);
            theirs.1.store(1, Release);
        });
        let seen = numbers.1.load(Acquire);
        if seen == 1 {
            assert_eq!(numbers.0.load(Relaxed), 1, "what came before the release is not seen");
        }
        runtime.join(writer).expect("a writer does not panic");
        assert_eq!(numbers.0.load(Relaxed), 1, "what came before the join is not seen");
        seen as u32
    }
}

/// A loop that reads a number until another thread has written it comes to an end if it sleeps and gives its turn
/// every time round. The course is whether it had to go round.
#[derive(Clone, Copy, Debug)]
pub struct SpinEnds;

impl Promise for SpinEnds {
    const NAME: &'static str = "spin_ends";
    const COURSES: &'static [u32] = &[0, 1];

    fn check<R: Runtime>(runtime: &R, _: Facts) -> u32 {
        let number = Arc::new(runtime.atomic(0));
        let theirs = Arc::clone(&number);
        let writer = runtime.spawn("writer", move || theirs.store(1, Release));
        let mut went_round = 0;
        while number.load(Acquire) == 0 {
            went_round = 1;
            runtime.sleep_until(runtime.now() + Duration::from_nanos(1));
            runtime.give_turn();
        }
        runtime.join(writer).expect("a writer does not panic");
        went_round
    }
}
