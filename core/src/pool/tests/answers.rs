//! The answers that a function may give, and their effect on the item.

use super::*;
use crate::limiter::{Item, Limiter};
use crate::metrics::{Metrics, Provider, Sink};

type Decides = fn(&u8, u32) -> Result<Action, Fault<&'static str>>;

/// Processes one item by hand, and again whenever it comes back within a minute; returns when each
/// attempt was made, with its number.
fn attempts<F>(queue: &Queue<Manual>, runtime: &Manual, reconciler: &F) -> Vec<u64>
where
    F: Reconcile<u8>,
{
    let mut at = vec![];
    for _ in 0..6_000 {
        while queue.waiting() > 0 {
            let (key, delivery) = Source::next(&**queue).expect("one waits");
            at.push(runtime.now().as_nanos() / 1_000_000);
            reconcile::process(&**queue, reconciler, &key, delivery);
        }
        runtime.advance(ms(10));
    }
    at
}

fn one_item() -> (Manual, Queue<Manual>) {
    let runtime = Manual::new();
    let queue = queue(&runtime);
    queue.add(1);
    (runtime, queue)
}

#[test]
fn a_simple_function_returns_nothing_an_action_or_a_result() {
    let (runtime, queue) = one_item();
    assert_eq!(attempts(&queue, &runtime, &|_: &u8| ()), [0]);
    queue.add(1);
    let began = runtime.now().as_nanos() / 1_000_000;
    let once = Mutex::new(true);
    let again = move |_: &u8| {
        let first = std::mem::take(&mut *once.lock());
        if first { Action::RequeueAfter(ms(30)) } else { Action::Done }
    };
    assert_eq!(attempts(&queue, &runtime, &again), [began, began + 30]);
    let (runtime, queue) = one_item();
    let left = Mutex::new(2);
    let fails = move |_: &u8| {
        let mut left = left.lock();
        if *left == 0 {
            return Ok(());
        }
        *left -= 1;
        Err("not yet")
    };
    assert_eq!(attempts(&queue, &runtime, &fails), [0, 10, 30]);
}

#[test]
fn who_decides_is_given_the_attempt_and_says_when_the_next_one_is() {
    let (runtime, queue) = one_item();
    let decides: Decides = |_, attempt| match attempt {
        1 => Err("the limiter knows when".into()),
        2 => Err(Fault::RetryAfter("the server says when", ms(500))),
        3 => Ok(Action::Requeue), // counts as well
        4 => Err(Fault::Terminal("it is wrong")),
        _ => panic!("it was forgotten"),
    };
    assert_eq!(attempts(&queue, &runtime, &deciding(decides)), [0, 10, 510, 550]);
    assert_eq!(queue.num_requeues(&1), 0, "what is given up is forgotten");
    queue.add(1);
    assert_eq!(attempts(&queue, &runtime, &deciding(decides)).len(), 4, "it begins anew");
}

#[test]
fn a_terminal_error_is_tried_again_only_if_the_item_was_added_meanwhile() {
    let (runtime, queue) = one_item();
    let adds = Arc::clone(&queue);
    let once = Mutex::new(true);
    let terminal = deciding(move |key: &u8, attempt: u32| {
        assert_eq!(attempt, 1);
        if std::mem::take(&mut *once.lock()) {
            adds.add(*key);
        }
        Err::<Action, _>(Fault::Terminal("wrong"))
    });
    assert_eq!(attempts(&queue, &runtime, &terminal), [0, 0]);
}

/// Records the failures that it is told of.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock())
    }
}

impl Sink for Told {
    fn failed(&self) {
        self.0.lock().push("failed".to_owned());
    }

    fn given_up(&self, why: GivenUp) {
        self.0.lock().push(format!("given up: {}", why.as_str()));
    }
}

impl Provider for Told {
    fn sink(&self, _: &str) -> Option<Arc<dyn Sink>> {
        Some(Arc::new(self.clone()))
    }
}

#[test]
fn a_policy_gives_up_after_so_many_retries_and_counts_and_tells() {
    let (counted, told) = (Told::default(), Told::default());
    let metrics = Metrics::named("pods").told_to(Arc::new(counted.clone()));
    let inner = told.clone();
    let tell = move |_: &u8, failure: &Failure<&str>| inner.0.lock().push(failure.to_string());
    let breaks: Decides = |_, attempt| match attempt {
        2 => panic!("a panic counts too"),
        _ => Err("no".into()),
    };
    let policy = policy(deciding(breaks)).at_most(2).counting(&metrics).telling(tell);
    for _ in 0..2 {
        let (runtime, queue) = one_item();
        assert_eq!(attempts(&queue, &runtime, &policy), [0, 10, 30], "one attempt and two retries");
        assert_eq!(queue.num_requeues(&1), 0);
        let says = [
            "attempt 1: no; it is tried again",
            "attempt 2: panicked: a panic counts too; it is tried again",
            "attempt 3: no; it failed too often and is given up",
        ];
        assert_eq!(told.take(), says);
        assert_eq!(counted.take(), ["failed", "failed", "failed", "given up: too_often"]);
    }
}

#[test]
fn terminal_errors_are_counted_apart() {
    let counted = Told::default();
    let metrics = Metrics::named("pods").told_to(Arc::new(counted.clone()));
    let wrong: Decides = |_, _| Err(Fault::Terminal("wrong"));
    let (runtime, queue) = one_item();
    let never = policy(deciding(wrong)).at_most(0).counting(&metrics);
    assert_eq!(attempts(&queue, &runtime, &never), [0]);
    assert_eq!(counted.take(), ["failed", "given up: terminal"]);
}

#[test]
fn a_task_decides_and_gives_up_as_a_thread_does() {
    let (runtime, told) = (System::new(), Told::default());
    let queue = Arc::new(LimitedQueue::new(&runtime, Exponential::new(ms(1), ms(1))));
    queue.add_all([1, 2]);
    let (inner, ends) = (told.clone(), Arc::clone(&queue));
    let tell = move |key: &u8, failure: &Failure<&str>| {
        let mut told = inner.0.lock();
        told.push(format!("{key}: {failure}"));
        if told.len() == 4 {
            ends.shut_down();
        }
    };
    let reconcile = deciding(async |key: u8, attempt: u32| match (key, attempt) {
        (2, _) => Err::<Action, _>(Fault::Terminal("two")),
        (_, 2) => panic!("a panic"),
        _ => Err(Fault::RetryAfter("again", ms(1))),
    });
    let policy = policy(reconcile).at_most(2).telling(tell);
    runtime.block_on(awaited::work(&*queue, &policy));
    let says = [
        "1: attempt 1: again; it is tried again in 1ms",
        "2: attempt 1: two; it is not tried again",
        "1: attempt 2: panicked: a panic; it is tried again",
        "1: attempt 3: again; it failed too often and is given up",
    ];
    assert_eq!(told.take(), says);
}

#[test]
fn an_item_comes_back_with_the_priority_that_it_is_given() {
    for (after, wait) in [(None, ms(10)), (Some(ms(3)), ms(3)), (Some(ms(0)), ms(0))] {
        let runtime = Manual::new();
        let queue = PriorityQueue::with_limiter(&runtime, Exponential::new(ms(10), ms(1000)));
        queue.add_with(1, AddOptions { priority: 7, ..AddOptions::default() });
        let (key, delivery) = Source::next(&queue).unwrap();
        let urgent = move |_: &u8| Action::Priority(9, after);
        reconcile::process(&queue, &urgent, &key, delivery);
        runtime.advance(wait);
        let (_, (_, priority)) = Source::next(&queue).unwrap();
        assert_eq!(priority, 9, "{after:?}");
        assert_eq!(queue.num_requeues(&1), u32::from(after.is_none()));
    }
}

#[test]
fn a_priority_is_ignored_where_there_are_none() {
    let (runtime, queue) = one_item();
    let once = Mutex::new(true);
    let urgent = move |_: &u8| match std::mem::take(&mut *once.lock()) {
        true => Action::Priority(9, Some(ms(20))),
        false => Action::Done,
    };
    assert_eq!(attempts(&queue, &runtime, &urgent), [0, 20]);
}

#[test]
fn a_failure_that_says_when_counts_on_a_priority_queue_too() {
    let runtime = Manual::new();
    let queue = PriorityQueue::with_limiter(&runtime, Exponential::new(ms(10), ms(1000)));
    queue.add_with(1, AddOptions { priority: 7, ..AddOptions::default() });
    let later: Decides = |_, _| Err(Fault::RetryAfter("later", ms(3)));
    for failures in 1..4 {
        let (key, delivery) = Source::next(&queue).expect("it is due");
        reconcile::process(&queue, &deciding(later), &key, delivery);
        assert_eq!((queue.num_requeues(&1), queue.waiting()), (failures, 0));
        runtime.advance(ms(3));
    }
}

/// A sink that panics.
struct Broken;

impl Sink for Broken {
    fn failed(&self) {
        panic!("a bug of the sink");
    }

    fn given_up(&self, _: GivenUp) {
        panic!("a bug of the sink");
    }
}

impl Provider for Broken {
    fn sink(&self, _: &str) -> Option<Arc<dyn Sink>> {
        Some(Arc::new(Self))
    }
}

#[test]
fn a_sink_that_panics_keeps_no_failure_from_the_log() {
    let told = Told::default();
    let inner = told.clone();
    let tell = move |_: &u8, failure: &Failure<&str>| inner.0.lock().push(failure.to_string());
    let wrong: Decides = |_, _| Err(Fault::Terminal("wrong"));
    let metrics = Metrics::named("pods").told_to(Arc::new(Broken));
    let (runtime, queue) = one_item();
    let counted = policy(deciding(wrong)).counting(&metrics).telling(tell);
    assert_eq!(attempts(&queue, &runtime, &counted), [0]);
    assert_eq!(told.take(), ["attempt 1: wrong; it is not tried again"]);
}

/// A limiter that cannot count.
struct NoCount;

impl Limiter<u8> for NoCount {
    fn when(&mut self, _: Item<'_, u8>, _: Instant) -> Duration {
        ms(5)
    }

    fn forget(&mut self, _: Item<'_, u8>, _: &mut Vec<u8>) {}

    fn num_requeues(&self, _: Item<'_, u8>) -> u32 {
        panic!("a bug of the limiter")
    }
}

#[test]
fn an_item_that_failed_is_tried_again_although_nobody_can_count_its_failures() {
    let runtime = Manual::new();
    let queue = LimitedQueue::new(&runtime, NoCount);
    queue.add(1);
    let fails: Decides = |_, _| Err("no".into());
    let reconciler = policy(deciding(fails)).at_most(3);
    for _ in 0..2 {
        let (key, delivery) = Source::next(&queue).expect("it is due");
        reconcile::process(&queue, &reconciler, &key, delivery);
        runtime.advance(ms(5));
    }
    assert_eq!(queue.len(), 1);
}

#[test]
fn an_item_that_was_requeued_as_often_as_it_may_be_retried_is_given_up_at_its_first_error() {
    let (runtime, queue) = one_item();
    let told = Told::default();
    let decides: Decides = |_, attempt| match attempt {
        1..=3 => Ok(Action::Requeue),
        _ => Err("it fails for the first time".into()),
    };
    let hear = told.clone();
    let tell = move |_: &u8, failure: &Failure<&str>| hear.0.lock().push(failure.fate.to_string());
    let reconcile = policy(deciding(decides)).at_most(3).telling(tell);
    assert_eq!(attempts(&queue, &runtime, &reconcile).len(), 4);
    assert_eq!(told.take(), ["it failed too often and is given up"]);
}
