//! Work that ends before its term, and work that outlives it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seatrial_core::elector::Op;
use seatrial_core::runtime::{Ambient as _, Runtime};

use super::renewals::at;
use super::{Known, millis, some_step, terms};
use crate::elector::Elector;
use crate::elector::asked::Asked;
use crate::elector::scene::{Scene, releasing, strict};
use crate::trial::{Scenario, sleeps};

const PANICS: u32 = 0;
const RETURNS: u32 = 1;

/// The work of a leader panics or returns although its run is not cancelled.
pub(super) fn work_ends_early() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "work_ends_early",
        "the work of a leader panics, returns, or returns while the run is \
                                set to go on; later the run is cancelled",
        |world| {
            let scene = Scene::new(world);
            let how = world.runtime().choose(3);
            let config = releasing("a").work_ends_term(how == RETURNS);
            let (a, b) = (scene.elector(config), scene.elector(strict("b")));
            let asked = a.clone();
            let observer = world.spawn("observer", move || {
                scene.sleep(millis(1_500)); // after a renewal, if the run goes on
                let _says = asked.is_leader();
                scene.sleep(millis(200));
                asked.cancel();
            });
            let ran = catch_unwind(AssertUnwindSafe(|| {
                a.lead(move |a, _| {
                    a.runtime().sleep_until(at(500));
                    assert!(how != PANICS, "the work breaks");
                })
            }));
            assert_eq!(ran.is_err(), how == PANICS, "a panic is passed on");
            world.join(observer);
            assert_eq!(b.attempt(), Ok(true), "the lease is free");
        },
        |history| some_step(history, |before, asked, _| work_ends(before, asked) && before.running),
    )
    .not_on(sleeps)
}

fn work_ends(before: &Known, asked: &Asked<'_>) -> bool {
    before.led && !before.cancelled && matches!(asked.op, Op::WorkEnded(_))
}

/// The work of a run goes on after its end, and ends while the next run leads.
pub(super) fn earlier_work_ends_late() -> Scenario<Elector> {
    Scenario::<Elector>::new(
        "earlier_work_ends_late",
        "the work of a finished run ends while the next run leads",
        |world| {
            let scene = Scene::new(world);
            let a = scene.elector(strict("a"));
            let cancelled = a.clone();
            let canceller = world.spawn("canceller", move || {
                scene.sleep(millis(500));
                cancelled.cancel();
            });
            a.lead(|a, _| a.runtime().sleep_until(at(1_200)));
            world.join(canceller);
            a.again().lead(|a, leadership| {
                a.runtime().sleep_until(at(1_300));
                let _valid = leadership.is_valid();
                a.cancel();
            });
        },
        |history| {
            let late = some_step(history, |before, asked, _| {
                let of_the_current = before.term.as_ref().map(|term| term.number);
                matches!(asked.op, Op::WorkEnded(work) if Some(work.term) < of_the_current)
                    && before.running
            });
            late && terms(history, 0) == 2
        },
    )
    .not_on(sleeps)
}
