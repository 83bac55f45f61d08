//! A reconciler, and somebody who learns of its failures.

use super::awaited::ReconcileAsync;
use super::{Action, Failure, Reconcile};

/// What [`telling`] makes.
#[derive(Clone, Copy, Debug)]
pub struct Telling<F, T> {
    reconciler: F,
    tell: T,
}

/// Adds to a reconciler, which may be a function, somebody who learns of every error and panic
/// before its item is given back: the place for your log. The reconciler's own
/// [`failed`](Reconcile::failed) is not called.
pub const fn telling<F, T>(reconciler: F, tell: T) -> Telling<F, T> {
    Telling { reconciler, tell }
}

impl<K, F, T> Reconcile<K> for Telling<F, T>
where
    F: Reconcile<K>,
    T: Fn(&K, Failure<F::Error>) + Send + Sync + 'static,
{
    type Error = F::Error;

    fn reconcile(&self, key: &K) -> Result<Action, F::Error> {
        self.reconciler.reconcile(key)
    }

    fn failed(&self, key: &K, failure: Failure<F::Error>) {
        (self.tell)(key, failure);
    }
}

impl<K, F, T> ReconcileAsync<K> for Telling<F, T>
where
    F: ReconcileAsync<K>,
    T: Fn(&K, Failure<F::Error>) + Send + Sync + 'static,
{
    type Error = F::Error;

    fn reconcile(&self, key: &K) -> impl Future<Output = Result<Action, F::Error>> + Send {
        self.reconciler.reconcile(key)
    }

    fn failed(&self, key: &K, failure: Failure<F::Error>) {
        (self.tell)(key, failure);
    }
}
