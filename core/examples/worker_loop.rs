//! A controller on threads: a source of events fills a store and adds the names of changed objects
//! to a queue. Two workers reconcile them, sometimes fail, report that and try again. At the end
//! everything stops in order.
//!
//! ```text
//! cargo run -p seatrial-core --features informers --example worker_loop
//! ```

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::limited_queue::LimitedQueue;
use seatrial_core::pool::{Action, Attempt, Failure, Fault, Pool, Reconcile};
use seatrial_core::runtime::{Runtime, System};
use seatrial_core::store::IndexedStore;

type Key = Arc<str>;

/// The specification by a user: a number of replicas of a program.
#[derive(Debug)]
struct Deployment {
    name: Key,
    replicas: u32,
}

type Store = IndexedStore<Key, Arc<Deployment>>;

struct Controller {
    deployments: Arc<Store>,
    /// Ends when `db` is up; in a real controller, by a signal.
    stop: CancelToken,
}

impl Reconcile<Key> for Controller {
    type Error = String;

    /// Looks at the newest state, not at the event: several changes may have come since.
    fn reconcile(&self, key: &Key, attempt: Attempt<'_>) -> Result<Action, Fault<String>> {
        let Some(deployment) = self.deployments.get(key) else {
            println!("{key}: is gone, nothing to do");
            return Ok(Action::Done);
        };
        if deployment.replicas > 100 {
            return Err(Fault::Terminal(format!("{} replicas are too many", deployment.replicas)));
        }
        if &**key == "default/db" && attempt.number() <= 2 {
            return Err("the server is busy".to_owned().into()); // another attempt may help
        }
        println!("{key}: {} running", deployment.replicas);
        if &**key == "default/db" {
            self.stop.cancel();
        }
        Ok(Action::Done)
    }

    fn failed(&self, key: &Key, failure: &Failure<String>) {
        println!("{key}: {failure}");
    }
}

/// Stands in for a watch on the server. It changes the store before it adds the name, so that the
/// reader of the name finds the object.
fn watch(deployments: &Store, queue: &LimitedQueue<Key>) {
    let seen = [("default/web", 1), ("default/big", 999), ("default/db", 3), ("default/web", 2)];
    for (name, replicas) in seen {
        let name = Key::from(name);
        let deployment = Arc::new(Deployment { name: Key::clone(&name), replicas });
        deployments.update(deployment).expect("it has a key");
        queue.add(name);
    }
    deployments.delete_key(&Key::from("default/web")).expect("no index function refuses it");
    queue.add(Key::from("default/web"));
}

fn main() {
    let system = System::new();
    let queue = Arc::new(LimitedQueue::with_default_limiter(&system));
    let key_of = |deployment: &Arc<Deployment>| Ok(Key::clone(&deployment.name));
    let deployments = Arc::new(Store::new(&system, key_of));
    let stop = CancelToken::new(&system);

    let controller = Controller { deployments: Arc::clone(&deployments), stop: stop.clone() };
    let workers = NonZeroUsize::new(2).expect("two workers");
    let pool = Pool::start(&system, &queue, workers, controller);
    let source = system.spawn("watch", move || watch(&deployments, &queue));

    stop.wait();
    system.join(source).expect("the source ends"); // the sources first, then the pool
    let end = pool.shut_down(Duration::from_secs(10));
    println!("{end:?}");
    assert!(end.is_complete());
}
