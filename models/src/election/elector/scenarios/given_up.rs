//! Attempts and runs that are given up, and what their callers can do then.

use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use seatrial_core::cancel::CancelToken;
use seatrial_core::elector::Callbacks;
use seatrial_core::runtime::Runtime;

use super::renewals::at;
use super::{millis, terms};
use crate::elector::network::{Fate, Passing};
use crate::elector::part::{Edit, Seat};
use crate::elector::scene::{ENDS, Leads, Participant, STARTS, STOPS, Scene, releasing, strict};
use crate::elector::{Elector, History};
use crate::engine::Engine;
use crate::trial::{Scenario, World, sleeps};

/// The first call hangs; the others are prompt.
fn hangs_at_first<R: Runtime>(_: &R, call: Passing) -> Fate {
    if call.nth == 0 { Fate::Hangs(millis(5_000)) } else { Fate::Prompt }
}

/// A task drops an attempt, and the next attempt is free to begin.
pub(super) struct DroppedAttempt;

impl Scenario<Elector> for DroppedAttempt {
    const NAME: &'static str = "dropped_attempt";
    const SAYS: &'static str =
        "a task gives up an attempt while it reads the lease, and tries again";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let a = Scene::new(world).elector_on(hangs_at_first, strict("a"));
        assert!(world.at_once(a.attempt_async()).is_none(), "it reads the lease");
        assert_eq!(a.attempt(), Ok(true));
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// A run that is cancelled waits for no call of its client.
pub(super) struct CancelledDuringACall;

impl Scenario<Elector> for CancelledDuringACall {
    const NAME: &'static str = "cancelled_during_a_call";
    const SAYS: &'static str =
        "a task runs an elector, and is cancelled while it reads the lease, or while it renews";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let scene = Scene::new(world);
        let hanging = [at(0), at(1_000)][world.runtime().choose(2) as usize];
        let hangs = move |_: &R, call: Passing| {
            if call.at == hanging { Fate::Hangs(millis(5_000)) } else { Fate::Prompt }
        };
        let a = scene.elector_on(hangs, strict("a"));
        let runs = a.clone();
        let task = world.spawn("task", move || {
            // Work that listens to nothing wakes nobody.
            let hangs = |_: Participant<R>, _: Leads<R>| pending();
            runs.runtime().block_on(runs.lead_async(hangs));
        });
        let cancelled = hanging + millis(200);
        world.runtime().sleep_until(cancelled);
        a.cancel();
        world.join(task);
        assert!(world.runtime().now() < cancelled + millis(100), "it returns at once");
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// A run whose token has ended before attempts nothing.
pub(super) struct CancelledBefore;

impl Scenario<Elector> for CancelledBefore {
    const NAME: &'static str = "cancelled_before";
    const SAYS: &'static str =
        "an elector runs with a token that has ended, blocking and as a task";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let calls = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&calls);
        let counts = move |_: &R, _: Passing| {
            counted.fetch_add(1, Ordering::Relaxed);
            Fate::Prompt
        };
        let a = Scene::new(world).elector_on(counts, strict("a"));
        a.cancel();
        assert!(!a.lead(|_, _| {}), "it never led");
        let task = world.spawn("task", move || {
            let nothing = |_: Participant<R>, _: Leads<R>| async {};
            a.runtime().block_on(a.lead_async(nothing))
        });
        assert!(!world.join(task), "it never led");
        assert_eq!(calls.load(Ordering::Relaxed), 0, "calls of the client");
    }

    fn reaches(history: &History) -> bool {
        history.finished()
    }
}

/// The tokens that a caller gave, and those that it is given, are nobody else's.
pub(super) struct TokensOfOnesOwn;

impl Scenario<Elector> for TokensOfOnesOwn {
    const NAME: &'static str = "tokens_of_ones_own";
    const SAYS: &'static str =
        "the work of a leader cancels a token that it asked for, and ends before its run";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let a = Scene::new(world).elector(releasing("a"));
        a.lead(|_, leads| {
            let [mine, other] = [leads.token(), leads.token()];
            mine.cancel();
            assert!(!other.is_cancelled() && !leads.token().is_cancelled() && leads.is_valid());
        });
        assert!(!a.is_cancelled(), "the run has ended, its caller goes on");
    }

    fn reaches(history: &History) -> bool {
        terms(history, 0) == 1
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// A token of a leadership ends with the term, also if it is made at the end.
pub(super) struct TokenAtTheEnd;

impl Scenario<Elector> for TokenAtTheEnd {
    const NAME: &'static str = "token_at_the_end";
    const SAYS: &'static str =
        "a leader finds its lease taken away while its work makes a token of its leadership";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
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
    }

    fn reaches(history: &History) -> bool {
        terms(history, 0) == 1
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}

/// Callbacks that use their elector once the term is over.
struct TriesAgain<R: Runtime>(Participant<R>);

impl<R: Runtime> Callbacks<R, Seat> for TriesAgain<R> {
    fn started_leading(&self, _: &Leads<R>) {
        self.0.note(STARTS);
        self.0.note(ENDS);
    }

    fn stopped_leading(&self) {
        self.0.note(STOPS);
        assert!(self.0.release().is_ok(), "it can be used again");
    }
}

/// The callback at the end of a term may use the elector.
pub(super) struct UsedAtTheEnd;

impl Scenario<Elector> for UsedAtTheEnd {
    const NAME: &'static str = "used_at_the_end";
    const SAYS: &'static str = "the callback at the end of a term gives up the lease";

    fn run<R: Runtime>(&self, world: &World<R, Elector>) {
        let a = Scene::new(world).elector(strict("a"));
        a.run_with(Arc::new(TriesAgain(a.clone())));
    }

    fn reaches(history: &History) -> bool {
        terms(history, 0) >= 1
    }

    fn cannot_run_on(engine: Engine) -> Option<&'static str> {
        sleeps(engine)
    }
}
