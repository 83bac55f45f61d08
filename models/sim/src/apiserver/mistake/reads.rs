//! Mistakes of requests that read.

use serde_json::Value;

use super::super::watch::WatchEvent;
use super::{MADE_UP, Mistake, Slip, change_body, event, inside, lose, request, response, say};

pub(super) const LIST: &[Mistake] = &[
    request("lists_everything_at_once", "list", |it| lose(it, "limit")),
    request("begins_at_the_first_page", "list", |it| lose(it, "continue")),
    request("selects_no_labels", "list", |it| lose(it, "labelSelector")),
    request("selects_no_fields", "list", |it| lose(it, "fieldSelector")),
    request("lists_the_newest", "list", |it| lose(it, "resourceVersionMatch")),
    request("shows_all_in_one_form", MADE_UP, |it| it.headers.retain(|(key, _)| key != "Accept")),
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

pub(super) const WATCH: &[Mistake] = &[
    request("bookmarks_nothing", "watch", |it| lose(it, "allowWatchBookmarks")),
    request("sends_no_initial_events", "watch", |it| lose(it, "sendInitialEvents")),
    request("watches_one_object", "watch", |it| {
        if it.parameter("watch").is_some() && !it.path.contains("/watch/") {
            it.path = it.path.replacen("/v1/", "/v1/watch/", 1);
        }
    }),
    request("watches_all_for_one", MADE_UP, |it| {
        let parts = it.path.matches('/').count();
        if it.path.contains("/watch/") && parts == if it.path.starts_with("/api/") { 7 } else { 8 }
        {
            let end = it.path.rfind('/').unwrap_or(0);
            it.path.truncate(end);
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
