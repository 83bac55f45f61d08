//! A short way to write a scenario: its name, its sentence, its program, and the case it must
//! reach.

use crate::engine::Engine;

/// Refuses the search of all traces to scenarios that have too many.
pub(super) fn has_many_traces(engine: Engine) -> Option<&'static str> {
    let many = "it has too many traces; others try some of them";
    (engine == Engine::Trace).then_some(many)
}
