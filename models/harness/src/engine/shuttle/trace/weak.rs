//! What the search could forget: tests weaken it in one way at a time, and must notice.

/// Something that a weakened search forgets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weakness {
    /// A step that writes an object comes after those that read it.
    ReadBeforeWrite,
    /// A step that reads an object comes after the one that wrote it.
    WriteBeforeRead,
    /// A step that writes an object comes after the one that wrote it: so with mutexes.
    WriteBeforeWrite,
    /// A jump of the clock comes after those that read it.
    ReadBeforeJump,
    /// A read of the clock comes after its last jump.
    JumpBeforeRead,
    /// What writes an object ends the sleep of what reads it, and the other way round.
    DisturbedRead,
    /// What writes an object ends the sleep of what writes it.
    DisturbedWrite,
    /// A jump of the clock ends the sleep of what reads it, and the other way round.
    DisturbedClock,
    /// What happened before a thread was started happened before its first step.
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
    /// When nobody can move, a thread that lacks a mutex alone races with its last taker.
    Standstill,
    /// A waiter that was notified during the last step is ordered by it.
    Notification,
    /// All that does not follow the first step of a race comes before the second.
    WholeSequence,
    /// A jump that would make the second step late comes after it.
    TooLate,
    /// Steps that only read an object, or share it, come in any order.
    ReadsCommute,
    /// What happened under a share of a lock happened before the taking of the whole.
    ShareReleases,
    /// The taker of a whole lock can come before several who share it at one time.
    OverlappingShares,
    /// The answers given in a step stay with it.
    Answers,
    /// What sleeps covers what it can begin.
    Sleepers,
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
