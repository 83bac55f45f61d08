//! What the replicas did, and when: who led, for how long two of them at once.

use std::time::{Duration, Instant};

use crate::replica::ACT;

/// A pause between two acts that is no end of a term: a busy machine is late.
const PAUSE: Duration = Duration::from_millis(300);

/// A stretch of time.
type Span = (Instant, Instant);

/// The acts of one replica as terms: from the first act of a row to the end of the last.
fn terms(acts: &[Instant]) -> Vec<Span> {
    let mut terms: Vec<Span> = Vec::new();
    for &at in acts {
        match terms.last_mut() {
            Some((_, end)) if at <= *end + PAUSE => *end = at + ACT,
            _ => terms.push((at, at + ACT)),
        }
    }
    terms
}

/// The longest time in which two replicas led at once.
pub fn longest_overlap(replicas: &[Vec<Instant>]) -> Duration {
    let all: Vec<_> = replicas.iter().map(|acts| terms(acts)).collect();
    let mut longest = Duration::ZERO;
    for (index, one) in all.iter().enumerate() {
        for other in &all[index + 1..] {
            for (a, b) in one.iter().flat_map(|a| other.iter().map(move |b| (a, b))) {
                longest = longest.max(a.1.min(b.1).saturating_duration_since(a.0.max(b.0)));
            }
        }
    }
    longest
}

/// How long after the fault another replica than the first began to act.
pub fn takeover(replicas: &[Vec<Instant>], fault: Instant) -> Option<Duration> {
    let others = replicas[1..].iter().flatten().filter(|at| **at >= fault);
    others.min().map(|at| *at - fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acts(zero: Instant, from: u64, to: u64) -> Vec<Instant> {
        (from..to).step_by(20).map(|at| zero + Duration::from_millis(at)).collect()
    }

    #[test]
    fn two_leaders_are_two_terms_that_meet() {
        let zero = Instant::now();
        let (first, second) = (acts(zero, 0, 2_000), acts(zero, 1_500, 3_000));
        assert_eq!(longest_overlap(&[first.clone(), second]), Duration::from_millis(500));
        assert_eq!(longest_overlap(&[first.clone(), acts(zero, 2_000, 3_000)]), Duration::ZERO);
        let stray = [first, acts(zero, 4_000, 4_020)].concat();
        let late = acts(zero, 3_000, 5_000);
        assert_eq!(longest_overlap(&[stray.clone(), late.clone()]), ACT, "one act is one too many");
        let fault = zero + Duration::from_millis(2_000);
        assert_eq!(takeover(&[stray, late], fault), Some(Duration::from_secs(1)));
    }
}
