//! The controllers that a cluster has, each small, all optional, and as deterministic as the server.
//!
//! [`Controllers::settle`] runs them on a server until none has anything left to do at a time. Like
//! any other client they use the server by requests alone: faults strike their requests too, and a
//! controller tries a failed request again in the next round. The caller decides on the time:
//! [`Controllers::due`] tells when a pod will become ready, end, or fail, so that a program may
//! jump there.
//!
//! ```
//! use std::time::Duration;
//! use seatrial_sim::apiserver::{Options, Request, Server};
//! use seatrial_sim::controllers::Controllers;
//!
//! let mut server = Server::new(&Options::default());
//! let pod = serde_json::json!({"containers": [{"name": "c", "image": "i"}]});
//! let body = serde_json::json!({
//!     "metadata": {"name": "web"},
//!     "spec": {
//!         "replicas": 3,
//!         "selector": {"matchLabels": {"app": "web"}},
//!         "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod},
//!     },
//! });
//! let path = "/apis/apps/v1/namespaces/default/deployments";
//! server.handle(Duration::ZERO, &Request::new("POST", path).json(&body));
//!
//! let mut controllers = Controllers::all();
//! let now = controllers.run(&mut server, Duration::ZERO, Duration::from_secs(60));
//! assert!(now < Duration::from_secs(60), "all is quiet before");
//! ```

mod client;
mod deployment;
mod garbage;
mod job;
mod kubelet;
mod namespaces;
mod pods;
mod quotas;
mod replicaset;
mod statefulset;

use std::time::Duration;

use client::{Client, Room};
pub use kubelet::{End, Kubelet, Plan};

use crate::apiserver::Server;

/// One controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// Deletes what lost its owners, and lets owners go by their propagation policy.
    Garbage,
    /// Empties namespaces that are being deleted, and finalizes them.
    Namespaces,
    /// Makes and deletes the replica sets of deployments.
    Deployments,
    /// Makes and deletes the pods of replica sets.
    ReplicaSets,
    /// Makes and deletes the pods of stateful sets, one after the other.
    StatefulSets,
    /// Makes the pods of jobs, and counts the pods that end.
    Jobs,
    /// Writes down what quotas limit, and how much of it is used.
    Quotas,
    /// Makes pods run, become ready, fail and end, as its plans say.
    Kubelet,
}

/// All of them, in the order in which they have their turns.
const ALL: [Controller; 8] = [
    Controller::Deployments,
    Controller::ReplicaSets,
    Controller::StatefulSets,
    Controller::Jobs,
    Controller::Quotas,
    Controller::Kubelet,
    Controller::Garbage,
    Controller::Namespaces,
];

/// The most rounds: enough for anything that ends by itself.
const ROUNDS: usize = 1_000;
/// How many rounds in a row may bring nothing but refusals.
const PATIENCE: usize = 5;
/// How long after a vain attempt to settle the next one comes at first.
pub(crate) const AGAIN: Duration = Duration::from_secs(1);
/// The most objects that are made until they settle or give up: a number too large for the memory
/// becomes no attempt to fill it.
const BURST: usize = 1_000;
/// The most pods by default.
const MOST_PODS: usize = 5_000;

/// Controllers, and their memory. A copy is independent.
#[derive(Clone, Debug)]
pub struct Controllers {
    which: Vec<Controller>,
    /// How many pods there may be at once, ended ones as well; 5,000 by default. At that number no
    /// more are made, so a controller that makes pods for ever cannot fill the memory.
    pub most_pods: usize,
    /// The node that all pods run on.
    pub kubelet: Kubelet,
}

impl Controllers {
    /// All controllers.
    pub fn all() -> Self {
        Self::only(&ALL)
    }

    /// These controllers.
    pub fn only(which: &[Controller]) -> Self {
        let which = ALL.into_iter().filter(|it| which.contains(it)).collect();
        Self { which, most_pods: MOST_PODS, kubelet: Kubelet::default() }
    }

    /// All of these but one.
    #[cfg(feature = "drive")]
    pub(crate) fn without(mut self, one: Controller) -> Self {
        self.which.retain(|it| *it != one);
        self
    }

    /// Gives each controller its turn until nothing is written any more. Returns false if that does
    /// not happen: a request is refused again and again, two controllers undo each other's work for
    /// a thousand rounds, or more than a thousand objects or [`Controllers::most_pods`] are wanted.
    /// Then the next call goes on, as far as it may.
    pub fn settle(&mut self, server: &mut Server, now: Duration) -> bool {
        let pods = self.most_pods.saturating_sub(server.count("pods"));
        let (mut vain, mut room) = (0, Room { left: BURST, pods, is_short: false });
        for _ in 0..ROUNDS {
            let (before, mut failures) = (server.revision(), 0);
            room.is_short = false;
            for controller in self.which.clone() {
                failures += self.turn(controller, server, now, &mut room);
            }
            if room.left == 0 {
                return false;
            }
            if server.revision() != before {
                vain = 0;
                continue;
            }
            // A refused request may stay refused for good.
            vain += 1;
            if failures == 0 || vain == PATIENCE {
                return failures == 0 && !room.is_short;
            }
        }
        false
    }

    /// Gives back how many requests failed.
    fn turn(
        &mut self,
        controller: Controller,
        server: &mut Server,
        now: Duration,
        room: &mut Room,
    ) -> usize {
        let user = match controller {
            Controller::Kubelet => "kubelet",
            _ => "kube-controller-manager",
        };
        let mut client = Client::new(server, now, user, *room);
        match controller {
            Controller::Garbage => garbage::turn(&mut client),
            Controller::Namespaces => namespaces::turn(&mut client),
            Controller::Deployments => deployment::turn(&mut client),
            Controller::ReplicaSets => replicaset::turn(&mut client),
            Controller::StatefulSets => statefulset::turn(&mut client),
            Controller::Jobs => job::turn(&mut client),
            Controller::Quotas => quotas::turn(&mut client),
            Controller::Kubelet => self.kubelet.turn(&mut client),
        }
        *room = client.room;
        client.failures
    }

    /// When the next thing happens by itself, if anything will: later than the last time that they
    /// settled.
    pub fn due(&self) -> Option<Duration> {
        let runs = self.which.contains(&Controller::Kubelet);
        if runs { self.kubelet.due() } else { None }
    }

    /// Settles at a time and then at every time at which something is due, until nothing is due or
    /// the end comes. Controllers that do not settle try again, later each time. Returns the time
    /// at which nothing was left to do, or the end.
    pub fn run(&mut self, server: &mut Server, from: Duration, end: Duration) -> Duration {
        let (mut now, mut pause) = (from, AGAIN);
        loop {
            match self.attempt(server, now, &mut pause) {
                Some(next) if next <= end => now = next,
                Some(_) => return end,
                None => return now,
            }
        }
    }

    /// Settles, and says when to do so again if nothing is written before; never if it is none.
    pub(crate) fn attempt(
        &mut self,
        server: &mut Server,
        now: Duration,
        pause: &mut Duration,
    ) -> Option<Duration> {
        let has_settled = self.settle(server, now);
        // An event that is due but could not be handled is tried again.
        let due = self.due().filter(|due| *due > now);
        let again = (!has_settled).then_some(now + *pause);
        *pause = if has_settled { AGAIN } else { *pause * 2 };
        due.into_iter().chain(again).min()
    }
}
