//! A straightforward first version of an informer: a thread for the reflector, one for the store,
//! one for each handler, and one lock for all shared state. Its mistakes can be switched on.

mod follow;
mod handlers;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::delta_fifo::Delta;
use seatrial_core::informer::feed::{Complete, Len, Push, Told};
use seatrial_core::informer::{Change, ObjectChange, apply, apply_batch, feed::End};
use seatrial_core::ordered_fifo::{Event, Options, OrderedFifo};
use seatrial_core::runtime::{Ambient as _, Runtime};
use seatrial_core::store::{Cause, IndexedStore, Intake, LastState, NothingKnown, metadata_key};

use self::handlers::Member;
use super::source::{Object, Source};
use super::stage::Setting;
use crate::engine::AnyRuntime;
use crate::events::fixtures::Mistakes;
use crate::shared::Lock;

pub(super) use handlers::Registration;

type Changes = Vec<ObjectChange<Object>>;
type Batch = [Event<String, Object>];

/// The plain informer.
pub(super) struct Plain {
    runtime: AnyRuntime,
    source: Source,
    mistakes: Mistakes,
    /// The version that an index function refuses.
    refuses: Option<u64>,
    store: Arc<IndexedStore<String, Object, AnyRuntime>>,
    queue: OrderedFifo<String, Object, NothingKnown, AnyRuntime>,
    inside: Arc<Lock<Inside>>,
}

/// The state that the threads share.
struct Inside {
    stage: Stage,
    /// The handlers that are told changes.
    members: Vec<Arc<Member>>,
    /// The handlers whose threads must be joined.
    crew: Vec<Arc<Member>>,
    has_synced: bool,
    /// The shortest period after which unchanged objects are shown again.
    resync: Duration,
    /// Streams that are never dropped: a mistake.
    kept: Vec<Box<dyn seatrial_core::informer::OpenWatch<Object>>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Created,
    Started,
    Stopped,
}

impl Plain {
    pub(super) fn new(
        runtime: &AnyRuntime,
        source: Source,
        setting: Setting,
        mistakes: Mistakes,
    ) -> Self {
        let intake = Intake::new(runtime, |object: &Object| -> Result<String, Cause> {
            metadata_key(object)
        });
        let store = IndexedStore::with_intake(runtime, intake.clone(), None);
        let inside = Inside {
            stage: Stage::Created,
            members: Vec::new(),
            crew: Vec::new(),
            has_synced: false,
            resync: setting.resync,
            kept: Vec::new(),
        };
        Self {
            runtime: runtime.clone(),
            source,
            mistakes,
            refuses: setting.index_refuses,
            store: Arc::new(store),
            queue: OrderedFifo::with_options(runtime, intake, Options::default()),
            inside: Arc::new(runtime.mutex(inside)),
        }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn lock(&self) -> <AnyRuntime as Runtime>::Guard<'_, Inside> {
        self.runtime.lock(&self.inside)
    }

    pub(super) fn store(&self) -> &Arc<IndexedStore<String, Object, AnyRuntime>> {
        &self.store
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.lock().stage == Stage::Stopped
    }

    /// Follows the server until the token ends; false if the informer runs or ran already.
    pub(super) fn run(self: Arc<Self>, token: &CancelToken<AnyRuntime>) -> bool {
        {
            let mut inside = self.lock();
            if inside.stage != Stage::Created && !self.makes("runs_twice") {
                return false;
            }
            inside.stage = Stage::Started;
        }
        let life = token.child();
        let (own, token) = (Arc::clone(&self), life.clone());
        let reflector = self.runtime.spawn("reflector", move || {
            own.runtime.block_on(own.follow(&token));
            if own.makes("one_signal_for_all") {
                own.end_members(&own.lock().members.clone());
            }
            own.queue.close();
        });
        let processed = catch_unwind(AssertUnwindSafe(|| self.process(&life)));
        if !self.makes("panic_leaves_the_reflector") {
            life.cancel();
        }
        let reflected = self.runtime.join(reflector);
        self.end();
        match (processed, reflected) {
            (Err(panic), _) | (_, Err(panic)) => resume_unwind(panic),
            _ => true,
        }
    }

    /// Changes the store by the queue's events, and tells the handlers.
    fn process(&self, token: &CancelToken<AnyRuntime>) {
        loop {
            if token.is_cancelled() && !self.makes("goes_on_behind_the_end") {
                return;
            }
            let popped = self.queue.pop_batch(|batch| {
                if self.makes("told_before_it_is_stored") {
                    let members = self.lock().members.clone();
                    self.tell(&members, &self.foretold(&batch.events), batch.initial);
                }
                let inside = self.lock();
                let mut changes = Vec::new();
                self.apply(&batch.events, batch.initial, &mut |change| changes.push(change));
                // A handler that is added later begins with the objects stored now.
                (changes, inside.members.clone())
            });
            let Ok((batch, (changes, members))) = popped else { return };
            if self.makes("synced_before_it_is_told") {
                self.note_sync();
            }
            if !self.makes("told_before_it_is_stored") {
                self.tell(&members, &changes, batch.initial);
            }
            if !(changes.is_empty() && self.makes("empty_is_never_synced")) {
                self.note_sync();
            }
        }
    }

    /// Changes the store. What an index function refuses stays out of it, alone.
    fn apply(&self, events: &Batch, initial: bool, tell: &mut dyn FnMut(ObjectChange<Object>)) {
        let refused = |object: &Object| Some(object.version) == self.refuses;
        let mut of_changes = events.iter().filter_map(Event::delta).filter_map(Delta::object);
        if self.makes("refused_stops_its_batch") && events.len() > 1 && of_changes.any(refused) {
            return;
        }
        match (events, apply_batch(events, initial, &self.store, tell)) {
            ([Event::ReplacedAll(list)], Err(_)) if !self.makes("refused_stops_its_list") => {
                for object in &list.objects {
                    if self.makes("refused_is_gone") && refused(object) {
                        self.delete(object, tell);
                    }
                    let event = Event::Delta(Delta::Replaced(object.clone()));
                    drop(apply(&event, initial, &self.store, tell));
                }
            }
            // The store says which objects it refused; this informer says it to nobody.
            (_, applied) => drop(applied),
        }
    }

    fn delete(&self, object: &Object, tell: &mut dyn FnMut(ObjectChange<Object>)) {
        if let Some(stored) = self.store.get_stored(object).ok().flatten() {
            let event = Event::Delta(Delta::Deleted(LastState::Final(stored)));
            drop(apply(&event, false, &self.store, tell));
        }
    }

    /// Predicts what handlers will be told of changes of single objects, and of a list.
    fn foretold(&self, events: &Batch) -> Changes {
        let change = |object: &Object| {
            let old = self.store.get_stored(object).ok().flatten();
            let new = Object::clone(object);
            match old {
                Some(old) => Change::Updated { old, new },
                None => Change::Added { object: new, initial: false },
            }
        };
        let of = |event: &Event<String, Object>| match event {
            Event::ReplacedAll(list) => list.objects.iter().map(change).collect(),
            Event::Delta(Delta::Deleted(last)) => vec![Change::Deleted(last.clone())],
            event => event.delta().and_then(Delta::object).map(change).into_iter().collect(),
        };
        events.iter().flat_map(of).collect()
    }

    /// Tells each handler the changes that it wants.
    fn tell(&self, members: &[Arc<Member>], changes: &[ObjectChange<Object>], initial: bool) {
        for member in members {
            let told = changes.iter().filter(|change| self.is_for(member, change)).map(|change| {
                let initial = initial && matches!(change, Change::Added { .. });
                Told { change: change.clone(), initial }
            });
            drop(member.feed.call(Push(told.collect())));
            while self.makes("waits_for_each_handler") && member.feed.call(Len) > 0 {
                self.runtime.sleep_until(self.runtime.now() + Duration::from_millis(10));
            }
        }
    }

    /// Tells whether a handler wants a change: not all want unchanged objects shown again.
    fn is_for(&self, member: &Member, change: &ObjectChange<Object>) -> bool {
        let Change::Updated { old, new } = change else { return true };
        old.version != new.version || self.makes("resync_is_for_all") || member.is_due(self)
    }

    /// Tells the handlers, once, that the first list is complete.
    fn note_sync(&self) {
        if !self.queue.has_synced() {
            return;
        }
        let members = {
            let mut inside = self.lock();
            if std::mem::replace(&mut inside.has_synced, true) {
                return;
            }
            inside.members.clone()
        };
        for member in members {
            member.feed.call(Complete);
        }
    }

    /// Checks which handlers are due for a resync, and tells whether any is.
    fn resync_due(&self) -> bool {
        let now = self.runtime.now();
        let members = self.lock().members.clone();
        let due = members.iter().filter(|member| member.look(self, now)).count();
        due > 0 && !self.makes("never_resyncs")
    }

    fn end_members(&self, members: &[Arc<Member>]) {
        for member in members {
            if !self.makes("end_is_not_told") {
                drop(member.feed.call(End));
            }
            member.life.cancel();
        }
    }

    /// Ends the handlers, and waits for them.
    fn end(&self) {
        let mut inside = self.lock();
        inside.stage = Stage::Stopped;
        let members = std::mem::take(&mut inside.members);
        let crew = std::mem::take(&mut inside.crew);
        if self.makes("joins_under_the_lock") {
            self.end_members(&members);
            crew.iter().for_each(|member| member.join());
        }
        drop(inside);
        self.end_members(&members);
        if !self.makes("run_leaves_its_handlers") {
            crew.iter().for_each(|member| member.join());
        }
    }
}

/// Ends the handlers of an informer that never ran.
impl Drop for Plain {
    fn drop(&mut self) {
        if !self.makes("handlers_of_what_never_ran_stay") {
            let members = std::mem::take(&mut self.lock().members);
            self.end_members(&members);
        }
    }
}
