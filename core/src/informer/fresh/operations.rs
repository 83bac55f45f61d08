//! The calls on the state of a store.

use crate::machine::{Cx, Operation, Step};
use crate::runtime::Instant;

use super::state::{Fresh, NEWS, NotVisibleError, Part, SYNC, Versions, View, limit};

/// Says that the store has changed, and up to which version if that is known. It never goes back.
#[derive(Clone, Debug)]
pub struct Advance(pub Option<u64>);

/// Says that states of objects were refused: keys and versions. It is called before the store
/// advances past them, so that no reader takes the stored state for them. Wakes nobody.
#[derive(Clone, Debug)]
pub struct Refuse(pub Vec<(String, u64)>);

/// Says that states of objects, or a list of a version, are in the store now.
#[derive(Clone, Debug)]
pub enum Stored {
    /// All objects.
    List(u64),
    /// These objects, in these versions.
    Objects(Vec<(String, u64)>),
}

/// Says that the store is about to change, perhaps to a list of this version. An older list goes
/// back. Until the store [advances](Advance) it may be ahead of its version. Wakes nobody, so it
/// may be called under a lock.
#[derive(Clone, Debug)]
pub struct Prepare(pub Option<u64>);

/// Says that the first list is in the store.
#[derive(Clone, Debug)]
pub struct Synced;

/// Says that the store does not change any more.
#[derive(Clone, Debug)]
pub struct Over;

/// Asks how far the store is.
#[derive(Clone, Debug)]
pub struct Look;

/// Waits until the store has a version.
#[derive(Clone, Debug)]
pub struct AtLeast {
    /// The version.
    pub version: u64,
    /// The part of the store that must not lack a refused state.
    pub part: Option<Part>,
    /// How long to wait.
    pub until: Instant,
}

/// Waits until something came after a look.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The epoch at that look.
    pub after: u64,
    /// How long to wait.
    pub until: Instant,
}

/// Waits until the first list is in the store; false if the time ran out or the informer stopped
/// before.
#[derive(Clone, Debug)]
pub struct WaitForSync {
    /// How long to wait.
    pub until: Instant,
}

crate::operations! {
    [] Fresh: Op, Ret {
        Advance(Advance) -> (),
        Refuse(Refuse) -> (),
        Stored(Stored) -> (),
        Prepare(Prepare) -> (),
        Synced(Synced) -> (),
        Over(Over) -> (),
        Look(Look) -> View,
        AtLeast(AtLeast) -> Result<View, NotVisibleError>,
        Turn(Turn) -> Result<View, NotVisibleError>,
        WaitForSync(WaitForSync) -> bool,
    }
}

impl Operation<Fresh> for Advance {
    fn step(&mut self, fresh: &mut Fresh, cx: &mut Cx<'_>) -> Step<()> {
        let view = &mut fresh.view;
        view.version = view.version.max(self.0.unwrap_or_default());
        view.epoch += 1;
        view.is_applying = false;
        view.rollbacks += u64::from(std::mem::take(&mut fresh.goes_back));
        cx.wakes.all(NEWS);
        Step::Done(())
    }
}

impl Operation<Fresh> for Refuse {
    fn step(&mut self, fresh: &mut Fresh, _: &mut Cx<'_>) -> Step<()> {
        for (key, version) in self.0.drain(..) {
            let new = Versions { oldest: version, newest: version };
            let known = fresh.refused.entry(key).or_insert(new);
            known.oldest = known.oldest.min(version);
            known.newest = known.newest.max(version);
        }
        fresh.view.has_rejected = !fresh.refused.is_empty();
        Step::Done(())
    }
}

impl Operation<Fresh> for Stored {
    fn step(&mut self, fresh: &mut Fresh, cx: &mut Cx<'_>) -> Step<()> {
        match self {
            Self::List(version) => fresh.refused.retain(|_, it| it.newest > *version),
            Self::Objects(objects) => {
                for (key, version) in objects {
                    if fresh.refused.get(key).is_some_and(|it| it.newest <= *version) {
                        fresh.refused.remove(key);
                    }
                }
            }
        }
        fresh.view.has_rejected = !fresh.refused.is_empty();
        cx.wakes.all(NEWS);
        Step::Done(())
    }
}

impl Operation<Fresh> for Prepare {
    fn step(&mut self, fresh: &mut Fresh, _: &mut Cx<'_>) -> Step<()> {
        let view = &mut fresh.view;
        view.is_applying = true;
        if let Some(version) = self.0.filter(|version| *version < view.version) {
            view.version = version;
            view.rollbacks += 1;
            view.last_rollback = view.rollbacks;
            fresh.goes_back = true;
        }
        Step::Done(())
    }
}

impl Operation<Fresh> for Synced {
    fn step(&mut self, fresh: &mut Fresh, cx: &mut Cx<'_>) -> Step<()> {
        fresh.has_synced = true;
        cx.wakes.all(SYNC);
        Step::Done(())
    }
}

impl Operation<Fresh> for Over {
    fn step(&mut self, fresh: &mut Fresh, cx: &mut Cx<'_>) -> Step<()> {
        fresh.is_over = true;
        cx.wakes.all(NEWS);
        cx.wakes.all(SYNC);
        Step::Done(())
    }
}

impl Operation<Fresh> for Look {
    fn step(&mut self, fresh: &mut Fresh, _: &mut Cx<'_>) -> Step<View> {
        Step::Done(fresh.view)
    }
}

impl Operation<Fresh> for AtLeast {
    fn step(&mut self, fresh: &mut Fresh, cx: &mut Cx<'_>) -> Step<Result<View, NotVisibleError>> {
        let missing = if fresh.view.version < self.version {
            Some(fresh.behind(self.version))
        } else {
            let lacking = self.part.as_ref().and_then(|part| fresh.lacking(part));
            lacking.map(|key| NotVisibleError::Refused { key: key.clone() })
        };
        fresh.wait(missing, self.until, cx)
    }
}

impl Operation<Fresh> for Turn {
    fn step(&mut self, fresh: &mut Fresh, cx: &mut Cx<'_>) -> Step<Result<View, NotVisibleError>> {
        let missing = (fresh.view.epoch <= self.after).then(|| fresh.behind(fresh.view.version));
        fresh.wait(missing, self.until, cx)
    }
}

impl Operation<Fresh> for WaitForSync {
    fn step(&mut self, fresh: &mut Fresh, cx: &mut Cx<'_>) -> Step<bool> {
        if fresh.has_synced || fresh.is_over || cx.now() >= self.until {
            return Step::Done(fresh.has_synced);
        }
        Step::Wait { on: SYNC, until: limit(self.until) }
    }
}
