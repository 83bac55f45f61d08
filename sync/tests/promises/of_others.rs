//! What parking_lot and crossbeam-channel promise of their names.

use std::sync::Arc;
use std::time::Duration;

use seatrial_sync::crossbeam_channel::{
    RecvTimeoutError, SendTimeoutError, after, bounded, never, tick, unbounded,
};
use seatrial_sync::parking_lot::{
    Condvar, Mutex, RwLock, RwLockUpgradableReadGuard as Upgradable, RwLockWriteGuard,
};
use seatrial_sync::thread;
use seatrial_sync::time::Instant;

use super::Body;

const LONG: Duration = Duration::from_secs(3_600);
const SHORT: Duration = Duration::from_millis(5);

/// All of them.
pub(crate) const ALL: &[(&str, Body)] = &[
    ("a_panic_does_not_poison", Body::Thread(a_panic_does_not_poison)),
    ("a_guard_is_kept_over_a_wait", Body::Thread(a_guard_is_kept_over_a_wait)),
    ("a_try_ends_by_its_time", Body::Thread(a_try_ends_by_its_time)),
    ("an_upgrade_lets_nobody_in_between", Body::Thread(an_upgrade_lets_nobody_in_between)),
    ("one_of_several_receives", Body::Thread(one_of_several_receives)),
    ("a_send_ends_by_its_time", Body::Thread(a_send_ends_by_its_time)),
    ("ticks_come_in_time", Body::Thread(ticks_come_in_time)),
];

fn a_panic_does_not_poison() {
    let lock = Arc::new(Mutex::new(1));
    let theirs = Arc::clone(&lock);
    let panics = thread::spawn(move || {
        let _guard = theirs.lock();
        panic!("on purpose");
    });
    assert!(panics.join().is_err());
    assert!(*lock.lock() == 1 && !lock.is_locked());
}

fn a_guard_is_kept_over_a_wait() {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = Arc::clone(&shared);
    let waits = thread::spawn(move || {
        let mut is_set = theirs.0.lock();
        theirs.1.wait_while(&mut is_set, |is_set| !*is_set);
        *is_set
    });
    *shared.0.lock() = true;
    shared.1.notify_one();
    assert!(waits.join().unwrap());
    let mut guard = shared.0.lock();
    while !shared.1.wait_for(&mut guard, SHORT).timed_out() {}
    assert!(*guard);
}

fn a_try_ends_by_its_time() {
    let lock = Arc::new(Mutex::new(()));
    let guard = lock.lock();
    let theirs = Arc::clone(&lock);
    let tries =
        thread::spawn(move || theirs.try_lock_for(SHORT).is_none() && theirs.try_lock().is_none());
    assert!(tries.join().unwrap());
    drop(guard);
    assert!(lock.try_lock_for(LONG).is_some());
}

fn an_upgrade_lets_nobody_in_between() {
    let lock = Arc::new(RwLock::new(0));
    let add = {
        let lock = Arc::clone(&lock);
        move || {
            let reads = lock.upgradable_read();
            let seen = *reads;
            let mut writes = Upgradable::upgrade(reads);
            *writes = seen + 1;
            let reads = RwLockWriteGuard::downgrade(writes);
            assert_eq!(*reads, seen + 1, "a writer came in between");
        }
    };
    let other = thread::spawn(add.clone());
    add();
    other.join().unwrap();
    let (upgradable, reads) = (lock.upgradable_read(), lock.read());
    assert!(lock.try_upgradable_read().is_none() && lock.try_write().is_none());
    let upgradable = Upgradable::try_upgrade(upgradable).map(drop).expect_err("one reads");
    drop(reads);
    assert_eq!(*Upgradable::try_upgrade(upgradable).unwrap(), 2);
}

fn one_of_several_receives() {
    let (sender, receiver) = unbounded();
    let second = receiver.clone();
    let receives = thread::spawn(move || second.iter().sum::<u32>());
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    drop(sender);
    assert_eq!(receiver.iter().sum::<u32>() + receives.join().unwrap(), 3);
}

fn a_send_ends_by_its_time() {
    let (sender, receiver) = bounded(1);
    sender.send(0).unwrap();
    assert!(sender.is_full() && receiver.len() == 1);
    assert_eq!(sender.send_timeout(1, SHORT), Err(SendTimeoutError::Timeout(1)));
    let (meets, meeting) = bounded(0);
    assert_eq!(meets.send_timeout(1, SHORT), Err(SendTimeoutError::Timeout(1)));
    let sends = thread::spawn(move || meets.send(2));
    assert_eq!(meeting.recv(), Ok(2), "what came too late is not received");
    sends.join().unwrap().unwrap();
}

fn ticks_come_in_time() {
    let before = Instant::now();
    assert!(after(SHORT).recv().is_ok() && before.elapsed() >= SHORT);
    let ticks = tick(SHORT);
    let first = ticks.recv().unwrap();
    assert!(ticks.recv().unwrap() >= first + SHORT);
    assert_eq!(never::<u8>().recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    let once = after(SHORT);
    assert!(once.recv_timeout(LONG).is_ok() && once.try_recv().is_err());
}
