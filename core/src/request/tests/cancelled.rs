//! A cancelled call is woken at once, and is over at its next poll, wherever it is.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::scripted::{Act, Bed, Chunk, later};
use crate::cancel::Reason;
use crate::limiter::{FlowLimiter as _, TokenBucketFlow};
use crate::request::{RequestError, TransportKind, Verb};

/// Counts the wake-ups.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls a call once, cancels it, and polls it once more.
fn over_after_one_poll<T>(bed: &Bed, call: impl Future<Output = T>) -> T {
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let (mut call, mut context) = (pin!(call), Context::from_waker(&waker));
    assert!(call.as_mut().poll(&mut context).is_pending(), "it waits");
    assert_eq!(woken.0.load(Ordering::SeqCst), 0, "for something that has not come");
    bed.token.cancel();
    assert!(woken.0.load(Ordering::SeqCst) > 0, "nobody has woken it");
    match call.as_mut().poll(&mut context) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("it still waits"),
    }
}

#[test]
fn a_cancelled_call_returns_within_one_step() {
    let half = Act::Answers(200, vec![], vec![Chunk::Bytes(b"{".to_vec()), Chunk::Hangs]);
    let draining = Act::Answers(503, vec![("Retry-After", "60")], vec![Chunk::Hangs]);
    for act in [Act::Hangs, half, later(503, "60"), draining] {
        let bed = Bed::new([act]);
        let request = bed.request(Verb::Get);
        let result = over_after_one_poll(&bed, bed.client.send(&request, &bed.token));
        assert!(matches!(result, Err(RequestError::Ended(Reason::Cancelled))), "{result:?}");
        assert_eq!(*bed.script.open.lock(), 0);
    }
}

#[test]
fn a_call_that_is_cancelled_before_its_turn_sends_nothing_and_gives_it_back() {
    let mut bed = Bed::new([]);
    let limiter = Arc::new(TokenBucketFlow::new(&bed.clock, 1.0, 1));
    assert!(limiter.try_accept());
    bed.client = bed.client.with_limiter(Some(Arc::clone(&limiter) as Arc<_>));
    let request = bed.request(Verb::Get);
    let result = over_after_one_poll(&bed, bed.client.send(&request, &bed.token));
    assert!(matches!(result, Err(RequestError::Ended(Reason::Cancelled))), "{result:?}");
    bed.clock.advance(Duration::from_secs(1));
    assert!(limiter.try_accept(), "somebody else has its turn");
}

#[test]
fn a_watch_and_a_stream_end_within_one_step() {
    let bed = Bed::new([Act::Hangs]);
    let request = bed.request(Verb::Get);
    let stream = over_after_one_poll(&bed, bed.client.stream(&request, &bed.token));
    assert!(matches!(stream, Err(RequestError::Ended(Reason::Cancelled))), "{stream:?}");
    let bed = Bed::new([Act::Answers(200, vec![], vec![Chunk::Hangs])]);
    let request = bed.request(Verb::Get);
    let mut watch = bed.run(bed.client.watch(&request, &bed.token)).unwrap();
    assert_eq!(over_after_one_poll(&bed, watch.next::<i32>()), None);
    assert_eq!(*bed.script.open.lock(), 0, "its connection is closed");
}

#[test]
fn the_body_of_a_stream_ends_within_one_step() {
    let body = || vec![Chunk::Bytes(b"{".to_vec()), Chunk::Hangs];
    let bed = Bed::new([Act::Answers(200, vec![], body()), Act::Answers(200, vec![], body())]);
    let request = bed.request(Verb::Get);
    let begin = || bed.run(bed.client.stream(&request, &bed.token)).unwrap().body;
    let (mut waiting, mut unread) = (begin(), begin());
    assert_eq!(bed.run(waiting.next()).unwrap().unwrap(), b"{");
    let ended = over_after_one_poll(&bed, waiting.next()).unwrap().unwrap_err();
    assert_eq!(ended.kind(), TransportKind::Ended);
    assert_eq!(ended.to_string(), Reason::Cancelled.to_string());
    assert_eq!(bed.run(unread.next()).unwrap().unwrap_err().kind(), TransportKind::Ended);
    assert_eq!(*bed.script.open.lock(), 0, "their connections are closed");
    assert!(bed.run(waiting.next()).is_none(), "nothing comes after an error");
}
