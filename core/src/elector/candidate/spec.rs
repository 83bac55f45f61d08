//! The object that a candidate publishes.

use crate::elector::lock::{Content, Kind, StoreError};
use crate::elector::record::{Name, Timestamp};

/// The spec of a LeaseCandidate (`election:LC-2`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct CandidateSpec {
    /// `leaseName`: the lease that the candidate competes for.
    pub lease: Name,
    /// `pingTime`: when the server last pinged the candidate. The candidate never clears it,
    /// because the server needs it to see who has answered.
    pub ping_time: Option<Timestamp>,
    /// `renewTime`: when the candidate last answered.
    pub renew_time: Option<Timestamp>,
    /// `binaryVersion`.
    pub binary_version: Name,
    /// `emulationVersion`.
    pub emulation_version: Name,
    /// `strategy`: how the candidate wants the holder to be chosen.
    pub strategy: Name,
}

setters! {
    CandidateSpec {
        lease: Name,
        ping_time: Option<Timestamp>,
        renew_time: Option<Timestamp>,
        binary_version: Name,
        emulation_version: Name,
        strategy: Name,
    }
}

impl CandidateSpec {
    /// Tells whether the server waits for an answer. A candidate that never renewed has not
    /// answered any ping (`election:LC-7`).
    #[must_use]
    pub fn is_pinged(&self) -> bool {
        self.ping_time.is_some_and(|ping| self.renew_time.is_none_or(|renewed| renewed < ping))
    }
}

impl Kind for CandidateSpec {
    const KIND: &'static str = "LeaseCandidate";
    const API_VERSION: &'static str = "coordination.k8s.io/v1beta1";
}

impl Content for CandidateSpec {
    fn validate(&self) -> Result<(), StoreError> {
        if self.lease.is_empty() {
            return Err(StoreError::Invalid("leaseName must not be empty".into()));
        }
        Ok(())
    }
}
