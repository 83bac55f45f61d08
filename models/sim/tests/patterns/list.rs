//! The patterns: each a correct controller, and the same with a bug.

use std::sync::Arc;
use std::time::Duration;

use kube::runtime::controller::Action;
use serde_json::{Value, json};

use crate::kit::{Done, Kit, child, done, is_going, name, noted, pod, size};

/// Children with fixed names, each looked for by itself.
pub(crate) async fn children(map: Value, kit: Arc<Kit>) -> Done {
    let has_secret = kit.has("Secret", name(&map)).await?;
    if !has_secret {
        kit.ensure("Secret", name(&map), json!({"metadata": child(&map)})).await?;
    }
    let is_left_out = kit.is_wrong && has_secret;
    if !is_left_out && !kit.has("Pod", name(&map)).await? {
        kit.ensure("Pod", name(&map), pod(&map)).await?;
    }
    done()
}

/// A creation without a look before: the object that is there is the own one.
pub(crate) async fn creates(map: Value, kit: Arc<Kit>) -> Done {
    let secret = json!({"metadata": child(&map)});
    match kit.is_wrong {
        true => kit.create("Secret", name(&map), secret).await?,
        false => kit.ensure("Secret", name(&map), secret).await?,
    }
    kit.ensure("Pod", name(&map), pod(&map)).await?;
    kit.note(&map, "ready", "yes").await?;
    done()
}

/// Children of generated names, found by their label.
pub(crate) async fn generates(map: Value, kit: Arc<Kit>) -> Done {
    let label = format!("of={}", name(&map));
    let is_there = match kit.is_wrong {
        true => noted(&map, "made") == "yes",
        false => !kit.list("Pod", &label).await?.is_empty(),
    };
    if !is_there {
        let mut pod = pod(&map);
        pod["metadata"]["generateName"] = format!("{}-", name(&map)).into();
        kit.create("Pod", "", pod).await?;
    }
    kit.note(&map, "made", "yes").await?;
    done()
}

/// Everything is applied each time, as the specification wants it.
pub(crate) async fn applies(map: Value, kit: Arc<Kit>) -> Done {
    let wanted = size(&map).to_string();
    if kit.is_wrong && noted(&map, "applied") == wanted {
        return done();
    }
    if kit.is_wrong {
        kit.note(&map, "applied", &wanted).await?;
    }
    let secret = json!({"metadata": child(&map), "stringData": {"size": wanted}});
    kit.apply("Secret", name(&map), secret).await?;
    kit.note(&map, "applied", &wanted).await?;
    done()
}

/// A finalizer, and what is outside of the cluster: here another map.
pub(crate) async fn finalizes(map: Value, kit: Arc<Kit>) -> Done {
    let outside = format!("outside-{}", name(&map));
    if !is_going(&map) {
        let finalizers = json!({"metadata": {"finalizers": ["example.com/outside"]}});
        if map["metadata"]["finalizers"].is_null() {
            kit.merge("ConfigMap", name(&map), finalizers).await?;
        }
        kit.ensure("ConfigMap", &outside, json!({})).await?;
        return done();
    }
    let none = json!({"metadata": {"finalizers": null}});
    if kit.is_wrong {
        kit.merge("ConfigMap", name(&map), none.clone()).await?;
    }
    kit.delete("ConfigMap", &outside).await?;
    if !kit.is_wrong {
        kit.merge("ConfigMap", name(&map), none).await?;
    }
    done()
}

/// The work of a finalizer may have been done before.
pub(crate) async fn finalizes_twice(map: Value, kit: Arc<Kit>) -> Done {
    let outside = format!("outside-{}", name(&map));
    if !is_going(&map) {
        let finalizers = json!({"metadata": {"finalizers": ["example.com/outside"]}});
        if map["metadata"]["finalizers"].is_null() {
            kit.merge("ConfigMap", name(&map), finalizers).await?;
        }
        kit.ensure("ConfigMap", &outside, json!({})).await?;
        return done();
    }
    match kit.is_wrong {
        true => kit.strict_delete("ConfigMap", &outside).await?,
        false => kit.delete("ConfigMap", &outside).await?,
    }
    kit.merge("ConfigMap", name(&map), json!({"metadata": {"finalizers": null}})).await?;
    done()
}

/// Says what there is, and not what it has just done.
pub(crate) async fn says(map: Value, kit: Arc<Kit>) -> Done {
    let is_new = !kit.has("Secret", name(&map)).await?;
    if is_new {
        kit.ensure("Secret", name(&map), json!({"metadata": child(&map)})).await?;
    }
    if is_new || !kit.is_wrong {
        kit.note(&map, "ready", "yes").await?;
    }
    done()
}

/// Notes what it has acted on after it has done so.
pub(crate) async fn observes(map: Value, kit: Arc<Kit>) -> Done {
    let wanted = size(&map).to_string();
    if noted(&map, "observed") == wanted {
        return done();
    }
    if kit.is_wrong {
        kit.note(&map, "observed", &wanted).await?;
    }
    for number in 0..size(&map) {
        kit.ensure("Pod", &format!("{}-{number}", name(&map)), pod(&map)).await?;
    }
    removes(&map, &kit).await?;
    kit.note(&map, "observed", &wanted).await?;
    done()
}

/// Deletes the pods that are too many.
async fn removes(map: &Value, kit: &Kit) -> Result<(), kube::Error> {
    let there = kit.list("Pod", &format!("of={}", name(map))).await?.len();
    for number in size(map)..there {
        kit.delete("Pod", &format!("{}-{number}", name(map))).await?;
    }
    Ok(())
}

/// Names are numbers, and what is too much is found by listing.
pub(crate) async fn scales(map: Value, kit: Arc<Kit>) -> Done {
    let names = |from: usize, to: usize| (from..to).map(|it| format!("{}-{it}", name(&map)));
    for pod_name in names(0, size(&map)) {
        kit.ensure("Pod", &pod_name, pod(&map)).await?;
    }
    let there = match kit.is_wrong {
        true => kit.remember(name(&map), size(&map)).unwrap_or(0),
        false => kit.list("Pod", &format!("of={}", name(&map))).await?.len(),
    };
    for pod_name in names(size(&map), there) {
        kit.delete("Pod", &pod_name).await?;
    }
    done()
}

/// A phase says what is done, so it is written after it.
pub(crate) async fn phases(map: Value, kit: Arc<Kit>) -> Done {
    let (next, kind) = match noted(&map, "phase") {
        "" => ("secret", "Secret"),
        "secret" => ("ready", "Pod"),
        _ => return done(),
    };
    if kit.is_wrong {
        kit.note(&map, "phase", next).await?;
    }
    kit.ensure(kind, name(&map), pod(&map)).await?;
    kit.note(&map, "phase", next).await?;
    done()
}

/// Tries again when the server refuses.
pub(crate) async fn retries(map: Value, kit: Arc<Kit>) -> Done {
    kit.apply("Secret", name(&map), json!({"metadata": child(&map)})).await?;
    kit.note(&map, "ready", "yes").await?;
    done()
}

/// The same; the bug is that an error is the end of it.
pub(crate) fn never(kit: &Kit) -> Action {
    if kit.is_wrong { Action::await_change() } else { crate::kit::soon(kit) }
}

/// An error of a request is not swallowed.
pub(crate) async fn passes_errors_on(map: Value, kit: Arc<Kit>) -> Done {
    let applied = kit.apply("Secret", name(&map), json!({"metadata": child(&map)})).await;
    if !kit.is_wrong {
        applied?;
    }
    done()
}

/// What a user deletes is made again; kube does not tell of an object that it has never seen, so it looks
/// again from time to time.
pub(crate) async fn heals(map: Value, kit: Arc<Kit>) -> Done {
    let is_known = kit.is_wrong && kit.remember(name(&map), 1).is_some();
    if !is_known {
        kit.ensure("Secret", name(&map), json!({"metadata": child(&map)})).await?;
    }
    Ok(Action::requeue(Duration::from_secs(300)))
}

/// A password is drawn once.
pub(crate) async fn draws(map: Value, kit: Arc<Kit>) -> Done {
    let is_drawn = match kit.is_wrong {
        true => kit.remember(name(&map), 1).is_some(),
        false => kit.has("Secret", name(&map)).await?,
    };
    if !is_drawn {
        let password = format!("{:032x}", fastrand::u128(..));
        let secret = json!({"metadata": child(&map), "stringData": {"password": password}});
        kit.apply("Secret", name(&map), secret).await?;
    }
    done()
}

/// Counts the objects that exist, not the events.
pub(crate) async fn counts(map: Value, kit: Arc<Kit>) -> Done {
    let mut number = noted(&map, "pods").parse().unwrap_or(0);
    let there = kit.list("Pod", &format!("of={}", name(&map))).await?.len();
    for next in there..size(&map) {
        kit.ensure("Pod", &format!("{}-{next}", name(&map)), pod(&map)).await?;
        number += 1;
    }
    removes(&map, &kit).await?;
    if !kit.is_wrong {
        number = size(&map);
    }
    kit.note(&map, "pods", &number.to_string()).await?;
    done()
}

/// A revision follows from what it is a revision of, in the same write.
pub(crate) async fn revises(map: Value, kit: Arc<Kit>) -> Done {
    let secret = kit.get("Secret", name(&map)).await?.unwrap_or_default();
    let (wanted, now) = (size(&map).to_string(), noted(&secret, "revision"));
    let known = if kit.is_wrong { noted(&map, "size") } else { noted(&secret, "size") };
    if known != wanted {
        let revision = now.parse::<u32>().unwrap_or(0) + 1;
        let mut metadata = child(&map);
        metadata["annotations"] = json!({"revision": revision.to_string(), "size": wanted});
        kit.apply("Secret", name(&map), json!({"metadata": metadata})).await?;
    }
    kit.note(&map, "size", &wanted).await?;
    done()
}

/// Each version of a specification has an object of its own; the newest one has the highest number.
pub(crate) async fn keeps_history(map: Value, kit: Arc<Kit>) -> Done {
    let there = match kit.is_wrong {
        true => kit.remembered(name(&map)).unwrap_or(0),
        false => kit.list("Secret", &format!("of={}", name(&map))).await?.len(),
    };
    let latest = kit.get("Secret", &format!("{}-{there}", name(&map))).await?.unwrap_or_default();
    if noted(&latest, "size") != size(&map).to_string() {
        let mut metadata = child(&map);
        metadata["annotations"] = json!({"size": size(&map).to_string()});
        let secret = json!({"metadata": metadata});
        kit.create("Secret", &format!("{}-{}", name(&map), there + 1), secret).await?;
        kit.remember(name(&map), there + 1);
    }
    done()
}

/// A child has its owner from its first moment on.
pub(crate) async fn owns(map: Value, kit: Arc<Kit>) -> Done {
    if !kit.has("Secret", name(&map)).await? {
        let first = if kit.is_wrong { json!({}) } else { json!({"metadata": child(&map)}) };
        kit.create("Secret", name(&map), first).await?;
        kit.merge("Secret", name(&map), json!({"metadata": child(&map)})).await?;
    }
    done()
}

/// A child of a former owner of the same name is not the own one.
pub(crate) async fn succeeds(map: Value, kit: Arc<Kit>) -> Done {
    let copy = format!("copy-{}", name(&map));
    if !kit.is_wrong || !kit.has("ConfigMap", &copy).await? {
        kit.apply("ConfigMap", &copy, json!({"metadata": child(&map)})).await?;
    }
    done()
}

/// A child that is being filled is there, but without its data.
pub(crate) async fn reads_what_is_half(map: Value, kit: Arc<Kit>) -> Done {
    kit.ensure("Secret", name(&map), json!({"metadata": child(&map)})).await?;
    let secret = kit.get("Secret", name(&map)).await?.unwrap_or_default();
    if kit.is_wrong && kit.remember("lives", 1).is_none() && !noted(&map, "made").is_empty() {
        secret["data"]["key"].as_str().expect("a Secret has a key");
    }
    kit.note(&map, "made", "yes").await?;
    if secret["data"]["key"].is_null() {
        kit.merge("Secret", name(&map), json!({"stringData": {"key": "value"}})).await?;
    }
    done()
}

/// One map for all: its content follows from a list, and not from what one has heard of.
pub(crate) async fn sums_up(map: Value, kit: Arc<Kit>) -> Done {
    let all = kit.list("ConfigMap", "role=parent").await?.len();
    kit.remember(name(&map), 1);
    let heard = ["a", "b"].iter().filter(|it| kit.remembered(it).is_some()).count();
    let number = if kit.is_wrong { heard } else { all };
    kit.apply("ConfigMap", "sum", json!({"data": {"maps": number.to_string()}})).await?;
    done()
}

/// One of some that are free is taken, unless one was taken before.
pub(crate) async fn claims(map: Value, kit: Arc<Kit>) -> Done {
    let mut free = None;
    for number in 0..3 {
        let it = format!("item-{number}");
        kit.ensure("Secret", &it, json!({})).await?;
        let item = kit.get("Secret", &it).await?.unwrap_or_default();
        match noted(&item, "for") {
            "" => free = free.or(Some(it)),
            other if other == name(&map) && !kit.is_wrong => free = Some(it),
            _ => {}
        }
    }
    if noted(&map, "item").is_empty()
        && let Some(item) = free
    {
        kit.merge("Secret", &item, json!({"metadata": {"annotations": {"for": name(&map)}}}))
            .await?;
        kit.note(&map, "item", &item).await?;
    }
    done()
}

/// An owner that a cache does not show may be there all the same.
pub(crate) async fn cleans_up(map: Value, kit: Arc<Kit>) -> Done {
    let copy = format!("copy-{}", name(&map));
    kit.ensure("Secret", &copy, json!({"metadata": {"labels": {"copy": "yes"}}})).await?;
    let seen = kit.old_list("ConfigMap", "role=parent").await?;
    for secret in kit.list("Secret", "copy=yes").await? {
        let owner = name(&secret).trim_start_matches("copy-");
        let is_seen = seen.iter().any(|it| name(it) == owner);
        if !is_seen && (kit.is_wrong || !kit.has("ConfigMap", owner).await?) {
            kit.delete("Secret", name(&secret)).await?;
        }
    }
    done()
}

/// A migration: the new object is there before the old one goes.
pub(crate) async fn migrates(map: Value, kit: Arc<Kit>) -> Done {
    let (old, new) = (format!("{}-old", name(&map)), format!("{}-new", name(&map)));
    if size(&map) == 2 {
        kit.ensure("Secret", &old, json!({"metadata": {}, "stringData": {"key": "value"}})).await?;
        return done();
    }
    let Some(secret) = kit.get("Secret", &old).await? else { return done() };
    if kit.is_wrong {
        kit.delete("Secret", &old).await?;
    }
    kit.apply("Secret", &new, json!({"metadata": {}, "data": secret["data"]})).await?;
    kit.delete("Secret", &old).await?;
    done()
}

/// A replacement is made by what it is to be, and not by what was done.
pub(crate) async fn replaces(map: Value, kit: Arc<Kit>) -> Done {
    let wanted = size(&map).to_string();
    let there = kit.get("Pod", name(&map)).await?;
    let is_old = match kit.is_wrong {
        true => noted(&map, "pod") != wanted,
        false => there.as_ref().is_some_and(|it| noted(it, "size") != wanted),
    };
    if kit.is_wrong {
        kit.note(&map, "pod", &wanted).await?;
    }
    if there.is_some() && is_old {
        kit.delete("Pod", name(&map)).await?;
    }
    if there.is_none() || is_old {
        let mut pod = pod(&map);
        pod["metadata"]["annotations"] = json!({"size": wanted});
        kit.ensure("Pod", name(&map), pod).await?;
    }
    done()
}
