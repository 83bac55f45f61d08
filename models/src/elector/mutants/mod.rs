//! Electors with one mistake each: what the checks are worth.
//!
//! A mutant is a value: a name, an origin, and a constructor. Most are wrappers that change what
//! the machine is told, what it orders, or whom it wakes.

mod mutated;

use std::time::Duration;

use seatrial_core::elector::{
    Bounds, Check, Config, Election, Op, Profile, RUN, Reply, Ret, StoreError, Stored, TERM,
};
use seatrial_core::machine::{Boxed, Cx, Step};
use seatrial_core::runtime::Instant;

use mutated::{Mutated, moved, orders, told, wrap};

/// An elector with a mistake.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// Its name: the mistake, in snake case.
    pub name: &'static str,
    /// Where the mistake comes from.
    pub origin: &'static str,
    /// The rules that it breaks.
    pub breaks: &'static [&'static str],
    /// Makes the broken elector.
    pub make: fn(Config) -> Boxed<Election>,
}

macro_rules! mutants {
    ($($name:ident [$($rule:literal),+] $origin:literal: $make:expr;)+) => {
        /// Every mutant.
        pub const MUTANTS: &[Mutant] = &[$(Mutant {
            name: stringify!($name),
            origin: $origin,
            breaks: &[$($rule),+],
            make: $make,
        }),+];
    };
}

mutants! {
    expiry_by_own_lease ["election:LE-13"] "museum E10": |config| told(config, |told, reply| {
        if let Ok(stored) = reply && told.reading {
            stored.record.duration_seconds = told.config.timing.lease.as_secs() as i64;
        }
    });
    expiry_at_half_time ["election:INV-3", "election:INV-4"] "an off-by-two in the comparison":
        |config| told(config, |told, reply| {
            if let Ok(stored) = reply && told.reading {
                stored.record.duration_seconds /= 2;
            }
        });
    renewals_do_not_restart_the_wait ["election:LE-21", "election:INV-3"]
        "compare the holder, not the record": |config| told(config, first_record_of_each_holder);
    lost_race_counts_as_won ["election:LE-24", "election:INV-25"] "museum E30":
        |config| told(config, |told, reply| {
            if *reply == Err(StoreError::Conflict) {
                *reply = told.as_if_accepted().ok_or(StoreError::Conflict);
            }
        });
    timeout_counts_as_won ["election:LE-24", "election:ENV-4"] "museum E22 (d)":
        |config| told(config, |told, reply| {
            if *reply == Err(StoreError::Timeout) {
                *reply = told.as_if_accepted().ok_or(StoreError::Timeout);
            }
        });
    observed_loss_ignored ["election:LE-38"] "museum H7": |config| told(config, |told, reply| {
        if let Ok(stored) = reply
            && told.reading
            && told.leads
            && !told.releasing
            && stored.record.holder != told.config.identity
        {
            *reply = Err(StoreError::Timeout);
        }
    });
    release_without_looking ["election:INV-10", "election:LE-42"] "museum E20, H1":
        |config| told(config, |told, reply| {
            if let Ok(stored) = reply
                && told.reading
                && told.releasing
                && let Some(written) = &told.written
            {
                stored.record.holder = told.config.identity.clone();
                stored.record.transitions = written.transitions;
            }
        });
    release_with_zero_duration ["election:INV-9", "election:LK-14"] "museum E6":
        |config| orders(config, |_, record| {
            if record.holder.is_empty() {
                record.duration_seconds = 0;
            }
        });
    release_resets_the_count ["election:INV-9", "election:LE-43"] "museum E6, its first form":
        |config| orders(config, |_, record| {
            if record.holder.is_empty() {
                record.transitions = 0;
            }
        });
    count_never_rises ["election:INV-7", "election:LE-23"] "copy instead of adding one":
        |config| orders(config, |told, record| {
            record.transitions = told.read.as_ref().map_or(0, |read| read.transitions);
        });
    count_rises_with_every_renewal ["election:INV-7"] "add one on every write":
        |config| orders(config, |_, record| {
            record.transitions += i64::from(!record.holder.is_empty());
        });
    renewal_begins_a_term ["election:INV-8", "election:LE-18"] "museum E22 (c)":
        |config| orders(config, |_, record| record.acquire_time = record.renew_time);
    renewal_keeps_the_renew_time ["election:INV-8", "election:LE-17"]
        "write the record back as it was read": |config| orders(config, |told, record| {
            if let Some(read) = &told.read && read.holder == record.holder {
                record.renew_time = read.renew_time;
            }
        });
    former_self_keeps_its_count ["election:LE-26", "election:LE-38"] "museum: LE-26 of the reference":
        |config| orders(config, |told, record| {
            if let Some(read) = &told.read && read.holder == record.holder {
                record.transitions = read.transitions;
            }
        });
    no_fallback_to_the_slow_path ["election:LE-18"] "museum E22 (b)": |config| {
        wrap(config, |mutated, op, cx| {
            let step = mutated.inner(op, cx);
            if !matches!(op, Op::Reply(_)) || !mutated.failed_fast {
                return step;
            }
            mutated.failed_fast = false;
            mutated.inner(&mut Op::Reply(Reply(Some(Err(StoreError::Timeout)))), cx)
        })
    };
    no_watchdog ["election:SF-10", "election:SF-11"] "a deadline for rounds alone": |config| {
        let bounds = match config.profile {
            Profile::Strict(bounds) => bounds,
            Profile::Classic => Bounds::default(),
        };
        let acting = Some(config.timing.lease * 10);
        let profile = match config.profile {
            Profile::Strict(_) => Profile::Strict(Bounds { acting, ..bounds }),
            Profile::Classic => Profile::Classic,
        };
        wrap(Config { profile, ..config }, Mutated::inner)
    };
    acting_time_from_the_reply ["election:SF-12"] "museum: observed_time as the deadline":
        |config| wrap(config, acting_time_from_the_reply);
    renew_deadline_is_the_lease ["election:SF-9", "election:INV-5"] "give up when the lease is over":
        |config| {
            let mut config = config;
            config.timing.renew = config.timing.lease;
            wrap(config, Mutated::inner)
        };
    hot_renew_loop ["election:INV-21", "election:LE-36"] "museum E2": |config| {
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
    healthy_whatever_happens ["election:LE-55"] "museum E4": |config| {
        wrap(config, |mutated, op, cx| match mutated.inner(op, cx) {
            Step::Done(Ret::Check(_)) => Step::Done(Ret::Check(true)),
            step => step,
        })
    };
    tolerance_is_ignored ["election:LE-55"] "museum E4": |config| {
        wrap(config, |mutated, op, cx| {
            if let Op::Check(Check { tolerance }) = op {
                *tolerance = Duration::ZERO;
            }
            mutated.inner(op, cx)
        })
    };
    cancellation_wakes_nobody ["election:ENV-6"] "a flag without a notification": |config| {
        wrap(config, |mutated, op, cx| {
            let step = mutated.inner(op, cx);
            if matches!(op, Op::Cancel(_)) {
                cx.wakes.set(RUN, 0);
            }
            step
        })
    };
    revocation_wakes_nobody ["election:INV-12", "election:LE-46"] "a flag without a notification":
        |config| wrap(config, |mutated, op, cx| {
            let step = mutated.inner(op, cx);
            cx.wakes.set(TERM, 0);
            step
        });
    every_sighting_is_reported ["election:INV-20", "election:LE-52"] "forget what was reported":
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
    metric_stays_on ["election:INV-19", "election:LE-39"] "museum H9": |config| {
        wrap(config, |mutated, op, cx| {
            let mut step = mutated.inner(op, cx);
            if let Step::Done(Ret::Rest(turn)) = &mut step {
                turn.notes.metric_off = false;
            }
            step
        })
    };
    cancelled_run_tries_once_more ["election:INV-13"] "look at the token after the attempt": |config| {
        wrap(config, |mutated, op, cx| {
            if let Op::Cancel(_) = op {
                // The sleep goes on, and the attempt after it is made.
                return Step::Done(Ret::Cancel(()));
            }
            mutated.inner(op, cx)
        })
    };
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
            // The same version as well, else the strict profile would notice.
            if let Profile::Strict(_) = told.config.profile {
                stored.uid = "uid".into();
            }
        }
        None => told.holders.push(stored.record.clone()),
    }
}

/// Everybody who looks at the term sees a clock that is late by how long the last renewal took.
fn acting_time_from_the_reply(mutated: &mut Mutated, op: &mut Op, cx: &mut Cx<'_>) -> Step<Ret> {
    if !matches!(op, Op::Watch(_) | Op::Holds(_) | Op::IsLeader(_) | Op::Rest(_)) {
        return mutated.inner(op, cx);
    }
    let took = mutated.took;
    let now = Instant::from_nanos(cx.now().as_nanos().saturating_sub(took.as_nanos() as u64));
    let step = mutated.inner_at(now, op, cx);
    moved(step, |until| until + took)
}
