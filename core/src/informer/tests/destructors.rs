//! Destructors of objects that call the informer.

use std::sync::{Arc, OnceLock, Weak, mpsc};
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::informer::reflector::{Consumer, Delivery};
use crate::informer::{
    BoxFuture, Informer, ListOptions, ListWatch, OpenWatch, Page, SourceError, WatchOptions,
};
use crate::runtime::{Manual, Runtime};
use crate::store::indexed::IndexFunction;
use crate::store::{Described, Metadata, NoMetadata};

type Shared = Informer<Arc<Loud>, Manual>;

/// An object that subscribes to its informer when it goes.
#[derive(Debug)]
struct Loud {
    version: &'static str,
    informer: Arc<OnceLock<Weak<Shared>>>,
}

impl Drop for Loud {
    fn drop(&mut self) {
        if let Some(informer) = self.informer.get().and_then(Weak::upgrade) {
            drop(informer.subscribe());
        }
    }
}

impl Described for Loud {
    fn metadata(&self) -> Option<Metadata<'_>> {
        Some(Metadata { namespace: "", name: "a", uid: "u", resource_version: self.version })
    }
}

/// What is delivered comes from the test itself.
struct Nothing;

impl ListWatch<Arc<Loud>> for Nothing {
    fn list(&self, _: ListOptions) -> BoxFuture<'_, Result<Page<Arc<Loud>>, SourceError>> {
        Box::pin(std::future::pending())
    }

    fn watch(
        &self,
        _: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Arc<Loud>>>, SourceError>> {
        Box::pin(std::future::pending())
    }
}

/// An object is stored, its next state is refused, and it is deleted: the stored state, which was looked up
/// for the readers, goes last.
fn deliver() {
    let runtime = Manual::new();
    let informer: Arc<Shared> = Arc::new(Informer::new(&runtime, Arc::new(Nothing)));
    let refuses_2: IndexFunction<Arc<Loud>> =
        Arc::new(
            |object, _| if object.version == "2" { Err(Arc::new(NoMetadata)) } else { Ok(()) },
        );
    informer.store().add_indexers([("refuses", refuses_2)]).unwrap();
    let own = Arc::new(OnceLock::new());
    drop(own.set(Arc::downgrade(&informer)));
    let object = |version| Arc::new(Loud { version, informer: Arc::clone(&own) });
    let token = CancelToken::new(&runtime);
    runtime.block_on(async {
        let mut batch = informer.batch(&token);
        for delivery in [
            Delivery::Add(object("1")),
            Delivery::Update(object("2")),
            Delivery::Delete(object("3")),
        ] {
            batch.take(delivery).await.unwrap();
            batch.settle().await;
        }
    });
    assert_eq!(informer.store().list().objects().count(), 0);
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a thread that may never end: no scope can wait for it"
)]
fn objects_go_without_the_lock() {
    let (done, ends) = mpsc::channel();
    std::thread::spawn(move || {
        deliver();
        done.send(())
    });
    // A destructor that needs a lock which its thread holds would wait for ever.
    ends.recv_timeout(Duration::from_secs(60)).expect("it ends");
}
