//! The reconciler: it passes the content of the caches to the rules, and carries out their plan.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::informer::{Informer, NotVisibleError};
use seatrial_core::pool::{Action, Attempt, Failure, Fault, Reconcile};
use seatrial_core::runtime::{Ambient, System};
use seatrial_core::store::Described;

use crate::rules::{self, Todo, plan};
use crate::server::{Server, Thing};

/// The specification of a replica set.
#[derive(Clone, Debug)]
pub(crate) struct Replicas(pub(crate) usize);

pub(crate) type ReplicaSet = Arc<Thing<Replicas>>;
pub(crate) type Pod = Arc<Thing<()>>;

/// The index of pods by the keys of their replica sets.
pub(crate) const BY_OWNER: &str = "owner";

pub(crate) struct Controller {
    pub(crate) sets: Arc<Informer<ReplicaSet>>,
    pub(crate) pods: Arc<Informer<Pod>>,
    pub(crate) set_client: Server<Replicas>,
    pub(crate) pod_client: Server<()>,
}

impl Reconcile<String> for Controller {
    type Error = String;

    /// Looks at the newest state, not at events, so missed events and repeated calls do no harm.
    fn reconcile(&self, key: &String, _: Attempt<'_>) -> Result<Action, Fault<String>> {
        // Counting pods without the last writes would create pods twice.
        let patience = System::new().now() + Duration::from_secs(2);
        let pods_shown = self.pods.list_written(patience).map(drop);
        match pods_shown.and_then(|()| self.sets.list_written(patience).map(drop)) {
            Ok(()) => {}
            Err(NotVisibleError::Stopped) => return Ok(Action::Done),
            Err(error) => return Err(error.to_string().into()),
        }
        let pods = self.pods.store().by_index(BY_OWNER, key).map_err(|error| error.to_string())?;
        let Some(set) = self.sets.store().get(key) else {
            println!("    {key}: is gone");
            return Ok(Action::Done);
        };
        for todo in plan(Some(&seen(&set)), &pods.iter().map(seen_pod).collect::<Vec<_>>()) {
            println!("    {key}: {todo:?}");
            self.carry_out(&set, &pods, todo)?;
        }
        Ok(Action::Done)
    }

    fn failed(&self, key: &String, failure: &Failure<String>) {
        println!("    {key}: {failure}");
    }
}

/// A set in the form that the rules need.
fn seen(set: &ReplicaSet) -> rules::Set<String> {
    rules::Set {
        uid: set.uid.clone(),
        wanted: set.spec.0,
        ready: set.ready,
        guarded: set.guarded,
        deleted: set.deleted,
    }
}

fn seen_pod(pod: &Pod) -> rules::Pod<String> {
    let owner = pod.owner.as_ref().map(|(_, uid)| uid.clone());
    rules::Pod { name: pod.name.clone(), owner }
}

impl Controller {
    /// Makes one request, and notes its write.
    fn carry_out(&self, set: &ReplicaSet, pods: &[Pod], todo: Todo<String>) -> Result<(), String> {
        let update = |change: &dyn Fn(&mut Thing<Replicas>)| {
            self.set_client.update(&set.name, Some(&set.uid), change)
        };
        match todo {
            Todo::Guard => {
                let set = update(&|set| set.guarded = true)?;
                note(set.metadata(), |it| self.sets.wrote(it))
            }
            Todo::Report(ready) => {
                let set = update(&|set| set.ready = ready)?;
                note(set.metadata(), |it| self.sets.wrote(it))
            }
            Todo::Release => {
                let set = update(&|set| set.guarded = false)?;
                note(set.metadata(), |it| self.sets.deleted(it))
            }
            Todo::Create => {
                let pod = self.pod_client.create_for((set.name.clone(), set.uid.clone()), ());
                note(pod.metadata(), |it| self.pods.wrote(it))
            }
            Todo::Delete(name) => {
                self.pod_client.delete(&name); // it may be gone already
                let pod = pods.iter().find(|pod| pod.name == name);
                note(pod.and_then(|pod| pod.metadata()), |it| self.pods.deleted(it))
            }
        }
    }
}

/// Notes a write, so that the next count waits for it.
fn note<M>(
    metadata: Option<M>,
    note: impl FnOnce(M) -> Result<(), NotVisibleError>,
) -> Result<(), String> {
    metadata.map_or(Ok(()), note).map_err(|error| error.to_string())
}
