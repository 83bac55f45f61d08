//! A controller of replica sets with its server, as one machine: caches that follow late, a worker
//! that plans by the shipped rules, and a process that may die after every request. Caches and
//! queue are as simple as their promises allow: the pages `delivery`, `reflector` and `queue` check
//! the real ones.

use std::collections::{BTreeMap, VecDeque};

use seatrial_core::machine::{Channel, Cx, Operation, Step};

use super::rules::plan;
use super::server::{Change, Happen, Id, Kind, Pod, Server, Set, Todo, Truth};

/// The channel of the worker. A caller that follows a kind sleeps on the channel with the kind's
/// number.
const WORKER: Channel = 2;
const RESTERS: Channel = 3;

/// Lets something happen. Returns the server's objects then, and how many requests of a plan were
/// left.
#[derive(Clone, Copy, Debug)]
pub struct Occur(pub Happen);

/// The cache of a kind takes in one change, or lists. False if everything has stopped.
#[derive(Clone, Copy, Debug)]
pub struct Inform(pub Kind);

/// A worker takes the key and makes a plan.
#[derive(Clone, Copy, Debug)]
pub struct Take;

/// A worker of the process with this number makes its next request.
#[derive(Clone, Copy, Debug)]
pub struct Act(pub u32);

/// Stops everything once this many things have happened and everything is at rest.
#[derive(Clone, Copy, Debug)]
pub struct StopAtRest(pub u32);

/// The work that a worker has taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Work {
    /// The number of its process.
    pub process: u32,
    /// The requests to make.
    pub todo: Vec<Todo>,
}

/// The result of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acted {
    /// It was carried out; then the server's objects, and how many requests are left.
    Did(Todo, Truth, usize),
    /// It was refused, and the plan is void.
    Refused(Todo),
    /// The process is dead.
    Dead,
}

seatrial_core::operations! {
    [] Stage: Call, Answer {
        Occur(Occur) -> (Truth, usize),
        Inform(Inform) -> bool,
        Take(Take) -> Option<Work>,
        Act(Act) -> Acted,
        StopAtRest(StopAtRest) -> (),
    }
}

/// The state that is lost when the process dies.
#[derive(Clone, Debug, Default)]
struct Process {
    /// The caches.
    set: Option<Set>,
    pods: BTreeMap<Id, Option<Id>>,
    /// Whether the key is in the queue.
    due: bool,
    /// The caches must show these revisions before the key is taken.
    wrote: [u64; 2],
    /// The set that the plan is about.
    about: Option<Id>,
    plan: VecDeque<Todo>,
    /// Pods that it has created: for mistakes.
    created: Vec<Id>,
    /// A pod that has no owner yet: for a mistake.
    half_made: Option<Id>,
}

/// Server, caches and controller.
#[derive(Clone, Debug)]
pub struct Stage {
    mistake: &'static str,
    server: Server,
    process: Process,
    number: u32,
    happened: u32,
    stopped: bool,
}

impl Stage {
    pub(super) fn new(mistake: &'static str) -> Self {
        let (server, process) = (Server::new(), Process::default());
        Self { mistake, server, process, number: 0, happened: 0, stopped: false }
    }

    fn has(&self, mistake: &'static str) -> bool {
        self.mistake == mistake
    }

    pub(super) fn truth(&self) -> Truth {
        self.server.truth()
    }

    pub(super) fn has_pod(&self, name: Id) -> bool {
        self.server.pods.contains_key(&name)
    }

    /// Whether nothing is in progress any more.
    pub(super) fn is_at_rest(&self) -> bool {
        let told = self.server.behind.iter().all(|it| it.as_ref().is_some_and(VecDeque::is_empty));
        told && !self.process.due && self.process.plan.is_empty()
    }

    /// A cache takes in changes that it has not seen, and the key becomes due. False if there are
    /// none.
    fn inform(&mut self, kind: Kind) -> bool {
        let behind = self.server.behind[kind as usize].as_mut().map(VecDeque::pop_front);
        let (is_list, changes) = match behind {
            None => (true, self.list(kind)),
            Some(None) => return false,
            Some(Some((_, change))) => (false, vec![change]),
        };
        self.server.behind[kind as usize].get_or_insert_default();
        let silent = if is_list { "lists_tell_no_deletions" } else { "deletions_are_not_told" };
        for change in changes {
            let forgets = matches!(change, Change::Gone(_)) && self.has(silent);
            self.process.due |= !forgets;
            match change {
                Change::Set(set) => self.process.set = set,
                Change::Pod(name, owner) => drop(self.process.pods.insert(name, owner)),
                Change::Gone(name) => drop(self.process.pods.remove(&name)),
            }
        }
        true
    }

    /// The differences between the server and the cache, as a list finds them.
    fn list(&self, kind: Kind) -> Vec<Change> {
        if kind == Kind::Sets {
            return vec![Change::Set(self.server.set.clone())];
        }
        let (there, cached) = (&self.server.pods, &self.process.pods);
        let gone = cached.keys().filter(|name| !there.contains_key(name));
        let gone = gone.filter(|_| !self.has("lists_keep_what_is_gone"));
        let differs = there.iter().filter(|(name, owner)| cached.get(name) != Some(owner));
        let differs = differs.map(|(name, owner)| Change::Pod(*name, *owner));
        gone.map(|name| Change::Gone(*name)).chain(differs).collect()
    }

    /// Whether a cache has listed, and shows all writes of this process.
    fn shows_own_writes(&self, kind: Kind) -> bool {
        match &self.server.behind[kind as usize] {
            None => kind == Kind::Pods && self.has("works_before_the_sync"),
            Some(_) if self.has("acts_on_a_stale_cache") => true,
            Some(behind) => {
                behind.front().is_none_or(|(next, _)| *next > self.process.wrote[kind as usize])
            }
        }
    }

    /// Whether the worker has a key to take.
    fn is_ready(&self) -> bool {
        let kinds = [Kind::Sets, Kind::Pods];
        self.process.due && kinds.into_iter().all(|kind| self.shows_own_writes(kind))
    }

    /// Wakes the callers that can move now.
    fn wake(&self, cx: &mut Cx<'_>) {
        for (channel, behind) in [0, 1].into_iter().zip(&self.server.behind) {
            if self.stopped || behind.as_ref().is_none_or(|it| !it.is_empty()) {
                cx.wakes.all(channel);
            }
        }
        if self.stopped || self.is_ready() {
            cx.wakes.all(WORKER);
        }
        if self.is_at_rest() {
            cx.wakes.all(RESTERS);
        }
    }

    /// Makes a plan from the caches, as the shipped controller does, except for a mistake.
    fn plan(&self) -> Vec<Todo> {
        let cache = &self.process;
        let mut set = cache.set.clone();
        let pods = cache.pods.iter().map(|(name, owner)| Pod { name: *name, owner: *owner });
        let mut pods: Vec<Pod> = pods.collect();
        match (self.mistake, &mut set) {
            ("counts_what_it_created_twice", Some(set)) => {
                set.wanted = set.wanted.saturating_sub(cache.created.len());
            }
            ("counts_from_memory", _) => pods.retain(|pod| cache.created.contains(&pod.name)),
            ("owns_by_name", Some(set)) => {
                pods.iter_mut().for_each(|pod| pod.owner = Some(set.uid));
            }
            _ => {}
        }
        let mut todo = plan(set.as_ref(), &pods);
        match self.mistake {
            "never_guards" => todo.retain(|it| *it != Todo::Guard),
            "never_releases" => todo.retain(|it| *it != Todo::Release),
            "releases_first" if set.is_some_and(|set| set.deleted && set.guarded) => {
                todo.retain(|it| *it != Todo::Release);
                todo.insert(0, Todo::Release);
            }
            _ => {}
        }
        todo
    }

    fn take(&mut self) -> Work {
        let todo = self.plan();
        self.process.due = false;
        self.process.plan = todo.iter().cloned().collect();
        self.process.about = self.process.set.as_ref().map(|set| set.uid);
        Work { process: self.number, todo }
    }

    fn request(&mut self, todo: &Todo) -> bool {
        let creates = *todo == Todo::Create;
        let owner = self.process.about;
        if let Some(name) = self.process.half_made.take_if(|_| creates) {
            self.server.put_pod(name, owner);
            return true;
        }
        let later = creates && self.has("owns_later");
        let went_well = self.server.request(owner.filter(|_| !later), todo);
        if creates && went_well {
            self.process.created.push(self.server.revision);
        }
        if later && went_well {
            self.process.half_made = Some(self.server.revision);
            self.process.plan.push_front(Todo::Create);
        }
        went_well
    }

    /// Makes the next request of the plan.
    fn act(&mut self, process: u32) -> Acted {
        if process != self.number {
            return Acted::Dead;
        }
        let todo = self.process.plan.pop_front().expect("a worker acts while there is a plan");
        let went_well = self.request(&todo);
        // The caches must show this write before the next plan. After a failed request, they must
        // show everything up to now: that replaces the pause before a retry.
        let kinds: &[Kind] = match todo {
            _ if !went_well => &[Kind::Sets, Kind::Pods],
            Todo::Create | Todo::Delete(_) => &[Kind::Pods],
            _ => &[Kind::Sets],
        };
        kinds.iter().for_each(|kind| self.process.wrote[*kind as usize] = self.server.revision);
        if !went_well {
            self.process.plan.clear();
            self.process.due |= !self.has("gives_up");
            return Acted::Refused(todo);
        }
        Acted::Did(todo, self.truth(), self.process.plan.len())
    }
}

impl Operation<Stage> for Occur {
    fn step(&mut self, stage: &mut Stage, cx: &mut Cx<'_>) -> Step<(Truth, usize)> {
        let left = stage.process.plan.len();
        stage.happened += 1;
        stage.server.happen(self.0);
        if self.0 == Happen::Crashes {
            stage.number += 1;
            stage.process = Process::default();
        }
        stage.wake(cx);
        Step::Done((stage.truth(), left))
    }
}

impl Operation<Stage> for Inform {
    fn step(&mut self, stage: &mut Stage, cx: &mut Cx<'_>) -> Step<bool> {
        if stage.stopped {
            return Step::Done(false);
        }
        if !stage.inform(self.0) {
            return Step::Wait { on: self.0 as Channel, until: None };
        }
        stage.wake(cx);
        Step::Done(true)
    }
}

impl Operation<Stage> for Take {
    fn step(&mut self, stage: &mut Stage, cx: &mut Cx<'_>) -> Step<Option<Work>> {
        if stage.stopped {
            return Step::Done(None);
        }
        if !stage.is_ready() {
            return Step::Wait { on: WORKER, until: None };
        }
        let work = stage.take();
        stage.wake(cx);
        Step::Done(Some(work))
    }
}

impl Operation<Stage> for Act {
    fn step(&mut self, stage: &mut Stage, cx: &mut Cx<'_>) -> Step<Acted> {
        let acted = stage.act(self.0);
        stage.wake(cx);
        Step::Done(acted)
    }
}

impl Operation<Stage> for StopAtRest {
    fn step(&mut self, stage: &mut Stage, cx: &mut Cx<'_>) -> Step<()> {
        if stage.happened < self.0 || !stage.is_at_rest() {
            return Step::Wait { on: RESTERS, until: None };
        }
        stage.stopped = true;
        stage.wake(cx);
        Step::Done(())
    }
}
