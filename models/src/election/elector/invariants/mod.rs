//! What the elector promises, as checks of a history.
//!
//! Promises about the lease itself are the ones that the simulated cluster is held to; they are
//! judged here on the history told as a run (`shared.rs`). Promises about what callers are told
//! are stated here (`terms.rs`, `calls.rs`, `answers.rs`).

mod answers;
mod calls;
mod chosen;
mod shared;
mod terms;

use super::Elector;
use crate::trial::{Invariant, Violation};

type Checked = Result<(), Violation>;

/// Lists every promise; the main one is the first.
pub(super) fn all() -> Vec<Invariant<Elector>> {
    let mut all = shared::all();
    all.extend(terms::all());
    all.extend(calls::all());
    all.extend(answers::all());
    all.extend(chosen::all());
    all
}
