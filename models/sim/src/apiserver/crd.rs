//! Custom resources: the declarations of a definition, and the state of the definition itself.

use std::sync::Arc;

use serde_json::{Value, json};

use super::cause::{Cause, Causes};
use super::conversion::{self, Converter};
use super::kinds::{anything, nothing, whole};
use super::metadata::{strings, text};
use super::names::Naming;
use super::resource::{Resource, Shape};
use super::scale::Scale;
use super::schema::{self, Structural};
use super::table;
use super::versions::Storage;
use crate::patch::Types;

pub(crate) const PLURAL: &str = "customresourcedefinitions";

/// The bytes that a name of a definition may have.
const LONGEST: usize = 253;
/// The versions and the short names that it may have.
const MOST: usize = 100;

/// The resource of the definitions themselves.
pub(crate) fn resource(base: Resource) -> Resource {
    Resource {
        is_namespaced: false,
        has_status: true,
        counts_generation: true,
        allows_unconditional: false,
        prepare,
        validate,
        ..base
    }
}

/// Fills in names, and accepts a definition at once.
fn prepare(object: &mut Value, old: Option<&Value>) {
    let kind = object["spec"]["names"]["kind"].as_str().unwrap_or("").to_owned();
    let names = &mut object["spec"]["names"];
    if names.is_object() {
        if names["singular"].as_str().unwrap_or("").is_empty() {
            names["singular"] = kind.to_lowercase().into();
        }
        if names["listKind"].as_str().unwrap_or("").is_empty() {
            names["listKind"] = format!("{kind}List").into();
        }
    }
    conversion::complete(&mut object["spec"]);
    let versions = object["spec"]["versions"].as_array().into_iter().flatten();
    let stored: Vec<_> =
        versions.filter(|it| it["storage"] == true).map(|it| it["name"].clone()).collect();
    if old.is_some() {
        // A version in which objects were stored stays one until somebody has moved them.
        let names = object["spec"]["names"].clone();
        if let Some(known) = object["status"]["storedVersions"].as_array_mut() {
            for version in stored {
                if !known.contains(&version) {
                    known.push(version);
                }
            }
            object["status"]["acceptedNames"] = names;
        }
        return;
    }
    let condition = |kind: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": "True", "reason": reason, "message": message,
            "lastTransitionTime": object["metadata"]["creationTimestamp"]})
    };
    object["status"] = json!({
        "acceptedNames": object["spec"]["names"],
        "storedVersions": stored,
        "conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
    });
}

fn validate(object: &Value, old: Option<&Value>) -> Causes {
    let mut causes = Causes::default();
    let spec = &object["spec"];
    let names = &spec["names"];
    let part = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let (group, plural) = (part(&spec["group"]), part(&names["plural"]));
    for (field, value) in [
        ("spec.group", &spec["group"]),
        ("spec.names.plural", &names["plural"]),
        ("spec.names.kind", &names["kind"]),
    ] {
        if part(value).is_empty() {
            causes.push(Cause::required(field, ""));
        }
    }
    // Each version repeats the names.
    for field in ["kind", "singular", "listKind"] {
        if names[field].as_str().is_some_and(|it| it.len() > LONGEST) {
            let why = format!("Too long: may not be more than {LONGEST} bytes");
            causes.push(Cause::new(format!("spec.names.{field}"), "FieldValueTooLong", why));
        }
    }
    for (field, list) in
        [("versions", &spec["versions"]), ("names.shortNames", &names["shortNames"])]
    {
        if let Some(count) = list.as_array().map(Vec::len).filter(|count| *count > MOST) {
            let why = format!("Too many: {count}: must have at most {MOST} items");
            causes.push(Cause::new(format!("spec.{field}"), "FieldValueTooMany", why));
        }
    }
    let expected = format!("{plural}.{group}");
    if text(object, "name") != expected {
        let why = "must be spec.names.plural+\".\"+spec.group";
        causes.push(Cause::invalid("metadata.name", &object["metadata"]["name"], why));
    }
    let scope = &spec["scope"];
    if !matches!(scope.as_str(), Some("Namespaced" | "Cluster")) {
        causes.push(Cause::unsupported("spec.scope", scope, &["Cluster", "Namespaced"]));
    }
    let versions = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
    if versions.iter().filter(|it| it["storage"] == true).count() != 1 {
        let why = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", &spec["versions"], why));
    }
    for (index, version) in versions.iter().enumerate() {
        if !version["schema"]["openAPIV3Schema"].is_object() {
            let field = format!("spec.versions[{index}].schema.openAPIV3Schema");
            causes.push(Cause::required(field, "schemas are required"));
        }
        causes.extend(table::check(version, &format!("spec.versions[{index}]")));
    }
    check_schemas(versions, &mut causes);
    conversion::check(&spec["conversion"], &mut causes);
    check_stored(&object["status"]["storedVersions"], versions, &mut causes);
    for field in ["group", "scope"] {
        if old.is_some_and(|old| old["spec"][field] != spec[field]) {
            let path = format!("spec.{field}");
            causes.push(Cause::invalid(path, &spec[field], "field is immutable"));
        }
    }
    causes
}

/// Versions in which objects may still be stored must stay.
fn check_stored(stored: &Value, versions: &[Value], causes: &mut Causes) {
    for (index, name) in strings(stored).into_iter().enumerate() {
        if versions.iter().all(|it| it["name"] != name) {
            let why = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            );
            causes.push(Cause::invalid(
                format!("status.storedVersions[{index}]"),
                &name.into(),
                why,
            ));
        }
    }
}

/// Looks into the schemas. One that all versions have is named where older definitions had it.
fn check_schemas(versions: &[Value], causes: &mut Causes) {
    let [first, rest @ ..] = versions else { return };
    let alike = rest.iter().all(|it| it["schema"] == first["schema"]);
    let budget = schema::declared::Budget::default();
    for (index, version) in versions.iter().enumerate() {
        let path = if alike {
            "spec.validation".to_owned()
        } else {
            format!("spec.versions[{index}].schema")
        };
        let path = format!("{path}.openAPIV3Schema");
        schema::declared::check(&version["schema"]["openAPIV3Schema"], &path, &budget, causes);
        // What is made of it is shared by all versions.
        if alike {
            return;
        }
    }
}

/// The resources that a definition declares, one per served version.
pub(crate) fn declared(definition: &Value) -> Vec<Resource> {
    let spec = &definition["spec"];
    let part = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let schemas = schemas(definition);
    let storage = storage(definition, &schemas);
    let versions = spec["versions"].as_array().into_iter().flatten().zip(schemas);
    let versions = versions.filter(|(version, _)| version["served"] == true);
    let resources = versions.map(|(version, (_, structural))| {
        let schema = &version["schema"]["openAPIV3Schema"];
        let has_status = version["subresources"]["status"].is_object();
        let types = Types::from_schema(schema);
        let types = if has_status { types.with_status() } else { types };
        Resource {
            rules: None,
            group: part(&spec["group"]),
            version: part(&version["name"]),
            kind: part(&spec["names"]["kind"]),
            plural: part(&spec["names"]["plural"]),
            singular: part(&spec["names"]["singular"]),
            short_names: short_names(spec),
            list_kind: part(&spec["names"]["listKind"]),
            is_namespaced: spec["scope"] == "Namespaced",
            is_custom: true,
            has_status,
            scale: Scale::declared(&version["subresources"]["scale"]),
            allows_unconditional: false,
            creates_on_update: false,
            counts_generation: true,
            returns_deleted: false,
            revalidates: false,
            naming: Naming::Subdomain,
            fields: &[],
            shape: Shape::Structural(structural),
            types,
            storage: storage.clone(),
            categories: strings(&spec["names"]["categories"])
                .into_iter()
                .map(str::to_owned)
                .collect(),
            selectable: selectable(version),
            columns: table::declared(version),
            complete: whole,
            prepare: nothing,
            validate: anything,
        }
    });
    resources.collect()
}

/// The fields that a field selector may use.
fn selectable(version: &Value) -> Vec<String> {
    let fields = version["selectableFields"].as_array().into_iter().flatten();
    let paths = fields.filter_map(|it| it["jsonPath"].as_str());
    paths.map(|it| it.trim_start_matches('.').to_owned()).collect()
}

/// The version in which objects are stored, if there are several.
fn storage(definition: &Value, schemas: &[(String, Arc<Structural>)]) -> Option<Storage> {
    let versions = definition["spec"]["versions"].as_array().filter(|it| it.len() > 1)?;
    let stored = versions.iter().position(|it| it["storage"] == true)?;
    let (name, schema) = schemas.get(stored)?.clone();
    Some(Storage::new(name, schema, Converter::of(definition).map(Arc::new)))
}

/// The versions of a definition, as objects name them, with their schemas. Those that have the schema of the first
/// one share it, with its rules and patterns.
pub(crate) fn schemas(definition: &Value) -> Vec<(String, Arc<Structural>)> {
    let spec = &definition["spec"];
    let versions = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
    let part = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let schema = |it: &Value| Arc::new(Structural::parse(&it["schema"]["openAPIV3Schema"]));
    let first = versions.first().map(|it| (it, schema(it)));
    let versions = versions.iter().map(|it| {
        let alike = first.as_ref().filter(|(first, _)| first["schema"] == it["schema"]);
        let schema = alike.map_or_else(|| schema(it), |(_, made)| Arc::clone(made));
        (format!("{}/{}", part(&spec["group"]), part(&it["name"])), schema)
    });
    versions.collect()
}

/// Whether this is the resource of the definitions, and not one that a definition named so.
pub(crate) fn is_definitions(resource: &Resource) -> bool {
    resource.plural == PLURAL && !resource.is_custom
}

/// The version in which a definition stores its objects, as a resource, whether it is served or not.
pub(crate) fn stored(definition: &Value) -> Option<Resource> {
    let mut definition = definition.clone();
    let versions = definition["spec"]["versions"].as_array_mut()?;
    let at = versions.iter().position(|version| version["storage"] == true)?;
    versions.iter_mut().for_each(|version| version["served"] = true.into());
    declared(&definition).into_iter().nth(at)
}

/// The groups and plurals that a definition served.
pub(crate) fn names(definition: &Value) -> (String, String) {
    let part = |value: &Value| value.as_str().unwrap_or("").to_owned();
    (part(&definition["spec"]["group"]), part(&definition["spec"]["names"]["plural"]))
}

fn short_names(spec: &Value) -> Vec<String> {
    strings(&spec["names"]["shortNames"]).into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{Causes, check_schemas, schemas};

    fn version(name: &str, letter: &str) -> Value {
        let pattern = json!({"pattern": letter.repeat(10_000)});
        let schema = json!({"type": "object", "anyOf": vec![pattern; 12]});
        json!({"name": name, "schema": {"openAPIV3Schema": schema}})
    }

    #[test]
    fn the_patterns_of_all_versions_count_together_unless_they_are_the_same() {
        let found = |versions: &[Value]| {
            let mut causes = Causes::default();
            check_schemas(versions, &mut causes);
            causes.len()
        };
        let (one, like, other) = (version("v1", "a"), version("v2", "a"), version("v3", "b"));
        assert_eq!(found(&[one.clone(), like.clone()]), 0);
        assert_eq!(found(&[one.clone(), other.clone()]), 1);
        let definition = json!({"spec": {"group": "a.com", "versions": [one, like, other]}});
        let made = schemas(&definition);
        assert!(Arc::ptr_eq(&made[0].1, &made[1].1) && !Arc::ptr_eq(&made[0].1, &made[2].1));
        assert_eq!(made[1].0, "a.com/v2");
    }
}
