//! Mistakes of one changed line each. A mistake that a wrapper around the rules that ship can make
//! is made there instead.

/// The mistakes of the reference: with all of them the rules replay its recorded traces.
pub(crate) const REFERENCE: &[Mistake] = &[
    Mistake::WorkOutlivesTheLease,
    Mistake::ReleaseRetriesAtOnce,
    Mistake::AbandonsAnAcquisition,
    Mistake::NoDurationIsOver,
    Mistake::LeaderWithoutTime,
    Mistake::ComparesTheText,
    Mistake::ActsWithoutLimit,
    Mistake::TrustsItsName,
    Mistake::ForgetsAtCreate,
    Mistake::ReleasesByMemory,
    Mistake::MetricStaysOn,
    Mistake::FastPathInAnotherRun,
    Mistake::CountsFromTheOldSighting,
    Mistake::OwnIsOwnForEver,
    Mistake::CreatesAtOnce,
    Mistake::ReleaseDoesNotObserve,
];

/// A mistake that a programmer may make in the rules of the elector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mistake {
    // Mistakes that the reference makes to this day, and that the shipped elector avoids.
    /// The work is cancelled after the lease was given away.
    WorkOutlivesTheLease,
    /// A release that met a conflict tries again at once.
    ReleaseRetriesAtOnce,
    /// A cancelled acquisition is left as it is, whether it was applied or not.
    AbandonsAnAcquisition,
    /// A lease without a duration counts as over when it is read a second time.
    NoDurationIsOver,
    /// The question whether the elector leads ignores the time.
    LeaderWithoutTime,
    /// Two states of the lock are the same if their texts are, which have whole seconds.
    ComparesTheText,
    /// A term does not end by itself, however late the answer that prolongs it.
    ActsWithoutLimit,
    /// A record with the own name is renewed, whichever term wrote it, and no other record ends a
    /// term. A lease that is taken from another keeps the time at which this elector acquired its own.
    TrustsItsName,
    /// A creation that fails makes it forget the version that it knew.
    ForgetsAtCreate,
    /// A release frees the lease that is read if the record observed before it has the own name.
    ReleasesByMemory,
    /// The metric stays on if a run is cancelled, or breaks down, while it leads.
    MetricStaysOn,
    // Mistakes that the reference made once.
    /// The time of an observation is written after the record, in a section of its own.
    TimeWrittenLater,
    /// A run that panics leaves its state behind.
    BreaksAndForgets,
    /// A release waits for its calls without limit.
    ReleaseWithoutDeadline,
    /// The last holder updates the lease without reading it, even in another run.
    FastPathInAnotherRun,
    /// A record counts as observed when it is sent, before the store has answered.
    LeadsBeforeTheReply,
    /// After a failed round the run acquires again, and leads again.
    LeadsTwiceARun,
    /// No set-up is refused.
    NoValidation,
    /// Leases of less than a second, and with fractions, are accepted.
    FractionalLeases,
    /// An elector that reads a lease without times panics.
    NeedsTimes,
    // Mistakes that any programmer may make. A store that goes back shows the first two.
    /// A state that is seen again counts from its own first sighting.
    CountsFromTheOldSighting,
    /// The refusal of a write does not count as a newer state than the one that was read.
    RefusalsAreNoNews,
    /// A record of this elector counts as its own however old it is.
    OwnIsOwnForEver,
    /// A lock object that is gone is created anew at once, although another held the lease.
    CreatesAtOnce,
    /// A lease is taken when it is first read.
    NoWait,
    /// An attempt goes on with its calls although its run is cancelled.
    CancelWaitsForTheAttempt,
    /// A call of a round has no deadline.
    RoundWithoutDeadline,
    /// A failed attempt of a round is followed by the next after half the period.
    PollsTwiceAsOften,
    /// The token carries the version that was read before the acquisition.
    TokenOfTheRead,
    /// The release waits for the work without limit.
    WaitsForTheWorkForEver,
    /// The release does not wait for the work.
    ReleasesBesideTheWork,
    /// A run that is cancelled while it acquires leads nevertheless.
    LeadsThoughCancelled,
    /// Every term counts as held while one is live.
    HoldsAnyTerm,
    /// An update names the first version that was read.
    NamesTheFirstVersion,
    /// A release does not observe the record that it reads.
    ReleaseDoesNotObserve,
    /// An acquisition that is answered after its time is over begins a term.
    LeadsTooLate,
    /// An elector that reads its loss stops leading, and takes the lease back in the same attempt.
    TakesBackWhatItLost,
    /// An elector that reads its loss gives up only the attempt, and goes on leading.
    LossEndsTheAttemptAlone,
    /// The wait for the work listens on a channel that is never woken.
    WaitsWhereNobodyCalls,
    /// A single attempt reports in its last order, but reports are only read from the orders of a
    /// run.
    ReportsWithTheAttempt,
    /// A cancelled acquisition is left as it is if it was cancelled between two attempts.
    AbandonsBetweenAttempts,
    /// A release outside of a run waits for its calls without limit.
    SingleReleaseWithoutDeadline,
    /// A release that meets a conflict gives up.
    ReleaseGivesUp,
    /// A release frees any lease that has its own name.
    FreesANamesakes,
    /// A renewal prolongs a term that has run out, if no caller has checked it since.
    LateRenewalProlongs,
    /// A run whose work has ended goes on renewing.
    LeadsIdly,
    /// A run whose work has panicked goes on as if the work had returned.
    PanicIsAReturn,
    /// The end of any work counts as the end of the term's work.
    AnyWorkEndsTheTerm,
}
