//! The promises, by what they are about.

mod cancel;
mod choice;
mod locks;
mod published;
mod shared;
mod threads;
mod time;
mod timers;
mod waiting;

pub use cancel::{CancelWakes, HookWakes, TokenDeadline};
pub use choice::EveryAnswer;
pub use locks::{Exclusion, PanicUnlocks};
pub use published::NewestValue;
pub use shared::{OneAccess, ReadersMeet, ReleasedToAcquirer, SpinEnds, WriterAlone};
pub use threads::{Blocks, Joins};
pub use time::{DeadlineUnderLock, DeadlinesEndWaits, SleepersInOrder, SleepsLongEnough};
pub use timers::{DroppedTimers, TimersWake};
pub use waiting::{NoLostWakeUp, NotifiedInTime, NotifiesAll, NotifiesOne, WaitsAtomically};

/// Calls a macro with the names of all promises, each with the name of its test. Further arguments
/// stand before them in brackets.
macro_rules! for_each_promise {
    ($call:ident $($with:tt)*) => {
        $call! {
            [$($with)*]
            one_thread_at_a_time_holds_a_lock: Exclusion,
            a_panic_unlocks_and_does_not_poison: PanicUnlocks,
            threads_read_at_the_same_time: ReadersMeet,
            a_writer_is_alone: WriterAlone,
            nothing_comes_into_the_middle_of_an_access: OneAccess,
            an_acquirer_sees_everything_released: ReleasedToAcquirer,
            a_loop_that_gives_its_turn_comes_to_an_end: SpinEnds,
            no_wake_up_is_lost: NoLostWakeUp,
            unlocking_and_falling_asleep_are_one_step: WaitsAtomically,
            one_notification_wakes_one_waiter: NotifiesOne,
            a_notification_to_all_reaches_all: NotifiesAll,
            a_notified_wait_does_not_time_out: NotifiedInTime,
            a_deadline_ends_a_wait_and_not_early: DeadlinesEndWaits,
            a_sleep_is_long_enough: SleepsLongEnough,
            sleepers_wake_in_the_order_of_their_deadlines: SleepersInOrder,
            time_goes_on_while_a_thread_waits_for_a_lock: DeadlineUnderLock,
            a_timer_wakes_at_its_time: TimersWake,
            a_dropped_timer_wakes_nobody: DroppedTimers,
            a_thread_returns_its_value_or_its_panic: Joins,
            a_future_is_driven_to_its_end: Blocks,
            the_newest_value_is_read_and_never_an_older_one: NewestValue,
            every_answer_is_visited: EveryAnswer,
            a_cancellation_wakes_the_waiters_for_a_token: CancelWakes,
            a_cancellation_wakes_who_sleeps_elsewhere: HookWakes,
            a_deadline_ends_a_token_and_not_early: TokenDeadline
        }
    };
}
pub(super) use for_each_promise;
