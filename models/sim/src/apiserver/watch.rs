//! Watches: opened by a request, pulled afterwards.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::field::Fields;
use super::http::{Answer, Body, Response, WatchId};
use super::list::Query;
use super::metadata;
use super::mistake::{Change, Slip};
use super::negotiate::{Shown, View};
use super::read::bad_version;
use super::resource::{Resource, Shape};
use super::route::Target;
use super::status::{Failure, Outcome};
use super::store::{Event, Stored};
use super::{Call, Server, options, types};
use crate::protobuf;

/// How often a quiet watch hears of the newest version, if it wants to.
const BOOKMARKS: Duration = Duration::from_secs(60);
/// The lifetime of a watch that does not name one.
const LIFETIME: Duration = Duration::from_secs(30 * 60);

/// One line of a watch.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchEvent {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    pub kind: &'static str,
    /// The object of the event.
    pub object: Arc<Value>,
}

impl WatchEvent {
    /// The event as it is sent.
    pub fn to_json(&self) -> Value {
        json!({"type": self.kind, "object": *self.object})
    }

    /// The bytes that are sent, below the head of the watch: a line of JSON, or a frame of protobuf.
    pub fn bytes(&self, head: &Response) -> Vec<u8> {
        if head.header("Content-Type").is_some_and(|it| it.starts_with(protobuf::MEDIA_TYPE)) {
            return protobuf::frame(self.kind, &self.object).unwrap_or_default();
        }
        let mut line = self.to_json().to_string().into_bytes();
        line.push(b'\n');
        line
    }
}

/// The events of a watch since it was last asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    /// The events in their order.
    pub events: Vec<WatchEvent>,
    /// The server has ended the stream: nothing will follow.
    pub has_ended: bool,
}

/// An open watch.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(super) resource: Arc<Resource>,
    prefix: String,
    query: Query,
    view: View,
    /// How much of an object goes with its row, if the view is a table.
    included: Option<String>,
    /// Events up to this revision were told.
    pub(crate) seen: u64,
    /// The events to tell first.
    pub(super) pending: Vec<WatchEvent>,
    bookmark_at: Duration,
    /// Nothing is told before this time.
    silent_until: Duration,
    pub(crate) deadline: Duration,
    pub(super) has_ended: bool,
}

impl Server {
    pub(super) fn open_watch(&mut self, call: &Call<'_>, view: View) -> Outcome<Answer> {
        let target = &call.target;
        let mut query = Query::parse(call.request, &target.resource, true)?;
        if let Some(name) = &target.name {
            if !query.fields.is_empty() && query.fields.exact_name() != Some(name) {
                let why = "fieldSelector metadata.name doesn't match requested name";
                return Err(Failure::bad_request(why));
            }
            query.fields = query.fields.and(Fields::name(name));
        }
        let version = match query.version.as_str() {
            "" => 0,
            text => options::version(text).ok_or_else(|| bad_version(text))?,
        };
        let timeout = query.timeout.and_then(|seconds| u64::try_from(seconds).ok());
        let lifetime = timeout.filter(|it| *it > 0).map_or(LIFETIME, Duration::from_secs);
        let prefix = match target.namespace.as_str() {
            "" => String::new(),
            namespace => format!("{namespace}/"),
        };
        let mut watch = Watch {
            resource: target.resource.clone(),
            prefix,
            view,
            included: call.request.parameter("includeObject").map(str::to_owned),
            seen: self.store.revision,
            pending: Vec::new(),
            bookmark_at: self.now + BOOKMARKS,
            silent_until: Duration::ZERO,
            deadline: self.now.saturating_add(lifetime),
            has_ended: false,
            query,
        };
        let after = self.start(&mut watch, version)?;
        let id = self.next_watch;
        self.next_watch += 1;
        self.watches.insert(id, watch);
        let headers = vec![("Content-Type", "application/json".to_owned())];
        let head = Response { status: 200, headers, body: Body::Empty, after };
        Ok(Answer::Watch { id: WatchId(id), head })
    }

    /// Decides what a watch begins with; gives back how long that takes.
    fn start(&mut self, watch: &mut Watch, version: u64) -> Outcome<Duration> {
        let initial = watch.query.initial_events;
        let error = |failure: Box<Failure>| WatchEvent {
            kind: "ERROR",
            object: Arc::new(failure.object()),
        };
        if version > self.store.revision && initial == Some(true) {
            let failure = Failure::too_large(version, self.store.revision);
            let after = failure.after;
            watch.pending.push(error(failure));
            watch.has_ended = true;
            return Ok(after);
        }
        if initial.unwrap_or(version == 0) {
            match self.tell_everything(watch) {
                Err(why) if self.lacks_replies() => return Err(why),
                Err(_) => {
                    // The cache of a real server stays at what it could convert.
                    let revision = self.store.revision;
                    let failure = Failure::too_large(revision, revision.saturating_sub(1));
                    let after = failure.after;
                    watch.pending = vec![error(failure)];
                    watch.has_ended = true;
                    return Ok(after);
                }
                Ok(()) => {}
            }
        } else if version > 0 && version < self.store.compacted && !self.slips(Slip::WatchesForgive)
        {
            let oldest = self.store.compacted;
            let message = format!("too old resource version: {version} ({oldest})");
            watch.pending.push(error(Failure::new(410, "Expired", message)));
            watch.has_ended = true;
        } else if version > 0 {
            watch.seen = version;
            self.can_go_on(watch)?;
        }
        Ok(Duration::ZERO)
    }

    /// Refuses a watch whose next event cannot be converted, as a cache does that is not there yet.
    fn can_go_on(&mut self, watch: &Watch) -> Outcome<()> {
        let (table, newest) = (watch.resource.table(), self.store.revision);
        let table = self.store.table(&table).filter(|_| watch.resource.converter().is_some());
        let next = table.and_then(|it| it.events.after(&watch.seen).next());
        let Some(event) = next.filter(|it| *it.0 <= newest).map(|it| it.1.clone()) else {
            return Ok(());
        };
        match self.shown_event(&watch.resource, &event) {
            Ok(_) => Ok(()),
            Err(why) if self.lacks_replies() => Err(why),
            Err(_) => Err(Failure::initializing()),
        }
    }

    /// The state as events, with a mark at its end for clients that can read it.
    fn tell_everything(&mut self, watch: &mut Watch) -> Outcome<()> {
        let objects = self.store.objects(&watch.resource.table());
        let mut known = Ok(());
        for (_, stored) in objects.iter().filter(|(key, _)| key.0.starts_with(&watch.prefix)) {
            match self.shown(&watch.resource, stored, true) {
                Ok(stored) if watch.query.matches(&stored.object) => {
                    let object = stored.object.clone();
                    watch.pending.push(WatchEvent { kind: "ADDED", object });
                }
                Ok(_) => {}
                Err(why) => known = known.and(Err(why)),
            }
        }
        known?;
        if watch.query.bookmarks {
            let mut bookmark = watch.bookmark(self.store.revision);
            let annotations = json!({"k8s.io/initial-events-end": "true"});
            metadata::set(&mut bookmark, "annotations", annotations);
            watch.pending.push(WatchEvent { kind: "BOOKMARK", object: Arc::new(bookmark) });
        }
        Ok(())
    }

    /// The events of an open watch since it was last asked. An unknown watch has ended.
    pub fn events(&mut self, id: WatchId) -> Events {
        let Some(mut watch) = self.watches.get(&id.0).cloned() else {
            return Events { events: Vec::new(), has_ended: true };
        };
        if self.now < watch.silent_until {
            return Events::default();
        }
        let mut events = std::mem::take(&mut watch.pending);
        watch.has_ended |= watch.seen < self.store.forgotten;
        if !watch.has_ended {
            // What is converted comes from `unconverted`.
            let converts = watch.resource.converter().is_some();
            if let Some(table) = self.store.table(&watch.resource.table()).filter(|_| !converts) {
                // A replica that lags has not heard of the newest.
                let newest = self.store.revision;
                let news = table.events.after(&watch.seen).take_while(|it| *it.0 <= newest);
                let slip = self.slip();
                events.extend(news.filter_map(|(revision, it)| watch.tell(*revision, it, slip)));
            }
            if !converts {
                watch.seen = watch.seen.max(self.store.revision);
            }
            if watch.query.bookmarks && self.now >= watch.bookmark_at {
                let object = Arc::new(watch.bookmark(watch.seen));
                events.push(WatchEvent { kind: "BOOKMARK", object });
                watch.bookmark_at = self.now + BOOKMARKS;
            }
            watch.has_ended = self.now >= watch.deadline || !self.still_serves(&watch.resource);
        }
        if let Some(Change::Event(change)) = self.mistake.map(|it| it.change) {
            events = events.into_iter().filter_map(change).collect();
        }
        let is_of_objects = events.first().is_some_and(|it| it.kind != "ERROR");
        if watch.view == View::MetadataList && is_of_objects {
            // An event holds no list: a real server breaks off at the first.
            events.clear();
            watch.has_ended = true;
        }
        let object = watch.included.as_deref();
        let shown = Shown { resource: &watch.resource, now: self.now, object };
        for event in &mut events {
            event.object = watch.view.object(&shown, &event.object);
        }
        let has_ended = watch.has_ended;
        if has_ended {
            self.watches.remove(&id.0);
        } else {
            self.watches.insert(id.0, watch);
        }
        Events { events, has_ended }
    }

    /// Whether a resource is served as it was. The watches of a definition whose objects are kept or converted
    /// differently from now on end, too.
    pub(super) fn still_serves(&self, it: &Arc<Resource>) -> bool {
        let served = self.registry.get(&it.group, &it.version, &it.plural);
        served.is_some_and(|now| {
            let converts = now.converter().or(it.converter()).is_some();
            now.table() == it.table() && (!converts || Arc::ptr_eq(now, it))
        })
    }

    /// Whether an open watch has something to tell of objects.
    #[cfg(feature = "ordered")]
    pub(crate) fn has_news(&self, id: WatchId) -> bool {
        let Some(watch) = self.watches.get(&id.0).filter(|it| self.now >= it.silent_until) else {
            return false;
        };
        let table = self.store.table(&watch.resource.table());
        let mut news = table.iter().flat_map(|it| it.events.after(&watch.seen));
        !watch.pending.is_empty() || news.any(|it| watch.tell(*it.0, it.1, None).is_some())
    }

    /// The watches of a resource, or all of them, end without a word.
    pub(super) fn cut_watches(&mut self, target: Option<&Target>) {
        for id in self.watches_of(target) {
            self.watches.remove(&id);
        }
    }

    /// The watches of a resource say nothing for a while, and everything afterwards.
    pub(super) fn silence_watches(&mut self, target: Option<&Target>, time: Duration) {
        for id in self.watches_of(target) {
            if let Some(watch) = self.watches.get_mut(&id) {
                watch.silent_until = self.now.saturating_add(time);
            }
        }
    }

    fn watches_of(&self, target: Option<&Target>) -> Vec<u64> {
        let name = target.map(|target| target.resource.qualified());
        let watches = self.watches.iter().filter(|(_, watch)| {
            name.as_ref().is_none_or(|name| watch.resource.qualified() == *name)
        });
        watches.map(|(id, _)| *id).collect()
    }

    /// When an open watch has something to say although nothing is written: a bookmark, events that
    /// wait for the end of a silence, or its own end.
    pub fn due(&self, id: WatchId) -> Option<Duration> {
        let watch = self.watches.get(&id.0)?;
        let bookmark = watch.query.bookmarks.then_some(watch.bookmark_at);
        let is_silent = self.now < watch.silent_until;
        let next = bookmark.unwrap_or(watch.deadline).min(watch.deadline);
        let due = if is_silent { watch.silent_until } else { next };
        Some(due.saturating_sub(self.skew)) // by the clock of the caller
    }

    /// The client hangs up.
    pub fn close(&mut self, id: WatchId) {
        self.watches.remove(&id.0);
    }
}

impl Watch {
    fn bookmark(&self, revision: u64) -> Value {
        let mut empty = match &self.resource.shape {
            Shape::Struct(of) => types::zero(of),
            Shape::Structural(_) => json!({}),
        };
        empty["apiVersion"] = self.resource.api_version().into();
        empty["kind"] = self.resource.kind.as_str().into();
        empty["metadata"] = json!({"resourceVersion": revision.to_string()});
        empty
    }

    /// The event that a write means for this watch: an object that begins to match is added, and
    /// one that no longer matches is deleted.
    pub(super) fn tell(
        &self,
        revision: u64,
        event: &Event,
        slip: Option<Slip>,
    ) -> Option<WatchEvent> {
        if !event.key.0.starts_with(&self.prefix) {
            return None;
        }
        let matching = |it: &Option<Stored>| {
            it.as_ref().map(|it| it.object.clone()).filter(|it| self.query.matches(it))
        };
        let gone = |old: Arc<Value>| {
            let mut object = Value::clone(&old);
            if slip != Some(Slip::DeletedKeepsItsVersion) {
                metadata::set(&mut object, "resourceVersion", revision.to_string());
            }
            Arc::new(object)
        };
        let leaves = event.new.as_ref().filter(|_| slip == Some(Slip::LeavingIsChanging));
        let leaves = leaves.map(|it| it.object.clone());
        Some(match (matching(&event.old), matching(&event.new)) {
            (None, None) => return None,
            (None, Some(object)) => WatchEvent { kind: "ADDED", object },
            (Some(_), Some(object)) => WatchEvent { kind: "MODIFIED", object },
            (Some(_), None) if leaves.is_some() => WatchEvent { kind: "MODIFIED", object: leaves? },
            (Some(old), None) => WatchEvent { kind: "DELETED", object: gone(old) },
        })
    }
}
