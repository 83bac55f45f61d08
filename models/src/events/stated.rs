//! A short way to write a scenario: its name, its sentence, its program, and the case it must
//! reach.

use crate::engine::Engine;

/// Writes a scenario of a component. The component's type comes first, before a semicolon. Between
/// the scenario's sentence and its program there may be: how many deadlines may pass in the middle
/// of other work, and what refuses an engine.
macro_rules! scenario_of {
    ($component:ty; $name:ident, $text:literal, $says:literal, |$world:ident| $run:block,
     |$history:ident| $reaches:expr) => {
        crate::events::scenario_of! {
            $component; $name, $text, $says, |_| None, |$world| $run, |$history| $reaches
        }
    };
    ($component:ty; $name:ident, $text:literal, $says:literal, $refuses:expr,
     |$world:ident| $run:block, |$history:ident| $reaches:expr) => {
        crate::events::scenario_of! {
            $component; $name, $text, $says, 0, $refuses, |$world| $run, |$history| $reaches
        }
    };
    ($component:ty; $name:ident, $text:literal, $says:literal, $free:literal, $refuses:expr,
     |$world:ident| $run:block, |$history:ident| $reaches:expr) => {
        #[doc = $says]
        struct $name;

        impl crate::trial::Scenario<$component> for $name {
            const NAME: &'static str = $text;
            const SAYS: &'static str = $says;
            const FREE_DEADLINES: u32 = $free;

            fn run<R: seatrial_core::runtime::Runtime>(
                &self,
                $world: &crate::trial::World<R, $component>,
            ) {
                $run
            }

            fn reaches($history: &crate::trial::HistoryOf<$component>) -> bool {
                $reaches
            }

            fn cannot_run_on(engine: crate::engine::Engine) -> Option<&'static str> {
                $refuses(engine)
            }
        }
    };
}

pub(super) use scenario_of;

/// Refuses the search of all traces to scenarios that have too many.
pub(super) fn has_many_traces(engine: Engine) -> Option<&'static str> {
    let many = "it has too many traces; others try some of them";
    (engine == Engine::Trace).then_some(many)
}
