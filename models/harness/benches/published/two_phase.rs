//! Two-phase commit as Gray and Lamport specify it: resource managers, a manager of their transaction, and
//! messages that stay. Others have counted its states.

use seatrial::engine::state::{Bytes, Model, Steps, Wrong};

/// How many resource managers there are.
pub(crate) struct TwoPhase(pub(crate) u8);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Working,
    Prepared,
    Committed,
    Aborted,
}

/// What the manager of the transaction has decided; its message says so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    None,
    Commit,
    Abort,
}

#[derive(Clone)]
pub(crate) struct State {
    managers: Vec<Phase>,
    decision: Decision,
    /// Of whom the manager of the transaction knows that they are prepared, a bit each.
    heard: u32,
    /// Who has sent that they are prepared.
    sent: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Hear,
    Commit,
    Abort,
    Prepare,
    GiveUp,
    Obey,
}

impl Model for TwoPhase {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        let managers = vec![Phase::Working; self.0.into()];
        State { managers, decision: Decision::None, heard: 0, sent: 0 }
    }

    fn steps(&self, state: &State, into: &mut Steps<Self>) {
        let mut step = |actor: u8, action, change: &dyn Fn(&mut State)| {
            let mut next = into.copy(state);
            change(&mut next);
            into.push(actor.into(), action, next);
        };
        let all = (1 << self.0) - 1;
        if state.decision == Decision::None {
            if state.heard == all {
                step(self.0, Action::Commit, &|next| next.decision = Decision::Commit);
            }
            step(self.0, Action::Abort, &|next| next.decision = Decision::Abort);
        }
        for manager in 0..self.0 {
            let (at, bit) = (usize::from(manager), 1 << manager);
            if state.decision == Decision::None && state.sent & bit != 0 {
                step(self.0, Action::Hear, &|next| next.heard |= bit);
            }
            if state.managers[at] == Phase::Working {
                step(manager, Action::Prepare, &|next| {
                    next.managers[at] = Phase::Prepared;
                    next.sent |= bit;
                });
                step(manager, Action::GiveUp, &|next| next.managers[at] = Phase::Aborted);
            }
            let told = match state.decision {
                Decision::None => continue,
                Decision::Commit => Phase::Committed,
                Decision::Abort => Phase::Aborted,
            };
            step(manager, Action::Obey, &|next| next.managers[at] = told);
        }
    }

    fn view(&self, state: &State, into: &mut Bytes) {
        let mut packed = u64::from(state.heard) << 32 | u64::from(state.sent) << 2;
        packed |= state.decision as u64;
        into.number(packed);
        into.number(state.managers.iter().fold(0_u64, |all, it| all << 2 | *it as u64));
    }

    fn wrong(&self, state: &State, _: bool) -> Option<Wrong> {
        let both = [Phase::Committed, Phase::Aborted].iter().all(|it| state.managers.contains(it));
        both.then(|| Wrong::new("consistent", "one has committed and another has aborted"))
    }

    fn reaches(&self, state: &State) -> bool {
        state.managers.iter().all(|it| *it == Phase::Committed)
    }
}
