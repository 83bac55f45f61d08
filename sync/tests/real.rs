//! Without the feature `trial` the names are the real types, and what the trials rely on is what those do.

#[path = "promises/body.rs"]
mod body;
#[path = "promises/of_others.rs"]
mod of_others;
#[path = "promises/of_panics.rs"]
mod of_panics;
#[path = "promises/of_std.rs"]
mod of_std;
#[path = "promises/of_tokio.rs"]
mod of_tokio;

use body::Body;

#[test]
fn the_real_ones_keep_what_a_trial_promises() {
    let all = [of_std::ALL, of_panics::ALL, of_others::ALL, of_tokio::ALL];
    all.into_iter().flatten().for_each(|(_, body)| body.run());
}

/// That this compiles is the proof that it costs nothing: a value of one is a value of the other.
#[cfg(not(feature = "trial"))]
#[test]
fn the_names_are_the_real_types() {
    fn same<T>(_: Option<T>, _: Option<T>) {}
    same(None::<std::sync::Mutex<u8>>, None::<seatrial_sync::sync::Mutex<u8>>);
    same(None::<std::sync::Condvar>, None::<seatrial_sync::sync::Condvar>);
    same(None::<std::sync::RwLock<u8>>, None::<seatrial_sync::sync::RwLock<u8>>);
    same(None::<std::sync::atomic::AtomicU64>, None::<seatrial_sync::sync::atomic::AtomicU64>);
    same(None::<std::sync::mpsc::Sender<u8>>, None::<seatrial_sync::sync::mpsc::Sender<u8>>);
    same(None::<std::thread::JoinHandle<u8>>, None::<seatrial_sync::thread::JoinHandle<u8>>);
    same(None::<std::time::Instant>, None::<seatrial_sync::time::Instant>);
    same(None::<parking_lot::Mutex<u8>>, None::<seatrial_sync::parking_lot::Mutex<u8>>);
    same(
        None::<crossbeam_channel::Sender<u8>>,
        None::<seatrial_sync::crossbeam_channel::Sender<u8>>,
    );
    same(None::<tokio::sync::Semaphore>, None::<seatrial_sync::tokio::sync::Semaphore>);
    same(None::<tokio::task::JoinHandle<u8>>, None::<seatrial_sync::tokio::task::JoinHandle<u8>>);
}
