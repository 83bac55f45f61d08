//! The end of a definition: first its objects go, and it waits for their finalizers.
//!
//! A real server begins with the objects a moment after its answer, and looks every five seconds whether all are
//! gone. This one does both at once. Nobody is asked about it: neither admission nor conversion.

use std::sync::Arc;

use serde_json::{Value, json};

use super::resource::Resource;
use super::status::{Failure, Outcome, details};
use super::store::Key;
use super::{Server, clock, crd, metadata};

const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";
const TERMINATING: &str = "Terminating";

impl Server {
    /// Whether a deletion ends the objects of this definition first.
    pub(super) fn ends_objects_first(&self, resource: &Resource, object: &Value) -> bool {
        let (group, plural) = crd::names(object);
        crd::is_definitions(resource)
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
        self.write(resource, key.clone(), object, false);
        if let Some(stored) = crd::stored(&marked) {
            self.delete_objects(&stored);
            self.end_if_empty(&stored);
        }
        Ok(marked)
    }

    /// Deletes all objects; those with finalizers are marked, as they are stored.
    fn delete_objects(&mut self, of: &Resource) {
        let objects = self.store.objects(&of.qualified());
        let keys: Vec<_> = objects.iter().map(|(key, _)| key.clone()).collect();
        for key in keys {
            let Some(stored) = self.stored(of, &key).cloned() else { continue };
            if metadata::finalizers(&stored.object).is_empty() {
                self.erase(of, key);
            } else if !metadata::is_terminating(&stored.object) {
                let mut object = Value::clone(&stored.object);
                self.mark(&mut object);
                // Nobody is asked to convert it: it stays in its version.
                let _kept = self.exempt(|it| it.keep(of, &key, object, (stored.is_odd, false)));
            }
        }
    }

    /// Ends the definition of a resource that waits for nothing but its last object, if that is gone.
    pub(super) fn end_if_empty(&mut self, of: &Resource) {
        if !of.is_custom || self.store.objects(&of.qualified()).iter().next().is_some() {
            return;
        }
        let Some((definitions, key, definition)) = self.definition(of) else { return };
        let mut left = metadata::finalizers(&definition);
        if !metadata::is_terminating(&definition) || !left.contains(&FINALIZER) {
            return;
        }
        left.retain(|it| *it != FINALIZER);
        if left.is_empty() {
            return self.erase(&definitions, key);
        }
        let mut object = Value::clone(&definition);
        metadata::set(&mut object, "finalizers", left);
        self.condition(
            &mut object,
            ("False", "InstanceDeletionCompleted", "removed all instances"),
        );
        self.write(&definitions, key, object, false);
    }

    /// Nothing is created whose definition is on its way out.
    pub(super) fn check_definition_lives(&self, resource: &Resource, name: &str) -> Outcome<()> {
        if !self.is_ending(resource) {
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

    /// Whether the objects of a resource are being deleted with its definition.
    pub(super) fn is_ending(&self, resource: &Resource) -> bool {
        let definition = resource.is_custom.then(|| self.definition(resource)).flatten();
        definition.is_some_and(|(_, _, definition)| {
            let conditions = definition["status"]["conditions"].as_array().into_iter().flatten();
            conditions.into_iter().any(|it| it["type"] == TERMINATING && it["status"] == "True")
        })
    }

    fn condition(&self, object: &mut Value, (status, reason, message): (&str, &str, &str)) {
        let mut conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let same = conditions.iter().find(|it| it["type"] == TERMINATING && it["status"] == status);
        let since = same.map(|it| it["lastTransitionTime"].clone());
        conditions.retain(|it| it["type"] != TERMINATING);
        conditions.push(json!({"type": TERMINATING, "status": status, "reason": reason,
            "message": message, "lastTransitionTime": since.unwrap_or_else(|| clock::stamp(self.now).into())}));
        if !object["status"].is_object() {
            object["status"] = json!({});
        }
        object["status"]["conditions"] = conditions.into();
    }
}
