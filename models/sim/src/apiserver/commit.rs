//! Writes to the storage, and what follows from one: what a definition serves, what a role grants.

use std::sync::Arc;

use serde_json::Value;

use super::resource::Resource;
use super::store::Key;
use super::{Server, crd, status};

impl Server {
    pub(super) fn write(
        &mut self,
        resource: &Resource,
        key: Key,
        object: Value,
        is_odd: bool,
    ) -> Arc<Value> {
        let old = self.stored(resource, &key).cloned();
        let object = self.store_version(resource, key.clone(), object, is_odd);
        self.granted(resource, &key, old.as_ref().map(|it| &*it.object), Some(&object));
        self.hooked(resource);
        if crd::is_definitions(resource) {
            let (group, plural) = crd::names(&object);
            // Another status changes nothing of what is served, and ends no watch.
            let is_same = old.is_some_and(|old| old.object["spec"] == object["spec"]);
            if is_same || self.registry.is_built_in(&group, &plural) {
                return object;
            }
            self.forget_shown();
            self.registry.remove(&group, &plural);
            let declared = crd::declared(&object);
            let first = declared.first().cloned();
            declared.into_iter().for_each(|it| self.registry.put(it));
            if let Some(first) = first {
                self.read_anew(&first, &crd::schemas(&object));
            }
        }
        object
    }

    pub(super) fn erase(&mut self, resource: &Resource, key: Key) {
        if crd::is_definitions(resource)
            && let Some(stored) = self.stored(resource, &key)
        {
            let (group, plural) = crd::names(&stored.object);
            if self.registry.is_built_in(&group, &plural) {
                self.store.delete(&resource.qualified(), key);
                return;
            }
            let qualified = status::qualify(&plural, &group);
            let keys: Vec<_> =
                self.store.objects(&qualified).iter().map(|(key, _)| key.clone()).collect();
            let declared = crd::declared(&stored.object.clone()).into_iter().next();
            for key in keys {
                match &declared {
                    Some(declared) => self.remove_version(declared, &key),
                    None => self.store.delete(&qualified, key),
                }
            }
            self.forget_shown();
            self.registry.remove(&group, &plural);
        }
        let old = self.access.as_ref().and_then(|_| self.stored(resource, &key)).cloned();
        self.remove_version(resource, &key);
        self.granted(resource, &key, old.as_ref().map(|it| &*it.object), None);
        self.hooked(resource);
        self.end_if_empty(resource);
    }
}
