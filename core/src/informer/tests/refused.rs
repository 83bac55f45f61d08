//! Objects that the store or a transformer refuses: the others come through, and no reader takes
//! the stored state for the refused one.

use std::sync::Arc;

use parking_lot::Mutex;

use super::nap;
use super::server::{Object, Server};
use crate::cancel::CancelToken;
use crate::informer::reflector::{Hooks, Skipped};
use crate::informer::{ApplyError, Change, Informer, NotVisibleError, Subscription};
use crate::runtime::{Instant, System};
use crate::store::indexed::IndexFunction;
use crate::store::{Described, LastState, NoMetadata};

/// The versions that are refused.
type Bad = Arc<Mutex<Vec<&'static str>>>;

fn is_bad(bad: &Bad, object: &Object) -> bool {
    bad.lock().contains(&&*object.version)
}

/// An informer whose store refuses some objects, and its reports.
struct Bed {
    server: Server,
    informer: Informer<Object>,
    token: CancelToken,
    /// How many objects the store refused in each report.
    refused: Arc<Mutex<Vec<usize>>>,
    /// The refusals of the transformer: keys, versions and causes.
    skipped: Arc<Mutex<Vec<(String, String, String)>>>,
}

impl Bed {
    fn new(by_index: &[&'static str], by_transformer: &[&'static str]) -> Self {
        let (system, server) = (System::new(), Server::default());
        let refused = Arc::new(Mutex::new(Vec::new()));
        let skipped = Arc::new(Mutex::new(Vec::new()));
        let (counts, keeps) = (Arc::clone(&refused), Arc::clone(&skipped));
        let hooks = Hooks {
            skipped: Arc::new(move |what| {
                if let Skipped::Refused { key, resource_version, .. } = what {
                    let cause = std::error::Error::source(what).unwrap();
                    let cause = cause.source().unwrap_or(cause).to_string();
                    keeps.lock().push((key.clone(), resource_version.clone(), cause));
                }
            }),
            ..Hooks::default()
        };
        let bad: Bad = Arc::new(Mutex::new(by_transformer.to_vec()));
        let mut builder = Informer::builder(&system, Arc::new(server.clone())).hooks(hooks);
        if !by_transformer.is_empty() {
            builder = builder.transform(move |object| {
                if is_bad(&bad, &object) { Err(Arc::new(NoMetadata)) } else { Ok(object) }
            });
        }
        let informer = builder
            .refused(Arc::new(move |error| {
                counts.lock().push(match error {
                    ApplyError::Batch(error) => error.errors.len(),
                    ApplyError::Store(_) => 1,
                });
            }))
            .build();
        let bad: Bad = Arc::new(Mutex::new(by_index.to_vec()));
        let picky: IndexFunction<Object> =
            Arc::new(
                move |object, _| {
                    if is_bad(&bad, object) { Err(Arc::new(NoMetadata)) } else { Ok(()) }
                },
            );
        informer.store().add_indexers([("picky", picky)]).unwrap();
        let token = CancelToken::new(&system);
        Self { server, informer, token, refused, skipped }
    }

    fn running(&self, look: impl FnOnce()) {
        struct Ends<'a>(&'a CancelToken);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                self.0.cancel();
            }
        }
        std::thread::scope(|scope| {
            let running = scope.spawn(|| self.informer.run(&self.token));
            let ends = Ends(&self.token); // also if a test fails
            look();
            drop(ends);
            running.join().unwrap().unwrap();
        });
    }

    fn get(&self, key: &str, version: &str) -> Result<Option<String>, NotVisibleError> {
        let object = self.informer.get_at_least(key, version, Instant::ZERO)?;
        Ok(object.map(|it| it.version.clone()))
    }

    /// Waits until the store has a version of another key.
    fn comes(&self, key: &str, version: &str) {
        assert!(self.informer.get_at_least(key, version, Instant::NEVER).unwrap().is_some());
    }

    fn stored(&self) -> Vec<(String, String)> {
        let list = self.informer.store().list();
        let mut all: Vec<_> =
            list.objects().map(|it| (it.name.clone(), it.version.clone())).collect();
        all.sort();
        all
    }
}

fn lacks<T>(key: &str) -> Result<T, NotVisibleError> {
    Err(NotVisibleError::Refused { key: key.to_owned() })
}

fn named(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
}

#[test]
fn of_a_first_list_is_stored_what_the_store_accepts() {
    let bed = Bed::new(&["1"], &[]);
    bed.server.put("bad");
    bed.server.put("good");
    let mut reader: Subscription<_> = bed.informer.subscribe();
    bed.running(|| {
        assert!(bed.informer.wait_for_sync(Instant::NEVER));
        reader.next().unwrap();
        reader.finish();
        assert!(reader.progress().wait_for_sync(), "the list was told, but for what was refused");
        assert_eq!(bed.stored(), named(&[("good", "2")]));
        assert_eq!(bed.get("good", "2"), Ok(Some("2".to_owned())));
        assert_eq!(bed.get("bad", "2"), lacks("bad"));
        assert_eq!(bed.informer.list_at_least("2", Instant::ZERO).map(|_| ()), lacks("bad"));
        while bed.refused.lock().is_empty() {
            nap(1);
        }
        assert_eq!(*bed.refused.lock(), [1]);
        bed.server.put("bad");
        bed.comes("bad", "3");
        assert!(bed.informer.list_at_least("3", Instant::ZERO).is_ok());
    });
}

#[test]
fn a_list_of_which_something_is_refused_still_deletes_and_adds() {
    let bed = Bed::new(&["4"], &[]);
    bed.server.put("a");
    bed.server.put("b");
    bed.running(|| {
        assert!(bed.informer.wait_for_sync(Instant::NEVER));
        bed.server.hold(Some(2));
        bed.server.delete("b");
        bed.server.put("a"); // refused
        bed.server.put("c");
        bed.server.forget(); // what the stream did not tell comes by a list
        bed.server.hold(None);
        bed.comes("c", "5");
        assert_eq!(bed.stored(), named(&[("a", "1"), ("c", "5")]), "what was known of it stays");
        assert_eq!(bed.get("a", "3"), Ok(Some("1".to_owned())));
        assert_eq!(bed.get("a", "4"), lacks("a"));
        assert_eq!(bed.informer.list_at_least("5", Instant::ZERO).map(|_| ()), lacks("a"));
    });
}

#[test]
fn a_change_that_is_refused_is_not_taken_for_seen() {
    for (by_index, by_transformer) in [(&["2"][..], &[][..]), (&[], &["2"])] {
        let bed = Bed::new(by_index, by_transformer);
        bed.server.put("a");
        bed.running(|| {
            assert!(bed.informer.wait_for_sync(Instant::NEVER));
            let written = bed.server.put("a"); // refused
            bed.informer.wrote(written.metadata().unwrap()).unwrap();
            bed.server.put("b");
            bed.comes("b", "3");
            assert_eq!(bed.get("a", "1"), Ok(Some("1".to_owned())));
            assert_eq!(bed.get("a", "2"), lacks("a"));
            assert_eq!(bed.informer.list_at_least("3", Instant::ZERO).map(|_| ()), lacks("a"));
            assert_eq!(bed.informer.get_written("a", Instant::ZERO), lacks("a"));
            assert_eq!(bed.informer.list_written(Instant::ZERO).map(|_| ()), lacks("a"));
            while bed.refused.lock().is_empty() && bed.skipped.lock().is_empty() {
                nap(1);
            }
            let said = (bed.refused.lock().len(), bed.skipped.lock().clone());
            let cause = NoMetadata.to_string();
            if by_index.is_empty() {
                assert_eq!(said, (0, vec![("a".to_owned(), "2".to_owned(), cause)]));
            } else {
                assert_eq!(said, (1, Vec::new()));
            }
            let written = bed.server.put("a");
            let seen = bed.informer.get_at_least("a", &written.version, Instant::NEVER);
            assert_eq!(seen, Ok(Some(Arc::clone(&written))));
            assert_eq!(bed.informer.get_written("a", Instant::ZERO), Ok(Some(written)));
        });
    }
}

#[test]
fn a_deletion_clears_what_was_refused_even_if_its_last_state_is_refused() {
    let bed = Bed::new(&[], &["2", "3", "4", "6", "7"]);
    bed.server.put("a");
    let mut reader: Subscription<_> = bed.informer.subscribe();
    bed.running(|| {
        assert!(bed.informer.wait_for_sync(Instant::NEVER));
        let known = bed.informer.store().get(&"a".to_owned()).unwrap();
        bed.server.put("a"); // refused, and so is its deletion
        bed.server.delete("a");
        bed.server.put("b"); // refused
        bed.server.delete("b");
        bed.server.put("c"); // refused, and so is its deletion
        bed.server.delete("c");
        bed.comes("d", &bed.server.put("d").version);
        for (key, version) in [("a", "3"), ("b", "5"), ("c", "7"), ("a", "8"), ("c", "8")] {
            assert_eq!(bed.get(key, version), Ok(None), "{key}");
        }
        assert!(bed.informer.list_at_least("8", Instant::ZERO).is_ok(), "nothing is lacking");
        assert_eq!(bed.stored(), named(&[("d", "8")]));
        let told: Vec<_> = (0..3).map(|_| reader.next().unwrap()).collect();
        let gone = LastState::unknown("a".to_owned(), Some(Arc::clone(&known)));
        assert_eq!(told[0], Change::Added { object: known, initial: true });
        assert_eq!(told[1], Change::Deleted(gone), "the last state that was told");
        assert!(matches!(&told[2], Change::Added { object, .. } if object.name == "d"), "{told:?}");
        assert_eq!(bed.skipped.lock().len(), 3, "a deletion is not lost");
    });
}

#[test]
fn what_was_refused_and_never_told_is_not_told_as_gone() {
    let bed = Bed::new(&["2", "4", "5"], &[]);
    bed.server.put("a");
    let mut reader: Subscription<_> = bed.informer.subscribe();
    bed.running(|| {
        assert!(bed.informer.wait_for_sync(Instant::NEVER));
        bed.server.put("new"); // refused
        bed.server.delete("new");
        bed.server.put("a"); // refused
        bed.server.put("a"); // refused
        bed.comes("b", &bed.server.put("b").version);
        bed.server.delete("a");
        bed.comes("c", &bed.server.put("c").version);
        let told: Vec<_> = (0..4).map(|_| reader.next().unwrap()).collect();
        let names = told.iter().map(|change| match change {
            Change::Added { object, .. } => format!("+{}", object.name),
            Change::Deleted(last) => format!("-{}", last.object().unwrap().name),
            Change::Updated { .. } => "changed".to_owned(),
        });
        assert_eq!(names.collect::<Vec<_>>(), ["+a", "+b", "-a", "+c"]);
        assert!(bed.informer.list_at_least("8", Instant::ZERO).is_ok());
    });
}
