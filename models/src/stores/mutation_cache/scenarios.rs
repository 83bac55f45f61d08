//! Small concurrent programs on the cache, each named by the case that it must reach.

use super::book::{Answer, Call, Ended, Named};
use super::reference::TIME;
use super::stage::{COMPARING, Stage};
use super::{History, MutationCache};
use crate::engine::Engine;
use crate::stores::fixtures::ended;
use crate::trial::{Scenario, needs_exact_time, sleeps};

pub(super) fn all() -> Vec<Scenario<MutationCache>> {
    vec![
        late_write_behind_deletion(),
        written_and_seen(),
        made_anew_beside_deletion(),
        more_than_are_remembered(),
        listed_while_written(),
        read_before_it_is_forgotten(),
        added_beside_comparison(),
    ]
}

fn object(uid: u8, version: u8) -> Named {
    Named { key: 1, uid, version }
}

/// Tells whether one call ended before another did.
fn before(history: &History, one: &Call, other: &Call) -> bool {
    let ended = ended(history);
    let all = |call: &Call| ended.iter().filter(|it| it.call == *call).collect::<Vec<_>>();
    all(one).iter().any(|it| all(other).iter().any(|next| it.to < next.to))
}

/// A handler has seen a deletion that the store lacks, and an old write comes late.
fn late_write_behind_deletion() -> Scenario<MutationCache> {
    Scenario::<MutationCache>::new(
        "late_write_behind_deletion",
        "while the store is stale, an object is deleted, read, and written late",
        |world| {
            let stage = Stage::new(world);
            stage.call([Call::Store(object(1, 5)), Call::Gone(object(1, 7))]);
            let reader = stage.on("reader", [Call::Get(1)]);
            let writer = stage.on("writer", [Call::Wrote(object(1, 6)), Call::Wrote(object(1, 8))]);
            stage.call([Call::Unstore(1)]);
            stage.join([reader, writer]);
            stage.call([Call::Get(1)]);
        },
        // The object is read before the late write.
        |history| before(history, &Call::Get(1), &Call::Wrote(object(1, 6))),
    )
    // The cache forgets soon.
    .not_on(needs_exact_time)
}

/// A written object arrives in the store, and a handler sees it.
fn written_and_seen() -> Scenario<MutationCache> {
    Scenario::<MutationCache>::new(
        "written_and_seen",
        "an object is written twice while the first write reaches the store",
        |world| {
            let stage = Stage::new(world);
            stage.call([Call::Store(object(1, 1))]);
            let handler =
                stage.on("handler", [Call::Store(object(1, 2)), Call::Seen(object(1, 2))]);
            let reader = stage.on("reader", [Call::Get(1), Call::Get(1)]);
            stage.call([
                Call::Wrote(object(1, 2)),
                Call::Wrote(object(1, 3)),
                Call::Wrote(object(1, 2)),
            ]);
            stage.join([handler, reader]);
            stage.call([Call::Get(1), Call::Seen(object(1, 3)), Call::Unstore(1), Call::Get(1)]);
            stage.call([Call::Wrote(object(1, 4)), Call::Get(1)]);
            stage.let_it_age();
            stage.call([Call::Get(1), Call::Wrote(object(1, 4)), Call::Store(object(1, 5))]);
            stage.call([Call::Get(1)]);
        },
        // The first state is seen after the second was written.
        |history| before(history, &Call::Wrote(object(1, 3)), &Call::Seen(object(1, 2))),
    )
    // The cache forgets soon.
    .not_on(needs_exact_time)
}

/// An object is deleted, and another with its name is made, before the handler sees the deletion.
fn made_anew_beside_deletion() -> Scenario<MutationCache> {
    Scenario::<MutationCache>::new(
        "made_anew_beside_deletion",
        "a handler reports a deletion while an object with the same name is created",
        |world| {
            let stage = Stage::new(world);
            stage.call([Call::Store(object(1, 1)), Call::Wrote(object(1, 2))]);
            let handler = stage.on("handler", [Call::Unstore(1), Call::Gone(object(1, 3))]);
            let writer = stage.on("writer", [Call::Wrote(object(2, 4)), Call::Get(1)]);
            stage.call([Call::Get(1)]);
            stage.join([handler, writer]);
            stage.call([Call::Get(1)]);
        },
        // The other object is made before the deletion is seen.
        |history| before(history, &Call::Wrote(object(2, 4)), &Call::Gone(object(1, 3))),
    )
    // The cache forgets soon.
    .not_on(needs_exact_time)
}

/// One object more is written than the cache remembers.
fn more_than_are_remembered() -> Scenario<MutationCache> {
    Scenario::<MutationCache>::new(
        "more_than_are_remembered",
        "an object is written that is one too many, while the oldest one is read",
        |world| {
            let wrote = |key| Call::Wrote(Named { key, uid: 1, version: 1 });
            let stage = Stage::new(world);
            stage.call([wrote(1), wrote(2)]);
            let reader = stage.on("reader", [Call::Get(1)]);
            stage.call([wrote(3)]);
            stage.join([reader]);
            stage.call([Call::Get(1), Call::Get(2), Call::Get(3)]);
        },
        // The oldest object is read in time, so another one is forgotten.
        |history| {
            let one_too_many = Call::Wrote(Named { key: 3, uid: 1, version: 1 });
            before(history, &Call::Get(1), &one_too_many)
        },
    )
    // The cache forgets soon.
    .not_on(needs_exact_time)
}

/// Objects are listed by their uid while some are written.
fn listed_while_written() -> Scenario<MutationCache> {
    Scenario::<MutationCache>::new(
        "listed_while_written",
        "objects are listed by an index while one of them and a new one are written",
        |world| {
            let other = Named { key: 2, uid: 1, version: 1 };
            let stage = Stage::new(world);
            stage.call([Call::Store(object(1, 1))]);
            let writes = [Call::Wrote(object(1, 2)), Call::Wrote(other)];
            let writer = stage.on("writer", writes);
            stage.call([Call::List(1), Call::List(2)]);
            stage.join([writer]);
            stage.call([Call::List(1), Call::List(2), Call::Lost(2), Call::List(1)]);
        },
        // The objects are listed between the two writes.
        |history| {
            let changed = Answer::Listed(vec![object(1, 2)]);
            ended(history).iter().any(|it| it.call == Call::List(1) && it.answer == changed)
        },
    )
    // The cache forgets soon.
    .not_on(needs_exact_time)
}

/// A written object is read shortly before its time is over, and after it.
fn read_before_it_is_forgotten() -> Scenario<MutationCache> {
    Scenario::<MutationCache>::new(
        "read_before_it_is_forgotten",
        "a written object is read while it is remembered, and later again",
        |world| {
            let stage = Stage::new(world);
            stage.call([Call::Wrote(object(1, 1))]);
            for _ in 0..2 {
                stage.sleep(TIME * 3 / 4);
                stage.call([Call::Get(1)]);
            }
        },
        // It is there first, and not later.
        |history| {
            let read = [Answer::Read(Some(object(1, 1))), Answer::Read(None)];
            ended(history).iter().map(|it| &it.answer).filter(|it| **it != Answer::Done).eq(&read)
        },
    )
    .not_on(sleeps)
}

/// An object is handed out while others are compared (`cache:MD-2`).
fn added_beside_comparison() -> Scenario<MutationCache> {
    Scenario::<MutationCache>::new(
        "added_beside_comparison",
        "an object is handed out while another is compared",
        |world| {
            let stage = Stage::new(world);
            stage.call([Call::Watch]);
            let comparing = stage.on("comparing", [Call::Compare]);
            stage.call([Call::Watch]);
            stage.join([comparing]);
            stage.call([Call::Compare]);
        },
        // One object is handed out while the other is compared.
        |history| {
            let (ended, mut events) = (ended(history), history.events.iter());
            let begins = events.position(|event| event.noted(COMPARING).is_some());
            let ends = ended.iter().find(|it| it.call == Call::Compare).map(|it| it.to);
            let during = |it: &Ended| Some(it.to) > begins && Some(it.to) < ends;
            begins.is_some() && ended.iter().filter(|it| it.call == Call::Watch).any(during)
        },
    )
    .not_on(|engine| {
        (engine == Engine::Threads).then_some("a real thread may also wait for the processor")
    })
}
