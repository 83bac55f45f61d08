//! Transformers, and reports about streams that should begin with all objects.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use parking_lot::Mutex;

use super::nap;
use super::server::{Object, Server, Streams, Thing};
use crate::cancel::CancelToken;
use crate::informer::reflector::{Difference, Hooks};
use crate::informer::{Change, Informer};
use crate::runtime::{Ambient as _, Instant, Manual, Runtime, System};

const PATIENCE: Duration = Duration::from_secs(20);

struct Ends<'a, R: Runtime>(&'a CancelToken<R>);

impl<R: Runtime> Drop for Ends<'_, R> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs an informer while a test looks at it.
fn running<R: Runtime>(informer: &Informer<Object, R>, runtime: &R, look: impl FnOnce()) {
    let token = CancelToken::new(runtime);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| informer.run(&token).unwrap());
        let ends = Ends(&token); // also if a test fails
        look();
        drop(ends);
        run.join().unwrap();
    });
}

/// A transformer that marks an object at each call, so the number of calls is visible.
fn marked(object: &Object) -> Object {
    let uid = format!("{}!", object.uid);
    Arc::new(Thing { uid, ..Thing::clone(object) })
}

#[test]
fn an_object_is_transformed_once_however_it_comes() {
    for streams in [Streams::No, Streams::Yes] {
        let (system, server) = (System::new(), Server::default());
        server.stream(streams);
        server.put("a");
        let informer = Informer::builder(&system, Arc::new(server.clone()))
            .transform(|object| Ok(marked(&object)))
            .build();
        let mut reader = informer.subscribe();
        running(&informer, &system, || {
            let Ok(Change::Added { object, .. }) = reader.next() else { panic!("it is new") };
            assert_eq!(object.uid, "a of 1!");
            server.put("a");
            let Ok(Change::Updated { old, new }) = reader.next() else { panic!("it changed") };
            assert_eq!((&*old.uid, &*new.uid), ("a of 1!", "a of 1!"));
            assert_eq!(informer.store().get(&"a".to_owned()), Some(new));
            server.delete("a");
            let Ok(Change::Deleted(last)) = reader.next() else { panic!("it is gone") };
            assert_eq!(last.object().unwrap().uid, "a of 1!");
        });
    }
}

#[test]
fn a_stream_that_tells_other_objects_than_a_list_is_found_out() {
    for (streams, is_wrong) in [(Streams::Yes, false), (Streams::Lying, true)] {
        let (system, server) = (System::new(), Server::default());
        server.stream(streams);
        let (a, _) = (server.put("a"), server.put("b"));
        let found = Arc::new(Mutex::new(Vec::new()));
        let finds = Arc::clone(&found);
        let informer = Informer::builder(&system, Arc::new(server.clone()))
            .transform(|object| Ok(marked(&object)))
            .check_consistency(move |differences| finds.lock().extend(differences))
            .build();
        running(&informer, &system, || assert!(informer.wait_for_sync(Instant::NEVER)));
        let wanted = Difference { streamed: None, listed: Some(a) };
        assert_eq!(*found.lock(), if is_wrong { vec![wanted] } else { vec![] });
    }
}

#[test]
fn a_check_of_a_server_that_does_not_answer_is_tried_again_and_ends_with_the_informer() {
    let (runtime, server) = (Manual::new(), Server::default());
    server.stream(Streams::Yes);
    server.put("a");
    server.refuse(true);
    let informer = Informer::builder(&runtime, Arc::new(server.clone()))
        .check_consistency(|_| panic!("nothing differs"))
        .build();
    running(&informer, &runtime, || {
        for requests in 2..5 {
            assert!(runtime.until_waiting(1, PATIENCE));
            assert_eq!(server.requests(), requests, "a watch, then a list every second");
            runtime.advance(Duration::from_secs(1));
        }
        assert!(!informer.has_synced());
    });
}

#[test]
fn while_a_stream_does_not_end_its_first_objects_that_is_told_every_ten_seconds() {
    let (runtime, server) = (Manual::new(), Server::default());
    server.stream(Streams::Endless);
    server.put("a");
    let (tell, told) = channel();
    let quiet = Arc::new(move |since: Duration| {
        tell.send(since).unwrap();
        assert!(since.is_zero(), "a bug of the hook, which ends nothing");
    });
    let hooks = Hooks { quiet, ..Hooks::default() };
    let informer = Informer::builder(&runtime, Arc::new(server.clone())).hooks(hooks).build();
    running(&informer, &runtime, || {
        for round in 1..4 {
            assert!(runtime.until_waiting(1, PATIENCE));
            runtime.advance(Duration::from_secs(10));
            let since = told.recv_timeout(PATIENCE).unwrap();
            assert_eq!(since, Duration::from_secs(10 * round));
        }
        assert!(runtime.until_waiting(1, PATIENCE));
        runtime.advance(Duration::from_secs(9));
        server.put("b"); // an event: it begins anew, once that is read
        let since = loop {
            assert!(runtime.until_waiting(1, PATIENCE));
            assert!(
                runtime.now() < Instant::ZERO + Duration::from_secs(100),
                "it was told no more"
            );
            runtime.advance(Duration::from_secs(10));
            if let Ok(since) = told.recv_timeout(Duration::from_secs(1)) {
                break since;
            }
        };
        assert_eq!(since, Duration::from_secs(10));
    });
}

#[test]
fn a_stream_that_never_ends_its_first_objects_is_followed_by_a_list() {
    let (runtime, server) = (Manual::new(), Server::default());
    server.stream(Streams::Endless);
    server.put("a");
    let informer = Informer::builder(&runtime, Arc::new(server.clone())).build();
    running(&informer, &runtime, || {
        for _ in 0..6 {
            assert!(!informer.has_synced());
            assert!(runtime.until_waiting(1, PATIENCE));
            runtime.advance(Duration::from_secs(10));
        }
        for _ in 0..PATIENCE.as_millis() {
            if informer.has_synced() {
                break;
            }
            nap(1);
        }
        assert!(informer.has_synced(), "by a list");
    });
}
