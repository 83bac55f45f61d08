//! How a server chooses the holder, for simulations and your own servers (`election:LC-8`).

use std::cmp::Ordering;

use crate::elector::record::{Name, Record, Timestamp};

use super::CandidateSpec;

/// The name of the only strategy.
pub const OLDEST_EMULATION_VERSION: &str = "OldestEmulationVersion";

/// A candidate as the server sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Applicant {
    /// The identity of the candidate.
    pub identity: Name,
    /// When its object was created.
    pub created: Timestamp,
    /// The spec that the candidate published.
    pub spec: CandidateSpec,
}

/// Chooses among the candidates that answered the latest ping: the lowest emulation version, then
/// the lowest binary version, then the oldest object. Texts that are not versions come last.
#[must_use]
pub fn oldest_emulation_version(applicants: &[Applicant]) -> Option<&Applicant> {
    let present = applicants.iter().filter(|applicant| !applicant.spec.is_pinged());
    present.min_by(|a, b| {
        by_version(&a.spec.emulation_version, &b.spec.emulation_version)
            .then_with(|| by_version(&a.spec.binary_version, &b.spec.binary_version))
            .then_with(|| a.created.cmp(&b.created))
            .then_with(|| a.identity.cmp(&b.identity))
    })
}

fn by_version(a: &Name, b: &Name) -> Ordering {
    match (version(a.as_str()), version(b.as_str())) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

/// Reads up to three numbers separated by points; a missing number is zero.
fn version(text: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    for (index, part) in text.strip_prefix('v').unwrap_or(text).split('.').enumerate() {
        *numbers.get_mut(index)? = part.parse().ok()?;
    }
    Some(numbers)
}

/// Returns the record that the server writes to make `winner` the holder. On a free lease it names
/// the winner as holder, on a held one as preferred holder, which asks the holder to make room.
/// `None` if there is nothing to do.
#[must_use]
pub fn nominate(
    record: &Record,
    is_free: bool,
    winner: &Name,
    duration_seconds: i64,
    now: Timestamp,
) -> Option<Record> {
    let strategy = Name::new(OLDEST_EMULATION_VERSION);
    if is_free || record.holder.is_empty() {
        return Some(Record {
            holder: winner.clone(),
            duration_seconds,
            acquire_time: Some(now),
            renew_time: Some(now),
            transitions: record.transitions.saturating_add(1),
            strategy,
            preferred_holder: Name::EMPTY,
        });
    }
    let content = record.holder == *winner || record.preferred_holder == *winner;
    (!content).then(|| Record { preferred_holder: winner.clone(), strategy, ..record.clone() })
}
