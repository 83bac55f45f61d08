//! Many threads and tasks at one limiter, on a clock that is moved by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use parking_lot::Mutex;
use quickcheck::QuickCheck;

use super::{FlowLimiter as _, TokenBucketFlow, WaitError};
use crate::cancel::{CancelToken, Reason};
use crate::runtime::{Ambient, Instant, Manual, Runtime};

const THREADS: usize = 32;
const ALL: usize = 64;
const PATIENCE: Duration = Duration::from_secs(30);

/// One turn each millisecond.
const RATE: f32 = 1000.0;
const SLOT: Duration = Duration::from_millis(1);

/// A caller that waits for its turn again and again, until all stop.
struct Waiter {
    number: usize,
    clock: Manual,
    flow: Arc<TokenBucketFlow<Manual>>,
    token: Arc<Mutex<CancelToken<Manual>>>,
    stops: Arc<AtomicBool>,
    tell: Sender<Told>,
}

/// The number of a waiter, the result of its wait, and when it ended.
type Told = (usize, Result<(), WaitError>, Instant);

impl Waiter {
    fn token(&self) -> Option<CancelToken<Manual>> {
        let goes_on = !self.stops.load(Ordering::SeqCst);
        goes_on.then(|| self.token.lock().clone())
    }

    fn report(&self, result: Result<(), WaitError>) {
        let _unheard = self.tell.send((self.number, result, self.clock.now())).is_err();
    }

    fn on_a_thread(self) {
        while let Some(token) = self.token() {
            self.report(self.flow.wait(&token));
        }
    }

    async fn in_a_task(self) {
        while let Some(token) = self.token() {
            let result = self.flow.wait_async(&token).await;
            self.report(result);
        }
    }
}

/// All waiters, and their reports.
struct Crowd {
    clock: Manual,
    tokens: Vec<Arc<Mutex<CancelToken<Manual>>>>,
    told: Receiver<Told>,
    stops: Arc<AtomicBool>,
    threads: Vec<<Manual as Runtime>::Join<()>>,
    turns: Vec<Instant>,
    /// The waiters that had a turn since this was last reset.
    served: [bool; ALL],
    _tasks: tokio::runtime::Runtime,
}

impl Crowd {
    fn gather(burst: u64) -> Self {
        let clock = Manual::new();
        let flow = Arc::new(TokenBucketFlow::new(&clock, RATE, burst));
        let token = |_| Arc::new(Mutex::new(CancelToken::new(&clock)));
        let tokens: Vec<_> = (0..ALL).map(token).collect();
        let (tell, told) = channel();
        let stops = Arc::new(AtomicBool::new(false));
        let tasks = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let mut threads = Vec::new();
        for (number, token) in tokens.iter().enumerate() {
            let (flow, token, stops) = (Arc::clone(&flow), Arc::clone(token), Arc::clone(&stops));
            let waiter =
                Waiter { number, clock: clock.clone(), flow, token, stops, tell: tell.clone() };
            if number < THREADS {
                threads.push(clock.spawn("waits", move || waiter.on_a_thread()));
            } else {
                drop(tasks.spawn(waiter.in_a_task()));
            }
        }
        let (turns, served) = (Vec::new(), [false; ALL]);
        Self { clock, tokens, told, stops, threads, turns, served, _tasks: tasks }
    }

    /// Waits until all are waiting, and takes their reports.
    fn settle(&mut self) {
        assert!(self.clock.until_waiting(ALL, PATIENCE), "one of them does not wait any more");
        while let Ok((number, result, at)) = self.told.try_recv() {
            assert_eq!(result, Ok(()), "nobody has cancelled {number}");
            self.turns.push(at);
            self.served[number] = true;
        }
    }

    /// Cancels a waiter, which then waits again with a new token.
    fn cancel(&mut self, number: usize) {
        let token =
            std::mem::replace(&mut *self.tokens[number].lock(), CancelToken::new(&self.clock));
        token.cancel();
        let (who, result, _) = self.told.recv_timeout(PATIENCE).expect("it is told at once");
        assert_eq!((who, result), (number, Err(WaitError::Ended(Reason::Cancelled))));
        self.settle();
    }

    fn disperse(self) {
        self.stops.store(true, Ordering::SeqCst);
        self.tokens.iter().for_each(|token| token.lock().cancel());
        self.threads.into_iter().for_each(|thread| self.clock.join(thread).unwrap());
    }
}

/// Lets everybody wait while slots pass; `cancels` names a waiter to cancel in each slot.
fn keeps_its_rate(burst: u8, cancels: Vec<u8>) -> bool {
    let burst = u64::from(burst % 8 + 1);
    let mut crowd = Crowd::gather(burst);
    crowd.settle();
    for number in &cancels {
        if usize::from(*number) < ALL {
            crowd.cancel(usize::from(*number));
        }
        crowd.clock.advance(SLOT);
        crowd.settle();
    }
    // No waiter is lost: each has its turn again within the number of turns that all others could
    // take.
    crowd.served = [false; ALL];
    for _ in 0..2 * ALL + cancels.len() {
        crowd.clock.advance(SLOT);
        crowd.settle();
    }
    assert!(crowd.served.iter().all(|served| *served), "somebody was lost: {:?}", crowd.served);
    let turns = std::mem::take(&mut crowd.turns);
    crowd.disperse();
    assert!(turns.is_sorted());
    turns.iter().enumerate().all(|(first, from)| {
        turns[first..].iter().zip(1..).all(|(to, count)| {
            let slots = to.since(*from).as_nanos() / SLOT.as_nanos();
            u128::from(burst) + slots >= count
        })
    })
}

#[test]
fn a_crowd_has_no_more_turns_than_rate_and_burst_allow_and_nobody_is_lost() {
    QuickCheck::new().tests(12).quickcheck(keeps_its_rate as fn(u8, Vec<u8>) -> bool);
}
