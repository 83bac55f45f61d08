//! The gate of a run whose order is chosen: requests wait in front of the server, and events in front of
//! their watches, until no process can do anything more. Then one of them is let through.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::guide::Guide;
use super::touch::{Act, Delivery, Id, binds};
use crate::apiserver::WatchId;
use crate::simulation::trace::{Asked, What};
use crate::simulation::world::Outside;

/// The deliveries that wait, and the one that is under way.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) guide: Guide,
    /// When each request that waits has left its process.
    held: BTreeMap<u64, Duration>,
    passing: Option<u64>,
    /// The watches that may tell.
    open: BTreeSet<WatchId>,
    /// The resources of which somebody has asked for all objects.
    listed: BTreeSet<String>,
}

/// What the gate has done.
pub(crate) enum Delivered {
    /// Nothing waits.
    Nothing,
    /// A request is under way.
    Travels,
    /// This process may go on.
    To(usize),
    /// The order is tried in another run.
    Wasted,
}

impl Gate {
    pub(crate) fn new(guide: Guide) -> Self {
        let (held, open, listed) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self { guide, held, passing: None, open, listed }
    }

    pub(crate) fn hold(&mut self, number: u64, now: Duration) {
        self.held.insert(number, now);
    }

    pub(crate) fn holds(&self, number: u64) -> bool {
        self.held.contains_key(&number)
    }

    /// A request has arrived, by the gate or because its process has died.
    pub(crate) fn arrived(&mut self, number: u64, asked: &Asked) {
        self.held.remove(&number);
        self.passing.take_if(|it| *it == number);
        if asked.is_list() {
            self.listed.insert(asked.resource.clone());
        }
    }
}

impl Outside {
    /// Whether a watch has news that wait.
    pub(crate) fn is_held(&mut self, id: WatchId) -> bool {
        let Some(gate) = &mut self.gate else { return false };
        self.server.has_news(id) && !gate.open.remove(&id)
    }

    /// Lets the next one through, if none is under way and nobody works.
    pub(crate) fn deliver(&mut self, is_busy: bool) -> Delivered {
        let Some(mut gate) = self.gate.take() else { return Delivered::Nothing };
        let delivered = match gate.passing {
            Some(_) => Delivered::Travels,
            None if is_busy => Delivered::Nothing,
            None => self.choose(&mut gate),
        };
        self.gate = Some(gate);
        delivered
    }

    fn choose(&mut self, gate: &mut Gate) -> Delivered {
        let all = self.waiting(gate);
        if all.is_empty() {
            return Delivered::Nothing;
        }
        let Some(taken) = gate.guide.choose(&all) else { return Delivered::Wasted };
        let next = &all[taken];
        if taken > 0 {
            let (number, who) = (gate.guide.nodes.len(), &self.names[next.process]);
            let text = format!("order({number}:{taken}): next is {who}, {}", next.text);
            self.note(What::Struck { text });
        }
        match next.id {
            Id::News(id) => drop(gate.open.insert(WatchId(id))),
            Id::Request(number) => {
                gate.held.remove(&number);
                gate.passing = Some(number);
            }
        }
        Delivered::To(next.process)
    }

    /// What waits: first the news, then the requests in the order of their departure.
    pub(super) fn waiting(&self, gate: &Gate) -> Vec<Delivery> {
        let now = self.now();
        let mut waiting = Vec::new();
        for (id, of) in &self.watches {
            let is_silent = self.silences.get(of).is_some_and(|it| now < it.until);
            let lag = self.lags.get(&of.0).filter(|it| it.resource == of.1);
            let is_late = lag.is_some_and(|it| now < it.until);
            if !is_silent && !is_late && !gate.open.contains(id) && self.server.has_news(*id) {
                waiting.push(Delivery {
                    id: Id::News(id.0),
                    process: of.0,
                    since: now,
                    text: format!("told of {}", of.1),
                    resource: of.1.clone(),
                    act: Act::Tells,
                    is_ordered: false,
                    is_bound: false,
                });
            }
        }
        waiting.sort_by(|a, b| (a.process, &a.text, a.id).cmp(&(b.process, &b.text, b.id)));
        // Rules of the test look at the state after each write.
        let is_bound = self.rules.look_between()
            || self.server.objects().any(|(it, all)| binds(&it) && all.len() > 0);
        let mut requests = Vec::new();
        for (number, since) in &gate.held {
            let Some((process, request)) = self.travelling.get(number) else { continue };
            // What a path is about may change while it waits: a definition comes, or goes.
            let it = Delivery::of(&self.server, request, (*process, *number));
            // Services are given addresses, one after the other.
            let is_ordered = it.resource == "services" || gate.listed.contains(&it.resource);
            requests.push(Delivery { since: *since, is_ordered, is_bound, ..it });
        }
        // Where hash maps have seeds of their own, a process sends at one time now this, now that first.
        let key = |it: &Delivery| (it.since, it.process, it.text.clone(), it.id);
        requests.sort_by_cached_key(key);
        waiting.extend(requests);
        waiting
    }
}
