//! Conversion of custom resources by the webhook of their definition.
//!
//! An object lies in the version in which it was written, and is converted for reads in another one: for a
//! `GET` each time, as the real server does it; for a list or a watch unless one has seen this state before, as
//! with the real server's cache. A request that needs a conversion waits for it as for an admission webhook:
//! it is tried, undone, and tried anew once the answer is known.

mod answer;
mod declared;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(super) use answer::Converted;
pub(super) use declared::{Converter, check, complete};
use serde_json::{Value, json};

use super::admission::{Asking, Attempt, WebhookCall, WebhookReply};
use super::http::WatchId;
use super::metadata;
use super::mistake::Slip;
use super::random::Random;
use super::resource::Resource;
use super::status::{Failure, Outcome};
use super::store::{Key, Stored};
use super::{Server, crd, decode, versions};
use crate::map::Map;
use crate::patch::{self, measure};

/// How long a webhook may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// About how large the objects of one question may be together, if they are more than one.
const BATCH: usize = 256 * 1024;
/// How many objects a watch asks about at once. Each has a call of its own, as with a real server: one that
/// is refused takes no other with it.
const AT_ONCE: usize = 64;
/// The memory that the states in other versions may take before all of them are forgotten.
const ROOM: usize = 32 * 1024 * 1024;

/// States of objects as other versions show them, so that lists and watches need not ask again.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    /// By the revision of the state, and the version.
    states: Map<(u64, String), Arc<Value>>,
    weight: usize,
}

impl Shown {
    fn put(&mut self, key: (u64, String), object: Arc<Value>) {
        let size = measure(&object);
        let size = size.bytes + size.values * size_of::<Value>();
        if self.weight + size > ROOM {
            *self = Self::default();
        }
        self.weight += size;
        self.states.insert(key, object);
    }
}

/// An object that a request needs in another version.
#[derive(Clone, Debug)]
pub(super) struct Question {
    converter: Arc<Converter>,
    api_version: String,
    object: Value,
}

impl Question {
    fn key(object: &Value, api_version: &str) -> String {
        format!("{api_version} {object}")
    }
}

/// The questions as calls: objects for the same webhook and version go together.
pub(super) fn calls(asking: &mut Asking) -> Vec<WebhookCall> {
    calls_within(asking, BATCH)
}

/// The same, with objects of about this size in a call that is about more than one.
fn calls_within(asking: &mut Asking, batch: usize) -> Vec<WebhookCall> {
    let mut calls: Vec<(WebhookCall, usize)> = Vec::new();
    for question in std::mem::take(&mut asking.unconverted).into_values() {
        let Question { converter, api_version, object } = question;
        let size = measure(&object).bytes;
        let fits = |(call, taken): &&mut (WebhookCall, usize)| {
            call.webhook == converter.name
                && call.review["request"]["desiredAPIVersion"] == api_version
                && *taken + size <= batch
        };
        // The questions are sorted by version, and there are few webhooks.
        if let Some((call, taken)) = calls.last_mut().filter(|it| fits(it)) {
            *taken += size;
            if let Some(objects) = call.review["request"]["objects"].as_array_mut() {
                objects.push(object);
            }
            continue;
        }
        let call = WebhookCall {
            webhook: converter.name.clone(),
            configuration: converter.name.clone(),
            to: converter.to.clone(),
            authorities: converter.authorities.clone(),
            timeout: TIMEOUT,
            review: json!({
                "kind": "ConversionReview",
                "apiVersion": format!("apiextensions.k8s.io/{}", converter.version),
                "request": {
                    "uid": asking.chance.as_mut().map(Random::uid),
                    "desiredAPIVersion": api_version, "objects": [object],
                },
            }),
        };
        calls.push((call, size));
    }
    calls.into_iter().map(|(call, _)| call).collect()
}

/// What an answer says about each object of a call; none if the call is about something else.
pub(super) fn answers(
    call: &WebhookCall,
    reply: &WebhookReply,
) -> Option<BTreeMap<String, Converted>> {
    if call.review["kind"] != "ConversionReview" {
        return None;
    }
    let request = &call.review["request"];
    let api_version = request["desiredAPIVersion"].as_str().unwrap_or("");
    let objects = request["objects"].as_array().map_or(&[][..], Vec::as_slice);
    let answers = match answer::read(call, reply, objects) {
        Ok(answers) => answers,
        Err(why) => objects.iter().map(|object| Err(answer::failed(object, &why))).collect(),
    };
    let keys = objects.iter().map(|object| Question::key(object, api_version));
    Some(keys.zip(answers).collect())
}

impl Resource {
    /// Who converts its objects, if a webhook does.
    pub(super) fn converter(&self) -> Option<&Arc<Converter>> {
        self.storage.as_ref()?.converter.as_ref()
    }
}

impl Server {
    /// An object in another version of its resource. If that is not known yet, the request fails, and is
    /// tried again when it is.
    pub(super) fn converted<'a>(
        &mut self,
        resource: &Resource,
        object: &'a Value,
        api_version: &str,
    ) -> Outcome<Cow<'a, Value>> {
        let Some(converter) = resource.converter().filter(|_| object["apiVersion"] != api_version)
        else {
            return Ok(Cow::Borrowed(object));
        };
        let (mut asked, version) = (object.clone(), &object["metadata"]["resourceVersion"]);
        metadata::set(&mut asked, "resourceVersion", Value::Null);
        let own = asked["apiVersion"].as_str().unwrap_or("").to_owned();
        if let Some(schema) = self.schema_of(resource, &own) {
            decode::complete(&schema, &mut asked).ok(); // defaults that are too many were never stored
        }
        let mut answer = match &mut self.asking {
            // The server's own controllers look at metadata alone.
            Some(asking) if asking.is_exempt => {
                asked["apiVersion"] = api_version.into();
                asked
            }
            None => {
                let nobody = WebhookReply::Failed("nobody here calls webhooks".to_owned());
                let why = answer::unreached(&converter.to.url(TIMEOUT), &nobody);
                return Err(Failure::internal(answer::failed(&asked, &why)));
            }
            Some(asking) => {
                let key = Question::key(&asked, api_version);
                match asking.converted.get(&key) {
                    Some(Ok(answer)) => answer.clone(),
                    Some(Err(why)) => return Err(Failure::internal(why.as_str())),
                    None => {
                        let (converter, api_version) = (converter.clone(), api_version.to_owned());
                        let question = Question { converter, api_version, object: asked };
                        asking.unconverted.insert(key, question);
                        return Err(Failure::internal("a webhook is to be called"));
                    }
                }
            }
        };
        if !self.is_exempt()
            && let Some(schema) = self.schema_of(resource, api_version)
        {
            versions::pruned(&mut answer, &schema);
        }
        metadata::set(&mut answer, "resourceVersion", version.clone());
        Ok(Cow::Owned(answer))
    }

    fn is_exempt(&self) -> bool {
        self.asking.as_ref().is_some_and(|it| it.is_exempt)
    }

    /// The version in which the object of a request lies, if that is written without a webhook: another one
    /// knows other fields, and would lose those of this one.
    pub(super) fn lies_in(&self, resource: &Resource, key: &Key) -> Option<Arc<Resource>> {
        (self.is_exempt() && resource.converter().is_some()).then_some(())?;
        let stored = self.stored(resource, key)?;
        let version = stored.object["apiVersion"].as_str()?;
        self.sibling(resource, version).or_else(|| {
            // It is served no longer.
            let (_, _, definition) = self.definition(resource)?;
            let mut definition = Value::clone(&definition);
            for version in definition["spec"]["versions"].as_array_mut()? {
                version["served"] = true.into();
            }
            let mut declared = crd::declared(&definition).into_iter();
            declared.find(|it| it.api_version() == version).map(Arc::new)
        })
    }

    /// The definition of a custom resource, with the resource of definitions and its key.
    pub(super) fn definition(&self, of: &Resource) -> Option<(Arc<Resource>, Key, Arc<Value>)> {
        let definitions = self.registry.iter().find(|it| crd::is_definitions(it))?;
        let key = Key::new("", &of.qualified());
        let object = self.stored(definitions, &key)?.object.clone();
        Some((definitions.clone(), key, object))
    }

    /// A definition has changed: states that were shown by the old one are forgotten.
    pub(super) fn forget_shown(&mut self) {
        self.shown = Shown::default();
    }

    /// A stored object as a resource shows it. From a cache it comes without a question if it is known.
    pub(super) fn shown<'a>(
        &mut self,
        resource: &Resource,
        stored: &'a Stored,
        from_cache: bool,
    ) -> Outcome<Cow<'a, Stored>> {
        if resource.converter().is_none() {
            return Ok(Cow::Borrowed(stored));
        }
        let key = (stored.revision, resource.api_version());
        if stored.object["apiVersion"] == key.1.as_str() {
            return Ok(Cow::Borrowed(stored));
        }
        if let Some(known) = self.shown.states.get(&key).filter(|_| from_cache).cloned() {
            return Ok(Cow::Owned(Stored { object: known, ..stored.clone() }));
        }
        let object = Arc::new(self.converted(resource, &stored.object, &key.1)?.into_owned());
        if !self.is_exempt() {
            self.shown.put(key, object.clone());
        }
        Ok(Cow::Owned(Stored { object, ..stored.clone() }))
    }

    /// The object under a key of a resource, as that shows it.
    pub(super) fn read(&mut self, resource: &Resource, key: &Key) -> Outcome<Option<Stored>> {
        let Some(stored) = self.stored(resource, key).cloned() else { return Ok(None) };
        let from_cache = self.slips(Slip::ReadsTheCache);
        Ok(Some(self.shown(resource, &stored, from_cache)?.into_owned()))
    }

    /// Writes an object unless it is as it was, and gives it back. In the version in which objects are stored
    /// it may be as it was although it is not in its own. In a dry run nothing is written.
    pub(super) fn keep(
        &mut self,
        resource: &Resource,
        key: &Key,
        object: Value,
        (is_odd, is_dry): (bool, bool),
    ) -> Outcome<Arc<Value>> {
        let Some(storage) = resource.storage.clone().filter(|it| it.converter.is_some()) else {
            return Ok(match is_dry {
                true => Arc::new(object),
                false => self.write(resource, key.clone(), object, is_odd),
            });
        };
        let stored = if self.is_exempt() {
            let mut stored = object.clone(); // no webhook is asked: it stays in its version
            if let Some(old) = self.stored(resource, key) {
                stored["apiVersion"] = old.object["apiVersion"].clone();
            }
            stored
        } else {
            self.converted(resource, &object, storage.api_version())?.into_owned()
        };
        if is_dry {
            let shown = self.converted(resource, &stored, &resource.api_version())?;
            return Ok(Arc::new(shown.into_owned()));
        }
        let old = self.stored(resource, key);
        let is_same = old.is_some_and(|old| {
            old.object["apiVersion"] == stored["apiVersion"]
                && !(is_odd || old.is_odd)
                && patch::unchanged(&old.object, &stored)
        });
        if !is_same {
            self.write(resource, key.clone(), stored, is_odd);
        }
        if self.slips(Slip::ReturnsWhatWasSent) {
            return Ok(Arc::new(object));
        }
        // It is written also if it cannot be shown.
        let shown = self.read(resource, key)?;
        Ok(shown.map_or_else(|| Arc::new(object), |it| it.object))
    }

    /// The webhooks to be called before [`events`](Self::events) can tell everything that it has for a watch:
    /// it can tell the events before them. Tell `attempt` their replies, and ask again with it.
    pub fn unconverted(&mut self, id: WatchId, attempt: &mut Attempt) -> Vec<WebhookCall> {
        let Some(mut watch) = self.watches.get(&id.0).cloned() else { return Vec::new() };
        let resource = watch.resource.clone();
        if resource.converter().is_none() || watch.has_ended || !self.still_serves(&resource) {
            return Vec::new();
        }
        let newest = self.store.revision;
        let table = self.store.table(&resource.table());
        let news = table.iter().flat_map(|it| it.events.after(&watch.seen));
        let news = news.take_while(|it| *it.0 <= newest);
        let news: Vec<_> = news.map(|(revision, event)| (*revision, event.clone())).collect();
        if attempt.asking.chance.is_none() {
            attempt.asking.chance = Some(self.random.fork());
        }
        self.asking = Some(Box::new(std::mem::take(&mut attempt.asking)));
        let slip = self.slip();
        for (revision, event) in news {
            match self.shown_event(&resource, &event) {
                Ok(event) => {
                    // What comes after something that is not known yet waits for it.
                    if self.asking.as_ref().is_some_and(|it| it.unconverted.is_empty()) {
                        watch.pending.extend(watch.tell(revision, &event, slip));
                        watch.seen = revision;
                    }
                }
                Err(_) if self.lacks_replies() => {
                    let asks = self.asking.as_ref().map_or(0, |it| it.unconverted.len());
                    if asks >= AT_ONCE {
                        break;
                    }
                }
                Err(_) => {
                    // The cache of a real server begins anew, and ends its watches.
                    watch.has_ended = true;
                    break;
                }
            }
        }
        let mut asking = self.asking.take().map(|it| *it).unwrap_or_default();
        let calls = calls_within(&mut asking, 0);
        if calls.is_empty() && !watch.has_ended {
            watch.seen = watch.seen.max(newest);
        }
        // What was known by now is told, or kept in `shown`.
        asking.converted.clear();
        attempt.asking = asking;
        self.watches.insert(id.0, watch);
        calls
    }

    pub(super) fn shown_event(
        &mut self,
        resource: &Resource,
        event: &super::store::Event,
    ) -> Outcome<super::store::Event> {
        let mut side = |it: &Option<Stored>| {
            let shown = it.as_ref().map(|it| self.shown(resource, it, true).map(Cow::into_owned));
            shown.transpose()
        };
        let (old, new) = (side(&event.old), side(&event.new));
        Ok(super::store::Event { key: event.key.clone(), old: old?, new: new? })
    }

    /// The resource in another version, if that is served.
    pub(super) fn sibling(&self, resource: &Resource, api_version: &str) -> Option<Arc<Resource>> {
        let (group, version) = api_version.rsplit_once('/')?;
        (group == resource.group).then_some(())?;
        self.registry.get(group, version, &resource.plural).cloned()
    }
}
