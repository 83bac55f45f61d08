//! The effect of a list that is read again on unchanged objects.

use std::sync::Arc;

use super::server::{Object, Server, Streams, Thing};
use crate::cancel::CancelToken;
use crate::informer::{Builder, Change, Informer, Wants};
use crate::runtime::{Runtime as _, System};

/// Returns the old and the new state of an object that a relist shows unchanged, and of one that it
/// shows changed.
fn relisted(
    streams: Streams,
    settings: impl Fn(Builder<Object, System>) -> Builder<Object, System>,
) -> [(Object, Object); 2] {
    let (system, server) = (System::new(), Server::default());
    server.stream(streams);
    server.put("same");
    server.put("other");
    let builder = Informer::builder(&system, Arc::new(server.clone()));
    let informer = Arc::new(settings(builder).build());
    let mut changes = informer.subscribe_with(Wants::default().resyncs());
    let token = CancelToken::new(&system);
    let running = system.spawn("informer", {
        let (informer, token) = (Arc::clone(&informer), token.clone());
        move || informer.run(&token).unwrap()
    });
    for _ in 0..2 {
        assert!(matches!(changes.next(), Ok(Change::Added { .. })));
    }
    server.hold(Some(server.revision()));
    server.put("other");
    server.forget();
    server.hold(None);
    let (mut same, mut changed) = (None, None);
    while same.is_none() || changed.is_none() {
        match changes.next() {
            Ok(Change::Updated { old, new }) if new.name == "same" => same = Some((old, new)),
            Ok(Change::Updated { old, new }) if new.version == "3" => changed = Some((old, new)),
            Ok(Change::Updated { .. }) => {} // a list from before the change
            _ => panic!("both are shown again"),
        }
    }
    token.cancel();
    system.join(running).unwrap();
    [same, changed].map(Option::unwrap)
}

#[test]
fn an_object_of_the_same_version_stays_the_one_that_is_stored() {
    for streams in [Streams::No, Streams::Yes] {
        let [(old, new), (before, after)] = relisted(streams, |builder| builder);
        assert!(Arc::ptr_eq(&old, &new), "the copy that came is gone");
        assert_eq!((&*before.version, &*after.version), ("2", "3"));
    }
}

#[test]
fn what_is_transformed_or_checked_is_what_came() {
    let marked = |object: Object| {
        let uid = format!("{}!", object.uid);
        Ok(Arc::new(Thing { uid, ..Thing::clone(&object) }))
    };
    let [(old, new), _] = relisted(Streams::No, |builder| builder.transform(marked));
    assert!(!Arc::ptr_eq(&old, &new));
    assert_eq!(&*new.uid, "same of 1!", "it is transformed once");
    let [(old, new), _] = relisted(Streams::No, |builder| builder.check_consistency(|_| ()));
    assert!(!Arc::ptr_eq(&old, &new));
}
