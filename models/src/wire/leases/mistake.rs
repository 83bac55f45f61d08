//! The mistakes that a mutant of the lock can make.

use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub(super) enum Mistake {
        // Mistakes in writing.
        /// An update sends a new Lease.
        WholeIsNew,
        /// An update sends a new spec.
        SpecIsNew,
        /// Labels of others are lost.
        LabelsAreNew,
        /// The lock's own labels are not written.
        LabelsAreLost,
        /// An update names no version, so it overwrites other writes.
        NamesNoVersion,
        /// Times have nine decimal digits.
        WritesNanos,
        /// Times have no decimal digits.
        WritesSeconds,
        /// Fields that the record lacks are written as null.
        WritesNulls,

        // Mistakes in reading.
        /// A Lease without times is rejected.
        NeedsTimes,
        /// A refused write is remembered as if it had succeeded.
        RemembersWhatFailed,
        /// After a failure nothing is remembered.
        ForgetsOnFailure,

        // Mistakes in the result.
        /// A conflict is reported as any other failure.
        ConflictIsOther,
        /// A Lease that exists already is reported as a conflict.
        ExistsIsConflict,
        /// An invalid record is reported as any other failure.
        InvalidIsOther,
        /// A write whose answer is lost is taken for one that did not happen.
        LostIsKnown,

        // Mistakes in sending.
        /// A refused request is sent again.
        RepeatsRefused,
        /// A lost request is sent again.
        RepeatsLost,
        /// A call waits for ever for a silent server.
        WaitsForEver,
        /// The server is not told the time-out.
        TellsNoTimeout,
        /// The lock takes turns with other calls.
        TakesTurns,
        /// No mistake: the correct sequential object.
        Nothing,
    }
}
