//! The registry under trial, with the pens that record what happens.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use seatrial_core::informer::Members;
use seatrial_core::runtime::{Instant, Runtime};

use super::Registry;
use super::book::{Entry, Name};
use super::member::{Manners, Member};
use super::reference::Reference;
use crate::engine::AnyRuntime;
use crate::events::fixtures;
use crate::trial::{Join, World};

/// The registry under trial.
pub(super) enum Tried {
    Ships(Members<AnyRuntime>),
    Reference(Reference),
}

impl Tried {
    pub(super) fn get(&self, name: Name) -> Option<Arc<Member>> {
        match self {
            Self::Ships(members) => members.get(name),
            Self::Reference(reference) => reference.get(name),
        }
    }

    fn get_or_make(&self, name: Name, make: impl FnOnce() -> Member) -> Option<Arc<Member>> {
        match self {
            Self::Ships(members) => members.get_or_make(name, "member", make).ok(),
            Self::Reference(reference) => reference.get_or_make(name, make),
        }
    }

    fn start(&self) {
        match self {
            Self::Ships(members) => members.start(),
            Self::Reference(reference) => reference.start(),
        }
    }

    async fn wait_for_sync(&self, until: Instant) -> Result<(), Vec<String>> {
        match self {
            Self::Ships(members) => members.wait_for_sync(until).await,
            Self::Reference(reference) => reference.wait_for_sync(until).await,
        }
    }

    async fn remove(&self, name: Name) -> bool {
        match self {
            Self::Ships(members) => members.remove::<Member>(name).await,
            Self::Reference(reference) => reference.remove(name).await,
        }
    }

    async fn shut_down(&self) {
        match self {
            Self::Ships(members) => members.shut_down().await,
            Self::Reference(reference) => reference.shut_down().await,
        }
    }
}

/// Records entries.
pub(super) type Pen = fixtures::Pen<Registry>;

/// The parts of every scenario.
pub(super) struct Stage {
    world: World<Registry>,
    pen: Pen,
    tried: Arc<Tried>,
    /// How many members were made.
    made: Arc<AtomicU8>,
}

impl Clone for Stage {
    fn clone(&self) -> Self {
        let (tried, made) = (Arc::clone(&self.tried), Arc::clone(&self.made));
        Self { world: self.world.clone(), pen: self.pen.again(), tried, made }
    }
}

impl Stage {
    pub(super) fn new(world: &World<Registry>) -> Self {
        let pen = Pen::new(world);
        let tried = match pen.mistakes() {
            Some(mistakes) => Tried::Reference(Reference::new(pen.runtime(), mistakes)),
            None => Tried::Ships(Members::new(pen.runtime())),
        };
        Self { world: world.clone(), pen, tried: Arc::new(tried), made: Arc::default() }
    }

    pub(super) fn spawn(&self, name: &str, run: impl FnOnce(Self) + Send + 'static) -> Join<()> {
        let own = self.clone();
        self.world.spawn(name, move || run(own))
    }

    pub(super) fn get(&self, name: Name) {
        self.get_made(name, Manners::default());
    }

    pub(super) fn get_made(&self, name: Name, manners: Manners) {
        self.pen.write(Entry::Gets(name));
        let got = self.tried.get_or_make(name, || {
            if let Some(first) = manners.first {
                self.get(first);
            }
            let number = self.made.fetch_add(1, Ordering::Relaxed);
            Member::new(number, self.pen.again(), &self.tried, manners)
        });
        self.pen.write(Entry::Got(name, got.map(|member| member.number)));
    }

    pub(super) fn start(&self) {
        self.pen.write(Entry::Starts);
        self.tried.start();
        self.pen.write(Entry::Started);
    }

    pub(super) fn wait_for_sync(&self, until: Instant) {
        self.pen.write(Entry::AwaitsSync(until));
        let synced = self.pen.runtime().block_on(self.tried.wait_for_sync(until));
        self.pen.write(Entry::Synced(synced));
    }

    pub(super) fn remove(&self, name: Name) {
        self.pen.write(Entry::Removes(name));
        let found = self.pen.runtime().block_on(self.tried.remove(name));
        self.pen.write(Entry::Removed(name, found));
    }

    pub(super) fn shut_down(&self) {
        self.pen.write(Entry::ShutsDown);
        let down = || self.pen.runtime().block_on(self.tried.shut_down());
        let panicked = catch_unwind(AssertUnwindSafe(down)).is_err();
        self.pen.write(Entry::ShutDown { panicked });
    }

    /// Drops this handle of the registry. The last handle drops the registry.
    pub(super) fn drop_registry(self) {
        self.pen.write(Entry::Dropped);
    }
}
