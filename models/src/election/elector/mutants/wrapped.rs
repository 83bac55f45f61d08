//! Electors in wrappers that change the answers they are given, their orders, the sleepers that
//! they wake, or the answers that they give.

use std::time::Duration;

use seatrial_core::elector::{
    Check, Io, Name, Next, Op, RUN, Record, Reply, Ret, StoreError, Stored, TERM, Turn, Version,
};
use seatrial_core::machine::{Cx, Step};
use seatrial_core::runtime::Instant;

use super::mutated::{Mutated, moved, orders, told, wrap};
use super::{Mutant, MutantKind};
use crate::election::plain;
use crate::elector::part::Part;

macro_rules! mutants {
    ($($kind:ident $name:ident [$($breaks:literal),*] $origin:literal:
       $make:expr;)+) => {
        pub(super) const WRAPPED: &[Mutant] = &[$(Mutant {
            name: stringify!($name),
            origin: $origin,
            breaks: &[$($breaks),*],
            kind: MutantKind::$kind,
            make: $make,
            part: || Part::of(|config| {
                plain::validate(&config)?;
                let make: super::Make = $make;
                Ok(make(config).0)
            }),
        }),+];
    };
}

mutants! {
    Seeded expiry_by_own_lease ["takeover_waits", "takeover_waits_in_real_time"] "museum E10":
        |config| told(config, |told, reply| {
        if let Ok(stored) = reply && told.reading {
            stored.record.duration_seconds = told.config.timing.lease.as_secs() as i64;
        }
    });
    Seeded expiry_at_half_time ["one_leader_per_lease_window", "one_leader", "one_actor",
        "takeover_waits", "takeover_waits_in_real_time"]
        "a lease counts as over after half of its duration": |config| told(config, |told, reply| {
            if let Ok(stored) = reply && told.reading {
                stored.record.duration_seconds /= 2;
            }
        });
    Seeded renewals_do_not_restart_the_wait ["one_leader_per_lease_window"]
        "the holder is compared, not the record":
        |config| told(config, first_record_of_each_holder);
    Seeded lost_race_counts_as_won ["one_leader_per_lease_window", "leader_is_in_the_record",
        "fenced_effects_never_interleave"] "museum E30": |config| told(config, |told, reply| {
            if let Err(StoreError::Conflict | StoreError::AlreadyExists) = reply {
                *reply = told.as_if_accepted().ok_or(StoreError::Conflict);
            }
        });
    Seeded timeout_counts_as_won ["one_leader_per_lease_window"] "museum E22 (d)":
        |config| told(config, |told, reply| {
            if *reply == Err(StoreError::Timeout) {
                *reply = told.as_if_accepted().ok_or(StoreError::Timeout);
            }
        });
    Seeded observed_loss_ignored ["loss_ends_leadership", "overlap_is_short"] "museum H7":
        |config| told(config, |told, reply| {
        if let Ok(stored) = reply
            && told.reading
            && told.leads
            && !told.releasing
            && stored.record.holder != told.config.identity
        {
            *reply = Err(StoreError::Timeout);
        }
    });
    Seeded release_without_looking ["releases_are_of_the_own_lease", "one_leader_per_lease_window"]
        "museum E20, H1": |config| told(config, |told, reply| {
            if let Ok(stored) = reply
                && told.reading
                && told.releasing
                && let Some(written) = &told.written
            {
                stored.record.holder = told.config.identity.clone();
                stored.record.transitions = written.transitions;
            }
        });
    Seeded release_with_zero_duration ["successor_leads_in_time"] "museum E6":
        |config| orders(config, |_, record| {
            if record.holder.is_empty() {
                record.duration_seconds = 0;
            }
        });
    Seeded release_resets_the_count ["releases_free_the_lease", "transitions_count_terms"]
        "museum E6, its first form": |config| orders(config, |_, record| {
            if record.holder.is_empty() {
                record.transitions = 0;
            }
        });
    Seeded count_never_rises ["transitions_count_terms"]
        "the transition count is copied, not raised by one":
        |config| orders(config, |told, record| {
            record.transitions = told.read.as_ref().map_or(0, |read| read.transitions);
        });
    Seeded count_rises_with_every_renewal ["transitions_count_terms"]
        "the transition count rises with every write": |config| orders(config, |_, record| {
            record.transitions += i64::from(!record.holder.is_empty());
        });
    Seeded renewal_begins_a_term ["acquire_time_names_the_term"] "museum E22 (c)":
        |config| orders(config, |_, record| record.acquire_time = record.renew_time);
    Seeded renewal_keeps_the_renew_time ["one_leader_per_lease_window"]
        "a renewal keeps the renew time that it read": |config| orders(config, |told, record| {
            if let Some(read) = &told.read && read.holder == record.holder {
                record.renew_time = read.renew_time;
            }
        });
    Seeded former_self_keeps_its_count ["token_names_its_write", "acquire_time_names_the_term"]
        "museum: LE-26 of the reference": |config| orders(config, |told, record| {
            if let Some(read) = &told.read && read.holder == record.holder {
                record.transitions = read.transitions;
            }
        });
    Seeded no_fallback_to_the_slow_path ["fast_path_falls_back", "never_panics"] "museum E22 (b)":
        |config| {
        wrap(config, |mutated, op, cx| {
            let step = mutated.inner(op, cx);
            if !matches!(op, Op::Reply(_)) || !mutated.failed_fast {
                return step;
            }
            mutated.failed_fast = false;
            mutated.inner(&mut Op::Reply(Reply(Some(Err(StoreError::Timeout)))), cx)
        })
    };
    Seeded no_watchdog ["leads_within_its_time", "one_leader_per_lease_window"]
        "rounds have a deadline, but the leadership has none": |config| {
        let acting = config.acting().max(config.timing.lease * 10);
        let bounds = config.bounds.acting(Some(acting));
        wrap(config.bounds(bounds), Mutated::inner)
    };
    Seeded acting_time_from_the_reply ["one_leader_per_lease_window"]
        "museum: the deadline counts from observed_time, the time of the reply":
        |config| wrap(config, acting_time_from_the_reply);
    Seeded renew_deadline_is_the_lease ["calls_of_a_leader_have_deadlines",
        "one_leader_per_lease_window"] "a leader gives up only when its lease is over": |config| {
            let mut config = config;
            config.timing.renew = config.timing.lease;
            wrap(config, Mutated::inner)
        };
    Seeded hot_renew_loop ["renewals_keep_their_distance", "one_leader_per_lease_window"]
        "museum E2": |config| {
        wrap(config, |mutated, op, cx| {
            if !matches!(op, Op::Rest(_)) {
                return mutated.inner(op, cx);
            }
            let early = mutated.config.timing.retry.mul_f64(0.95);
            let step = mutated.inner_at(cx.now() + early, op, cx);
            moved(step, |until| Instant::from_nanos(
                until.as_nanos().saturating_sub(early.as_nanos() as u64),
            ))
        })
    };
    Seeded healthy_whatever_happens ["health_check_tells"] "museum E4": |config| {
        wrap(config, |mutated, op, cx| match mutated.inner(op, cx) {
            Step::Done(Ret::Check(_)) => Step::Done(Ret::Check(true)),
            step => step,
        })
    };
    Seeded tolerance_is_ignored ["health_check_tells"] "museum E4": |config| {
        wrap(config, |mutated, op, cx| {
            if let Op::Check(Check { tolerance }) = op {
                *tolerance = Duration::ZERO;
            }
            mutated.inner(op, cx)
        })
    };
    Seeded check_waits ["checks_are_answered_at_once"]
        "own: a check lets other threads go on before it answers":
        |config| wrap(config, check_waits);
    Seeded check_reads_apart ["health_check_tells", "checks_are_answered_at_once"]
        "own: a check reads the time and the holder in two critical sections": |config| {
            wrap(config, check_reads_apart)
        };
    Seeded cancellation_wakes_nobody ["sleepers_wake_in_time", "cancellation_is_prompt"]
        "a cancellation sets a flag, but does not wake the run": |config| {
        wrap(config, |mutated, op, cx| {
            let step = mutated.inner(op, cx);
            if matches!(op, Op::Cancel(_)) {
                cx.wakes.set(RUN, 0);
            }
            step
        })
    };
    Seeded revocation_wakes_nobody ["sleepers_wake_in_time", "one_leader_per_lease_window"]
        "the end of a term sets a flag, but wakes no waiter":
        |config| wrap(config, |mutated, op, cx| {
            let step = mutated.inner(op, cx);
            cx.wakes.set(TERM, 0);
            step
        });
    Seeded end_of_work_wakes_nobody ["sleepers_wake_in_time"]
        "the end of the work sets a flag, but does not wake the run":
        |config| wrap(config, |mutated, op, cx| {
            let step = mutated.inner(op, cx);
            if matches!(op, Op::WorkEnded(_)) {
                cx.wakes.set(RUN, 0);
            }
            step
        });
    Seeded every_sighting_is_reported ["reports_differ"]
        "the elector does not remember which leader it reported last":
        |config| wrap(config, |mutated, op, cx| {
            let mut step = mutated.inner(op, cx);
            match &mut step {
                Step::Done(Ret::Report(report)) if report.is_none() => {
                    *report = mutated.read.as_ref().map(|read| read.holder.clone());
                }
                Step::Done(Ret::Reply(turn)) if turn.notes.new_leader.is_none() => {
                    turn.notes.new_leader = mutated.read.as_ref().map(|read| read.holder.clone());
                }
                _ => {}
            }
            step
        });
    Seeded reports_what_was_read ["reports_in_order"]
        "the elector reports the record that it read, not the one that it wrote after it":
        |config| wrap(config, |mutated, op, cx| {
            let mut step = mutated.inner(op, cx);
            if let Step::Done(Ret::Reply(turn)) = &mut step
                && let (Some(leader), Some(read)) = (&mut turn.notes.new_leader, &mutated.read)
            {
                *leader = read.holder.clone();
            }
            step
        });
    Seeded metric_stays_on ["metrics_alternate"] "museum H9": |config| {
        wrap(config, |mutated, op, cx| {
            let mut step = mutated.inner(op, cx);
            if let Step::Done(Ret::Rest(turn)) = &mut step {
                turn.notes.metric_off = false;
            }
            step
        })
    };
    Seeded cancelled_run_sleeps_for_ever ["cancelled_runs_return"]
        "a run waits for its token after the token has ended":
        |config| wrap(config, |mutated, op, cx| {
            if mutated.cancelled && matches!(op, Op::Rest(_)) {
                return Step::Wait { on: RUN, until: None };
            }
            mutated.inner(op, cx)
        });
    Seeded takes_though_coordinated ["server_chooses"]
        "own: the elector ignores that its set-up is coordinated":
        |config| wrap(config.coordinated(false), Mutated::inner);
    Seeded creates_though_coordinated ["server_chooses"]
        "own: a missing lease counts as a free one": |config| wrap(config, create_what_is_missing);
    Seeded renews_against_a_preferred ["server_chooses"]
        "own: the elector ignores the preferred holder": |config| told(config, |told, reply| {
            if let Ok(stored) = reply && told.reading {
                stored.record.preferred_holder = Name::EMPTY;
            }
        });
    Seeded renews_what_names_another ["server_chooses"]
        "own: a lease that names another is renewed": |config| told(config, |told, reply| {
            if let Ok(stored) = reply && told.reading && told.config.coordinated {
                stored.record.holder = told.config.identity.clone();
            }
        });
    Seeded cancelled_run_tries_once_more ["no_attempt_after_cancellation",
        "successor_leads_in_time"] "a cancelled run checks its token only after the next attempt":
        |config| {
        wrap(config, |mutated, op, cx| {
            if let Op::Cancel(_) = op {
                // The sleep goes on, and the next attempt is made.
                return Step::Done(Ret::Cancel(()));
            }
            mutated.inner(op, cx)
        })
    };
}

/// The check notes the time of the last observation, lets all other threads go on, and only then
/// asks who leads.
fn check_reads_apart(mutated: &mut Mutated, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
    let Op::Check(Check { tolerance }) = op else { return mutated.inner(op, cx) };
    let Some(since) = mutated.noted.take() else {
        mutated.noted = Some(mutated.observed(cx).at);
        let later = cx.now() + Duration::from_nanos(1);
        return Step::Wait { on: RUN, until: Some(later) };
    };
    let allowed = mutated.config.timing.lease.saturating_add(*tolerance);
    let wedged = mutated.is_holder(cx) && cx.now().since(since) > allowed;
    Step::Done(Ret::Check(!wedged))
}

/// The check lets go of the lock once, and then answers correctly.
fn check_waits(mutated: &mut Mutated, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
    if matches!(op, Op::Check(_)) && mutated.noted.take().is_none() {
        mutated.noted = Some(cx.now());
        return Step::again(RUN);
    }
    mutated.inner(op, cx)
}

fn first_record_of_each_holder(told: &mut Mutated, reply: &mut Result<Stored, StoreError>) {
    let Ok(stored) = reply else { return };
    if !told.reading || stored.record.holder == told.config.identity {
        return;
    }
    let known = told.holders.iter().find(|record| {
        record.holder == stored.record.holder && record.transitions == stored.record.transitions
    });
    match known {
        Some(known) => {
            stored.record = known.clone();
            // The mutant also repeats the uid; otherwise what ships would notice.
            if !plain::is_reference(&told.config) {
                stored.uid = "uid".into();
            }
        }
        None => told.holders.push(stored.record.clone()),
    }
}

/// If a coordinated elector finds no lease, it is told that a lease names it. It then creates the
/// record with which it would have replaced that lease.
fn create_what_is_missing(mutated: &mut Mutated, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
    let missing = mutated.reading
        && mutated.config.coordinated
        && matches!(op, Op::Reply(Reply(Some(Err(StoreError::NotFound)))));
    if missing {
        let record = Record::default()
            .holder(mutated.config.identity.clone())
            .duration_seconds(mutated.config.timing.lease.as_secs() as i64);
        let stored = Stored::new(record, Version::Number(1), Name::EMPTY);
        *op = Op::Reply(Reply(Some(Ok(stored))));
    }
    let mut step = mutated.inner(op, cx);
    if missing
        && let Step::Done(Ret::Reply(Turn { next: Next::Call { io, .. }, .. })) = &mut step
        && let Io::Update(record, _) = io
    {
        *io = Io::Create(record.clone());
    }
    step
}

/// Every caller that checks the term sees a clock that is late by the duration of the last renewal.
fn acting_time_from_the_reply(mutated: &mut Mutated, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
    if !matches!(op, Op::Watch(_) | Op::Holds(_) | Op::IsLeader(_) | Op::Rest(_)) {
        return mutated.inner(op, cx);
    }
    let took = mutated.took;
    let now = Instant::from_nanos(cx.now().as_nanos().saturating_sub(took.as_nanos() as u64));
    let step = mutated.inner_at(now, op, cx);
    moved(step, |until| until + took)
}
