//! Small programs with a lock, each named by the case that it must reach.

use super::machine::Call;
use super::server::{Change, Trouble};
use super::{History, Leases};
use crate::queues::fixtures::{caller, in_turns};
use crate::shared::Shared;
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Leases>> {
    vec![others_write_as_well(), requests_are_refused(), requests_are_lost(), two_write()]
}

impl Shared<Leases> {
    fn all(&self, calls: impl IntoIterator<Item = Call>) {
        calls.into_iter().for_each(|call| drop(self.call(call)));
    }
}

/// Whether callers got this result at least this many times.
fn told(history: &History, wanted: &str, count: usize) -> bool {
    let told = history.events.iter().filter_map(|event| Some(&event.returned()?.1.told));
    told.filter(|told| *told == wanted).count() >= count
}

use Call::{Create, Get, Next, Others, Update};

/// Other clients change the Lease in every way.
fn others_write_as_well() -> Scenario<Leases> {
    Scenario::new(
        "others_write_as_well",
        "other clients take the Lease, empty it, delete it, and write an invalid time",
        |world| {
            let lock = Shared::new(world);
            lock.all([Get, Update("a", 0), Create("a", 0), Update("a", 1), Create("b", 0)]);
            lock.all([Others(Change::Takes), Update("a", 2), Get, Update("a", 2), Get]);
            lock.all([Others(Change::Empties), Get, Update("a", 1), Get]);
            lock.all([Others(Change::Spoils), Get, Update("a", 0)]);
            lock.all([Others(Change::Deletes), Update("a", 0), Get, Create("a", 2)]);
        },
        |history| {
            told(history, "Conflict", 2)
                && told(history, "NotFound", 2)
                && told(history, "Other", 1)
        },
    )
}

/// Requests are refused with every code that has a meaning.
fn requests_are_refused() -> Scenario<Leases> {
    Scenario::new(
        "requests_are_refused",
        "the server refuses reads and writes with every code, and asks for a retry",
        |world| {
            let lock = Shared::new(world);
            lock.all([Create("a", 0), Get]);
            for code in [400, 401, 403, 409, 422, 429, 500, 503, 504] {
                let refused = || Next(Trouble::Refuses(code));
                lock.all([refused(), Get, refused(), Update("a", 1), Update("a", 2)]);
                lock.all([refused(), Create("b", 1)]);
            }
        },
        |history| {
            told(history, "Invalid", 6)
                && told(history, "Conflict", 2)
                && told(history, "Timeout", 3)
        },
    )
}

/// Requests and their answers are lost, or the server stays silent.
fn requests_are_lost() -> Scenario<Leases> {
    Scenario::new(
        "requests_are_lost",
        "requests or their answers are lost, or the server is silent",
        |world| {
            let lock = Shared::new(world);
            lock.all([Create("a", 0)]);
            for trouble in [Trouble::LosesRequest, Trouble::LosesAnswer, Trouble::Silence] {
                lock.all([Next(trouble), Get, Next(trouble), Update("a", 1), Update("a", 2), Get]);
                lock.all([Others(Change::Deletes), Next(trouble), Create("b", 0), Create("b", 1)]);
            }
        },
        |history| told(history, "Other", 6) && told(history, "Timeout", 3),
    )
}

/// Another client takes the Lease between two calls.
fn two_write() -> Scenario<Leases> {
    Scenario::new(
        "two_write",
        "another client takes the Lease between calls of the lock",
        |world| {
            let lock = Shared::new(world);
            let other = caller(world, "other", &lock, |lock| {
                lock.call(Others(Change::Takes));
            });
            lock.all([Create("a", 0), Update("a", 1), Get, Update("a", 2)]);
            world.join(other);
            lock.all([Update("b", 0), Get, Update("b", 1)]);
        },
        in_turns,
    )
}
