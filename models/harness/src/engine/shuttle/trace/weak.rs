//! The weaknesses of a search: tests make it forget one thing at a time, and must notice.

/// Something that a weakened search forgets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weakness {
    /// A step that writes an object comes after the steps that read it.
    ReadBeforeWrite,
    /// A step that reads an object comes after the step that wrote it.
    WriteBeforeRead,
    /// A step that writes an object comes after the step that wrote it: so with mutexes.
    WriteBeforeWrite,
    /// A jump of the clock comes after the steps that read it.
    ReadBeforeJump,
    /// A read of the clock comes after its last jump.
    JumpBeforeRead,
    /// A step that writes an object ends the sleep of steps that read it, and the other way round.
    DisturbedRead,
    /// A step that writes an object ends the sleep of steps that write it.
    DisturbedWrite,
    /// A jump of the clock ends the sleep of steps that read it, and the other way round.
    DisturbedClock,
    /// The events before the start of a thread happened before its first step.
    Starts,
    /// The steps of a thread happened before its join.
    Joins,
    /// A step that uses up a notification races with the waiters that could have used it.
    UsedPermit,
    /// A step that disarms the last deadline races with the clock.
    LastDeadline,
    /// A waiter that was notified and then became late races with the jump.
    LateWaiter,
    /// A waiter whose deadline was disarmed disarms it itself where it comes first.
    Disarming,
    /// When no thread can move, a thread that only lacks a mutex races with the last taker of that
    /// mutex.
    Standstill,
    /// A waiter that was notified during the last step is ordered by it.
    Notification,
    /// All events that do not follow the first step of a race come before the second.
    WholeSequence,
    /// A jump that would make the second step late comes after it.
    TooLate,
    /// Steps that only read an object, or share it, come in any order.
    ReadsCommute,
    /// The events under a share of a lock happened before the whole lock was taken.
    ShareReleases,
    /// The taker of a whole lock can come before several who share it at one time.
    OverlappingShares,
    /// The answers given in a step stay with it.
    Answers,
    /// A sleeping act covers the sequences that it can begin.
    Sleepers,
    /// A loan ends when what is below its branch changes.
    EndOfLoan,
    /// What a part found belongs also to the decisions before it.
    Owed,
    /// What comes before a branch that is lent sleeps there.
    SleepOfLoan,
}

/// Tells whether the search forgets something, which it never does outside of its tests.
#[cfg(not(test))]
#[inline]
pub(super) const fn forgets(_: Weakness) -> bool {
    false
}

#[cfg(test)]
pub(super) use chosen::forgets;

#[cfg(test)]
mod chosen {
    use std::cell::Cell;

    use super::Weakness;

    thread_local! {
        static CHOSEN: Cell<Option<Weakness>> = const { Cell::new(None) };
    }

    pub(in super::super) fn forgets(weakness: Weakness) -> bool {
        CHOSEN.get() == Some(weakness)
    }

    impl Weakness {
        pub(in super::super) const ALL: [Self; 23] = [
            Self::ReadBeforeWrite,
            Self::WriteBeforeRead,
            Self::WriteBeforeWrite,
            Self::ReadBeforeJump,
            Self::JumpBeforeRead,
            Self::DisturbedRead,
            Self::DisturbedWrite,
            Self::DisturbedClock,
            Self::Starts,
            Self::Joins,
            Self::UsedPermit,
            Self::LastDeadline,
            Self::LateWaiter,
            Self::Disarming,
            Self::Standstill,
            Self::Notification,
            Self::WholeSequence,
            Self::TooLate,
            Self::ReadsCommute,
            Self::ShareReleases,
            Self::OverlappingShares,
            Self::Answers,
            Self::Sleepers,
        ];

        /// Lets the searches of this thread forget it from now on.
        pub(in super::super) fn choose(self) {
            CHOSEN.set(Some(self));
        }
    }
}
