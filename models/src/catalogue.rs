//! The list of all components under trial. It is explicit, so that none is forgotten silently.

use crate::address::Address;
use crate::backoff::Backoff;
use crate::canary::Canary;
use crate::cancel::Cancel;
use crate::candidate::Candidate;
use crate::channel::Channel;
use crate::client::Client;
use crate::cluster::boundary;
use crate::delaying_queue::DelayingQueue;
use crate::delivery::Delivery;
use crate::delta_fifo::DeltaFifo;
use crate::elector::Elector;
use crate::expiring_store::ExpiringStore;
use crate::feed::Feed;
use crate::fifo::Fifo;
use crate::heap::Heap;
use crate::indexed_store::IndexedStore;
use crate::informer::Informer;
use crate::leases::Leases;
use crate::limited_queue::LimitedQueue;
use crate::limiter::Limiter;
use crate::mutation_cache::MutationCache;
use crate::ordered_fifo::OrderedFifo;
use crate::own_writes::OwnWrites;
use crate::pool::Pool;
use crate::priority_queue::PriorityQueue;
use crate::queue::Queue;
use crate::reflector::Reflector;
use crate::registry::Registry;
use crate::replica_set::ReplicaSet;
use crate::request::Request;
use crate::shell::Shell;
use crate::token_bucket::Bucket;
use crate::toy::{Toy, ToyBugs};
use crate::trial::subject;
use crate::watch::Watch;

pub use seatrial::catalogue::Catalogue;

/// This crate's own components.
///
/// A static: as a constant it would be compiled again, with all components, in every crate that names it.
pub static CATALOGUE: Catalogue = Catalogue {
    program: "seatrial",
    subjects: &[
        subject::<Queue>(),
        subject::<DeltaFifo>(),
        subject::<DelayingQueue>(),
        subject::<Fifo>(),
        subject::<LimitedQueue>(),
        subject::<Pool>(),
        subject::<Channel>(),
        subject::<Cancel>(),
        subject::<Request>(),
        subject::<Client>(),
        subject::<Address>(),
        subject::<Watch>(),
        subject::<Leases>(),
        subject::<Shell>(),
        subject::<PriorityQueue>(),
        subject::<Limiter>(),
        subject::<Bucket>(),
        subject::<Backoff>(),
        subject::<OrderedFifo>(),
        subject::<Reflector>(),
        subject::<Feed>(),
        subject::<OwnWrites>(),
        subject::<Informer>(),
        subject::<Registry>(),
        subject::<Delivery>(),
        subject::<ReplicaSet>(),
        subject::<Heap>(),
        subject::<ExpiringStore>(),
        subject::<IndexedStore>(),
        subject::<MutationCache>(),
        subject::<Elector>(),
        subject::<Candidate>(),
        subject::<Toy>(),
        subject::<ToyBugs>(),
        subject::<Canary>(),
    ],
    traces: &[
        crate::informer::conformance,
        crate::request::conformance,
        crate::apiserver::crud,
        crate::apiserver::finalizers,
        crate::apiserver::lease,
        crate::apiserver::list,
        crate::apiserver::patch,
        crate::apiserver::watch,
    ],
    commands: &[
        boundary::COMMAND,
        crate::apiserver::COMMAND,
        crate::apiserver::ASSETS,
        crate::apiserver::DRIVE,
    ],
    built_from: Some(env!("SEATRIAL_BUILT_FROM")),
};
