//! The promises of a controller of replica sets, as checks of a history.

use super::server::{Pod, STRANGER, Todo, Truth};
use super::stage::{Acted, Answer};
use super::{Event, History, ReplicaSet};
use crate::trial::{self, Invariant, Ledger as _, What};

pub(super) fn all() -> Vec<Invariant<ReplicaSet>> {
    vec![
        Invariant::when_quiet(
            "comes_to_what_is_wanted",
            "at rest, the number of pods is the wanted number, and a deleted set is gone",
            &["cache:PT-1", "cache:PT-5", "cache:PT-9"],
            comes_to_what_is_wanted,
        ),
        Invariant::after_every_event(
            "never_more_than_wanted",
            "there are never more pods than the largest number wanted since the last rest",
            &["cache:PT-2"],
            never_more_than_wanted,
        ),
        Invariant::at_every_event(
            "deletes_only_its_own",
            "the controller deletes no pod that it does not own",
            &["cache:PT-6"],
            deletes_only_its_own,
        ),
        Invariant::after_every_event(
            "no_pod_outlives_its_set",
            "a set that had pods is gone only after they are gone",
            &["cache:PT-7"],
            no_pod_outlives_its_set,
        ),
    ]
}

/// The state before an event, derived from the history.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    pub(super) truth: Truth,
    /// The largest number of pods that was wanted since everything was last at rest.
    most: usize,
}

impl Book {
    fn wanted(&self) -> usize {
        self.truth.set.as_ref().filter(|set| !set.deleted).map_or(0, |set| set.wanted)
    }
}

impl trial::Ledger<ReplicaSet> for Book {
    fn apply(&mut self, event: &Event) {
        if matches!(event.what, What::Quiet) {
            self.most = self.wanted();
        }
        if let Some((_, Answer::Occur((truth, _)) | Answer::Act(Acted::Did(_, truth, _)))) =
            event.returned()
        {
            self.truth.clone_from(truth);
        }
        self.most = self.most.max(self.wanted());
    }
}

/// Says what is wrong with a server at rest.
pub(super) fn unwanted(truth: &Truth) -> Option<String> {
    let Truth { set, pods } = truth;
    let Some(set) = set else {
        return (!pods.is_empty()).then(|| format!("the set is gone, and {pods:?} are there"));
    };
    let is_its_own = |pod: &Pod| pod.owner == Some(set.uid);
    if set.deleted {
        return Some("the set was deleted, and stays".to_owned());
    }
    if pods.len() != set.wanted || !pods.iter().all(is_its_own) || set.ready != set.wanted {
        return Some(format!("{} are wanted, {} told, {pods:?} there", set.wanted, set.ready));
    }
    None
}

fn comes_to_what_is_wanted(book: &Book) -> Result<(), String> {
    unwanted(&book.truth).map_or(Ok(()), Err)
}

fn never_more_than_wanted(book: &Book, _: &Event) -> Result<(), String> {
    match book.truth.pods.len() {
        pods if pods > book.most => Err(format!("{pods} pods, and at most {} wanted", book.most)),
        _ => Ok(()),
    }
}

fn deletes_only_its_own(_: &Book, event: &Event) -> Result<(), String> {
    match event.returned() {
        Some((_, Answer::Act(Acted::Did(Todo::Delete(STRANGER), ..)))) => {
            Err("it deletes a pod of somebody else".to_owned())
        }
        _ => Ok(()),
    }
}

fn no_pod_outlives_its_set(book: &Book, _: &Event) -> Result<(), String> {
    orphan(&book.truth).map_or(Ok(()), Err)
}

/// Describes a pod whose owner is gone.
pub(super) fn orphan(Truth { set, pods }: &Truth) -> Option<String> {
    let uid = set.as_ref().map(|set| set.uid);
    let orphan = pods.iter().find(|pod| pod.owner.is_some() && pod.owner != uid)?;
    Some(format!("{orphan:?} has outlived its set"))
}

/// Tells whether some event meets a condition. The condition also sees the state before the event.
pub(super) fn some(history: &History, wanted: impl Fn(&Book, &Event) -> bool) -> bool {
    Book::some(history, wanted)
}
