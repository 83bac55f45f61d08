//! One changed line each; what can be had by a wrapper around the rules that ship is had there.

/// A mistake that one may make in the rules of the elector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::election::elector) enum Mistake {
    // What the reference does to this day, and the strict profile does better.
    /// The work is cancelled after the lease was given away.
    WorkOutlivesTheLease,
    /// A release that met a conflict tries again at once.
    ReleaseRetriesAtOnce,
    /// A cancelled acquisition is left as it is, applied or not.
    AbandonsAnAcquisition,
    /// A lease without a duration is over at the second look.
    NoDurationIsOver,
    /// The question whether it leads knows no time.
    LeaderWithoutTime,
    // What it did once.
    /// The time of an observation is written after the record, in a section of its own.
    TimeWrittenLater,
    /// A run that breaks down leaves its state behind.
    BreaksAndForgets,
    /// A release waits for its calls for ever.
    ReleaseWithoutDeadline,
    /// The last holder updates the lease without reading it, in another run, too.
    FastPathInAnotherRun,
    /// What is written counts as observed before the store has answered.
    LeadsBeforeTheReply,
    /// After a failed round the run acquires again, and leads again.
    LeadsTwiceARun,
    /// No set-up is refused.
    NoValidation,
    /// Leases of less than a second, and with fractions, are accepted.
    FractionalLeases,
    /// An elector that reads a lease without times panics.
    NeedsTimes,
    // What anybody may do.
    /// A lease is taken at first sight.
    NoWait,
    /// An attempt makes its further calls though its run is cancelled.
    CancelWaitsForTheAttempt,
    /// A call of a round has no deadline.
    RoundWithoutDeadline,
    /// A failed attempt of a round is followed by the next after half the period.
    PollsTwiceAsOften,
    /// The token carries the version that was read before the acquisition.
    TokenOfTheRead,
    /// The release waits for the work for ever.
    WaitsForTheWorkForEver,
    /// The release does not wait for the work.
    ReleasesBesideTheWork,
    /// A run that acquires while it is cancelled leads nevertheless.
    LeadsThoughCancelled,
    /// A term holds if any term does.
    HoldsAnyTerm,
    /// An update names the version that was seen first.
    NamesTheFirstVersion,
    /// A release does not observe what it reads.
    ReleaseDoesNotObserve,
    /// An acquisition that is answered when its time is over begins a term.
    LeadsTooLate,
    /// An elector that reads its loss leads no more, and takes the lease back in the same attempt.
    TakesBackWhatItLost,
    /// An elector that reads its loss gives up the attempt, and leads on.
    LossEndsTheAttemptAlone,
    /// The wait for the work listens where nobody calls.
    WaitsWhereNobodyCalls,
    /// A single attempt reports in its last order, where nobody but a run looks.
    ReportsWithTheAttempt,
    /// A cancelled acquisition is left as it is if it was cancelled between two attempts.
    AbandonsBetweenAttempts,
    /// A release outside of a run waits for its calls for ever.
    SingleReleaseWithoutDeadline,
    /// A release that meets a conflict gives up.
    ReleaseGivesUp,
    /// A release frees whatever has the own name.
    FreesANamesakes,
    /// A renewal prolongs a term that has run out, if nobody has looked at it since.
    LateRenewalProlongs,
    /// A run whose work has ended goes on renewing.
    LeadsIdly,
    /// A run whose work has panicked goes on where one whose work has returned does.
    PanicIsAReturn,
    /// The end of whatever work counts as that of the term.
    AnyWorkEndsTheTerm,
}
