//! The keyed heap's page.
//!
//! | promise | invariant | scenario | a mutant that breaks it |
//! |---|---|---|---|
//! | only objects in the heap are handed out, once | `only_what_is_there` | `deleted_while_waiting` | `taken_stays`, `delete_does_nothing` |
//! | the newest state counts | `newest_state` | `replaced_while_waiting` | `first_state_wins`, `absent_replaces` |
//! | the least comes first | `least_first` | `two_consumers` | `greatest_first`, `order_by_key` |
//! | nothing is lost | `nothing_is_lost` | `replaced_while_waiting` | `added_again_is_gone`, `bulk_all_or_nothing` |
//! | closing discards nothing | `close_discards_nothing` | `close_with_objects_left` | `close_discards`, `empty_is_closed` |
//! | closing is final | `close_is_final` | `close_with_objects_left` | `accept_after_close` |
//! | deletions are reported | `deletions_are_told` | `deleted_while_waiting` | `deletes_the_absent`, `close_gates_delete` |
//! | reads agree | `reads_agree` | `readers_between` | `len_counts_one_more` |
//! | a bad object is reported | `the_bad_one_is_told` | `many_with_a_bad_one` | `bulk_hides_the_bad_one` |
//! | no wake-up is lost | `no_lost_wakeup` | `many_for_two`, `many_with_a_bad_one` | `bulk_wakes_one`, `refused_bulk_is_silent` |
//! | closing wakes all callers | `close_wakes_everybody` | `close_while_two_wait` | `close_wakes_one` |

mod conformance;
mod invariants;
mod ledger;
mod mutants;
mod op;
mod reference;
mod scenarios;
mod spec;
#[cfg(test)]
mod tests;

use seatrial_core::machine::{Boxed, Step};
use seatrial_core::store::heap::{self, Op as Call, Ret};

use crate::conformance::Conformance;
use crate::events::fixtures::{Object, named};
use crate::single_step::{AtOnce, Behind};
use crate::trial::{
    Component, DynScenario, EventOf, HistoryOf, Invariant, MachineOf, Mutant, OpOf, Property,
    RetOf, component_tests,
};

pub use op::{Machine, Op, check, check_on, decode};
pub use reference::{Mistake, PlainHeap, REFERENCE};
pub use spec::Spec;

/// The keyed heap, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Heap;

type Event = EventOf<Heap>;
type History = HistoryOf<Heap>;

impl Component for Heap {
    type Machine = Machine;

    const NAME: &'static str = "heap";
    const SAYS: &'static str = "the queue of objects by rank";

    fn machine() -> MachineOf<Self> {
        Box::new(op::machine())
    }

    fn scenarios() -> Vec<Box<dyn DynScenario<Self>>> {
        scenarios::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    fn describe(op: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        match outcome {
            Step::Done(ret) | Step::Held(ret) => describe(op, ret),
            Step::Wait { .. } => "pop sleeps".to_owned(),
        }
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| check(&decode(bytes)))
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        let make = mutant.make;
        let may_wait = |op: &Call<u8, Object>| matches!(op, Call::Pop(_));
        let tried = move |_| Boxed::<Machine>(Box::new(AtOnce::but(may_wait, Behind(make()))));
        Some(Box::new(move |bytes| check_on(&decode(bytes), tried)))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::is_of_waking(mutant)
    }
}

component_tests! {
    Heap;
    scenarios:
        two_consumers,
        replaced_while_waiting,
        deleted_while_waiting,
        gap_among_many,
        added_if_absent,
        many_for_two,
        many_with_a_bad_one,
        readers_between,
        close_while_two_wait,
        close_with_objects_left,
        task_and_thread,
        dropped_popper;
    also: mutants, conformance, fuzz
}

/// Describes a call.
fn describe(op: &heap::Op<u8, Object>, ret: &Ret<u8, Object>) -> String {
    match (op, ret) {
        (Call::Put(put), _) => format!("add {}", named(&put.object)),
        (Call::AddIfAbsent(add), _) => format!("add {} if absent", named(&add.object)),
        (Call::BulkAdd(bulk), _) => {
            format!("add {}", named(bulk.objects.iter().map(|keyed| &keyed.object)))
        }
        (Call::Delete(delete), Ret::Delete(told)) => {
            let told = told.as_ref().map(|(_, object)| object);
            format!("delete {} -> {}", delete.0.key(), named(told))
        }
        (Call::Pop(_), Ret::Pop(Some((_, object)))) => format!("pop -> {}", named([object])),
        (Call::Pop(_), _) => "pop -> closed".to_owned(),
        (Call::Close(_), _) => "close".to_owned(),
        (Call::Get(get), Ret::Get(object)) => format!("get {} -> {}", get.0.key(), named(object)),
        (op, ret) => format!("{op:?} -> {ret:?}"),
    }
}
