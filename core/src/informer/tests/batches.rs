//! Changes that are there at the same time.

use std::sync::Arc;

use parking_lot::Mutex;

use super::broken::{Run, step};
use super::server::{Object, Server};
use crate::cancel::CancelToken;
use crate::informer::{ApplyError, Change, Informer, ObjectChange};
use crate::runtime::Manual;
use crate::store::NoMetadata;
use crate::store::indexed::IndexFunction;

/// Runs an informer up to the first list, then makes changes, and lets it take them all at once.
fn taken_at_once(informer: &Informer<Object, Manual>, make: impl FnOnce()) -> Vec<String> {
    let runtime = Manual::new();
    let token = CancelToken::new(&runtime);
    let mut reader = informer.subscribe();
    let mut run: Run<'_> = Box::pin(informer.run_async(&token));
    assert!(step(&mut run).is_pending());
    make();
    assert!(step(&mut run).is_pending());
    (0..reader.waiting()).map(|_| named(&reader.next().unwrap())).collect()
}

fn named(change: &ObjectChange<Object>) -> String {
    match change {
        Change::Added { object, .. } => format!("+{}@{}", object.name, object.version),
        Change::Updated { old, new } => format!("{}@{}-{}", new.name, old.version, new.version),
        Change::Deleted(last) => {
            let last = last.object().unwrap();
            format!("-{}@{}", last.name, last.version)
        }
    }
}

#[test]
fn changes_of_one_object_are_told_one_after_the_other() {
    let server = Server::default();
    server.put("a");
    let informer = Informer::new(&Manual::new(), Arc::new(server.clone()));
    let told = taken_at_once(&informer, || {
        server.put("a");
        server.put("b");
        server.put("a");
        server.delete("a");
        server.put("a");
    });
    assert_eq!(told, ["+a@1", "a@1-2", "+b@3", "a@2-4", "-a@5", "+a@6"]);
}

#[test]
fn changes_of_different_objects_are_one_change_of_the_store() {
    let (server, refusals) = (Server::default(), Arc::new(Mutex::new(Vec::new())));
    let keeps = Arc::clone(&refusals);
    let informer = Informer::builder(&Manual::new(), Arc::new(server.clone()))
        .refused(Arc::new(move |error| {
            let ApplyError::Batch(error) = error else { panic!("one of several: {error:?}") };
            keeps.lock().push((error.successful.clone(), error.total));
        }))
        .build();
    let picky: IndexFunction<Object> = Arc::new(|object, _| match &*object.name {
        "bad" => Err(Arc::new(NoMetadata)),
        _ => Ok(()),
    });
    informer.store().add_indexers([("picky", picky)]).unwrap();
    let told = taken_at_once(&informer, || {
        server.put("a");
        server.put("bad");
        server.put("b");
    });
    assert_eq!(told, ["+a@1", "+b@3"]);
    assert_eq!(*refusals.lock(), [(vec![0, 2], 3)]);
}
