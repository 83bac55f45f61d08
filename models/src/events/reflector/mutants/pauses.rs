//! Failures that are taken for other failures, and wrong pauses.

use std::time::Duration;

use seatrial_core::informer::SourceKind;
use seatrial_core::informer::reflector::{ReflectorError, Want};

use super::{asks, bent, hears, mistakes, sleeps};
use crate::reflector::Reflector;
use crate::reflector::server::error;
use crate::reflector::tried::Bend;
use crate::trial::{Mutant, mutants};

pub(super) fn of_kinds() -> Vec<Mutant<Reflector>> {
    use SourceKind::{Expired, Internal, Invalid, Other, Refused, TooLarge, TooManyRequests};
    mutants! { hears:
        Seeded "gone_is_not_recognised" from "museum A38":
            (|_, got| mistakes(got, (true, true, true), |kind| match kind {
                Expired => Other,
                kind => kind,
            })) breaks ["condemned_versions_are_left"];
        Seeded "too_large_is_not_recognised" from "cache:RE-7":
            (|_, got| mistakes(got, (true, true, true), |kind| match kind {
                TooLarge => Other,
                kind => kind,
            })) breaks ["condemned_versions_are_left"];
        Seeded "invalid_is_not_recognised"
            from "own: a version that the server cannot read is requested again for ever":
            (|_, got| mistakes(got, (true, false, false), |kind| match kind {
                Invalid => Other,
                kind => kind,
            })) breaks ["condemned_versions_are_left"];
        Seeded "refused_is_not_recognised" from "museum A42":
            (|_, got| mistakes(got, (false, true, false), |kind| match kind {
                Refused => Other,
                kind => kind,
            })) breaks ["busy_servers_are_not_listed"];
        Seeded "busy_is_not_recognised" from "cache:RE-18":
            (|_, got| mistakes(got, (false, true, false), |kind| match kind {
                TooManyRequests => Other,
                kind => kind,
            })) breaks ["busy_servers_are_not_listed"];
        Seeded "busy_stream_lists_anew" from "cache:RE-19":
            (|_, got| mistakes(got, (false, false, true), |kind| match kind {
                TooManyRequests => Other,
                kind => kind,
            })) breaks ["busy_servers_are_not_listed"];
        Seeded "every_failure_is_busy" from "own: the watch is tried again for ever":
            (|_, got| mistakes(got, (false, true, false), |kind| match kind {
                Other => TooManyRequests,
                kind => kind,
            })) breaks ["falls_back_to_lists", "failures_are_told"];
        Seeded "broken_servers_are_not_met_again" from "cache:BO-6":
            (|_, got| mistakes(got, (false, false, true), |kind| match kind {
                Internal => Other,
                kind => kind,
            })) breaks ["failures_pause"];
    }
}

pub(super) fn of_pauses() -> Vec<Mutant<Reflector>> {
    let mut all = mutants! { asks:
        Seeded "retries_at_once" from "cache:INV-25":
            (|memory, want| sleeps(want, |_, failed| (memory.now, failed)))
            breaks ["failures_pause"];
        Seeded "two_backoffs" from "museum A44":
            (|memory, want| {
                let watch = matches!(memory.wanted, Some(Want::Watch(_)));
                let now = memory.now;
                sleeps(want, |until, failed| {
                    let own = now + Duration::from_millis(800);
                    (if watch { own.min(until) } else { until }, failed)
                })
            }) breaks ["failures_pause"];
        Seeded "does_not_leave_alone" from "own: the pause that the server asks for is ignored":
            (|memory, want| {
                let now = memory.now;
                sleeps(want, |until, failed| {
                    (until.min(now + Duration::from_secs(4)), failed)
                })
            }) breaks ["failures_pause"];
        Seeded "short_streams_follow_at_once"
            from "own: streams of one event are requested without end":
            (|memory, want| {
                let ended = matches!(memory.wanted, Some(Want::Next { .. }));
                let short = ended && memory.events > 0 && memory.failed.is_none();
                let now = memory.now;
                sleeps(want, |until, failed| (if short { now } else { until }, failed))
            }) breaks ["failures_pause"];
        Seeded "tells_of_broken_streams" from "cache:RE-31":
            (|memory, want| {
                let stream = matches!(memory.wanted, Some(Want::Next { .. }));
                sleeps(want, |until, failed| {
                    let told = ReflectorError::Watch(error(SourceKind::Eof));
                    (until, if stream { Some(told) } else { failed })
                })
            }) breaks ["failures_are_told"];
        Seeded "tells_of_nothing" from "cache:RE-31":
            (|_, want| sleeps(want, |until, _| (until, None)))
            breaks ["failures_are_told"];
        Seeded "never_resyncs" from "cache:RE-33":
            (|_, want| match want {
                Want::Next { .. } => Want::Next { resync: None },
                want => want,
            }) breaks ["resyncs_come"];
        Seeded "every_stream_puts_off_the_resync" from "cache:RE-35":
            (|memory, want| match want {
                Want::Next { resync: Some(due) } => {
                    let restarted = memory.opened_at + Duration::from_secs(7);
                    Want::Next { resync: Some(due.max(restarted)) }
                }
                want => want,
            }) breaks ["resyncs_come"];
    };
    all.extend(mutants! { bent:
        Seeded "pauses_do_not_grow" from "cache:BO-1":
            (Bend { growth: 1.0, ..Bend::NONE }) breaks ["failures_pause"];
        Seeded "pauses_grow_too_fast" from "museum W12":
            (Bend { growth: 10.0, ..Bend::NONE }) breaks ["failures_pause"];
        Seeded "pauses_are_the_same_for_all" from "own: all clients retry at the same time":
            (Bend { jitter: 0.0, ..Bend::NONE }) breaks ["failures_pause"];
        Seeded "chance_is_always_the_same" from "own: all random numbers are the same":
            (Bend { chance: |_| 1 << 63, ..Bend::NONE })
            breaks ["failures_pause", "watches_ask_rightly"];
    });
    all
}
