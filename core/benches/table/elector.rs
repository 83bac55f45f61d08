//! The elector: an attempt of a leader, and one of a follower.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use seatrial_core::elector::{
    Config, Elector, Fields, LeaseLock, LeaseSpec, MemoryStore, Name, Record, Timestamp,
};
use seatrial_core::runtime::{Ambient, Instant, System};

use crate::Measure;
use crate::measure::duel;
use crate::row::Row;

pub(crate) const ROWS: &[Measure] = &[
    Measure::new("elector", "attempt, renewing", renewing),
    Measure::new("elector", "attempt, following", following),
];

const ATTEMPTS: usize = 100_000;
const LEASE_NANOS: u64 = 15_000_000_000;

/// A lease as the reference stores it: every copy has its own texts.
#[derive(Clone)]
struct PlainLease {
    namespace: String,
    name: String,
    uid: String,
    version: String,
    holder: String,
    duration_seconds: i32,
    acquire_time: Timestamp,
    renew_time: Timestamp,
    transitions: i32,
}

/// The reference's algorithm: the lease that was read becomes JSON, and the bytes are compared.
struct Plain {
    system: System,
    store: Arc<Mutex<PlainLease>>,
    identity: String,
    observed: RwLock<(Record, Instant)>,
    raw: Vec<u8>,
    remembered: Option<PlainLease>,
}

impl Plain {
    fn new(store: &Arc<Mutex<PlainLease>>, identity: &str) -> Self {
        Self {
            system: System::new(),
            store: Arc::clone(store),
            identity: identity.to_owned(),
            observed: RwLock::new((Record::default(), Instant::ZERO)),
            raw: Vec::new(),
            remembered: None,
        }
    }

    fn attempt(&mut self) -> bool {
        let now = self.system.now();
        let wall = Timestamp::from(self.system.wall());
        let (record, at) = self.observed.read().clone();
        let leads = record.holder.as_str() == self.identity;
        if leads && at.as_nanos() + LEASE_NANOS > now.as_nanos() && self.update(wall, &record) {
            return true;
        }
        let read = self.store.lock().clone();
        let record = Record::default()
            .holder(Name::new(&read.holder))
            .duration_seconds(read.duration_seconds.into())
            .acquire_time(Some(read.acquire_time))
            .renew_time(Some(read.renew_time))
            .transitions(read.transitions.into());
        let raw = record.to_json(Fields::Current).into_bytes();
        self.remembered = Some(read);
        if raw != self.raw {
            *self.observed.write() = (record.clone(), self.system.now());
            self.raw = raw;
        }
        let at = self.observed.read().1;
        let held = !record.holder.is_empty() && at.as_nanos() + LEASE_NANOS > now.as_nanos();
        if held && record.holder.as_str() != self.identity {
            return false;
        }
        self.update(wall, &record)
    }

    fn update(&mut self, wall: Timestamp, kept: &Record) -> bool {
        let Some(mut lease) = self.remembered.clone() else { return false };
        lease.holder.clone_from(&self.identity);
        lease.renew_time = wall;
        lease.transitions = i32::try_from(kept.transitions).unwrap_or(i32::MAX);
        let mut stored = self.store.lock();
        if stored.version != lease.version {
            return false;
        }
        let version: u64 = stored.version.parse().unwrap_or(0);
        lease.version = (version + 1).to_string();
        *stored = lease.clone();
        drop(stored);
        let record = Record::default()
            .holder(Name::new(&self.identity))
            .duration_seconds(15)
            .acquire_time(kept.acquire_time)
            .renew_time(Some(wall))
            .transitions(kept.transitions);
        self.remembered = Some(lease);
        *self.observed.write() = (record, self.system.now());
        true
    }
}

fn plain_store() -> Arc<Mutex<PlainLease>> {
    let now = Timestamp::from(System::new().wall());
    Arc::new(Mutex::new(PlainLease {
        namespace: "default".to_owned(),
        name: "controller".to_owned(),
        uid: "3e1c4b9a-9f0d-4a55-8a36-5d9ad5f5a1c2".to_owned(),
        version: "1".to_owned(),
        holder: String::new(),
        duration_seconds: 15,
        acquire_time: now,
        renew_time: now,
        transitions: 0,
    }))
}

fn repeat(mut attempt: impl FnMut() -> bool, expected: bool) -> impl FnMut() {
    move || {
        for _ in 0..ATTEMPTS {
            assert_eq!(attempt(), expected);
        }
    }
}

/// A leader and a follower, ours and plain; each pair shares one object.
fn measure(renews: bool) -> (f64, f64) {
    let system = System::new();
    let store: Arc<MemoryStore<System, LeaseSpec>> = Arc::new(MemoryStore::new(&system));
    let elector = |identity: &str| {
        let lock = LeaseLock::new(Arc::clone(&store), "default", "controller");
        Elector::new(&system, lock, Config::new(identity)).expect("the usual set-up is valid")
    };
    let (leader, follower) = (elector("controller-0_9f0d"), elector("controller-1_4a55"));
    let plain = plain_store();
    let mut plain_leader = Plain::new(&plain, "controller-0_9f0d");
    let mut plain_follower = Plain::new(&plain, "controller-1_4a55");
    let attempt = |elector: &Elector<_>| elector.attempt().expect("it does not run");
    assert!(plain_leader.attempt() && !plain_follower.attempt());
    assert!(attempt(&leader) && !attempt(&follower));
    let object = plain.lock().clone();
    assert_eq!((object.namespace.len(), object.name.len(), object.uid.len()), (7, 10, 36));
    let (ours, mut other) =
        if renews { (leader, plain_leader) } else { (follower, plain_follower) };
    duel(ATTEMPTS, repeat(|| attempt(&ours), renews), repeat(|| other.attempt(), renews))
}

fn renewing(part: &'static str, row: &'static str) -> Row {
    Row::new(part, row, measure(true)).gate(1.0)
}

fn following(part: &'static str, row: &'static str) -> Row {
    Row::new(part, row, measure(false)).gate(2.0)
}
