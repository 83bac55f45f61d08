//! Small concurrent programs on the shell, each named by the case that it must reach.

use super::stage::Stage;
use super::{History, Shell};
use crate::trial::Scenario;

pub(super) fn all() -> Vec<Scenario<Shell>> {
    vec![
        step_panics(),
        woken_taker_panics(),
        second_half_panics(),
        handed_over(),
        waker_panics(),
        waker_panics_at_the_end(),
        polled_for_nothing(),
        given_up_between(),
        many_sleep_once(),
        many_leave_one(),
    ]
}

/// Returns the place of the first note with this label.
fn first(history: &History, label: &str) -> Option<usize> {
    history.events.iter().position(|event| event.noted(label).is_some())
}

/// Counts the notes with this label before the first note with another label.
fn before(history: &History, label: &str, other: &str) -> usize {
    let end = first(history, other).unwrap_or(0);
    history.events[..end].iter().filter(|event| event.noted(label).is_some()).count()
}

/// A step names two sleepers and panics.
fn step_panics() -> Scenario<Shell> {
    Scenario::new(
        "step_panics",
        "a step adds two items and panics while a thread and a task sleep",
        |world| {
            let stage = Stage::new(world);
            let takers = [stage.thread(1), stage.task(2)];
            stage.put_and_panic(2);
            world.quiesce();
            stage.shut();
            stage.join(takers);
        },
        // Both takers have begun, and neither has taken an item.
        |history| {
            before(history, "takes", "panicked") == 2 && before(history, "took", "panicked") == 0
        },
    )
}

/// A task is woken for an item and panics, while a thread sleeps.
fn woken_taker_panics() -> Scenario<Shell> {
    Scenario::new(
        "woken_taker_panics",
        "a task is woken for an item and panics before it takes it, while a thread sleeps",
        |world| {
            let stage = Stage::new(world);
            let takers = [stage.breaking_task(1), stage.thread(2)];
            stage.put(1);
            world.quiesce();
            stage.shut();
            stage.join(takers);
        },
        // Both takers have begun, and neither has taken an item.
        |history| {
            before(history, "takes", "panicked") == 2 && before(history, "took", "panicked") == 0
        },
    )
}

/// A call takes an item, and panics where it decides about it: the item goes back.
fn second_half_panics() -> Scenario<Shell> {
    Scenario::new(
        "second_half_panics",
        "a call in two halves takes an item, and its second half panics; a thread wants the item",
        |world| {
            let stage = Stage::new(world);
            stage.put(1);
            let taker = stage.thread(1);
            stage.take_and_panic();
            world.quiesce();
            stage.shut();
            stage.join([taker]);
        },
        // The thread takes the item that came back.
        |history| {
            first(history, "panicked")
                .zip(first(history, "took"))
                .is_some_and(|(broke, took)| broke < took)
        },
    )
}

/// A step wakes a task, and waits until that task has taken the item.
fn handed_over() -> Scenario<Shell> {
    Scenario::new(
        "handed_over",
        "a thread hands an item to a task, and waits until the task has it",
        |world| {
            let stage = Stage::new(world);
            let taker = stage.task(1);
            let giver = {
                let stage = stage.clone();
                world.spawn("giver", move || stage.hand())
            };
            world.quiesce();
            stage.shut();
            stage.join([taker, giver]);
        },
        |history| before(history, "takes", "puts") == 1 && before(history, "handed", "shuts") == 1,
    )
}

/// The waker of a task panics, and another task sleeps behind it.
fn waker_panics() -> Scenario<Shell> {
    Scenario::new(
        "waker_panics",
        "two items are added, and the waker of the first of two tasks panics",
        |world| {
            let stage = Stage::new(world);
            let mut broken = stage.single_step(1, true);
            let behind = stage.task(2);
            stage.put(2);
            world.quiesce();
            broken.poll();
            stage.shut();
            stage.join([behind]);
        },
        |history| before(history, "takes", "rings") == 1,
    )
}

/// The end wakes a task whose waker panics, and another task behind it.
fn waker_panics_at_the_end() -> Scenario<Shell> {
    Scenario::new(
        "waker_panics_at_the_end",
        "the end wakes three sleepers, and the waker of the first panics",
        |world| {
            let stage = Stage::new(world);
            let mut broken = stage.single_step(1, true);
            let behind = [stage.task(2), stage.thread(3)];
            stage.shut();
            world.quiesce();
            broken.poll();
            stage.join(behind);
        },
        |history| before(history, "takes", "rings") == 2,
    )
}

/// A task is polled again before it is woken.
fn polled_for_nothing() -> Scenario<Shell> {
    Scenario::new(
        "polled_for_nothing",
        "the first of two tasks is polled without a wake-up, and an item is added",
        |world| {
            let stage = Stage::new(world);
            let (mut one, mut two) = (stage.single_step(1, false), stage.single_step(2, false));
            let putting = {
                let stage = stage.clone();
                world.spawn("putting", move || stage.put(1))
            };
            one.poll();
            stage.join([putting]);
            one.poll();
            two.poll();
        },
        // The first task is polled twice before a task is woken.
        |history| before(history, "polls", "rings") == 3,
    )
}

/// A task in the middle of the line gives up.
fn given_up_between() -> Scenario<Shell> {
    Scenario::new(
        "given_up_between",
        "the second of three tasks gives up, a fourth begins to wait, and items are added",
        |world| {
            let stage = Stage::new(world);
            let [mut one, two, mut three] =
                [1, 2, 3].map(|number| stage.single_step(number, false));
            two.give_up();
            let mut four = stage.single_step(4, false);
            let putting = {
                let stage = stage.clone();
                world
                    .spawn("putting", move || [1, 2].into_iter().for_each(|count| stage.put(count)))
            };
            three.poll();
            stage.join([putting]);
            [&mut one, &mut three, &mut four].into_iter().for_each(|task| task.poll());
        },
        |history| before(history, "polls", "rings") == 5,
    )
}

/// More sleepers than a line keeps room for.
const MANY: u64 = 70;

/// Many tasks sleep, and later none of them does.
fn many_sleep_once() -> Scenario<Shell> {
    Scenario::new(
        "many_sleep_once",
        "many tasks sleep, and all are woken",
        |world| {
            let stage = Stage::new(world);
            let mut tasks: Vec<_> =
                (1..=MANY).map(|number| stage.single_step(number, false)).collect();
            stage.put(MANY as u32);
            tasks.iter_mut().for_each(|task| task.poll());
            stage.count_seats();
        },
        |history| before(history, "asks", "rings") == MANY as usize,
    )
}

/// Many tasks sleep, and one of them goes on sleeping.
fn many_leave_one() -> Scenario<Shell> {
    Scenario::new(
        "many_leave_one",
        "many tasks sleep, and all but one are woken or give up",
        |world| {
            let stage = Stage::new(world);
            let mut tasks: Vec<_> =
                (1..=MANY).map(|number| stage.single_step(number, false)).collect();
            stage.put(MANY as u32 / 2);
            let stays = tasks.pop();
            for (number, mut task) in tasks.into_iter().enumerate() {
                if number < MANY as usize / 2 { task.poll() } else { task.give_up() }
            }
            stage.count_seats();
            drop(stays);
        },
        |history| before(history, "ended", "seats") == MANY as usize / 2 - 1,
    )
}
