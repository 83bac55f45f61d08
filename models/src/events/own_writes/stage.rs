//! A store, with the callers that fill and read it.

use std::sync::Arc;

use seatrial_core::delta_fifo::Delta;
use seatrial_core::informer::fresh::{NotVisibleError, Readable, Visible};
use seatrial_core::machine::{Cx, Step};
use seatrial_core::ordered_fifo::{Bookmark, Event, Snapshot};
use seatrial_core::runtime::{Instant, Runtime};
use seatrial_core::store::{Described as _, LastState};

use super::OwnWrites;
use super::shelf::{News, Note, Object, Op, Ret, Thing, Wish, hosted};
use crate::engine::AnyRuntime;
use crate::shared::Lock;
use crate::trial::{Join, MachineOf, World};

/// The store that is read, behind its lock.
struct Store {
    runtime: AnyRuntime,
    inside: Lock<MachineOf<OwnWrites>>,
}

fn ask(machine: &mut MachineOf<OwnWrites>, mut op: Op, runtime: &impl Runtime) -> Ret {
    match machine.step(&mut op, &mut Cx::new(runtime)) {
        Step::Done(ret) => ret,
        _ => unreachable!("a store keeps nobody waiting"),
    }
}

impl Store {
    fn read(&self, op: Op) -> Vec<Object> {
        match self.ask(op) {
            Ret::Read(objects) => objects,
            ret => unreachable!("a store that is read answers {ret:?}"),
        }
    }

    fn ask(&self, op: Op) -> Ret {
        ask(&mut self.runtime.lock(&self.inside), op, &self.runtime)
    }
}

impl Readable for Store {
    type Object = Object;
    type All = Vec<Object>;

    fn one(&self, key: &str) -> Option<Object> {
        self.read(Op::One(key.to_owned())).pop()
    }

    fn all(&self) -> Vec<Object> {
        self.read(Op::All)
    }

    fn has(&self, key: &str, uid: &str) -> bool {
        matches!(self.ask(Op::Has(key.to_owned(), uid.to_owned())), Ret::Has(true))
    }
}

/// The parts of every scenario.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) world: World<OwnWrites>,
    store: Arc<Store>,
    visible: Arc<Visible<AnyRuntime>>,
}

/// The objects of the server, each set with the version from which it holds.
pub(super) type States = &'static [(u64, &'static [(&'static str, &'static str, u64)])];

impl Stage {
    /// Makes an empty store; `server` lists the server's objects by version. Once the client has
    /// `few` notes, it looks for notes to forget.
    pub(super) fn new(world: &World<OwnWrites>, few: usize, server: States) -> Self {
        let runtime = world.runtime().clone();
        let visible = Visible::new(&runtime, hosted(world.machine().0), few);
        let inside = runtime.mutex(world.machine().0);
        let store = Arc::new(Store { runtime, inside });
        let stage = Self { world: world.clone(), store, visible: Arc::new(visible) };
        for (version, objects) in server {
            let thing = |it: &(&str, &str, u64)| Thing::object(it.0, it.1, it.2);
            stage.write(Note::Server(*version, objects.iter().map(thing).collect()));
        }
        stage
    }

    /// Records a note with a machine of its own, so that it holds no lock that other threads might
    /// want.
    fn write(&self, note: Note) {
        ask(&mut self.world.machine().0, Op::Note(note), self.world.runtime());
    }

    pub(super) fn spawn(&self, name: &str, run: impl FnOnce(Self) + Send + 'static) -> Join<()> {
        let own = self.clone();
        self.world.spawn(name, move || run(own))
    }

    /// A client that deletes the object `a` and then reads; it waits without a limit.
    pub(super) fn deleter(&self, name: &str, wish: Wish) -> Join<()> {
        self.spawn(name, |client| {
            client.deleted(&Thing::object("a", "1", 1));
            client.read(wish, Instant::NEVER);
        })
    }

    /// Waits until no thread can move, and joins these.
    pub(super) fn end(&self, threads: impl IntoIterator<Item = Join<()>>) {
        self.world.quiesce();
        threads.into_iter().for_each(|thread| self.world.join(thread));
    }

    /// Changes the store and tells the rules, as an informer does.
    pub(super) fn tell(&self, news: News) {
        self.visible.prepare(std::slice::from_ref(&news));
        let told = self.store.ask(Op::Apply(news));
        if let Ret::Applied(Some(news)) = told {
            self.visible.advance(&[news], None);
        }
    }

    /// A transformer refuses a state of an object.
    pub(super) fn refuse(&self, key: &str, version: u64) {
        self.visible.refuser()(key.to_owned(), version);
    }

    pub(super) fn synced(&self) {
        self.visible.synced();
    }

    pub(super) fn over(&self) {
        self.visible.over();
    }

    /// The invariants judge the result.
    pub(super) fn wait_for_sync(&self, until: Instant) {
        let _synced = self.world.runtime().block_on(self.visible.wait_for_sync(until));
    }

    pub(super) fn wrote(&self, object: &Object) {
        let metadata = object.metadata().expect("every object has it");
        self.visible.note(&*self.store, metadata, None).expect("its version is a number");
        // Written down when it counts for everybody: another client may read meanwhile.
        self.write(Note::Wrote(Arc::clone(object)));
    }

    pub(super) fn deleted(&self, object: &Object) {
        self.write(Note::Deleted(Arc::clone(object)));
        let metadata = object.metadata().expect("every object has it");
        let noted = self.visible.note(&*self.store, metadata, Some(&object.uid));
        noted.expect("its version is a number");
    }

    /// Reads; waits until this time at most.
    pub(super) fn read(&self, wish: Wish, until: Instant) {
        self.world.runtime().block_on(self.reading(wish, until));
    }

    /// Reads as a task that gives up if it would have to wait.
    pub(super) fn read_at_once(&self, wish: Wish) {
        if self.world.at_once(self.reading(wish, Instant::NEVER)).is_none() {
            self.write(Note::GivesUp);
        }
    }

    async fn reading(&self, wish: Wish, until: Instant) {
        self.write(Note::Asks(wish.clone(), until));
        let told = self.answer(&wish, until).await;
        self.write(Note::Told(wish, told));
    }

    async fn answer(&self, wish: &Wish, until: Instant) -> Result<Vec<Object>, NotVisibleError> {
        let (visible, store) = (&self.visible, &*self.store);
        let some = |object: Option<Object>| object.into_iter().collect();
        match wish {
            Wish::OneAtLeast(key, version) => {
                visible.one_at_least(store, key, &version.to_string(), until).await.map(some)
            }
            Wish::AllAtLeast(version) => {
                visible.all_at_least(store, &version.to_string(), until).await
            }
            Wish::OneWritten(key) => visible.one_written(store, key, until).await.map(some),
            Wish::AllWritten => visible.all_written(store, until).await,
        }
    }
}

/// Event: an object exists in this version.
pub(super) fn put(name: &str, uid: &str, version: u64) -> News {
    Event::Delta(Delta::Updated(Thing::object(name, uid, version)))
}

/// Event: an object was deleted with this version.
pub(super) fn gone(name: &str, uid: &str, version: u64) -> News {
    Event::Delta(Delta::Deleted(LastState::Final(Thing::object(name, uid, version))))
}

/// Event: a list of all objects, at this version.
pub(super) fn list(version: u64, objects: &[Object]) -> News {
    let objects = objects.to_vec();
    Event::ReplacedAll(Arc::new(Snapshot { resource_version: version.to_string(), objects }))
}

/// Event: everything up to this version was told.
pub(super) fn bookmark(version: u64) -> News {
    Event::Bookmark(Arc::new(Bookmark { resource_version: version.to_string() }))
}
