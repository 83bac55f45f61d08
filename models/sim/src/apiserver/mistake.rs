//! Servers that get one thing wrong. The recorded traces must notice each of them.
//!
//! Most mistakes are made around the rules: a server that ignores an option is one whose requests
//! lose it on the way in. [`Slip`]s are those that can only be made inside.

use serde_json::Value;

use super::http::{Body, Request, Response};
use super::kinds;
use super::resource::Resource;
use super::watch::WatchEvent;

/// One mistake.
#[derive(Clone, Copy, Debug)]
pub struct Mistake {
    /// What the server does, as `the_server_...`.
    pub name: &'static str,
    /// The traces that notice it: a file of recorded ones, or `made-up` programs.
    pub traces: &'static str,
    pub(crate) change: Change,
}

/// Where a mistake is made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Request(fn(&mut Request)),
    Response(fn(&mut Response)),
    Resource(fn(&mut Resource)),
    /// None: the event is lost.
    Event(fn(WatchEvent) -> Option<WatchEvent>),
    Inside(Slip),
}

/// A mistake inside a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slip {
    NothingIsWritten,
    LabelsCount,
    LastFinalizerIsNothing,
    PagesAreOfNow,
    CompactedIsReadable,
    LeavingIsChanging,
    DeletedKeepsItsVersion,
    WatchesForgive,
    FinalizersMayCome,
}

const fn inside(name: &'static str, traces: &'static str, slip: Slip) -> Mistake {
    Mistake { name, traces, change: Change::Inside(slip) }
}

const fn request(name: &'static str, traces: &'static str, change: fn(&mut Request)) -> Mistake {
    Mistake { name, traces, change: Change::Request(change) }
}

const fn response(name: &'static str, traces: &'static str, change: fn(&mut Response)) -> Mistake {
    Mistake { name, traces, change: Change::Response(change) }
}

const fn resource(name: &'static str, traces: &'static str, change: fn(&mut Resource)) -> Mistake {
    Mistake { name, traces, change: Change::Resource(change) }
}

type Event = fn(WatchEvent) -> Option<WatchEvent>;

const fn event(name: &'static str, change: Event) -> Mistake {
    Mistake { name, traces: "watch", change: Change::Event(change) }
}

/// The traces are those of made-up programs.
const MADE_UP: &str = "made-up";
const APPLIES: &str = "application/apply-patch+yaml";

/// All of them, by the [rules](crate::conformance::RULES) that they break.
pub const MISTAKES: &[(&str, &[Mistake])] = &[
    ("create", CREATE),
    ("update", UPDATE),
    ("patch", PATCH),
    ("apply", APPLY),
    ("delete", DELETE),
    ("list", LIST),
    ("watch", WATCH),
    ("lease", LEASE),
];

const CREATE: &[Mistake] = &[
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

const UPDATE: &[Mistake] = &[
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
    inside("writes_nothing_anew", "watch", Slip::NothingIsWritten),
    inside("counts_labels_as_generation", "crud", Slip::LabelsCount),
];

const PATCH: &[Mistake] = &[
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

const APPLY: &[Mistake] = &[
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
    request("merges_what_is_applied", "patch", |it| {
        retype(it, APPLIES, "application/merge-patch+json");
    }),
];

const DELETE: &[Mistake] = &[
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
    resource("keeps_what_is_deleted_to_itself", MADE_UP, |it| it.returns_deleted = false),
    request("deletes_at_any_version", MADE_UP, |it| {
        if it.method == "DELETE" {
            lose(it, "resourceVersion");
        }
    }),
    response("says_ok_for_accepted", "finalizers", |it| say(it, 202, 200)),
    inside("keeps_what_lost_its_last_finalizer", "finalizers", Slip::LastFinalizerIsNothing),
    inside("takes_finalizers_for_the_dying", "finalizers", Slip::FinalizersMayCome),
];

const LIST: &[Mistake] = &[
    request("lists_everything_at_once", "list", |it| lose(it, "limit")),
    request("begins_at_the_first_page", "list", |it| lose(it, "continue")),
    request("selects_no_labels", "list", |it| lose(it, "labelSelector")),
    request("selects_no_fields", "list", |it| lose(it, "fieldSelector")),
    request("lists_the_newest", "list", |it| lose(it, "resourceVersionMatch")),
    response("says_not_found_for_expired", "list", |it| say(it, 410, 404)),
    response("answers_the_future", "list", |it| say(it, 504, 200)),
    response("types_all_items", "list", |it| {
        change_body(it, |body| {
            for item in body.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
                item["kind"] = "ConfigMap".into();
            }
        });
    }),
    inside("shows_pages_of_now", "list", Slip::PagesAreOfNow),
    inside("reads_what_is_compacted", "list", Slip::CompactedIsReadable),
];

const WATCH: &[Mistake] = &[
    request("bookmarks_nothing", "watch", |it| lose(it, "allowWatchBookmarks")),
    request("sends_no_initial_events", "watch", |it| lose(it, "sendInitialEvents")),
    request("watches_one_object", "watch", |it| {
        if it.parameter("watch").is_some() && !it.path.contains("/watch/") {
            it.path = it.path.replacen("/v1/", "/v1/watch/", 1);
        }
    }),
    request("watches_without_end", "watch", |it| lose(it, "timeoutSeconds")),
    request("watches_from_now", "watch", |it| {
        if it.parameter("watch").is_some() {
            lose(it, "resourceVersion");
        }
    }),
    event("loses_deletions", |it| (it.kind != "DELETED").then_some(it)),
    event("takes_changes_for_news", |it| {
        let kind = if it.kind == "MODIFIED" { "ADDED" } else { it.kind };
        Some(WatchEvent { kind, ..it })
    }),
    inside("changes_what_leaves_a_selector", "watch", Slip::LeavingIsChanging),
    inside("deletes_at_the_old_version", "watch", Slip::DeletedKeepsItsVersion),
    inside("watches_from_any_version", "watch", Slip::WatchesForgive),
];

const LEASE: &[Mistake] = &[
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

fn lose(request: &mut Request, parameter: &str) {
    request.query.retain(|(key, _)| key != parameter);
}

fn retype(request: &mut Request, from: &str, to: &str) {
    if request.method != "PATCH" {
        return;
    }
    for (_, value) in request.headers.iter_mut().filter(|(_, value)| value == from) {
        value.replace_range(.., to);
    }
}

/// Changes the body. One in which there is nothing to change goes on as it came, down to the byte:
/// what another spelling does is no mistake of this kind.
fn edit(request: &mut Request, method: &str, change: impl Fn(&mut Value)) {
    if request.method == method
        && let Ok(body) = serde_json::from_slice::<Value>(&request.body)
    {
        let mut changed = body.clone();
        change(&mut changed);
        if changed != body {
            request.body = changed.to_string().into_bytes();
        }
    }
}

fn forget(body: &mut Value, field: &str) {
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove(field);
    }
}

fn say(response: &mut Response, from: u16, to: u16) {
    if response.status == from {
        response.status = to;
    }
}

fn change_body(response: &mut Response, change: impl Fn(&mut Value)) {
    if let Body::Json(body) = &mut response.body {
        change(std::sync::Arc::make_mut(body));
    }
}
