//! The end of a definition: first its objects go, and it waits for their finalizers.
//!
//! A real server begins with the objects a moment after its answer, and looks every five seconds whether all are
//! gone. This one does both at once.

use std::sync::Arc;

use serde_json::{Value, json};

use super::resource::Resource;
use super::status::{Failure, Outcome, details, qualify};
use super::store::Key;
use super::{Server, clock, crd, metadata};

const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";
const GROUP: &str = "apiextensions.k8s.io";

impl Server {
    /// Whether a deletion ends the objects of this definition first.
    pub(super) fn ends_objects_first(&self, resource: &Resource, object: &Value) -> bool {
        let (group, plural) = crd::names(object);
        resource.plural == crd::PLURAL
            && !metadata::is_terminating(object)
            && !self.registry.is_built_in(&group, &plural)
    }

    /// Marks a definition as on its way out, and deletes its objects.
    pub(super) fn end_definition(
        &mut self,
        resource: &Resource,
        key: &Key,
        old: &Value,
        is_dry: bool,
    ) -> Outcome<Arc<Value>> {
        let mut object = old.clone();
        metadata::set(&mut object, "deletionTimestamp", clock::stamp(self.now));
        let mut finalizers = metadata::finalizers(old);
        if !finalizers.contains(&FINALIZER) {
            finalizers.push(FINALIZER);
        }
        metadata::set(&mut object, "finalizers", finalizers);
        let why =
            "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
        self.condition(&mut object, ("True", "InstanceDeletionPending", why));
        if is_dry {
            return Ok(Arc::new(object));
        }
        let marked = self.keep(resource, key, object, (false, false))?;
        let mut object = Value::clone(&marked);
        let why = "CustomResource deletion is in progress";
        self.condition(&mut object, ("True", "InstanceDeletionInProgress", why));
        self.keep(resource, key, object, (false, false))?;
        if let Some(declared) = crd::declared(&marked).first() {
            self.delete_objects(declared)?;
            self.end_if_empty(declared);
        } else {
            self.erase(resource, key.clone()); // no version is served: nobody can see its objects
        }
        Ok(marked)
    }

    /// Deletes all objects; those with finalizers are marked.
    fn delete_objects(&mut self, resource: &Resource) -> Outcome<()> {
        let objects = self.store.objects(&resource.qualified());
        let keys: Vec<_> = objects.iter().map(|(key, _)| key.clone()).collect();
        for key in keys {
            let Some(stored) = self.read(resource, &key)? else { continue };
            if metadata::finalizers(&stored.object).is_empty() {
                self.erase(resource, key);
            } else if !metadata::is_terminating(&stored.object) {
                let mut object = Value::clone(&stored.object);
                self.mark(&mut object);
                self.keep(resource, &key, object, (stored.is_odd, false))?;
            }
        }
        Ok(())
    }

    /// Ends the definition of a resource that waits for nothing but its last object, if that is gone.
    pub(super) fn end_if_empty(&mut self, of: &Resource) {
        if !of.is_custom || self.store.objects(&of.qualified()).iter().next().is_some() {
            return;
        }
        let Some((definitions, key, stored)) = self.ending(of) else { return };
        let mut object = Value::clone(&stored);
        let left: Vec<_> =
            metadata::finalizers(&stored).into_iter().filter(|it| *it != FINALIZER).collect();
        if left.len() == metadata::finalizers(&stored).len() {
            return;
        }
        self.condition(
            &mut object,
            ("False", "InstanceDeletionCompleted", "removed all instances"),
        );
        let is_last = left.is_empty();
        if !is_last {
            metadata::set(&mut object, "finalizers", left);
        }
        self.write(&definitions, key.clone(), object, false);
        if is_last {
            self.erase(&definitions, key);
        }
    }

    /// Nothing is created whose definition is on its way out.
    pub(super) fn check_definition_lives(&self, resource: &Resource, name: &str) -> Outcome<()> {
        if !resource.is_custom || self.ending(resource).is_none() {
            return Ok(());
        }
        let why = format!(
            "{} \"{name}\" is forbidden: create not allowed while custom resource definition is terminating",
            resource.qualified()
        );
        let mut failure = Failure::new(403, "Forbidden", why);
        failure.details = Some(details(&resource.group, &resource.plural, name));
        Err(failure)
    }

    /// The definition of a resource, with the resource of definitions and its key, if it is on its way out.
    fn ending(&self, of: &Resource) -> Option<(Arc<Resource>, Key, Arc<Value>)> {
        let definitions = self.registry.get(GROUP, "v1", crd::PLURAL)?;
        let key = Key::new("", &qualify(&of.plural, &of.group));
        let stored = self.stored(definitions, &key)?;
        metadata::is_terminating(&stored.object)
            .then(|| (definitions.clone(), key, stored.object.clone()))
    }

    fn condition(&self, object: &mut Value, (status, reason, message): (&str, &str, &str)) {
        let now = Value::from(clock::stamp(self.now));
        let condition = json!({"type": "Terminating", "status": status, "lastTransitionTime": now,
            "reason": reason, "message": message});
        let Some(conditions) = object["status"]["conditions"].as_array_mut() else { return };
        match conditions.iter_mut().find(|it| it["type"] == "Terminating") {
            Some(known) => {
                let since = known["lastTransitionTime"].take();
                let is_same = known["status"] == status;
                *known = condition;
                if is_same {
                    known["lastTransitionTime"] = since;
                }
            }
            None => conditions.push(condition),
        }
    }
}
