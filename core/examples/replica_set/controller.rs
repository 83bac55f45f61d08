//! The reconciler: it compares what a replica set wants with the pods that it has.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::informer::{Informer, NotVisible};
use seatrial_core::pool::{Action, Attempt, Failure, Fault, Reconcile};
use seatrial_core::runtime::{Ambient, System};
use seatrial_core::store::Described;

use crate::server::{Server, Thing};

/// What a user wants of a replica set.
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

    /// Looks at the newest state and not at events: it does not matter what was missed, or how often
    /// it is called.
    fn reconcile(&self, key: &String, _: Attempt<'_>) -> Result<Action, Fault<String>> {
        // To count pods that do not show the last writes is to create them twice.
        let patience = System::new().now() + Duration::from_secs(2);
        match self.pods.list_written(patience) {
            Ok(_) => {}
            Err(NotVisible::Stopped) => return Ok(Action::Done),
            Err(error) => return Err(error.to_string().into()),
        }
        let pods = self.pods.store().by_index(BY_OWNER, key).map_err(|error| error.to_string())?;
        let set = self.sets.store().get(key);
        // One of the same name that was made anew does not own the pods of the one before it.
        let owns = |pod: &Pod| {
            let owner = pod.owner.as_ref().map(|(_, uid)| uid);
            set.as_ref().is_some_and(|set| Some(&set.uid) == owner)
        };
        let (mine, orphans): (Vec<Pod>, Vec<Pod>) = pods.into_iter().partition(owns);
        for pod in orphans {
            self.delete(key, &pod)?;
        }
        let Some(set) = set else {
            println!("    {key}: is gone");
            return Ok(Action::Done);
        };
        self.scale(key, &set, mine)?;
        Ok(Action::Done)
    }

    fn failed(&self, key: &String, failure: &Failure<String>) {
        println!("    {key}: {failure}");
    }
}

impl Controller {
    fn scale(&self, key: &str, set: &ReplicaSet, mut pods: Vec<Pod>) -> Result<(), String> {
        pods.sort_by(|a, b| a.name.cmp(&b.name));
        let wanted = set.spec.0;
        for surplus in pods.iter().skip(wanted) {
            self.delete(key, surplus)?;
        }
        let free = (0..).map(|number| format!("{}-{number}", set.name));
        let is_free = |name: &String| pods.iter().all(|pod| pod.name != *name);
        for name in free.filter(is_free).take(wanted.saturating_sub(pods.len())) {
            println!("    {key}: creates {name}");
            let owner = Some((set.name.clone(), set.uid.clone()));
            let pod = self.pod_client.create(&name, owner, ())?;
            note(pod.metadata(), |it| self.pods.wrote(it))?;
        }
        if set.ready != wanted {
            let status = self.set_client.update(&set.name, |set| set.ready = wanted);
            note(status?.metadata(), |it| self.sets.wrote(it))?;
        }
        Ok(())
    }

    fn delete(&self, key: &str, pod: &Pod) -> Result<(), String> {
        println!("    {key}: deletes {}", pod.name);
        self.pod_client.delete(&pod.name); // it may be gone already
        note(pod.metadata(), |it| self.pods.deleted(it))
    }
}

/// Takes note of a write, so that the next count waits for it.
fn note<M>(
    metadata: Option<M>,
    note: impl FnOnce(M) -> Result<(), NotVisible>,
) -> Result<(), String> {
    metadata.map_or(Ok(()), note).map_err(|error| error.to_string())
}
