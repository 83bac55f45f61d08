//! Every runtime keeps every promise, and the suite notices a runtime that does not.

use seatrial_core::runtime::Manual;

use super::promises::for_each_promise;
use super::*;
use crate::engine::AnyRuntime;

/// Writes a module of tests, one for each promise, on one ground, over a runtime made from its own.
macro_rules! tests {
    ([$name:ident ($ground:expr, $wrap:expr)] $($test:ident: $promise:ident),*) => {
        mod $name {
            use super::*;

            $(
                #[test]
                fn $test() {
                    assert_eq!(check_through::<$promise, _, _>(&$ground, $wrap), Ok(()));
                }
            )*
        }
    };
}

/// Scenarios run on the runtime of any engine, so that is what must keep the promises.
fn any<R: Clone + Into<AnyRuntime>>(runtime: &R) -> AnyRuntime {
    runtime.clone().into()
}

for_each_promise!(tests system (SystemGround { executions: 20 }, any));
for_each_promise!(tests manual (ManualGround { executions: 20 }, Manual::clone));
#[cfg(feature = "loom")]
for_each_promise!(tests loom (loom_ground(), any));
#[cfg(feature = "shuttle")]
for_each_promise!(tests shuttle (
    shuttle_ground(crate::engine::shuttle::WakeUps::Any), any
));
#[cfg(feature = "shuttle")]
for_each_promise!(tests shuttle_in_order (
    shuttle_ground(crate::engine::shuttle::WakeUps::InOrder), any
));

#[test]
#[cfg(feature = "shuttle")]
fn every_trace_keeps_what_many_threads_reach_at_once() {
    let ground = TraceGround::default();
    assert_eq!(check::<Exclusion, _>(&ground), Ok(()));
    assert_eq!(check::<NewestValue, _>(&ground), Ok(()));
    assert_eq!(check::<ReadersMeet, _>(&ground), Ok(()));
    assert_eq!(check::<WriterAlone, _>(&ground), Ok(()));
    assert_eq!(check::<OneAccess, _>(&ground), Ok(()));
    assert_eq!(check::<ReleasedToAcquirer, _>(&ground), Ok(()));
}

/// Without a bound: to see a value, then another, then the first again takes four preemptions.
#[cfg(feature = "loom")]
fn loom_ground() -> LoomGround {
    let config = crate::engine::loom::Config { preemption_bound: None, ..Default::default() };
    LoomGround { config }
}

#[cfg(feature = "shuttle")]
fn shuttle_ground(wake_ups: crate::engine::shuttle::WakeUps) -> ShuttleGround {
    let config = crate::engine::shuttle::Config { wake_ups, ..Default::default() };
    ShuttleGround { config, seed: 1, executions: 500 }
}

#[test]
fn check_all_names_every_promise_once() {
    let found = check_all(&SystemGround { executions: 1 });
    let names: BTreeSet<_> = found.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), found.len());
    assert!(found.iter().all(|(_, result)| result.is_ok()), "{found:?}");
}

#[test]
fn a_ground_that_runs_nothing_proves_nothing() {
    assert!(check::<Joins, _>(&SystemGround { executions: 0 }).is_err());
}

/// Asserts that a promise is found broken on a runtime with a fault.
#[cfg(any(feature = "loom", feature = "shuttle"))]
fn convicts<P: Promise, G: Ground>(ground: &G, fault: faulty::Fault) {
    let found =
        check_through::<P, G, _>(ground, move |runtime| faulty::Faulty::new(runtime, fault));
    assert!(found.is_err(), "{} does not notice {fault:?}", P::NAME);
}

#[cfg(any(feature = "loom", feature = "shuttle"))]
fn convicts_every_fault<G: Ground>(ground: &G) {
    use faulty::Fault;
    convicts::<Exclusion, G>(ground, Fault::SplitsLocks);
    convicts::<PanicUnlocks, G>(ground, Fault::Poisons);
    convicts::<ReadersMeet, G>(ground, Fault::ReadsAlone);
    convicts::<WriterAlone, G>(ground, Fault::ReadsWhileWritten);
    convicts::<OneAccess, G>(ground, Fault::AddsInTwoSteps);
    convicts::<OneAccess, G>(ground, Fault::ExchangesBlindly);
    convicts::<NoLostWakeUp, G>(ground, Fault::LosesNotifications);
    convicts::<NoLostWakeUp, G>(ground, Fault::WaitsInTwoSteps);
    convicts::<WaitsAtomically, G>(ground, Fault::WaitsInTwoSteps);
    convicts::<WaitsAtomically, G>(ground, Fault::LosesSecondNotifications);
    convicts::<NotifiesOne, G>(ground, Fault::LosesSecondNotifications);
    convicts::<NotifiesAll, G>(ground, Fault::BroadcastsToOne);
    convicts::<NotifiesAll, G>(ground, Fault::LosesBroadcasts);
    convicts::<NotifiedInTime, G>(ground, Fault::ClaimsTimeOuts);
    convicts::<NotifiedInTime, G>(ground, Fault::LosesNotifications);
    convicts::<DeadlinesEndWaits, G>(ground, Fault::WaitsTooShort);
    convicts::<DeadlinesEndWaits, G>(ground, Fault::WaitsForEver);
    convicts::<SleepsLongEnough, G>(ground, Fault::SleepsTooShort);
    convicts::<SleepersInOrder, G>(ground, Fault::SleepsCoarsely);
    convicts::<DeadlineUnderLock, G>(ground, Fault::SleepsWithoutLocks);
    convicts::<TimersWake, G>(ground, Fault::FiresEarly);
    convicts::<TimersWake, G>(ground, Fault::FiresNever);
    convicts::<DroppedTimers, G>(ground, Fault::KeepsDroppedTimers);
    convicts::<Joins, G>(ground, Fault::JoinsPanic);
    convicts::<Blocks, G>(ground, Fault::PollsOnce);
    convicts::<NewestValue, G>(ground, Fault::ForgetsPublished);
    convicts::<NewestValue, G>(ground, Fault::PublishesBackwards);
    convicts::<EveryAnswer, G>(ground, Fault::AnswersZero);
    convicts::<CancelWakes, G>(ground, Fault::LosesNotifications);
    convicts::<HookWakes, G>(ground, Fault::LosesBroadcasts);
    convicts::<HookWakes, G>(ground, Fault::FiresNever);
    convicts::<TokenDeadline, G>(ground, Fault::WaitsForEver);
}

#[test]
#[cfg(feature = "loom")]
fn every_promise_is_found_broken_by_a_runtime_that_breaks_it_under_loom() {
    convicts_every_fault(&loom_ground());
    convicts::<ReleasedToAcquirer, _>(&loom_ground(), faulty::Fault::ForgetsOrderings);
    convicts::<SpinEnds, _>(&loom_ground(), faulty::Fault::KeepsTurn);
}

#[test]
#[cfg(feature = "shuttle")]
fn every_promise_is_found_broken_by_a_runtime_that_breaks_it_under_shuttle() {
    convicts_every_fault(&shuttle_ground(crate::engine::shuttle::WakeUps::Any));
}
