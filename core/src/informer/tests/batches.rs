//! Changes that are there at the same time.

use std::sync::Arc;

use parking_lot::Mutex;

use super::broken::{Run, step};
use super::server::{Object, Server, Thing};
use crate::cancel::CancelToken;
use crate::informer::reflector::{Consumer, Delivery};
use crate::informer::{ApplyError, Change, Informer, ObjectChange};
use crate::runtime::{Manual, Runtime};
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

/// What a server may say, of two objects; and the moment at which the reflector waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Said {
    Put(&'static str),
    /// A state that an index function refuses.
    PutBad(&'static str),
    Delete(&'static str),
    /// A list that has this object alone.
    List(&'static str),
    Waits,
}

const SAID: [Said; 7] = [
    Said::Put("a"),
    Said::PutBad("a"),
    Said::Delete("a"),
    Said::Put("b"),
    Said::Delete("b"),
    Said::List("a"),
    Said::Waits,
];

/// Delivers what was said to a new informer. Returns what was told, and what is stored.
fn delivered(said: &[Said], settles: impl Fn(Said) -> bool) -> (Vec<String>, Vec<String>) {
    let runtime = Manual::new();
    let informer = Informer::new(&runtime, Arc::new(Server::default()));
    let picky: IndexFunction<Object> =
        Arc::new(|object, _| if object.uid == "bad" { Err(Arc::new(NoMetadata)) } else { Ok(()) });
    informer.store().add_indexers([("picky", picky)]).unwrap();
    let (token, mut reader) = (CancelToken::new(&runtime), informer.subscribe());
    runtime.block_on(async {
        let mut batch = informer.batch(&token);
        for (version, &said) in said.iter().enumerate() {
            let version = (version + 1).to_string();
            let object = |name: &str, uid: &str| {
                let (name, uid) = (name.to_owned(), uid.to_owned());
                Arc::new(Thing { name, version: version.clone(), uid })
            };
            let delivery = match said {
                Said::Put(name) => Some(Delivery::Update(object(name, "good"))),
                Said::PutBad(name) => Some(Delivery::Update(object(name, "bad"))),
                Said::Delete(name) => Some(Delivery::Delete(object(name, "good"))),
                Said::List(name) => {
                    Some(Delivery::Replace(vec![object(name, "good")], version.clone()))
                }
                Said::Waits => None,
            };
            if let Some(delivery) = delivery {
                batch.take(delivery).await.unwrap();
            }
            if settles(said) {
                batch.settle().await;
            }
        }
        batch.settle().await;
    });
    let told = (0..reader.waiting()).map(|_| named(&reader.next().unwrap())).collect();
    let list = informer.store().list();
    let mut stored: Vec<_> =
        list.objects().map(|it| format!("{}@{}", it.name, it.version)).collect();
    stored.sort();
    (told, stored)
}

/// Every sequence of a few deliveries: when the reflector waits decides nothing.
#[test]
fn a_batch_is_its_changes_one_by_one() {
    const LENGTH: u32 = 5;
    let (count, mut largest) = (SAID.len(), 0);
    for number in 0..count.pow(LENGTH) {
        let said: Vec<_> =
            (0..LENGTH).map(|place| SAID[number / count.pow(place) % count]).collect();
        let batched = delivered(&said, |said| said == Said::Waits);
        assert_eq!(batched, delivered(&said, |_| true), "{said:?}");
        largest = largest.max(batched.0.len());
    }
    assert_eq!(largest, 7, "three objects come, and two lists tell two changes each");
}
