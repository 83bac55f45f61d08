//! The keys to reconcile after a change: functions that turn changes into keys of a queue
//! (client-go and controller-runtime: `EnqueueRequestForObject`, `EnqueueRequestForOwner`,
//! `EnqueueRequestsFromMapFunc`).
//!
//! ```
//! # use seatrial_core::informer::{Change, Object, ObjectChange, Owner, keys};
//! # use seatrial_core::store::{Described, LastState, Metadata};
//! # #[derive(Clone, Debug)]
//! # struct Pod(&'static str);
//! # impl Described for Pod {
//! #     fn metadata(&self) -> Option<Metadata<'_>> {
//! #         Some(Metadata { namespace: "default", name: self.0, ..Metadata::default() })
//! #     }
//! # }
//! # impl Object for Pod {
//! #     fn owners(&self) -> Vec<Owner<'_>> {
//! #         let (api_version, kind, name) = ("apps/v1", "ReplicaSet", "web");
//! #         vec![Owner { api_version, kind, name, uid: "1", is_controller: true }]
//! #     }
//! # }
//! let gone: ObjectChange<Pod> = Change::Deleted(LastState::Final(Pod("web-1")));
//! assert_eq!(keys::own(&gone), ["default/web-1"]);
//! assert_eq!(keys::of_controller("apps", "ReplicaSet")(&gone), ["default/web"]);
//! ```
//!
//! An update gives the keys of both states, because the owner that lost an object has as much to do
//! as the owner that got it.

use std::sync::Arc;

use crate::store::{Described, join};

use super::change::ObjectChange;
use super::object::{Object, Owner};

/// The key of the object itself.
pub fn own<O: Described>(change: &ObjectChange<O>) -> Vec<String> {
    change.key().into_iter().collect()
}

/// The keys of the controlling owners of a kind (`cache:PT-6`). The group is empty for the core
/// group. An owner is in the namespace of the object.
pub fn of_controller<O: Object>(
    group: &str,
    kind: &str,
) -> impl Fn(&ObjectChange<O>) -> Vec<String> + Clone + Send + Sync + 'static {
    let wanted = Wanted::new(group, kind);
    move |change| wanted.keys(change, |owner| owner.is_controller)
}

/// The keys of all owners of a kind, whether they control the object or not.
pub fn of_owners<O: Object>(
    group: &str,
    kind: &str,
) -> impl Fn(&ObjectChange<O>) -> Vec<String> + Clone + Send + Sync + 'static {
    let wanted = Wanted::new(group, kind);
    move |change| wanted.keys(change, |_| true)
}

/// As [`of_owners`], for a cluster-scoped kind: the key is the name.
pub fn of_cluster_owners<O: Object>(
    group: &str,
    kind: &str,
) -> impl Fn(&ObjectChange<O>) -> Vec<String> + Clone + Send + Sync + 'static {
    let wanted = Wanted { in_cluster: true, ..Wanted::new(group, kind) };
    move |change| wanted.keys(change, |_| true)
}

/// The key whose name is the value of a label, in the namespace of the object; an empty value gives
/// no key.
pub fn of_label<O: Object>(
    name: &str,
) -> impl Fn(&ObjectChange<O>) -> Vec<String> + Clone + Send + Sync + 'static {
    let name: Arc<str> = name.into();
    move |change| {
        let key = |object: &O| {
            let value = object.labels()?.get(&*name).filter(|value| !value.is_empty())?;
            Some(join(object.metadata()?.namespace, value))
        };
        both(change, |object, keys| keys.extend(key(object)))
    }
}

/// Collects the keys of the state before and of the newest state, each once.
pub fn both<O>(change: &ObjectChange<O>, mut add: impl FnMut(&O, &mut Vec<String>)) -> Vec<String> {
    let mut keys = Vec::new();
    for object in change.before().into_iter().chain(change.newest()) {
        add(object, &mut keys);
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[derive(Clone)]
struct Wanted {
    group: Arc<str>,
    kind: Arc<str>,
    in_cluster: bool,
}

impl Wanted {
    fn new(group: &str, kind: &str) -> Self {
        Self { group: group.into(), kind: kind.into(), in_cluster: false }
    }

    fn keys<O: Object>(
        &self,
        change: &ObjectChange<O>,
        counts: impl Fn(&Owner<'_>) -> bool,
    ) -> Vec<String> {
        both(change, |object, keys| {
            let namespace = object.metadata().map_or("", |metadata| metadata.namespace);
            let namespace = if self.in_cluster { "" } else { namespace };
            let owners = object.owners().into_iter();
            let owners = owners.filter(|it| *it.kind == *self.kind && *it.group() == *self.group);
            keys.extend(owners.filter(&counts).map(|owner| join(namespace, owner.name)));
        })
    }
}
