//! What std promises of its names, as programs that hold on the real types and in the orders of a trial.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use seatrial_sync::sync::atomic::{
    AtomicBool, AtomicI8, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
};
use seatrial_sync::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use seatrial_sync::sync::{
    Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, TryLockError,
};
use seatrial_sync::time::Instant;
use seatrial_sync::{hint, thread};

use super::Body;

const LONG: Duration = Duration::from_secs(3_600);
const SHORT: Duration = Duration::from_millis(5);

/// All of them.
pub(crate) const ALL: &[(&str, Body)] = &[
    ("a_mutex_keeps_others_out", Body::Thread(a_mutex_keeps_others_out)),
    ("a_try_to_lock_does_not_wait", Body::Thread(a_try_to_lock_does_not_wait)),
    ("a_notification_needs_no_lock", Body::Thread(a_notification_needs_no_lock)),
    ("all_are_notified", Body::Thread(all_are_notified)),
    ("a_wait_ends_by_its_time", Body::Thread(a_wait_ends_by_its_time)),
    ("readers_share_and_a_writer_is_alone", Body::Thread(readers_share_and_a_writer_is_alone)),
    ("once_is_once_and_others_wait_for_it", Body::Thread(once_is_once_and_others_wait_for_it)),
    ("one_value_is_made", Body::Thread(one_value_is_made)),
    ("a_barrier_opens_for_all", Body::Thread(a_barrier_opens_for_all)),
    ("items_arrive_in_order", Body::Thread(items_arrive_in_order)),
    ("a_full_channel_waits", Body::Thread(a_full_channel_waits)),
    ("a_rendezvous_hands_over", Body::Thread(a_rendezvous_hands_over)),
    ("a_channel_ends_with_the_other_side", Body::Thread(a_channel_ends_with_the_other_side)),
    ("an_unpark_before_the_park_counts", Body::Thread(an_unpark_before_the_park_counts)),
    ("threads_know_who_they_are", Body::Thread(threads_know_who_they_are)),
    ("a_spinning_thread_comes_to_an_end", Body::Thread(a_spinning_thread_comes_to_an_end)),
    ("numbers_wrap_at_their_width", Body::Thread(numbers_wrap_at_their_width)),
    ("fences_order_what_is_relaxed", Body::Thread(fences_order_what_is_relaxed)),
    ("no_access_is_lost", Body::Thread(no_access_is_lost)),
    ("time_passes", Body::Thread(time_passes)),
];

fn a_mutex_keeps_others_out() {
    let shared = Arc::new((Mutex::new(0), AtomicBool::new(false)));
    let add = {
        let shared = Arc::clone(&shared);
        move || {
            let mut value = shared.0.lock().unwrap();
            assert!(!shared.1.swap(true, Ordering::SeqCst), "two hold it");
            *value += 1;
            shared.1.store(false, Ordering::SeqCst);
        }
    };
    let other = thread::spawn(add.clone());
    add();
    other.join().unwrap();
    drop(add);
    let shared = Arc::into_inner(shared).unwrap();
    assert_eq!(shared.0.into_inner().unwrap(), 2);
}

fn a_try_to_lock_does_not_wait() {
    let (lock, told) = (Arc::new(Mutex::new(())), Arc::new(Barrier::new(2)));
    let guard = lock.lock().unwrap();
    let other = thread::spawn({
        let (lock, told) = (Arc::clone(&lock), Arc::clone(&told));
        move || {
            let tried = matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
            told.wait();
            tried
        }
    });
    told.wait(); // it would not come if it waited for the lock
    drop(guard);
    assert!(other.join().unwrap());
    drop(lock.try_lock().expect("it is free"));
    let held = lock.try_lock().expect("it is free");
    let waits = thread::spawn({
        let lock = Arc::clone(&lock);
        move || drop(lock.lock().unwrap())
    });
    drop(held);
    waits.join().unwrap();
}

fn a_notification_needs_no_lock() {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let waits = thread::spawn({
        let shared = Arc::clone(&shared);
        move || drop(shared.1.wait_while(shared.0.lock().unwrap(), |is_set| !*is_set).unwrap())
    });
    *shared.0.lock().unwrap() = true;
    shared.1.notify_one();
    waits.join().unwrap();
}

fn all_are_notified() {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let waiters = [(); 2].map(|()| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let mut is_set = shared.0.lock().unwrap();
            while !*is_set {
                is_set = shared.1.wait(is_set).unwrap();
            }
        })
    });
    *shared.0.lock().unwrap() = true;
    shared.1.notify_all();
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
}

fn a_wait_ends_by_its_time() {
    let (lock, condvar) = (Mutex::new(false), Condvar::new());
    let before = Instant::now();
    let (guard, ended) =
        condvar.wait_timeout_while(lock.lock().unwrap(), SHORT, |is_set| !*is_set).unwrap();
    assert!(ended.timed_out() && !*guard && before.elapsed() >= SHORT);
    let (_guard, ended) = condvar.wait_timeout_while(guard, LONG, |is_set| *is_set).unwrap();
    assert!(!ended.timed_out());
}

fn readers_share_and_a_writer_is_alone() {
    let shared = Arc::new((RwLock::new((0, 0)), Barrier::new(2)));
    let reads = shared.0.read().unwrap();
    assert!(shared.0.try_write().is_err());
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            let reads = shared.0.read().unwrap();
            shared.1.wait(); // both are in
            drop(reads);
            let mut writes = shared.0.write().unwrap();
            writes.0 += 1;
            thread::yield_now();
            writes.1 += 1;
        }
    });
    shared.1.wait();
    assert_eq!(*reads, (0, 0));
    drop(reads);
    let seen = *shared.0.read().unwrap();
    assert_eq!(seen.0, seen.1, "half of a write is seen");
    other.join().unwrap();
    assert_eq!(*shared.0.try_read().unwrap(), (1, 1));
}

fn once_is_once_and_others_wait_for_it() {
    let shared = Arc::new((Once::new(), AtomicUsize::new(0)));
    let once = {
        let shared = Arc::clone(&shared);
        move || {
            shared.0.call_once(|| {
                shared.1.fetch_add(1, Ordering::SeqCst);
                thread::yield_now();
                shared.1.fetch_add(1, Ordering::SeqCst);
            });
            assert_eq!(shared.1.load(Ordering::SeqCst), 2, "half done");
        }
    };
    let other = thread::spawn(once.clone());
    once();
    other.join().unwrap();
    assert!(shared.0.is_completed());
    let broken = Once::new();
    let panics = || broken.call_once(|| panic!("on purpose"));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| broken.call_once(|| ()))).is_err(), "poisoned");
    broken.call_once_force(|state| assert!(state.is_poisoned()));
    broken.wait();
}

fn one_value_is_made() {
    let shared = Arc::new((OnceLock::new(), LazyLock::new(|| 7)));
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || (*shared.0.get_or_init(|| 1), *shared.1)
    });
    let mine = *shared.0.get_or_init(|| 2);
    assert_eq!(other.join().unwrap(), (mine, 7));
    assert_eq!((shared.0.get(), shared.0.set(3)), (Some(&mine), Err(3)));
    let empty = OnceLock::new();
    let panics = || *empty.get_or_init(|| panic!("on purpose"));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err() && empty.get().is_none());
    assert_eq!(empty.set(4), Ok(()));
    assert_eq!(empty.into_inner(), Some(4));
}

fn a_barrier_opens_for_all() {
    let shared = Arc::new((Barrier::new(2), AtomicUsize::new(0)));
    let come = {
        let shared = Arc::clone(&shared);
        move || {
            shared.1.fetch_add(1, Ordering::SeqCst);
            let leads = shared.0.wait().is_leader();
            assert_eq!(shared.1.load(Ordering::SeqCst), 2, "it opened too early");
            leads
        }
    };
    let other = thread::spawn(come.clone());
    let leads = come();
    assert_ne!(leads, other.join().unwrap(), "one of them leads");
}

fn items_arrive_in_order() {
    let (sender, receiver) = mpsc::channel();
    let sends = thread::spawn(move || (0..3).for_each(|item| sender.send(item).unwrap()));
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
    sends.join().unwrap();
}

fn a_full_channel_waits() {
    let (sender, receiver) = mpsc::sync_channel(1);
    sender.try_send(0).unwrap();
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    let sends = thread::spawn(move || sender.send(1).unwrap());
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(0), Ok(1)));
    sends.join().unwrap();
}

fn a_rendezvous_hands_over() {
    let (sender, receiver) = mpsc::sync_channel(0);
    assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)), "nobody waits for it");
    let is_over = Arc::new(AtomicBool::new(false));
    let sends = thread::spawn({
        let is_over = Arc::clone(&is_over);
        move || {
            sender.send(1).unwrap();
            is_over.store(true, Ordering::SeqCst);
            sender
        }
    });
    assert!(!is_over.load(Ordering::SeqCst), "nothing was received");
    assert_eq!(receiver.recv(), Ok(1));
    let sender = sends.join().unwrap();
    let sends = thread::spawn(move || sender.send(2));
    drop(receiver);
    assert_eq!(sends.join().unwrap(), Err(mpsc::SendError(2)));
}

fn a_channel_ends_with_the_other_side() {
    let (sender, receiver) = mpsc::channel();
    assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let second = sender.clone();
    second.send(1).unwrap();
    drop(sender);
    let drops = thread::spawn(move || drop(second));
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Err(mpsc::RecvError)));
    assert_eq!(receiver.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    drops.join().unwrap();
    let (sender, receiver) = mpsc::sync_channel(1);
    drop(receiver);
    assert_eq!(sender.send(1), Err(mpsc::SendError(1)));
    assert_eq!(sender.try_send(1), Err(TrySendError::Disconnected(1)));
}

fn an_unpark_before_the_park_counts() {
    let me = thread::current();
    let is_set = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&is_set);
    let wakes = thread::spawn(move || {
        theirs.store(true, Ordering::SeqCst);
        me.unpark();
    });
    while !is_set.load(Ordering::SeqCst) {
        thread::park();
    }
    wakes.join().unwrap();
    thread::current().unpark();
    thread::park();
    thread::park_timeout(SHORT);
}

fn threads_know_who_they_are() {
    let named = thread::Builder::new().name("named".to_owned());
    let named =
        named.spawn(|| (thread::current().id(), thread::current().name().map(str::to_owned)));
    let named = named.unwrap();
    let id = named.thread().id();
    assert_eq!(named.join().unwrap(), (id, Some("named".to_owned())));
    assert!(thread::current().id() != id && thread::current().id() == thread::current().id());
    let panicked = thread::spawn(|| panic!("on purpose")).join();
    assert!(panicked.is_err_and(|panic| panic.is::<&str>()));
}

fn a_spinning_thread_comes_to_an_end() {
    let is_set = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&is_set);
    let sets = thread::spawn(move || theirs.store(true, Ordering::Release));
    while !is_set.load(Ordering::Acquire) {
        hint::spin_loop();
    }
    sets.join().unwrap();
}

fn numbers_wrap_at_their_width() {
    let order = Ordering::SeqCst;
    let number = AtomicU8::new(250);
    assert_eq!((number.fetch_add(10, order), number.load(order)), (250, 4));
    assert_eq!((number.fetch_sub(5, order), number.load(order)), (4, 255));
    assert_eq!(number.compare_exchange(255, 6, order, order), Ok(255));
    assert_eq!((number.fetch_max(9, order), number.fetch_min(3, order)), (6, 9));
    assert_eq!((number.fetch_or(4, order), number.fetch_and(6, order)), (3, 7));
    assert_eq!((number.fetch_xor(2, order), number.fetch_nand(4, order)), (6, 4));
    assert_eq!(number.swap(1, order), 251);
    let number = AtomicI8::new(i8::MIN);
    assert_eq!((number.fetch_sub(1, order), number.load(order)), (i8::MIN, i8::MAX));
    assert_eq!(number.fetch_update(order, order, |was| was.checked_add(1)), Err(i8::MAX));
    let number = AtomicU64::new(u64::MAX);
    assert_eq!((number.fetch_add(2, order), number.fetch_sub(2, order)), (u64::MAX, 1));
    let flag = AtomicBool::new(true);
    assert!(flag.fetch_and(false, order) && !flag.fetch_not(order) && flag.load(order));
    assert_eq!(flag.compare_exchange_weak(false, true, order, order), Err(true));
}

fn fences_order_what_is_relaxed() {
    let numbers = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
    let theirs = Arc::clone(&numbers);
    let writes = thread::spawn(move || {
        theirs.0.store(1, Ordering::Relaxed);
        fence(Ordering::Release);
        theirs.1.store(true, Ordering::Relaxed);
    });
    if numbers.1.load(Ordering::Relaxed) {
        fence(Ordering::Acquire);
        assert_eq!(numbers.0.load(Ordering::Relaxed), 1);
    }
    writes.join().unwrap();
}

fn no_access_is_lost() {
    let numbers = Arc::new((AtomicUsize::new(0), AtomicU8::new(0)));
    let change = {
        let numbers = Arc::clone(&numbers);
        move |bit: u8| {
            numbers.0.fetch_add(1, Ordering::Relaxed);
            numbers.1.fetch_or(bit, Ordering::Relaxed);
        }
    };
    let theirs = change.clone();
    let other = thread::spawn(move || theirs(1));
    change(2);
    other.join().unwrap();
    assert_eq!((numbers.0.load(Ordering::Relaxed), numbers.1.load(Ordering::Relaxed)), (2, 3));
}

fn time_passes() {
    let before = Instant::now();
    thread::sleep(SHORT);
    let after = Instant::now();
    assert!(after - before >= SHORT && before.elapsed() >= SHORT && after >= before + SHORT);
    assert_eq!(before.checked_duration_since(after), None);
    assert_eq!(before.saturating_duration_since(after), Duration::ZERO);
}
