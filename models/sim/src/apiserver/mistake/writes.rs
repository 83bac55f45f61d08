//! Mistakes of requests that write.

use serde_json::{Map, Value};

use super::super::http::Request;
use super::super::kinds;
use super::{
    APPLIES, MADE_UP, Mistake, REQUESTS, Slip, change_body, edit, forget, inside, lose, request,
    resource, response, retype, say,
};
use crate::patch::without_nulls;

/// Changes every schema of a definition that is made.
fn schemas(request: &mut Request, change: &dyn Fn(&mut Map<String, Value>)) {
    fn walk(value: &mut Value, change: &dyn Fn(&mut Map<String, Value>)) {
        let inner = match value {
            Value::Object(fields) => {
                change(fields);
                fields.values_mut().collect()
            }
            Value::Array(items) => items.iter_mut().collect(),
            _ => Vec::new(),
        };
        inner.into_iter().for_each(|it| walk(it, change));
    }
    if request.path.ends_with("/customresourcedefinitions") {
        edit(request, "POST", |body| walk(&mut body["spec"]["versions"], change));
    }
}

pub(super) const CREATE: &[Mistake] = &[
    request("commits_dry_runs", "crud", |it| lose(it, "dryRun")),
    request("never_validates_fields", "crud", |it| lose(it, "fieldValidation")),
    request("takes_any_namespace", "crud", |it| edit(it, "POST", |body| forget(body, "namespace"))),
    request("makes_no_names_up", "crud", |it| {
        edit(it, "POST", |body| forget(body, "generateName"));
    }),
    request("takes_new_versions", "crud", |it| {
        edit(it, "POST", |body| forget(body, "resourceVersion"));
    }),
    request("takes_capitals_in_names", "crud", |it| {
        edit(it, "POST", |body| {
            if let Some(name) = body["metadata"]["name"].as_str() {
                body["metadata"]["name"] = name.to_lowercase().into();
            }
        });
    }),
    request("takes_numbers_for_texts", "crud", |it| {
        edit(it, "POST", |body| {
            let values = body.get_mut("data").and_then(Value::as_object_mut);
            for value in values.into_iter().flat_map(|data| data.values_mut()) {
                if value.is_number() {
                    *value = value.to_string().into();
                }
            }
        });
    }),
    resource("takes_any_secret", MADE_UP, |it| {
        if it.kind == "Secret" {
            it.validate = kinds::anything;
        }
    }),
    resource("completes_nothing", MADE_UP, |it| it.complete = kinds::whole),
    resource("keeps_all_of_the_secrets_of_accounts", MADE_UP, |it| {
        if it.kind == "ServiceAccount" {
            it.prepare = kinds::nothing;
        }
    }),
    response("forgets_what_is_embedded", MADE_UP, |it| {
        change_body(it, |body| {
            if let Some(inner) = body.pointer_mut("/spec/inner").and_then(Value::as_object_mut) {
                inner.retain(|key, _| key == "size");
            }
        });
    }),
    request("knows_no_rules", REQUESTS, |it| {
        schemas(it, &|schema| drop(schema.remove("x-kubernetes-validations")));
    }),
    request("takes_any_text", REQUESTS, |it| {
        schemas(it, &|schema| {
            for key in ["pattern", "format", "anyOf", "oneOf", "allOf", "not"] {
                schema.remove(key);
            }
        });
    }),
    response("says_ok_for_created", "crud", |it| say(it, 201, 200)),
    response("says_conflict_for_invalid", "crud", |it| say(it, 422, 409)),
    response("says_never_when_to_retry", "crud", |it| {
        it.headers.retain(|(key, _)| *key != "Retry-After");
    }),
    response("names_kinds_for_resources", "crud", |it| {
        change_body(it, |body| {
            if body["reason"] == "NotFound" && body["details"]["kind"] == "configmaps" {
                body["details"]["kind"] = "ConfigMap".into();
            }
        });
    }),
    response("gives_no_causes", "crud", |it| {
        change_body(it, |body| {
            if let Some(details) = body.get_mut("details").and_then(Value::as_object_mut) {
                details.remove("causes");
            }
        });
    }),
];

pub(super) const UPDATE: &[Mistake] = &[
    request("overwrites_newer", "crud", |it| {
        edit(it, "PUT", |body| forget(body, "resourceVersion"));
    }),
    request("overwrites_strangers", "crud", |it| edit(it, "PUT", |body| forget(body, "uid"))),
    request("takes_any_text_for_a_version", "crud", |it| {
        edit(it, "PUT", |body| {
            let version = body["metadata"]["resourceVersion"].as_str();
            if version.is_some_and(|it| it.parse::<u64>().is_err()) {
                forget(body, "resourceVersion");
            }
        });
    }),
    resource("overwrites_custom_objects", "crud", |it| it.allows_unconditional = true),
    resource("never_overwrites", "crud", |it| it.allows_unconditional = false),
    resource("creates_on_update", "crud", |it| it.creates_on_update = true),
    resource("creates_no_lease_on_update", "lease", |it| it.creates_on_update = false),
    resource("counts_no_generations", "crud", |it| it.counts_generation = false),
    resource("counts_all_generations", "crud", |it| it.counts_generation = true),
    resource("checks_metadata_once", "finalizers", |it| it.revalidates = false),
    resource("changes_the_immutable", "crud", |it| {
        if it.kind == "ConfigMap" {
            it.validate = |object, _| kinds::config_map(object, None);
        }
    }),
    request("never_looks_back", REQUESTS, |it| {
        schemas(it, &|schema| {
            let rules = schema.get_mut("x-kubernetes-validations").and_then(Value::as_array_mut);
            let looks_back =
                |it: &Value| it["rule"].as_str().is_some_and(|it| it.contains("oldSelf"));
            rules.into_iter().for_each(|rules| rules.retain(|it| !looks_back(it)));
        });
    }),
    inside("writes_nothing_anew", "watch", Slip::NothingIsWritten),
    inside("counts_labels_as_generation", "crud", Slip::LabelsCount),
    inside("takes_what_is_written_for_what_is_read", REQUESTS, Slip::OddIsAsRead),
    inside("takes_kinds_with_a_status", REQUESTS, Slip::StatusNamesKinds),
    inside("judges_again_what_stays", REQUESTS, Slip::JudgesAgain),
    inside("gives_counts_to_who_scales", MADE_UP, Slip::ScalesOwn),
];

pub(super) const PATCH: &[Mistake] = &[
    request("merges_the_strategic", "patch", |it| {
        retype(it, "application/strategic-merge-patch+json", "application/merge-patch+json");
    }),
    request("tests_nothing", "patch", |it| {
        edit(it, "PATCH", |body| {
            if let Some(steps) = body.as_array_mut() {
                steps.retain(|step| step["op"] != "test");
            }
        });
    }),
    request("merges_what_has_no_type", "patch", |it| {
        retype(it, "application/json", "application/merge-patch+json");
    }),
    request("replaces_no_maps", "patch", |it| {
        edit(it, "PATCH", |body| {
            if let Some(data) = body.get_mut("data").and_then(Value::as_object_mut) {
                data.remove("$patch");
            }
        });
    }),
    request("keeps_no_status_apart", "patch", |it| {
        it.path = it.path.trim_end_matches("/status").to_owned();
    }),
    resource("has_no_status_apart", "patch", |it| it.has_status = false),
];

pub(super) const APPLY: &[Mistake] = &[
    request("applies_by_force", "patch", |it| {
        if it.header("Content-Type") == Some(APPLIES) {
            it.query.push(("force".to_owned(), "true".to_owned()));
        }
    }),
    request("applies_without_force", "patch", |it| lose(it, "force")),
    request("takes_all_managers_for_one", "patch", |it| {
        for (_, value) in it.query.iter_mut().filter(|(key, _)| key == "fieldManager") {
            value.replace_range(.., "one");
        }
    }),
    request("applies_for_nobody", "patch", |it| {
        if it.header("Content-Type") == Some(APPLIES) && it.parameter("fieldManager").is_none() {
            it.query.push(("fieldManager".to_owned(), "nobody".to_owned()));
        }
    }),
    request("applies_what_is_older", "patch", |it| {
        if it.header("Content-Type") == Some(APPLIES) {
            edit(it, "PATCH", |body| forget(body, "resourceVersion"));
        }
    }),
    request("applies_no_nulls", MADE_UP, |it| {
        if it.header("Content-Type") == Some(APPLIES) {
            edit(it, "PATCH", |body| *body = without_nulls(body.take()));
        }
    }),
    request("merges_what_is_applied", "patch", |it| {
        retype(it, APPLIES, "application/merge-patch+json");
    }),
];

pub(super) const DELETE: &[Mistake] = &[
    request("deletes_whatever_is_there", "crud", |it| {
        edit(it, "DELETE", |body| {
            if let Some(options) = body.as_object_mut() {
                options.remove("preconditions");
            }
        });
    }),
    request("propagates_in_the_background", "finalizers", |it| {
        edit(it, "DELETE", |body| {
            if let Some(options) = body.as_object_mut() {
                options.remove("propagationPolicy");
            }
        });
    }),
    request("keeps_no_finalizers", "finalizers", |it| {
        edit(it, "POST", |body| forget(body, "finalizers"));
    }),
    request("keeps_no_owners", "finalizers", |it| {
        edit(it, "POST", |body| forget(body, "ownerReferences"));
    }),
    request("deletes_all_pages", "list", |it| {
        if it.method == "DELETE" {
            lose(it, "limit");
        }
    }),
    resource("keeps_what_is_deleted_to_itself", REQUESTS, |it| it.returns_deleted = false),
    request("deletes_at_any_version", MADE_UP, |it| {
        if it.method == "DELETE" {
            lose(it, "resourceVersion");
        }
    }),
    response("says_ok_for_accepted", "finalizers", |it| say(it, 202, 200)),
    inside("keeps_what_lost_its_last_finalizer", "finalizers", Slip::LastFinalizerIsNothing),
    inside("takes_finalizers_for_the_dying", "finalizers", Slip::FinalizersMayCome),
];

pub(super) const LEASE: &[Mistake] = &[
    resource("takes_any_lease", "lease", |it| {
        if it.kind == "Lease" {
            it.validate = kinds::anything;
        }
    }),
    request("takes_any_time", "lease", |it| {
        let short = ["renewTime", "acquireTime"];
        for method in ["POST", "PUT", "PATCH"] {
            edit(it, method, |body| {
                for key in short {
                    let time = body.get_mut("spec").and_then(|spec| spec.get_mut(key));
                    let Some(time) = time else { continue };
                    if time.as_str().is_some_and(|time| !time.contains('.')) {
                        *time = "2026-01-01T00:00:00.000000Z".into();
                    }
                }
            });
        }
    }),
    resource("keeps_strategies", "lease", |it| {
        if it.kind == "Lease" {
            it.prepare = kinds::nothing;
        }
    }),
];
