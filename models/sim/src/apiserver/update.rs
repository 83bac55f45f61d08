//! `PUT`, and the steps that every change of an object goes through.

use std::sync::Arc;

use serde_json::Value;

use super::admission::Wish;
use super::bounds::At;
use super::cause::{Cause, Causes};
use super::create::{Origin, check_namespace};
use super::http::Response;
use super::metadata::{self, text};
use super::mistake::Slip;
use super::names::Naming;
use super::options::Writing;
use super::resource::{Resource, Shape};
use super::schema::Structural;
use super::status::{Failure, Outcome};
use super::store::Stored;
use super::{Call, Server, decode, negotiate, options, types};
use crate::patch;

impl Server {
    pub(super) fn put(&mut self, call: &mut Call<'_>) -> Outcome<Response> {
        let writing = Self::writing(call, "UpdateOptions")?;
        negotiate::require_known(call.request, call.resource())?;
        let resource = call.target.resource.clone();
        let request = call.request;
        let mut object = decode::body(&resource, request, writing.unknown, &mut call.warnings)?;
        check_name(&object, call.name())?;
        check_namespace(&mut object, &call.target.namespace)?;
        let (uid, key) = (text(&object, "uid").to_owned(), call.key());
        let Some(old) = self.read(&resource, &key)? else {
            if !resource.creates_on_update || call.target.subresource.is_some() {
                return Err(Failure::not_found(&resource, call.name()));
            }
            if !uid.is_empty() {
                return Err(wrong_uid(call, &uid, "", writing.is_dry));
            }
            parse_version(&object)?;
            let object = self.create(call, object, &writing, Origin::Update)?;
            return Ok(Response::of(201, object));
        };
        let own = text(&old.object, "uid");
        if !uid.is_empty() && uid != own {
            return Err(wrong_uid(call, &uid, own, writing.is_dry));
        }
        let object = self.change(call, &old, object, &writing, Origin::Update)?;
        Ok(Response::of(200, object))
    }

    /// Replaces an object that was read and whose name fits.
    pub(super) fn change(
        &mut self,
        call: &mut Call<'_>,
        old: &Stored,
        mut object: Value,
        writing: &Writing,
        origin: Origin,
    ) -> Outcome<Arc<Value>> {
        let (resource, key) = (call.target.resource.clone(), call.key());
        if origin != Origin::Apply {
            self.track(call, Some(&old.object), &mut object, writing)?;
        }
        let wish = Wish::write(call, "UPDATE", writing);
        object = self.mutated(call, &wish, object, Some(&old.object))?;
        check_version(&resource, &mut object, old)?;
        restore(&mut object, &old.object);
        let sent = object["kind"].clone();
        prepare(&resource, call.target.subresource.as_deref(), &mut object, &old.object);
        if self.slips(Slip::StatusNamesKinds) {
            object["kind"] = sent;
        }
        call.warnings.extend(metadata::dedup_owners(&mut object));
        call.warnings.extend(metadata::warnings(&resource, &object));
        if self.slips(Slip::LabelsCount)
            && object["metadata"]["labels"] != old.object["metadata"]["labels"]
        {
            let generation = object["metadata"]["generation"].as_i64().unwrap_or(0);
            metadata::set(&mut object, "generation", generation.saturating_add(1));
        }
        let subresource = call.target.subresource.as_deref();
        let mut causes = validate(&resource, subresource, &object, &old.object, &mut call.warnings);
        if self.slips(Slip::JudgesAgain)
            && causes.is_empty()
            && let Shape::Structural(schema) = &resource.shape
        {
            causes.extend(structural(&resource, schema, subresource, &object, None));
        }
        if self.slips(Slip::FinalizersMayCome) {
            causes.retain(|cause| cause.field != "metadata.finalizers");
        }
        if !causes.is_empty() {
            let kind = object["kind"].as_str().unwrap_or("");
            return Err(Failure::invalid(resource.kind_group(), kind, call.name(), &causes));
        }
        self.approve(call, &wish, Some(&object), Some(&old.object))?;
        if is_done(&object, &old.object) && !self.slips(Slip::LastFinalizerIsNothing) {
            if !writing.is_dry {
                self.erase(&resource, key);
            }
            return Ok(Arc::new(object));
        }
        self.check_grant(call, Some(&old.object), &object)?;
        self.allocate(&resource, &mut object)?;
        let is_odd = decode::stored(&resource, &mut object, origin)?;
        let is_as_read = !(is_odd || old.is_odd) || self.slips(Slip::OddIsAsRead);
        if is_as_read
            && !writing.is_dry
            && resource.converter().is_none()
            && patch::unchanged(&old.object, &object)
            && !self.slips(Slip::NothingIsWritten)
        {
            return Ok(old.object.clone());
        }
        self.keep(&resource, &key, object, (is_odd, writing.is_dry))
    }
}

/// The last finalizer of a terminating object is gone: so is the object.
fn is_done(object: &Value, old: &Value) -> bool {
    metadata::finalizers(object).is_empty()
        && metadata::is_terminating(old)
        && old["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0) == 0
        && (object["kind"] != "Namespace" || types::is_empty(&object["spec"]["finalizers"]))
}

pub(super) fn check_name(object: &Value, name: &str) -> Outcome<()> {
    match text(object, "name") {
        "" => Err(Failure::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        found if found != name => Err(Failure::bad_request(format!(
            "the name of the object ({found}) does not match the name on the URL ({name})"
        ))),
        _ => Ok(()),
    }
}

fn wrong_uid(call: &Call<'_>, asked: &str, found: &str, is_dry: bool) -> Box<Failure> {
    let resource = call.resource();
    let root = if is_dry { "" } else { "/registry" };
    let group = if resource.is_custom { format!("/{}", resource.group) } else { String::new() };
    let (plural, namespace, name) = (&resource.plural, &call.target.namespace, call.name());
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {root}{group}/{plural}/{namespace}/{name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {asked}, UID in object meta: {found}"
    );
    Failure::conflict(resource, name, &why)
}

/// The version in an object, 0 if there is none.
pub(super) fn parse_version(object: &Value) -> Outcome<u64> {
    match text(object, "resourceVersion") {
        "" => Ok(0),
        text => options::version(text).ok_or_else(|| {
            Failure::internal(format!("strconv.ParseUint: parsing {text:?}: invalid syntax"))
        }),
    }
}

fn check_version(resource: &Resource, object: &mut Value, old: &Stored) -> Outcome<()> {
    let name = text(&old.object, "name");
    match parse_version(object)? {
        0 if resource.allows_unconditional => {}
        0 => {
            let why = "must be specified for an update";
            let cause = Cause::invalid("metadata.resourceVersion", &0.into(), why);
            return Err(Failure::invalid(&resource.group, &resource.plural, name, &[cause]));
        }
        version if version != old.revision => return Err(Failure::stale(resource, name)),
        _ => {}
    }
    metadata::set(object, "resourceVersion", old.revision.to_string());
    Ok(())
}

/// Restores the fields that an update cannot change. Forbidden changes are left to the validation.
fn restore(object: &mut Value, old: &Value) {
    let old = &old["metadata"];
    for field in ["creationTimestamp", "selfLink", "generation"] {
        metadata::set(object, field, old[field].clone());
    }
    if !old["deletionTimestamp"].is_null() {
        metadata::set(object, "deletionTimestamp", old["deletionTimestamp"].clone());
    }
    for field in ["uid", "deletionGracePeriodSeconds"] {
        if object["metadata"].get(field).is_none_or(|it| it.is_null() || *it == "") {
            metadata::set(object, field, old[field].clone());
        }
    }
}

/// Keeps apart what is written apart, and counts changes.
fn prepare(resource: &Resource, subresource: Option<&str>, object: &mut Value, old: &Value) {
    let copy = |object: &mut Value, from: &Value, field: &str| {
        let Some(fields) = object.as_object_mut() else { return };
        match from.get(field) {
            Some(value) => fields.insert(field.to_owned(), value.clone()),
            None => fields.remove(field),
        };
    };
    match subresource {
        Some("status" | "approval") => {
            let status = object.clone();
            let mut whole = old.clone();
            for field in ["resourceVersion", "managedFields"] {
                metadata::set(&mut whole, field, status["metadata"][field].clone());
            }
            if !resource.is_custom {
                // Built-in kinds take the metadata of a status update too.
                copy(&mut whole, &status, "metadata");
            }
            copy(&mut whole, &status, "status");
            *object = whole;
        }
        Some("finalize") => {
            let finalizers = object["spec"]["finalizers"].clone();
            *object = old.clone();
            object["spec"]["finalizers"] = finalizers;
        }
        _ => {
            if resource.has_status {
                copy(object, old, "status");
            }
            (resource.prepare)(object, Some(old));
            if resource.counts_generation && differs(object, old, resource.has_status) {
                let generation = old["metadata"]["generation"].as_i64().unwrap_or(0);
                metadata::set(object, "generation", generation.saturating_add(1));
            }
        }
    }
}

/// Tells whether anything but metadata (and the status, if it is apart) differs.
fn differs(object: &Value, old: &Value, has_status: bool) -> bool {
    let none = serde_json::Map::new();
    let (new, old) = (object.as_object().unwrap_or(&none), old.as_object().unwrap_or(&none));
    let counts = |key: &&String| key.as_str() != "metadata" && !(has_status && *key == "status");
    new.keys().chain(old.keys()).filter(counts).any(|key| new.get(key) != old.get(key))
}

/// Names what is wrong with a change. Some checks are made more than once, and a client sees each.
fn validate(
    resource: &Resource,
    subresource: Option<&str>,
    object: &Value,
    old: &Value,
    warnings: &mut Vec<String>,
) -> Causes {
    let mut causes = metadata::validate(resource, object);
    let again = if resource.revalidates { causes.clone() } else { Causes::default() };
    // A prefix of names is checked in full with its kind. Only parts that do not fit into a path
    // count here.
    let prefix = text(object, "generateName");
    causes.retain(|it| it.field != "metadata.generateName" || prefix.contains(['/', '%']));
    let wrong = metadata::validate_change(object, old);
    causes.extend(wrong.iter().cloned());
    if let Shape::Structural(schema) = &resource.shape {
        let named = wrong_kind(resource, object);
        if named.is_empty() {
            causes.extend(wrong);
            causes.extend(structural(resource, schema, subresource, object, Some(old)));
        }
        causes.extend(named);
        let (mut before, mut after) = (Causes::default(), Causes::default());
        schema.validate_lists(old, &At::Root, &mut before);
        if before.is_empty() {
            schema.validate_lists(object, &At::Root, &mut after);
        }
        causes.extend(after);
        warnings.extend(judge(schema, object, Some(old), &mut causes));
        return causes;
    }
    // A kind that takes any name does not look at its metadata by itself.
    if resource.naming != Naming::Segment {
        causes.extend(wrong);
    }
    causes.extend(again);
    causes.extend(resource.judge(object, Some(old)));
    causes
}

/// Names the errors of a new object. If a custom resource has the wrong kind, only its kind and its
/// lists are checked.
pub(super) fn validate_new(resource: &Resource, object: &Value) -> Causes {
    let mut causes = metadata::validate(resource, object);
    let Shape::Structural(schema) = &resource.shape else {
        causes.extend(resource.judge(object, None));
        return causes;
    };
    let named = wrong_kind(resource, object);
    if named.is_empty() {
        causes.extend(structural(resource, schema, None, object, None));
    } else {
        causes = named;
    }
    schema.validate_lists(object, &At::Root, &mut causes);
    judge(schema, object, None, &mut causes);
    causes
}

/// Adds the broken rules of a schema, unless something else is so wrong that they cannot be looked at. Gives
/// what was broken before and stays so.
fn judge(
    schema: &Structural,
    object: &Value,
    old: Option<&Value>,
    causes: &mut Causes,
) -> Vec<String> {
    const BLOCKING: [&str; 5] = [
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    ];
    if !schema.has_rules() {
        return Vec::new();
    }
    if causes.iter().any(|it| BLOCKING.contains(&it.reason)) {
        let why = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
        causes.push(Cause::invalid("<nil>", &Value::Null, why));
        return Vec::new();
    }
    schema.judge(object, old, causes)
}

fn wrong_kind(resource: &Resource, object: &Value) -> Causes {
    let (kind, expected) = (&object["kind"], resource.kind.as_str());
    let wrong = || Cause::invalid("kind", kind, format!("must be {expected}"));
    (kind != expected).then(wrong).into_iter().collect()
}

/// The violations of the schema of a custom resource, or of the conditions of its scale.
fn structural(
    resource: &Resource,
    schema: &Structural,
    subresource: Option<&str>,
    object: &Value,
    old: Option<&Value>,
) -> Causes {
    let mut causes = Causes::default();
    let is_status = subresource == Some("status");
    if is_status {
        schema.validate_property("status", object, old.unwrap_or(&Value::Null), &mut causes);
    } else {
        schema.validate(object, old, &At::Root, &mut causes);
    }
    if let Some(scale) = &resource.scale {
        scale.check(object, is_status, &mut causes);
    }
    causes
}
