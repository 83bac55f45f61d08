//! The mistakes that one may make with Leases.

use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub(super) enum Mistake {
        // What is written.
        /// An update sends a new Lease.
        WholeIsNew,
        /// An update sends a new spec.
        SpecIsNew,
        /// Labels of others are lost.
        LabelsAreNew,
        /// No labels are put on it.
        LabelsAreLost,
        /// An update names no version: it overwrites what is there.
        NamesNoVersion,
        /// Times have nine digits.
        WritesNanos,
        /// Times have none.
        WritesSeconds,
        /// Fields that the record lacks are written as null.
        WritesNulls,

        // What is read.
        /// A Lease without times is none.
        NeedsTimes,
        /// What was to be written is remembered although it was refused.
        RemembersWhatFailed,
        /// After a failure nothing is remembered.
        ForgetsOnFailure,

        // What is told.
        /// A conflict is reported as any other failure.
        ConflictIsOther,
        /// A Lease that exists is a conflict.
        ExistsIsConflict,
        /// An invalid record is reported as any other failure.
        InvalidIsOther,
        /// A write whose answer is lost has not happened.
        LostIsKnown,

        // How it is sent.
        /// A refused request is sent again.
        RepeatsRefused,
        /// A lost request is sent again.
        RepeatsLost,
        /// A server that says nothing is waited for.
        WaitsForEver,
        /// The server is not told for how long.
        TellsNoTimeout,
        /// It takes turns with other calls.
        TakesTurns,
        /// Nothing is wrong: the object that the mistakes are made in.
        Nothing,
    }
}
