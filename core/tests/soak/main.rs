//! Work queues under everything at once, for as long as there is time: threads and tasks that add,
//! delay, fail, take, give up and shut down at random, one queue after the other. Some keys panic when they
//! are hashed, compared or copied, and some wakers when they wake.
//!
//! A ledger outside the queue counts: nothing is lost, nothing comes twice or to two consumers at a
//! time, and when a queue is gone so is its memory. `SEATRIAL_SOAK_SECONDS` says how long, two
//! seconds unless it does:
//!
//! ```text
//! SEATRIAL_SOAK_SECONDS=300 cargo test --release -p seatrial-core --test soak
//! ```

mod faults;

use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::time::Duration;

use cap::Cap;
use seatrial_core::limited_queue::{LimitedQueue, Outcome};
use seatrial_core::limiter::Exponential;
use seatrial_core::queue::Token;
use seatrial_core::runtime::{Ambient as _, Runtime as _, System};

use faults::{Bomb, Expected, Key, Random, lit};

#[global_allocator]
static MEMORY: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

const KEYS: usize = 200;
const PRODUCERS: u64 = 4;
const CONSUMERS: u64 = 4;
/// Consumers that are tasks, beside those that are threads.
const TASKS: u64 = 4;
/// What a queue that is gone may leave behind: what threads and the runtime keep.
const LEFT_BEHIND: usize = 1 << 20;

type Queue = LimitedQueue<Key, System, Exponential<Key>>;

/// What is known of one key.
#[derive(Default)]
struct Account {
    /// Calls that add it at once; counted before the call.
    added: AtomicU64,
    /// Calls that add it later, or may: failures too.
    delayed: AtomicU64,
    delivered: AtomicU64,
    /// How many of `added` were known when its newest delivery began.
    handled: AtomicU64,
    busy: AtomicBool,
}

/// One queue, from its first item to its end.
struct Life {
    queue: Queue,
    accounts: Vec<Account>,
    /// Producers are to leave.
    enough: AtomicBool,
}

impl Life {
    fn new(system: &System) -> Arc<Self> {
        let limiter = Exponential::new(Duration::from_micros(50), Duration::from_millis(2));
        let accounts = (0..KEYS).map(|_| Account::default()).collect();
        Arc::new(Self {
            queue: Queue::new(system, limiter),
            accounts,
            enough: AtomicBool::new(false),
        })
    }

    fn produce(&self, mut random: Random) {
        while !self.enough.load(SeqCst) {
            let key = random.key();
            match random.below(9) {
                0 => {
                    let keys: Vec<_> = (0..random.below(20)).map(|_| random.key()).collect();
                    keys.iter().for_each(|key| self.count_add(*key));
                    self.queue.add_all(keys.into_iter().map(Key));
                }
                1 | 2 => {
                    self.count_delayed(key);
                    self.queue.add_after(Key(key), random.delay());
                }
                3 => {
                    self.count_delayed(key);
                    self.queue.add_rate_limited(Key(key));
                }
                4 => self.queue.forget(&Key(key)),
                5 => {
                    // A call that panics may have added it.
                    self.count_delayed(key);
                    match random.below(3) {
                        0 => lit(&mut random, || self.queue.add(Key(key))),
                        1 => lit(&mut random, || self.queue.add_rate_limited(Key(key))),
                        _ => lit(&mut random, || self.queue.add_after(Key(key), Duration::ZERO)),
                    };
                }
                _ => {
                    self.count_add(key);
                    self.queue.add(Key(key));
                }
            }
        }
    }

    fn count_add(&self, key: usize) {
        self.accounts[key].added.fetch_add(1, SeqCst);
    }

    fn count_delayed(&self, key: usize) {
        self.accounts[key].delayed.fetch_add(1, SeqCst);
    }

    /// Takes and ends items until there are no more.
    fn consume(&self, system: System, mut random: Random) {
        loop {
            let taken: Vec<_> = match random.below(6) {
                0 => self.queue.take_batch(NonZeroUsize::MIN.saturating_add(7)),
                1 => system.block_on(self.queue.take_async()).into_iter().collect(),
                2 => match self.impatient(system) {
                    Some(taken) => vec![taken],
                    None => continue,
                },
                3 => match lit(&mut random, || self.queue.take()) {
                    Some(taken) => taken.into_iter().collect(),
                    None => continue,
                },
                4 => match self.bombed() {
                    Some(taken) => vec![taken],
                    None => continue,
                },
                _ => self.queue.take().into_iter().collect(),
            };
            if taken.is_empty() {
                return;
            }
            taken.iter().for_each(|(_, key)| self.begin(key.0));
            self.end(taken, &mut random);
        }
    }

    /// The same as a task.
    async fn consume_async(&self, mut random: Random) {
        while let Some((token, key)) = self.queue.take_async().await {
            self.begin(key.0);
            if random.below(2) == 0 {
                tokio::task::yield_now().await;
            }
            self.end(vec![(token, key)], &mut random);
        }
    }

    /// Asks once, and gives up if there is nothing.
    fn impatient(&self, system: System) -> Option<(Token, Key)> {
        let mut getter = pin!(self.queue.take_async());
        system.block_on(poll_fn(|context| match getter.as_mut().poll(context) {
            Poll::Ready(taken) => Poll::Ready(taken),
            Poll::Pending => Poll::Ready(None),
        }))
    }

    /// Waits for a moment with a waker that panics, asks again, and gives up if there is nothing.
    fn bombed(&self) -> Option<(Token, Key)> {
        let waker = Arc::new(Bomb).into();
        let mut context = Context::from_waker(&waker);
        let mut getter = pin!(self.queue.take_async());
        for _ in 0..2 {
            if let Poll::Ready(taken) = getter.as_mut().poll(&mut context) {
                return taken;
            }
            std::thread::yield_now();
        }
        None
    }

    fn begin(&self, key: usize) {
        let account = &self.accounts[key];
        assert!(!account.busy.swap(true, SeqCst), "key {key} has two consumers");
        account.handled.store(account.added.load(SeqCst), SeqCst);
        account.delivered.fetch_add(1, SeqCst);
    }

    fn end(&self, taken: Vec<(Token, Key)>, random: &mut Random) {
        taken.iter().for_each(|(_, key)| self.accounts[key.0].busy.store(false, SeqCst));
        if random.below(3) == 0 {
            let count = taken.len();
            assert_eq!(self.queue.done_all(taken.into_iter().map(|(token, _)| token)), count);
            return;
        }
        for (token, key) in taken {
            let outcome = match random.below(6) {
                0 => Outcome::Retry,
                1 => Outcome::RequeueAfter(random.delay()),
                2 => Outcome::GiveUp,
                _ => Outcome::Success,
            };
            if matches!(outcome, Outcome::Retry | Outcome::RequeueAfter(_)) {
                self.count_delayed(key.0);
            }
            assert!(self.queue.settle(token, outcome), "a delivery ends once");
            assert!(!self.queue.done(token), "and not again");
        }
    }

    /// Checks the books when everybody has left; nobody added while the queue was shut down if it
    /// was `orderly`.
    fn check(&self, orderly: bool) {
        assert!(self.queue.is_empty() && self.queue.take().is_none(), "the end is the end");
        for (key, account) in self.accounts.iter().enumerate() {
            let [added, delayed, delivered, handled] =
                [&account.added, &account.delayed, &account.delivered, &account.handled]
                    .map(|count| count.load(SeqCst));
            assert!(delivered <= added + delayed, "key {key}: {delivered} of {added} + {delayed}");
            assert!(!orderly || handled == added, "key {key}: {handled} of {added} are handled");
        }
    }
}

/// Lets a queue live for a while, ends it in one of its ways, and checks the books.
fn live(system: System, tasks: &tokio::runtime::Runtime, random: &mut Random) -> u64 {
    let life = Life::new(&system);
    let mut seed = || Random(random.below(u64::MAX >> 11) << 1 | 1);
    let spawn = |name: &str, work: Box<dyn FnOnce(&Life) + Send>| {
        let life = Arc::clone(&life);
        system.spawn(name, move || work(&life))
    };
    let mut threads = Vec::new();
    for _ in 0..CONSUMERS {
        let random = seed();
        threads.push(spawn("consumer", Box::new(move |life| life.consume(system, random))));
    }
    let consuming: Vec<_> = (0..TASKS)
        .map(|_| {
            let (life, random) = (Arc::clone(&life), seed());
            tasks.spawn(async move { life.consume_async(random).await })
        })
        .collect();
    let mut producers = Vec::new();
    for _ in 0..PRODUCERS {
        let random = seed();
        producers.push(spawn("producer", Box::new(move |life| life.produce(random))));
    }
    system.sleep_until(system.now() + Duration::from_millis(random.below(40)));
    let orderly = random.below(2) == 0;
    let stop_producing = |producers: Vec<_>| {
        life.enough.store(true, SeqCst);
        for producer in producers {
            assert!(system.join(producer).is_ok(), "a producer panicked");
        }
    };
    if orderly {
        stop_producing(std::mem::take(&mut producers));
    }
    match random.below(3) {
        0 => life.queue.shut_down(),
        1 => life.queue.shut_down_with_drain(),
        _ => {
            // Two drains, and a shutdown that releases the callers that wait for work nobody will do.
            let drain = spawn("drain", Box::new(|life| life.queue.shut_down_when_done()));
            life.queue.shut_down_with_drain();
            life.queue.shut_down();
            threads.push(drain);
        }
    }
    stop_producing(producers);
    for thread in threads {
        assert!(system.join(thread).is_ok(), "a consumer or a drain panicked");
    }
    for task in consuming {
        assert!(tasks.block_on(task).is_ok(), "a task panicked");
    }
    life.check(orderly);
    life.accounts.iter().map(|account| account.delivered.load(SeqCst)).sum()
}

#[test]
fn nothing_is_lost_and_nothing_comes_twice_whatever_happens_at_once() {
    let told = std::env::var("SEATRIAL_SOAK_SECONDS").ok();
    let seconds = told.map_or(2, |text| text.parse().expect("a number of seconds"));
    let system = System::new();
    let tasks = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    let tasks = tasks.expect("two threads");
    let hook = std::panic::take_hook();
    let panics = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&panics);
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload().is::<Expected>() {
            count.fetch_add(1, SeqCst);
        } else {
            hook(panic);
        }
    }));
    let deadline = system.now() + Duration::from_secs(seconds);
    let seed = system.entropy() | 1;
    println!("seed {seed}");
    let mut random = Random(seed);
    let (mut lives, mut deliveries, mut first) = (0_u64, 0, 0);
    while system.now() < deadline || lives < 10 {
        deliveries += live(system, &tasks, &mut random);
        lives += 1;
        let kept = MEMORY.allocated();
        if lives == 5 {
            first = kept;
        }
        assert!(lives <= 5 || kept <= first + LEFT_BEHIND, "{first} bytes became {kept}");
    }
    let panics = panics.load(SeqCst);
    println!("{lives} queues, {deliveries} deliveries, {panics} panics of keys and wakers");
    assert!(deliveries > lives && panics > lives, "the queues were used, and keys panicked");
}
