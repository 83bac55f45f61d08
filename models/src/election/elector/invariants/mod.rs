//! The promises of the elector, as checks of a history.
//!
//! The promises about the lease itself are those of the simulated cluster. They are judged here on
//! the history retold as a run (`shared.rs`). Promises about the answers to callers are stated here
//! (`terms.rs`, `calls.rs`, `answers.rs`).

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
