//! The parallel loop, one rule a test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{ThreadId, current};
use std::time::Duration;

use super::*;
use crate::runtime::{Ambient, System};

/// Runs the loop and returns the piece and the thread of each call, in the order of the calls.
fn ran(workers: usize, pieces: usize, chunk: usize) -> Vec<(usize, ThreadId)> {
    let (sent, received) = channel();
    let workers = NonZeroUsize::new(workers).unwrap();
    parallelize_until(&CancelToken::new(&System::new()), workers, pieces, chunk, move |piece| {
        sent.send((piece, current().id())).unwrap();
    });
    received.into_iter().collect()
}

fn pieces(ran: &[(usize, ThreadId)]) -> Vec<usize> {
    ran.iter().map(|(piece, _)| *piece).collect()
}

#[test]
fn every_piece_is_processed_once() {
    for (workers, count, chunk) in
        [(1, 10, 1), (4, 100, 1), (4, 101, 7), (100, 3, 1), (3, 10, 0), (2, 5, usize::MAX)]
    {
        let mut seen = pieces(&ran(workers, count, chunk));
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..count), "{workers} workers, {count} pieces of {chunk}");
    }
}

#[test]
fn one_worker_goes_in_order_on_the_calling_thread() {
    let ran = ran(1, 50, 4);
    assert!(pieces(&ran).into_iter().eq(0..50), "PZ-9");
    assert!(ran.iter().all(|(_, thread)| *thread == current().id()));
}

#[test]
fn a_chunk_goes_in_order_on_one_thread() {
    let ran = ran(4, 103, 10);
    for chunk in 0..11 {
        let mine: Vec<_> = ran.iter().filter(|(piece, _)| piece / 10 == chunk).collect();
        assert!(mine.iter().map(|(piece, _)| *piece).is_sorted(), "PZ-2");
        assert!(mine.iter().all(|(_, thread)| *thread == mine[0].1), "PZ-2");
    }
}

#[test]
fn there_are_no_more_threads_than_chunks() {
    let mut threads: Vec<_> = vec![];
    for (_, thread) in ran(16, 6, 3) {
        if !threads.contains(&thread) {
            threads.push(thread);
        }
    }
    assert!(threads.len() <= 2, "PZ-3");
    assert!(ran(16, 6, 100).iter().all(|(_, thread)| *thread == current().id()), "PZ-7");
}

#[test]
fn no_pieces_return_at_once() {
    assert_eq!(ran(4, 0, 3), [], "PZ-5");
}

#[test]
fn nothing_runs_if_the_token_has_ended() {
    let token = CancelToken::new(&System::new());
    token.cancel();
    let workers = NonZeroUsize::new(2).unwrap();
    parallelize_until(&token, workers, 10, 1, |_| panic!("cancelled"));
}

#[test]
fn a_cancelled_loop_finishes_the_piece_and_skips_the_rest_of_the_chunk() {
    let token = CancelToken::new(&System::new());
    let (sent, received) = channel();
    let inner = token.clone();
    parallelize_until(&token, NonZeroUsize::MIN, 10, 5, move |piece| {
        if piece == 2 {
            inner.cancel();
        }
        sent.send(piece).unwrap();
    });
    assert!(received.into_iter().eq(0..3), "PZ-4");
}

#[test]
fn a_panic_reaches_the_caller_after_the_others_have_finished() {
    for bad in [0, 5] {
        let (sent, received) = channel();
        let workers = NonZeroUsize::new(2).unwrap();
        let token = CancelToken::new(&System::new());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            parallelize_until(&token, workers, 100, 5, move |piece| {
                assert_ne!(piece, bad, "a bad piece");
                sent.send(piece).unwrap();
            });
        }));
        let message = panicked.unwrap_err();
        assert!(message.downcast_ref::<String>().unwrap().contains("a bad piece"));
        let mut seen: Vec<_> = received.into_iter().collect();
        seen.sort_unstable();
        let lost = bad..bad + 5;
        assert!(seen.into_iter().eq((0..100).filter(|piece| !lost.contains(piece))), "PZ-8");
    }
}

/// Runs two pieces at the same time, each on its own thread; tells each whether it is the caller's.
fn side_by_side(piece: impl Fn(bool) + Send + Sync + 'static) -> std::thread::Result<()> {
    let (caller, together) = (current().id(), Barrier::new(2));
    let workers = NonZeroUsize::new(2).unwrap();
    let token = CancelToken::new(&System::new());
    catch_unwind(AssertUnwindSafe(|| {
        parallelize_until(&token, workers, 2, 1, move |_| {
            together.wait();
            piece(current().id() == caller);
        });
    }))
}

#[test]
fn a_panic_of_another_thread_reaches_the_caller() {
    let ended = side_by_side(|of_the_caller| assert!(of_the_caller, "a bad piece"));
    assert!(ended.is_err(), "PZ-8");
}

#[test]
fn of_several_panics_that_of_the_thread_that_was_started_first_reaches_the_caller() {
    let (caller, together) = (current().id(), Barrier::new(4));
    let token = CancelToken::new(&System::new());
    let started = Arc::new(parking_lot::Mutex::new(vec![]));
    let seen = Arc::clone(&started);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        parallelize_until(&token, NonZeroUsize::new(4).unwrap(), 4, 1, move |_| {
            let me = current().id();
            seen.lock().push(me);
            together.wait();
            if me != caller {
                std::panic::panic_any(me);
            }
        });
    }));
    let first = ended.unwrap_err().downcast::<ThreadId>().expect("who panicked");
    let others = started.lock().iter().filter(|id| **id != caller).map(|id| number(*id)).min();
    assert_eq!(Some(number(*first)), others, "PZ-8");
}

/// Threads are numbered in the order in which they are made.
fn number(id: ThreadId) -> u64 {
    let text = format!("{id:?}");
    text.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("a number")
}

/// Reaches the barrier when it is dropped.
struct Comes<'b>(&'b Barrier);

impl Drop for Comes<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

#[test]
fn a_panic_of_the_caller_waits_for_the_others() {
    let (finished, unwinding) = (Arc::new(AtomicBool::new(false)), Barrier::new(2));
    let of_the_other = Arc::clone(&finished);
    let ended = side_by_side(move |of_the_caller| {
        if of_the_caller {
            // As late as this, because printing the panic may take longer than the other piece.
            let _unwinds = Comes(&unwinding);
            panic!("a bad piece");
        }
        unwinding.wait();
        let runtime = System::new();
        runtime.sleep_until(runtime.now() + Duration::from_millis(20));
        of_the_other.store(true, Ordering::SeqCst);
    });
    assert!(ended.is_err() && finished.load(Ordering::SeqCst), "PZ-8");
}
