//! Informers: the effect of a slow handler on the others, and the memory of a list that is read
//! again.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::{
    BoxFuture, Change, Event, Informer, ListOptions, ListWatch, ObjectChange, OpenWatch, Page,
    SourceError, SourceKind, WatchOptions,
};
use seatrial_core::runtime::{Ambient as _, Instant, Runtime as _, System};
use seatrial_core::store::{Described, Metadata};

use crate::measure::{allocated, assert_growth, most_allocated, shortest, tell};

#[derive(Debug)]
struct Thing {
    name: String,
    version: String,
    made: Instant,
    _payload: Box<[u8]>,
}

type Object = Arc<Thing>;

impl Described for Thing {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let Self { name, version, .. } = self;
        Some(Metadata { namespace: "", name, uid: name, resource_version: version })
    }
}

fn thing(number: usize, version: usize, bytes: usize) -> Object {
    let (name, version) = (format!("object-{number:08}"), version.to_string());
    let (made, payload) = (System::new().now(), vec![0; bytes].into());
    Arc::new(Thing { name, version, made, _payload: payload })
}

/// A stream of the items of an iterator, which then never sends anything more.
struct Events<I>(I);

impl<I: Iterator<Item = Event<Object>> + Send> OpenWatch<Object> for Events<I> {
    fn next(&mut self) -> BoxFuture<'_, Option<Event<Object>>> {
        match self.0.next() {
            Some(event) => Box::pin(ready(Some(event))),
            None => Box::pin(pending()),
        }
    }
}

/// Runs an informer until a handler reports `done`; does not wait for the handlers to end.
fn run(
    source: impl ListWatch<Object>,
    prepare: impl FnOnce(&Informer<Object>, Sender<()>),
    look: impl FnOnce(),
) {
    let system = System::new();
    let informer = Arc::new(Informer::new(&system, Arc::new(source)));
    let (done, wait) = channel();
    prepare(&informer, done);
    let token = CancelToken::new(&system);
    let running = system.spawn("informer", {
        let (informer, token) = (Arc::clone(&informer), token.clone());
        move || assert!(informer.run(&token).is_ok())
    });
    assert!(wait.recv().is_ok(), "the last change comes");
    look();
    token.cancel();
    assert!(system.join(running).is_ok());
}

const PACE: Duration = Duration::from_micros(100);
const PACED: usize = 3_000;
/// A delay that may be a hiccup of the machine.
const HICCUP: Duration = Duration::from_micros(200);

/// Changes of one object, one by one with a pause between them.
struct Paced;

impl ListWatch<Object> for Paced {
    fn list(&self, _: ListOptions) -> BoxFuture<'_, Result<Page<Object>, SourceError>> {
        Box::pin(ready(Ok(Page::whole(vec![thing(0, 1, 0)], "1"))))
    }

    fn watch(
        &self,
        _: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Object>>, SourceError>> {
        let pace = Pace { token: CancelToken::new(&System::new()), version: 1 };
        Box::pin(ready(Ok(Box::new(pace) as Box<dyn OpenWatch<Object>>)))
    }

    fn streams_lists(&self) -> bool {
        false
    }
}

struct Pace {
    token: CancelToken,
    version: usize,
}

impl OpenWatch<Object> for Pace {
    fn next(&mut self) -> BoxFuture<'_, Option<Event<Object>>> {
        Box::pin(async {
            if self.version > PACED {
                pending::<()>().await;
            }
            let until = System::new().now() + PACE;
            self.token.child_with_deadline(until).wait_async().await;
            self.version += 1;
            Some(Event::Modified(thing(0, self.version, 0)))
        })
    }
}

/// Returns how late 99 % of the changes reach a handler beside a slow one.
fn lateness(neighbour: Duration) -> Duration {
    let late = Arc::new(parking_lot::Mutex::new(Vec::with_capacity(PACED)));
    let prepare = |informer: &Informer<Object>, done: Sender<()>| {
        let system = System::new();
        let pause = move |_| {
            if !neighbour.is_zero() {
                system.sleep_until(system.now() + neighbour);
            }
        };
        assert!(informer.handle(pause).is_ok());
        let late = Arc::clone(&late);
        let note = move |change: ObjectChange<Object>| {
            let Change::Updated { new, .. } = change else { return };
            let mut late = late.lock();
            late.push(system.now().since(new.made));
            if late.len() == PACED {
                let _ = done.send(());
            }
        };
        assert!(informer.handle(note).is_ok());
    };
    run(Paced, prepare, || ());
    let mut late = late.lock();
    late.sort_unstable();
    late[PACED * 99 / 100]
}

/// A fast handler is as fast beside a slow one as beside a fast one.
pub(crate) fn slow_neighbour() {
    let [beside_fast, beside_slow] =
        [Duration::ZERO, Duration::from_millis(1)].map(|pause| shortest(|| lateness(pause)));
    tell(PACED, "99 of 100 are told within, beside a fast handler", beside_fast);
    tell(PACED, "99 of 100 are told within, beside a slow handler", beside_slow);
    assert_growth(beside_fast.max(HICCUP), beside_slow, 2.0);
}

const MANY: usize = 1_000_000;
const PAGE: usize = 10_000;
const CHANGED: usize = 100_000;
const BYTES: usize = 380; // with the name, version and so on, five hundred

/// A million objects in pages; then changes; then an expired version, and all objects again.
#[derive(Default)]
struct Million {
    given: AtomicUsize,
    watches: AtomicU64,
}

impl ListWatch<Object> for Million {
    fn list(&self, _: ListOptions) -> BoxFuture<'_, Result<Page<Object>, SourceError>> {
        let from = self.given.fetch_add(PAGE, Ordering::Relaxed);
        let version = |number: usize| if from >= MANY && number < CHANGED { 2 } else { 1 };
        let from = from % MANY;
        let items = (from..from + PAGE).map(|number| thing(number, version(number), BYTES));
        let page = Page::whole(items.collect(), "1");
        let is_last = from + PAGE == MANY;
        let page = if is_last { page } else { page.followed_by(from.to_string()) };
        Box::pin(ready(Ok(page)))
    }

    fn watch(
        &self,
        _: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Object>>, SourceError>> {
        let stream: Box<dyn OpenWatch<Object>> =
            if self.watches.fetch_add(1, Ordering::Relaxed) == 0 {
                let gone = SourceError::new(SourceKind::Expired, "the version is too old");
                let changes = (0..CHANGED).map(|number| Event::Modified(thing(number, 2, BYTES)));
                Box::new(Events(changes.chain([Event::Error(gone)])))
            } else {
                Box::new(Events([Event::Added(thing(MANY, 3, 0))].into_iter()))
            };
        Box::pin(ready(Ok(stream)))
    }

    fn streams_lists(&self) -> bool {
        false
    }
}

/// List, changes and a second list of a million objects never take much more memory than the
/// objects.
pub(crate) fn bytes_of_a_relist() {
    let prepare = |informer: &Informer<Object>, done: Sender<()>| {
        let last = move |change: ObjectChange<Object>| {
            if matches!(change, Change::Added { object, .. } if object.version == "3") {
                let _ = done.send(());
            }
        };
        assert!(informer.handle(last).is_ok());
    };
    let before = allocated();
    run(Million::default(), prepare, || {
        let (steady, most) = (allocated() - before, most_allocated() - before);
        let ratio = most as f64 / steady as f64;
        println!("  {MANY:>9}  objects: {steady} bytes, at most {most}, {ratio:.2} times");
        assert!(ratio <= 1.2, "a list that is read again takes {ratio:.2} times the memory");
    });
}
