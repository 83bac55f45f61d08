//! The bugs of waking that every queue of objects can have.

/// Lists them, for a function that makes a machine of an [`Edit`](crate::trial::Edit). The calls
/// of the queue are the `Op` where this stands, with its channels `POPPERS` and `SYNC`.
macro_rules! queue_wakes {
    ($edited:ident) => {
        $crate::trial::mutants! { $edited:
            Seeded "put_never_wakes" from "cache:QU-7, the signal forgotten":
                ($crate::trial::at_most!(0, POPPERS, Op::Put(_))) breaks ["no_lost_wakeup"];
            Seeded "list_wakes_one" from "cache:QU-7, one signal for all its objects":
                ($crate::trial::at_most!(1, POPPERS, Op::Replace(_))) breaks ["no_lost_wakeup"];
            Seeded "close_wakes_one" from "museum B6, cache:QU-5":
                ($crate::trial::at_most!(1, POPPERS, Op::Close(_))) breaks ["close_wakes_everybody"];
            Seeded "close_wakes_nobody" from "museum B6":
                ($crate::trial::at_most!(0, POPPERS, Op::Close(_))) breaks ["close_wakes_everybody"];
            Seeded "latch_wakes_nobody" from "cache:QU-18, only polling sees it":
                ($crate::trial::at_most!(0, SYNC, Op::Processed(_))) breaks ["sync_wakes_everybody"];
            Seeded "latch_wakes_one" from "cache:QU-18, signalled where all must wake":
                ($crate::trial::at_most!(1, SYNC, _)) breaks ["sync_wakes_everybody"];
            Seeded "close_leaves_waiters" from "cache:QU-5, the other channel forgotten":
                ($crate::trial::at_most!(0, SYNC, Op::Close(_))) breaks ["sync_wakes_everybody"];
            Equivalent("a woken caller looks again before it returns: it costs, breaks nothing")
            "every_write_wakes_everybody" from "what the reference does":
                (|op, wakes, _| if matches!(op, Op::Put(_) | Op::Delete(_) | Op::Replace(_)) {
                    wakes.all(POPPERS);
                }) breaks [];
        }
    };
}

/// Lists those of a shell that forgets to pass something on, for a function that makes a machine
/// under such a shell.
macro_rules! shell_wakes {
    ($forgets:ident) => {
        $crate::trial::mutants! { $forgets:
            Seeded "dropped_popper_swallows_wake"
                from "museum P1, a popper that leaves without passing its wake-up on":
                (seatrial_core::machine::Passed::WakeUp) breaks ["no_lost_wakeup"];
        }
    };
}

/// Lists those of queues that take back what was asked back.
macro_rules! requeue_wakes {
    ($edited:ident) => {
        $crate::trial::mutants! { $edited:
            Seeded "requeue_never_wakes" from "cache:QU-7, the signal forgotten":
                ($crate::trial::at_most!(0, POPPERS, Op::Processed(_))) breaks ["no_lost_wakeup"];
            Seeded "put_back_never_wakes" from "cache:QU-7, the signal forgotten":
                ($crate::trial::at_most!(0, POPPERS, Op::AddIfAbsent(_))) breaks ["no_lost_wakeup"];
        }
    };
}

pub(crate) use {queue_wakes, requeue_wakes, shell_wakes};
