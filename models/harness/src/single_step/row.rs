//! The meaning of batches, on machines that know single calls only.

use seatrial_core::machine::{Cx, Embed, Machine, Many, Step, UpTo};

/// Runs one call that returns at once.
fn one<M: Machine, O: Embed<M>>(
    machine: &mut dyn Machine<Op = M::Op, Ret = M::Ret>,
    call: &O,
    cx: &mut Cx<'_>,
) -> Step<O::Ret> {
    machine.step(&mut call.clone().embed(), cx).map(O::result)
}

/// Runs calls one after the other.
///
/// # Panics
/// If one of them would wait.
pub fn in_a_row<M: Machine, O: Embed<M>>(
    machine: &mut dyn Machine<Op = M::Op, Ret = M::Ret>,
    calls: &Many<O>,
    cx: &mut Cx<'_>,
) -> Vec<O::Ret> {
    let mut step = |call| match one::<M, O>(machine, call, cx) {
        Step::Done(ret) => ret,
        Step::Held(_) | Step::Wait { .. } => panic!("a call in a row returns at once"),
    };
    calls.0.iter().map(&mut step).collect()
}

/// Runs a call as often as it gives something, up to a number.
pub fn up_to<M: Machine, O: Embed<M, Ret = Option<T>>, T>(
    machine: &mut dyn Machine<Op = M::Op, Ret = M::Ret>,
    batch: &UpTo<O>,
    cx: &mut Cx<'_>,
) -> Step<Vec<T>> {
    let mut taken = Vec::new();
    while taken.len() < batch.most.get() {
        match one::<M, O>(machine, &batch.call, cx) {
            Step::Done(Some(value)) | Step::Held(Some(value)) => taken.push(value),
            Step::Wait { on, until } if taken.is_empty() => return Step::Wait { on, until },
            _ => break,
        }
    }
    Step::Done(taken)
}
