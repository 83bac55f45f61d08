//! `DELETE` of one object and of many.

use std::sync::Arc;

use serde_json::{Value, json};

use super::admission::Wish;
use super::http::Response;
use super::list::Query;
use super::metadata::{self, FOREGROUND, ORPHAN, text};
use super::options::{Deleting, Policy};
use super::resource::Resource;
use super::status::{Failure, Outcome, details};
use super::store::{Key, Stored};
use super::{Call, Server, clock};

/// The fate of an object.
enum Fate {
    Gone,
    /// It waits for its finalizers.
    Waits(Arc<Value>),
}

impl Server {
    pub(super) fn delete(&mut self, call: &mut Call<'_>) -> Outcome<Response> {
        let options = Deleting::parse(call.request)?;
        let (resource, key) = (call.target.resource.clone(), call.key());
        let Some(stored) = self.read(&resource, &key)? else {
            return Err(Failure::not_found(&resource, call.name()));
        };
        Ok(match self.remove(call, key, &stored, &options)? {
            Fate::Gone if resource.returns_deleted => {
                let mut object = Value::clone(&stored.object);
                if !options.is_dry {
                    let version = self.store.revision.to_string();
                    metadata::set(&mut object, "resourceVersion", version);
                }
                Response::of(200, Arc::new(object))
            }
            Fate::Gone => Response::of(200, Arc::new(success(&resource, &stored.object))),
            Fate::Waits(object) => {
                let status = if options.orphan == Some(false) { 202 } else { 200 };
                Response::of(status, object)
            }
        })
    }

    pub(super) fn delete_collection(&mut self, call: &mut Call<'_>) -> Outcome<Response> {
        let query = Query::parse(call.request, call.resource(), false)?.in_pages();
        let options = Deleting::parse(call.request)?;
        let (response, chosen) = self.choose(call, &query)?;
        let resource = call.target.resource.clone();
        let mut first = Ok(());
        for (key, _) in chosen {
            let removed = match self.read(&resource, &key) {
                Ok(Some(stored)) => self.remove(call, key, &stored, &options).map(drop),
                Ok(None) => Ok(()),
                Err(failure) => Err(failure),
            };
            if removed.is_err() && !self.lacks_replies() {
                return Err(removed.err().unwrap_or_default());
            }
            // The webhooks are called about all objects at once.
            first = first.and(removed);
        }
        first.map(|()| response)
    }

    fn remove(
        &mut self,
        call: &mut Call<'_>,
        key: Key,
        stored: &Stored,
        options: &Deleting,
    ) -> Outcome<Fate> {
        let (resource, old) = (&*call.target.resource.clone(), &stored.object);
        check_preconditions(resource, old, options)?;
        let wish = Wish::delete(call, options);
        self.mutate(call, &wish, &mut None, Some(old))?;
        self.approve(call, &wish, None, Some(old))?;
        // Of a collection they go at once.
        if !call.name().is_empty() && self.ends_objects_first(resource, old) {
            return Ok(Fate::Waits(self.end_definition(resource, &key, old, options.is_dry)?));
        }
        let finalizers = after_policy(old, options);
        let holds = resource.plural == "namespaces" && resource.group.is_empty();
        let holds = holds && !metadata::strings(&old["spec"]["finalizers"]).is_empty();
        if finalizers.is_empty() && !holds {
            // A real server makes ready to write it once more.
            if let Some(storage) = &resource.storage {
                self.converted(resource, old, storage.api_version())?;
            }
            if !options.is_dry {
                self.erase(resource, key);
            }
            return Ok(Fate::Gone);
        }
        let mut object = Value::clone(old);
        if finalizers != metadata::finalizers(old) {
            metadata::set(&mut object, "finalizers", finalizers);
        }
        self.mark(&mut object);
        if holds {
            object["status"]["phase"] = "Terminating".into();
        }
        if object == **old && !stored.is_odd || options.is_dry {
            return Ok(Fate::Waits(Arc::new(object)));
        }
        Ok(Fate::Waits(self.keep(resource, &key, object, (false, false))?))
    }

    /// Marks an object as on its way out.
    pub(super) fn mark(&self, object: &mut Value) {
        let generation = object["metadata"]["generation"].as_i64().unwrap_or(0);
        if !metadata::is_terminating(object) {
            if generation > 0 {
                metadata::set(object, "generation", generation.saturating_add(1));
            }
            metadata::set(object, "deletionTimestamp", clock::stamp(self.now));
        }
        metadata::set(object, "deletionGracePeriodSeconds", 0);
    }
}

fn check_preconditions(resource: &Resource, old: &Value, options: &Deleting) -> Outcome<()> {
    let name = text(old, "name");
    let (uid, version) = (text(old, "uid"), text(old, "resourceVersion"));
    if let Some(asked) = options.uid.as_deref().filter(|asked| *asked != uid) {
        let why = format!(
            "the UID in the precondition ({asked}) does not match the UID in record ({uid}). The object might have been deleted and then recreated"
        );
        return Err(Failure::precondition(resource, name, &why));
    }
    if let Some(asked) = options.version.as_deref().filter(|asked| *asked != version) {
        let why = format!(
            "the ResourceVersion in the precondition ({asked}) does not match the ResourceVersion in record ({version}). The object might have been modified"
        );
        return Err(Failure::precondition(resource, name, &why));
    }
    Ok(())
}

/// The finalizers as the propagation policy wants them. One that is there already is respected
/// if the request has no policy.
fn after_policy<'a>(old: &'a Value, options: &Deleting) -> Vec<&'a str> {
    let present = metadata::finalizers(old);
    let asked = match options.orphan {
        Some(true) => Some(Policy::Orphan),
        Some(false) => Some(Policy::Background),
        None => options.policy,
    };
    let held = present.iter().find_map(|it| match *it {
        ORPHAN => Some(Policy::Orphan),
        FOREGROUND => Some(Policy::Foreground),
        _ => None,
    });
    let wanted = match asked.or(held) {
        Some(Policy::Orphan) => Some(ORPHAN),
        Some(Policy::Foreground) => Some(FOREGROUND),
        Some(Policy::Background) | None => None,
    };
    let is_policy = |it: &str| it == ORPHAN || it == FOREGROUND;
    let is_as_wanted = present.iter().all(|it| !is_policy(it) || Some(*it) == wanted)
        && wanted.is_none_or(|it| present.contains(&it));
    if is_as_wanted {
        return present;
    }
    let mut finalizers: Vec<_> = present.into_iter().filter(|it| !is_policy(it)).collect();
    finalizers.extend(wanted);
    finalizers
}

/// The answer to a deletion that is complete.
fn success(resource: &Resource, object: &Value) -> Value {
    let mut details = details(&resource.group, &resource.plural, text(object, "name"));
    details["uid"] = object["metadata"]["uid"].clone();
    json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Success",
        "details": details,
    })
}
