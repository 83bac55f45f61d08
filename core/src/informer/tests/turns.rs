//! A source that always has another event.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::server::{Object, Thing};
use crate::cancel::CancelToken;
use crate::informer::{
    BoxFuture, Change, Event, Informer, ListOptions, ListWatch, OpenWatch, Page, SourceError,
    WatchOptions,
};
use crate::runtime::{Runtime as _, System};

const MANY: usize = 200_000;

/// Sends changes without a pause, and counts them.
#[derive(Clone, Default)]
struct Flood(Arc<AtomicUsize>);

fn thing(version: usize) -> Object {
    let (name, version, uid) = ("a".to_owned(), version.to_string(), "u".to_owned());
    Arc::new(Thing { name, version, uid })
}

impl ListWatch<Object> for Flood {
    fn list(&self, _: ListOptions) -> BoxFuture<'_, Result<Page<Object>, SourceError>> {
        Box::pin(ready(Ok(Page::whole(vec![thing(1)], "1"))))
    }

    fn watch(
        &self,
        _: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Object>>, SourceError>> {
        Box::pin(ready(Ok(Box::new(self.clone()) as Box<dyn OpenWatch<Object>>)))
    }

    fn streams_lists(&self) -> bool {
        false
    }
}

impl OpenWatch<Object> for Flood {
    fn next(&mut self) -> BoxFuture<'_, Option<Event<Object>>> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            number if number < MANY => Box::pin(ready(Some(Event::Modified(thing(number + 2))))),
            _ => Box::pin(pending()),
        }
    }
}

#[test]
fn changes_are_told_while_more_come_without_a_pause() {
    let (system, flood) = (System::new(), Flood::default());
    let informer = Arc::new(Informer::new(&system, Arc::new(flood.clone())));
    let given = Arc::new(AtomicUsize::new(usize::MAX));
    let handler = {
        let given = Arc::clone(&given);
        move |change| {
            if matches!(change, Change::Updated { .. }) {
                given.fetch_min(flood.0.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
    };
    let registration = informer.handle(handler).unwrap();
    let token = CancelToken::new(&system);
    let running = system.spawn("informer", {
        let token = token.clone();
        move || informer.run(&token).unwrap()
    });
    assert!(registration.wait_for_sync());
    while given.load(Ordering::Relaxed) == usize::MAX {
        std::thread::yield_now();
    }
    token.cancel();
    system.join(running).unwrap();
    assert!(given.load(Ordering::Relaxed) < MANY, "the first was told before the last had come");
}
