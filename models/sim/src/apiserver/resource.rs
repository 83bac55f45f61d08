//! The resources that a server serves, as data.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::cause::Causes;
use super::names::Naming;
use super::rules::Rules;
use super::scale::Scale;
use super::schema::Structural;
use super::status::qualify;
use super::table::Column;
use super::twin;
use super::types::Type;
use super::versions::Storage;
use crate::patch::Types;

/// How the objects of a resource are read and checked.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// They are read into a struct and written again.
    Struct(&'static Type),
    /// They are kept, and then pruned, given defaults and checked by the schema of a custom
    /// resource.
    Structural(Arc<Structural>),
}

/// Fills in what a client may leave out, as soon as an object is read.
pub(crate) type Complete = fn(&mut Value);
/// Fills in what the server decides; the second object is the older state.
pub(crate) type Prepare = fn(&mut Value, Option<&Value>);
/// Names what is wrong; the second object is the older state.
pub(crate) type Validate = fn(&Value, Option<&Value>) -> Causes;

/// One resource in one version.
#[derive(Clone, Debug)]
pub struct Resource {
    /// The group; empty for the core one.
    pub group: String,
    /// The version, such as `v1`.
    pub version: String,
    /// The kind of its objects.
    pub kind: String,
    /// Its name in paths.
    pub plural: String,
    /// Its name on a command line.
    pub singular: String,
    /// Shorter names on a command line.
    pub short_names: Vec<String>,
    /// The kind of its lists.
    pub list_kind: String,
    /// Its objects lie in namespaces.
    pub is_namespaced: bool,
    /// It was declared at run time.
    pub is_custom: bool,
    /// `status` is written apart from the rest.
    pub has_status: bool,
    /// What `scale` shows, if it is served.
    pub(crate) scale: Option<Scale>,
    /// A `PUT` without a version overwrites.
    pub(crate) allows_unconditional: bool,
    /// A `PUT` of an object that is missing creates it.
    pub(crate) creates_on_update: bool,
    /// The server counts the changes of everything but metadata and status.
    pub(crate) counts_generation: bool,
    /// A deletion answers with the deleted object.
    pub(crate) returns_deleted: bool,
    /// On a change the metadata is checked once more by itself.
    pub(crate) revalidates: bool,
    pub(crate) naming: Naming,
    /// The fields, in addition to name and namespace, that a field selector may use.
    pub(crate) fields: &'static [&'static str],
    pub(crate) shape: Shape,
    /// How its fields are merged and owned.
    pub(crate) types: Types,
    /// The version in which its objects are stored, if it has several.
    pub(crate) storage: Option<Storage>,
    /// The groups of resources that it is listed with, such as `all`.
    pub(crate) categories: Vec<String>,
    /// The fields that its definition lets a field selector use.
    pub(crate) selectable: Vec<String>,
    /// The columns of a list that a person reads.
    pub(crate) columns: Vec<Column>,
    pub(crate) complete: Complete,
    pub(crate) prepare: Prepare,
    pub(crate) validate: Validate,
    /// The defaults and checks that are data.
    pub(crate) rules: Option<Rules>,
}

impl Resource {
    /// `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Names what is wrong with an object of a built-in kind.
    pub(crate) fn judge(&self, object: &Value, old: Option<&Value>) -> Causes {
        let mut causes = (self.validate)(object, old);
        causes.extend(self.rules.into_iter().flat_map(|rules| rules.check(object, old)));
        causes
    }

    /// The group of the kind as failures name it. An event is one of the core group in each API.
    pub(crate) fn kind_group(&self) -> &str {
        if twin::is_copy(&self.qualified()) { "" } else { &self.group }
    }

    /// Tells whether errors must not show its objects.
    pub(crate) fn is_secret(&self) -> bool {
        self.kind == "Secret" && self.group.is_empty()
    }

    /// `configmaps` or `widgets.sim.example.com`.
    pub fn qualified(&self) -> String {
        qualify(&self.plural, &self.group)
    }
}

/// Everything that is served. Copies share their content.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry {
    /// By group, version and plural.
    resources: Arc<BTreeMap<(String, String, String), Arc<Resource>>>,
    /// Objects of one of them at least are converted by a webhook.
    converts: bool,
}

impl Registry {
    pub(crate) fn get(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        // There are few, and to make a key for a look takes longer than to look at all of them.
        self.iter().find(|it| it.plural == plural && it.group == group && it.version == version)
    }

    pub(crate) fn put(&mut self, resource: Resource) {
        let key = (resource.group.clone(), resource.version.clone(), resource.plural.clone());
        self.converts |= resource.converter().is_some();
        Arc::make_mut(&mut self.resources).insert(key, Arc::new(resource));
    }

    /// Changes all resources.
    pub(crate) fn change(&mut self, change: fn(&mut Resource)) {
        for resource in Arc::make_mut(&mut self.resources).values_mut() {
            change(Arc::make_mut(resource));
        }
    }

    /// Stops serving all versions of a resource.
    pub(crate) fn remove(&mut self, group: &str, plural: &str) {
        let is_other = |it: &Resource| it.group != group || it.plural != plural;
        Arc::make_mut(&mut self.resources).retain(|_, resource| is_other(resource));
        let converts = self.iter().any(|it| it.converter().is_some());
        self.converts = converts;
    }

    /// Tells whether a webhook converts objects.
    pub(crate) fn converts(&self) -> bool {
        self.converts
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.values()
    }

    /// Tells whether a group is that of custom resources.
    pub(crate) fn is_custom(&self, group: &str) -> bool {
        self.iter().any(|it| it.group == group && it.is_custom)
    }

    /// Tells whether a resource is built in: a definition does not replace it.
    pub(crate) fn is_built_in(&self, group: &str, plural: &str) -> bool {
        self.iter().any(|it| it.group == group && it.plural == plural && !it.is_custom)
    }

    pub(crate) fn serves(&self, group: &str, version: &str) -> bool {
        self.iter().any(|it| it.group == group && it.version == version)
    }
}
