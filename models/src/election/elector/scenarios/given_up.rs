//! Attempts and runs that are given up, and what their callers can do then.

use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use seatrial_core::cancel::CancelToken;
use seatrial_core::elector::Callbacks;
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::renewals::at;
use super::{millis, terms};
use crate::elector::Elector;
use crate::elector::network::{Fate, Passing};
use crate::elector::part::Edit;
use crate::elector::scene::{ENDS, Leads, Participant, STARTS, STOPS, Scene, releasing, strict};
use crate::engine::AnyRuntime;
use crate::trial::{Scenario, sleeps};

/// The first call hangs; the others are prompt.
fn hangs_at_first(_: &AnyRuntime, call: Passing) -> Fate {
    if call.nth == 0 { Fate::Hangs(millis(5_000)) } else { Fate::Prompt }
}

/// A task drops an attempt, and the next attempt is free to begin.
pub(super) fn dropped_attempt() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "dropped_attempt",
        "a task gives up an attempt while it reads the lease, and tries again",
        |world| {
            let a = Scene::new(world).elector_on(hangs_at_first, strict("a"));
            assert!(world.at_once(a.attempt_async()).is_none(), "it reads the lease");
            assert_eq!(a.attempt(), Ok(true));
        },
        |history| history.finished(),
    )
    .not_on(sleeps)
}

/// A run that is cancelled waits for no call of its client.
pub(super) fn cancelled_during_a_call() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "cancelled_during_a_call",
        "a task runs an elector, and is cancelled while it reads the lease, or while it renews",
        |world| {
            let scene = Scene::new(world);
            let hanging = [at(0), at(1_000)][world.runtime().choose(2) as usize];
            let hangs = move |_: &AnyRuntime, call: Passing| {
                if call.at == hanging { Fate::Hangs(millis(5_000)) } else { Fate::Prompt }
            };
            let a = scene.elector_on(hangs, strict("a"));
            let runs = a.clone();
            let task = world.spawn("task", move || {
                // Work that listens to nothing wakes nobody.
                let hangs = |_: Participant, _: Leads| pending();
                runs.runtime().block_on(runs.lead_async(hangs));
            });
            let cancelled = hanging + millis(200);
            world.runtime().sleep_until(cancelled);
            a.cancel();
            world.join(task);
            assert!(world.runtime().now() < cancelled + millis(100), "it returns at once");
        },
        |history| history.finished(),
    )
    .not_on(sleeps)
}

/// A run whose token has ended before attempts nothing.
pub(super) fn cancelled_before() -> Scenario<Elector> {
    Scenario::new(
        "cancelled_before",
        "an elector runs with a token that has ended, blocking and as a task",
        |world| {
            let calls = Arc::new(AtomicU32::new(0));
            let counted = Arc::clone(&calls);
            let counts = move |_: &AnyRuntime, _: Passing| {
                counted.fetch_add(1, Ordering::Relaxed);
                Fate::Prompt
            };
            let a = Scene::new(world).elector_on(counts, strict("a"));
            a.cancel();
            assert!(!a.lead(|_, _| {}), "it never led");
            let task = world.spawn("task", move || {
                let nothing = |_: Participant, _: Leads| async {};
                a.runtime().block_on(a.lead_async(nothing))
            });
            assert!(!world.join(task), "it never led");
            assert_eq!(calls.load(Ordering::Relaxed), 0, "calls of the client");
        },
        |history| history.finished(),
    )
}

/// The tokens that a caller gave, and those that it is given, are nobody else's.
pub(super) fn tokens_of_ones_own() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "tokens_of_ones_own",
        "the work of a leader cancels a token that it asked for, and ends before its run",
        |world| {
            let a = Scene::new(world).elector(releasing("a"));
            a.lead(|_, leads| {
                let [mine, other] = [leads.token(), leads.token()];
                mine.cancel();
                assert!(!other.is_cancelled() && !leads.token().is_cancelled() && leads.is_valid());
            });
            assert!(!a.is_cancelled(), "the run has ended, its caller goes on");
        },
        |history| terms(history, 0) == 1,
    )
    .not_on(sleeps)
}

/// A token of a leadership ends with the term, also if it is made at the end.
pub(super) fn token_at_the_end() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "token_at_the_end",
        "a leader finds its lease taken away while its work makes a token of its leadership",
        |world| {
            let scene = Scene::new(world);
            let a = scene.elector(strict("a"));
            let kept = Arc::new(OnceLock::new());
            let made = Arc::clone(&kept);
            let administrator = world.spawn("administrator", move || {
                scene.sleep(millis(500));
                scene.edit(Edit::ClearHolder).expect("the lease exists");
            });
            a.lead(move |a, leads| {
                a.runtime().sleep_until(at(1_000)); // the leader renews
                assert!(made.set(leads.token()).is_ok(), "it leads once");
                leads.wait();
            });
            world.join(administrator);
            // The work may go on for a moment. Much later the lease would run out, and end the token too.
            world.runtime().sleep_until(world.runtime().now() + millis(100));
            assert!(!a.is_cancelled() && kept.get().is_some_and(CancelToken::is_cancelled));
        },
        |history| terms(history, 0) == 1,
    )
    .not_on(sleeps)
}

/// Callbacks that use their elector once the term is over.
struct TriesAgain(Participant);

impl Callbacks<AnyRuntime> for TriesAgain {
    fn started_leading(&self, _: &Leads) {
        self.0.note(STARTS);
        self.0.note(ENDS);
    }

    fn stopped_leading(&self) {
        self.0.note(STOPS);
        assert!(self.0.release().is_ok(), "it can be used again");
    }
}

/// The callback at the end of a term may use the elector.
pub(super) fn used_at_the_end() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "used_at_the_end",
        "the callback at the end of a term gives up the lease",
        |world| {
            let a = Scene::new(world).elector(strict("a"));
            a.run_with(Arc::new(TriesAgain(a.clone())));
        },
        |history| terms(history, 0) >= 1,
    )
    .not_on(sleeps)
}
