//! Patterns for apps, which have a status, and of larger operators.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use crate::kit::{Done, Kit, child, done, name, noted, pod, size};

/// A condition has one entry, with the time of its last change.
pub(crate) async fn conditions(app: Value, kit: Arc<Kit>) -> Done {
    kit.ensure("Secret", name(&app), json!({"metadata": child(&app)})).await?;
    let mut all = app["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let is_noted = match kit.is_wrong {
        true => kit.remember(name(&app), 1).is_some(),
        false => all.iter().any(|it| it["type"] == "Ready"),
    };
    if !is_noted {
        let now = Timestamp::now().to_string();
        all.push(json!({"type": "Ready", "status": "True", "lastTransitionTime": now}));
        kit.status(&app, json!({"conditions": all})).await?;
    }
    done()
}

/// What is there already is changed as well.
pub(crate) async fn updates(app: Value, kit: Arc<Kit>) -> Done {
    let secret = json!({"metadata": child(&app), "stringData": {"size": size(&app).to_string()}});
    match kit.is_wrong {
        true => kit.ensure("Secret", name(&app), secret).await?,
        false => kit.apply("Secret", name(&app), secret).await?,
    }
    observed(&app, &kit).await
}

/// Notes the generation that was acted on.
async fn observed(app: &Value, kit: &Kit) -> Done {
    let generation = &app["metadata"]["generation"];
    if app["status"]["observedGeneration"] != *generation {
        kit.status(app, json!({"observedGeneration": generation})).await?;
    }
    done()
}

/// A generation that is observed says that all of it was done.
pub(crate) async fn skips(app: Value, kit: Arc<Kit>) -> Done {
    if app["status"]["observedGeneration"] == app["metadata"]["generation"] {
        return done();
    }
    if kit.is_wrong {
        observed(&app, &kit).await?;
    }
    let secret = json!({"metadata": child(&app), "stringData": {"size": size(&app).to_string()}});
    kit.apply("Secret", name(&app), secret).await?;
    observed(&app, &kit).await
}

/// Each replica has its part of the objects, by their names.
pub(crate) async fn shards(map: Value, kit: Arc<Kit>) -> Done {
    let all = kit.list("ConfigMap", "role=parent").await?;
    let place = match kit.is_wrong {
        true => all.iter().position(|it| name(it) == name(&map)).unwrap_or(0),
        false => name(&map).bytes().map(usize::from).sum(),
    };
    if place % 2 == kit.shard {
        let by = json!({"shard": kit.shard.to_string()});
        kit.apply("Secret", name(&map), json!({"metadata": child(&map), "stringData": by})).await?;
    }
    done()
}

/// Something free is adopted; what was adopted before is found by its owner.
pub(crate) async fn adopts(map: Value, kit: Arc<Kit>) -> Done {
    let all = kit.list("Secret", "pool=yes").await?;
    let owner = |it: &Value| it["metadata"]["ownerReferences"][0]["uid"].clone();
    let has_one = match kit.is_wrong {
        true => kit.remembered(name(&map)).is_some(),
        false => all.iter().any(|it| owner(it) == map["metadata"]["uid"]),
    };
    if !has_one && let Some(free) = all.iter().find(|it| owner(it).is_null()) {
        let (version, owners) = (&free["metadata"]["resourceVersion"], child(&map));
        let owners = &owners["ownerReferences"];
        let metadata = json!({"resourceVersion": version, "ownerReferences": owners});
        kit.merge("Secret", name(free), json!({"metadata": metadata})).await?;
        kit.remember(name(&map), 1);
    }
    done()
}

/// Pods are replaced one after the other, each if it is of another version.
pub(crate) async fn rolls(map: Value, kit: Arc<Kit>) -> Done {
    let wanted = size(&map).to_string();
    let is_update = match kit.is_wrong {
        true => kit.remember(name(&map), size(&map)).is_some_and(|it| it != size(&map)),
        false => true,
    };
    for number in 0..2 {
        let child = format!("{}-{number}", name(&map));
        let there = kit.get("Pod", &child).await?;
        let is_old = is_update && there.as_ref().is_some_and(|it| noted(it, "version") != wanted);
        if is_old {
            kit.delete("Pod", &child).await?;
        }
        if is_old || there.is_none() {
            let mut pod = pod(&map);
            pod["metadata"]["annotations"] = json!({"version": wanted});
            kit.ensure("Pod", &child, pod).await?;
        }
    }
    done()
}

/// What is not applied any more goes, as long as it is the same manager who applies.
pub(crate) async fn manages(map: Value, kit: Arc<Kit>) -> Done {
    let manager = if kit.is_wrong { format!("pattern-{}", kit.drawn) } else { "pattern".into() };
    let data = json!({format!("key-{}", size(&map)): "eWVz"});
    let secret = json!({"metadata": child(&map), "data": data});
    kit.apply_as(&manager, "Secret", name(&map), secret).await?;
    done()
}

/// A pod is made anew if the hash of its configuration is another one.
pub(crate) async fn hashes(map: Value, kit: Arc<Kit>) -> Done {
    let config = json!({"size": size(&map).to_string()});
    kit.apply("Secret", name(&map), json!({"metadata": child(&map), "stringData": config})).await?;
    let salt = if kit.is_wrong { kit.drawn } else { 0 };
    let hash = format!("{:016x}", (size(&map) as u64 + u64::from(salt)) * 0x9e37_79b9);
    let there = kit.get("Pod", name(&map)).await?;
    let is_old = there.as_ref().is_some_and(|it| noted(it, "config") != hash);
    if is_old {
        kit.delete("Pod", name(&map)).await?;
    }
    if is_old || there.is_none() {
        let mut pod = pod(&map);
        pod["metadata"]["annotations"] = json!({"config": hash});
        kit.ensure("Pod", name(&map), pod).await?;
    }
    done()
}

/// Of the revisions the two newest ones are kept, by their numbers.
pub(crate) async fn forgets(map: Value, kit: Arc<Kit>) -> Done {
    let number = |it: &Value| noted(it, "number").parse::<usize>().unwrap_or(0);
    let wanted = size(&map).to_string();
    let mut all = kit.list("Secret", &format!("of={}", name(&map))).await?;
    all.sort_by_key(number);
    if all.last().is_none_or(|it| noted(it, "size") != wanted) {
        let next = all.last().map_or(0, number) + 1;
        let mut metadata = child(&map);
        metadata["annotations"] = json!({"size": wanted, "number": next.to_string()});
        let own = format!("{}-{next}", name(&map));
        kit.create("Secret", &own, json!({"metadata": metadata})).await?;
        kit.remember(&own, 1);
        all = kit.list("Secret", &format!("of={}", name(&map))).await?;
        all.sort_by_key(number);
    }
    let newest = all.len().saturating_sub(2);
    for (place, secret) in all.iter().enumerate() {
        let is_unknown = kit.is_wrong && kit.remembered(name(secret)).is_none();
        if place < newest || is_unknown {
            kit.delete("Secret", name(secret)).await?;
        }
    }
    done()
}
