//! A server with one replica set and its pods, and the changes that the caches have not seen yet.

use std::collections::{BTreeMap, VecDeque};

use super::rules;

/// A uid or a name: the revision at which it was made.
pub type Id = u64;
/// A replica set.
pub type Set = rules::Set<Id>;
/// A pod.
pub type Pod = rules::Pod<Id>;
/// A request.
pub type Todo = rules::Todo<Id>;

/// A pod that does not belong to the set.
pub(super) const STRANGER: Id = 0;

/// The kind of objects in a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The set.
    Sets,
    /// Pods.
    Pods,
}

/// The actions of users, and accidents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happen {
    /// A user wants this number of pods, and makes the set if there is none.
    Wants(usize),
    /// A user deletes the set.
    Deletes,
    /// A node dies, and a pod with it.
    Kills,
    /// As `Kills`, but the server does not send the change: the cache must list.
    Loses,
    /// The server will refuse the next request.
    Refuses,
    /// The process of the controller dies, and another one starts.
    Crashes,
}

/// The objects of the server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Truth {
    /// The set.
    pub set: Option<Set>,
    /// All pods but the stranger.
    pub pods: Vec<Pod>,
}

/// A change, on its way to a cache.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Set(Option<Set>),
    Pod(Id, Option<Id>),
    Gone(Id),
}

/// The server.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) revision: u64,
    pub(super) set: Option<Set>,
    /// Pods with their owners.
    pub(super) pods: BTreeMap<Id, Option<Id>>,
    refuses: bool,
    /// The changes that each cache has not seen, with their revisions; `None` if the cache must
    /// list.
    pub(super) behind: [Option<VecDeque<(u64, Change)>>; 2],
}

impl Server {
    pub(super) fn new() -> Self {
        let pods = BTreeMap::from([(STRANGER, None)]);
        Self { revision: 0, set: None, pods, refuses: false, behind: [None, None] }
    }

    pub(super) fn truth(&self) -> Truth {
        let ours = self.pods.iter().filter(|(name, _)| **name != STRANGER);
        let pods = ours.map(|(name, owner)| Pod { name: *name, owner: *owner }).collect();
        Truth { set: self.set.clone(), pods }
    }

    /// Counts a change, and sends it to the cache.
    fn changed(&mut self, kind: Kind, change: Change) {
        self.revision += 1;
        if let Some(behind) = &mut self.behind[kind as usize] {
            behind.push_back((self.revision, change));
        }
    }

    fn put_set(&mut self, set: Option<Set>) {
        self.set.clone_from(&set);
        self.changed(Kind::Sets, Change::Set(set));
    }

    /// Gives a pod its owner; the pod is made if it is not there.
    pub(super) fn put_pod(&mut self, name: Id, owner: Option<Id>) {
        self.pods.insert(name, owner);
        self.changed(Kind::Pods, Change::Pod(name, owner));
    }

    fn remove_pod(&mut self, name: Id) {
        if self.pods.remove(&name).is_some() {
            self.changed(Kind::Pods, Change::Gone(name));
        }
    }

    pub(super) fn happen(&mut self, happen: Happen) {
        match (happen, self.set.clone()) {
            (Happen::Wants(wanted), Some(set)) => self.put_set(Some(Set { wanted, ..set })),
            (Happen::Wants(wanted), None) => {
                let uid = self.revision + 1;
                let set = Set { uid, wanted, ready: 0, guarded: false, deleted: false };
                self.put_set(Some(set));
            }
            (Happen::Deletes, Some(set)) => {
                let stays = set.guarded.then_some(Set { deleted: true, ..set });
                self.put_set(stays);
            }
            (Happen::Deletes, None) => {}
            (Happen::Kills | Happen::Loses, _) => {
                let first = self.pods.keys().copied().find(|name| *name != STRANGER);
                first.into_iter().for_each(|name| self.remove_pod(name));
                if happen == Happen::Loses {
                    self.behind[Kind::Pods as usize] = None;
                }
            }
            (Happen::Refuses, _) => self.refuses = true,
            (Happen::Crashes, _) => self.behind = [None, None], // a new process lists
        }
    }

    /// Carries out a request of a controller about a set; false if it is refused.
    pub(super) fn request(&mut self, about: Option<Id>, todo: &Todo) -> bool {
        // A request names the set by its uid: a set that was made again is another one.
        let set = self.set.clone().filter(|set| Some(set.uid) == about);
        match (todo, set) {
            _ if std::mem::take(&mut self.refuses) => return false,
            // A server refuses to add a finalizer to a deleted object.
            (Todo::Guard, Some(set)) if !set.deleted => {
                self.put_set(Some(Set { guarded: true, ..set }));
            }
            (Todo::Report(ready), Some(set)) => self.put_set(Some(Set { ready: *ready, ..set })),
            (Todo::Release, Some(set)) => {
                self.put_set((!set.deleted).then_some(Set { guarded: false, ..set }));
            }
            (Todo::Create, _) => self.put_pod(self.revision + 1, about), // the owner may be gone
            (Todo::Delete(name), _) => self.remove_pod(*name),           // it may be gone already
            _ => return false,
        }
        true
    }
}
