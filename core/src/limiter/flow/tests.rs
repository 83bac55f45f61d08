//! Flow control on a clock that is moved by hand.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::*;
use crate::cancel::{self, Cancel, CancelToken, Reason, Tree};
use crate::limiter::FOREVER;
use crate::machine::{Boxed, Cx, Host, Machine, Step};
use crate::runtime::{Ambient, Instant, Manual};

const PATIENCE: Duration = Duration::from_secs(10);
const SECOND: Duration = Duration::from_secs(1);

type Flow = Arc<TokenBucketFlow<Manual>>;

/// A limiter with one token a second, and none left.
fn emptied(runtime: &Manual) -> Flow {
    let flow = TokenBucketFlow::new(runtime, 1.0, 1);
    assert!(flow.try_accept());
    Arc::new(flow)
}

fn in_seconds(n: u32) -> Instant {
    Instant::ZERO + n * SECOND
}

/// Starts a thread that waits with a token; returns when the thread is asleep.
fn waits(
    runtime: &Manual,
    flow: &Flow,
    token: &CancelToken<Manual>,
) -> <Manual as Runtime>::Join<Result<(), WaitError>> {
    let (flow, token, sleepers) = (Arc::clone(flow), token.clone(), runtime.waiters());
    let waiter = runtime.spawn("waits", move || flow.wait(&token));
    assert!(runtime.until_waiting(sleepers + 1, PATIENCE));
    waiter
}

#[test]
fn it_starts_full_and_refuses_without_a_trace() {
    let runtime = Manual::new();
    let flow = TokenBucketFlow::new(&runtime, 2.0, 3);
    assert!((0..3).all(|_| flow.try_accept()));
    assert!((0..9).all(|_| !flow.try_accept()));
    runtime.advance(SECOND / 2);
    assert!(flow.try_accept() && !flow.try_accept());
    assert_eq!(flow.qps(), 2.0);
    flow.stop();
    runtime.advance(SECOND / 2);
    assert!(flow.try_accept(), "FC-6: stop does nothing");
    assert_eq!(TokenBucketFlow::new(&runtime, -3.5, 1).qps(), -3.5, "as configured");
}

#[test]
fn accepts_get_a_slot_each_and_others_wait_for_the_debt() {
    let runtime = Manual::new();
    let flow = emptied(&runtime);
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (flow, runtime) = (Arc::clone(&flow), runtime.clone());
            runtime.clone().spawn("accepts", move || {
                flow.accept();
                runtime.now()
            })
        })
        .collect();
    assert!(runtime.until_waiting(3, PATIENCE));
    for _ in 0..3 {
        assert!(!flow.try_accept(), "FC-5");
        runtime.advance(SECOND);
    }
    let mut times: Vec<_> = threads.into_iter().map(|t| runtime.join(t).unwrap()).collect();
    times.sort_unstable();
    // A thread reads the clock after it was woken, when the clock may already be later.
    assert!(times.iter().zip(1..).all(|(time, n)| *time >= in_seconds(n)), "FC-4: {times:?}");
    runtime.advance(SECOND);
    assert!(flow.try_accept());
}

#[test]
fn wait_returns_when_its_turn_comes() {
    let runtime = Manual::new();
    let (flow, token) = (emptied(&runtime), CancelToken::new(&runtime));
    let waiter = waits(&runtime, &flow, &token);
    runtime.advance(SECOND);
    assert_eq!(runtime.join(waiter).unwrap(), Ok(()));
    runtime.advance(SECOND);
    assert_eq!(flow.wait(&token), Ok(()), "at once");
}

#[test]
fn wait_fails_at_once_if_the_deadline_cannot_be_met() {
    let runtime = Manual::new();
    let flow = emptied(&runtime);
    let early = CancelToken::with_deadline(&runtime, Instant::from_nanos(999_999_999));
    assert_eq!(flow.wait(&early), Err(WaitError::WouldExceedDeadline));
    let just_enough = CancelToken::with_deadline(&runtime, in_seconds(1));
    let waiter = waits(&runtime, &flow, &just_enough);
    runtime.advance(SECOND);
    assert_eq!(runtime.join(waiter).unwrap(), Ok(()), "nothing was consumed by the first");
}

#[test]
fn wait_gives_back_what_it_reserved_when_its_token_ends() {
    let runtime = Manual::new();
    let (flow, token) = (emptied(&runtime), CancelToken::new(&runtime));
    let waiter = waits(&runtime, &flow, &token);
    token.cancel();
    assert_eq!(runtime.join(waiter).unwrap(), Err(WaitError::Ended(Reason::Cancelled)));
    runtime.advance(SECOND);
    assert!(flow.try_accept(), "the token is there for somebody else");
}

#[test]
fn what_is_given_back_is_there_at_once_and_not_more_than_it() {
    let runtime = Manual::new();
    let flow = Arc::new(TokenBucketFlow::new(&runtime, 1.0, 10));
    assert!((0..10).all(|_| flow.try_accept()));
    let token = CancelToken::new(&runtime);
    let (inner, of_the_waiter) = (Arc::clone(&flow), token.clone());
    let waiter = runtime.spawn("waits", move || inner.wait_for(&of_the_waiter, 9));
    assert!(runtime.until_waiting(1, PATIENCE));
    token.cancel();
    assert_eq!(runtime.join(waiter).unwrap(), Err(WaitError::Ended(Reason::Cancelled)));
    assert!(!flow.try_accept(), "no time has passed");
    runtime.advance(SECOND);
    assert!(flow.try_accept() && !flow.try_accept(), "one second has");
}

#[test]
fn wait_looks_at_the_burst_first_and_then_at_the_token() {
    let runtime = Manual::new();
    let (flow, token) = (emptied(&runtime), CancelToken::new(&runtime));
    token.cancel();
    assert_eq!(flow.wait_for(&token, 2), Err(WaitError::ExceedsBurst), "TB-15");
    assert_eq!(flow.wait(&token), Err(WaitError::Ended(Reason::Cancelled)));
    let unlimited = TokenBucketFlow::new(&runtime, f32::INFINITY, 0);
    assert_eq!(unlimited.wait_for(&token, 2), Err(WaitError::Ended(Reason::Cancelled)));
    assert_eq!(unlimited.wait_for(&CancelToken::new(&runtime), 2), Ok(()));
}

#[test]
fn without_a_burst_accept_sleeps_for_ever() {
    let runtime = Manual::new();
    let flow = Arc::new(TokenBucketFlow::new(&runtime, 1.0, 0));
    let sleeper = Arc::clone(&flow);
    let thread = runtime.spawn("accepts", move || sleeper.accept());
    assert!(runtime.until_asleep(1, PATIENCE));
    runtime.advance(FOREVER);
    assert_eq!(runtime.asleep(), 1, "FC-9");
    drop(thread); // it sleeps as long as the process lives
}

#[test]
fn always_lets_everybody_go_on() {
    let limiter: &dyn FlowLimiter<Manual> = &AlwaysAccept;
    let token = CancelToken::new(&Manual::new());
    token.cancel();
    limiter.accept();
    limiter.stop();
    assert!(limiter.try_accept());
    assert_eq!((limiter.wait(&token), limiter.qps()), (Ok(()), 1.0), "FC-10");
}

#[test]
fn never_holds_everybody_until_it_is_stopped() {
    let runtime = Manual::new();
    let limiter = Arc::new(NeverAccept::new(&runtime));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let limiter = Arc::clone(&limiter);
            runtime.spawn("accepts", move || limiter.accept())
        })
        .collect();
    assert!(runtime.until_asleep(2, PATIENCE));
    assert_eq!(limiter.wait(&CancelToken::new(&runtime)), Err(WaitError::Closed));
    limiter.stop();
    for thread in threads {
        runtime.join(thread).unwrap();
    }
    limiter.stop(); // FC-12
    limiter.accept(); // and all that come later
    assert!(!limiter.try_accept(), "FC-11: also when stopped");
    assert_eq!(limiter.qps(), 1.0);
}

#[test]
fn errors_say_why() {
    let ended = WaitError::Ended(Reason::DeadlineExceeded);
    assert_eq!(ended.to_string(), "deadline exceeded");
    assert!(std::error::Error::source(&ended).is_none(), "it says all that the reason says");
    assert!(std::error::Error::source(&WaitError::Closed).is_none());
}

#[test]
fn a_flow_shows_what_it_is() {
    let runtime = Manual::new();
    let shown = format!("{:?}", TokenBucketFlow::new(&runtime, 2.5, 1));
    assert!(shown.contains("qps: 2.5"), "{shown}");
    assert_eq!(format!("{:?}", NeverAccept::new(&runtime)), "NeverAccept");
}

#[test]
fn zero_tokens_are_refused_as_others_are() {
    let runtime = Manual::new();
    let flow = emptied(&runtime);
    let debtor = waits(&runtime, &flow, &CancelToken::new(&runtime));
    let token = CancelToken::with_deadline(&runtime, runtime.now() + SECOND / 2);
    assert_eq!(flow.wait_for(&token, 0), Err(WaitError::WouldExceedDeadline), "TB-15");
    token.cancel();
    assert_eq!(flow.wait_for(&token, 0), Err(WaitError::Ended(Reason::Cancelled)));
    runtime.advance(SECOND);
    assert_eq!(runtime.join(debtor).unwrap(), Ok(()));
}

/// A token whose waiter is delayed until its time is over, and which is then cancelled.
struct Late(Manual, Tree);

impl Machine for Late {
    type Op = cancel::Op;
    type Ret = cancel::Ret;

    fn step(&mut self, op: &mut cancel::Op, cx: &mut Cx<'_>) -> Step<cancel::Ret> {
        let Self(clock, tree) = self;
        if !matches!(op, cancel::Op::Wait(_)) {
            return tree.step(op, cx);
        }
        clock.advance(Duration::from_secs(10));
        let mut cx = Cx::new(&*clock);
        drop(Host::<Tree>::run(tree, &mut Cancel::default(), &mut cx));
        tree.step(op, &mut cx)
    }
}

#[test]
fn a_turn_that_has_come_is_taken_although_the_token_ends() {
    let runtime = Manual::new();
    let flow = TokenBucketFlow::new(&runtime, 1.0, 1);
    assert!(flow.try_accept());
    let clock = runtime.clone();
    let late = move || Boxed(Box::new(Late(clock.clone(), Tree::new())));
    let token = CancelToken::with_host(&runtime, Instant::NEVER, late);
    assert_eq!(flow.wait_for(&token, 1), Ok(()), "TB-15");
    assert!(token.is_cancelled());
}

/// Polls a wait once.
fn poll(wait: &mut Waits<'_>) -> Poll<Result<(), WaitError>> {
    wait.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_task_waits_for_its_turn_and_gives_back_what_it_does_not_use() {
    let runtime = Manual::new();
    let flow = emptied(&runtime);
    let token = CancelToken::new(&runtime);
    let (mut first, mut second) = (flow.wait_async(&token), flow.wait_async(&token));
    assert!(poll(&mut first).is_pending() && poll(&mut second).is_pending());
    drop(second); // it would have had the turn after the next
    runtime.advance(SECOND);
    assert_eq!(poll(&mut first), Poll::Ready(Ok(())));
    runtime.advance(SECOND);
    assert!(flow.try_accept(), "what was dropped was given back");

    let mut third = flow.wait_async(&token);
    assert!(poll(&mut third).is_pending());
    token.cancel();
    assert_eq!(poll(&mut third), Poll::Ready(Err(WaitError::Ended(Reason::Cancelled))));
    runtime.advance(SECOND);
    assert!(flow.try_accept(), "FC-7");
    let mut late = flow.wait_async(&token);
    assert_eq!(poll(&mut late), Poll::Ready(Err(WaitError::Ended(Reason::Cancelled))));
}

#[test]
fn a_task_that_has_had_its_turn_gives_nothing_back() {
    let runtime = Manual::new();
    let flow = emptied(&runtime);
    let token = CancelToken::new(&runtime);
    let mut wait = flow.wait_async(&token);
    assert!(poll(&mut wait).is_pending());
    runtime.advance(SECOND);
    token.cancel();
    assert_eq!(poll(&mut wait), Poll::Ready(Ok(())), "its turn has come");
    drop(wait);
    assert!(!flow.try_accept());
}

#[test]
fn a_task_is_woken_for_its_turn_and_by_the_end_of_its_token() {
    let system = crate::runtime::System::new();
    let flow = TokenBucketFlow::new(&system, 20.0, 1);
    assert!(flow.try_accept());
    let token = CancelToken::new(&system);
    assert_eq!(system.block_on(flow.wait_async(&token)), Ok(()));
    let slow = TokenBucketFlow::new(&system, 0.001, 1);
    assert!(slow.try_accept());
    let (stops, clock) = (token.clone(), system);
    let stopper = system.spawn("stopper", move || {
        clock.sleep_until(clock.now() + Duration::from_millis(20));
        stops.cancel();
    });
    let ended = system.block_on(slow.wait_async(&token));
    assert_eq!(ended, Err(WaitError::Ended(Reason::Cancelled)));
    system.join(stopper).unwrap();
}

#[test]
fn tasks_go_on_always_or_never_with_the_fakes() {
    let token = CancelToken::new(&Manual::new());
    assert_eq!(poll(&mut AlwaysAccept.wait_async(&token)), Poll::Ready(Ok(())));
    let never = NeverAccept::new(&Manual::new());
    assert_eq!(poll(&mut never.wait_async(&token)), Poll::Ready(Err(WaitError::Closed)));
}
