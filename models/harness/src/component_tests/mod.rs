//! Turns a component into tests whose paths are addresses.
//!
//! `component_tests!` is called in the component's page and emits there
//!
//! | test | what it shows |
//! |---|---|
//! | `scenarios_on_loom`, and so for `shuttle`, `trace` and `threads` | in every scenario every invariant comes out as expected, and the scenario reaches its case |
//! | `mutants_are_convicted_by_loom`, and so by `shuttle` and `trace` | every mutant breaks what it says it breaks, equivalent ones break nothing |
//! | `mutants_are_convicted_by_cluster_and_trace` | the same of mutants that need both to show |
//! | `conformance_replays_every_trace` | the recorded traces of the reference replay |
//! | `random_bytes_find_nothing` | the property that fuzzers feed holds on random bytes |
//! | `nothing_goes_untested` | the page names all that the component has |
//!
//! so `cargo test queue::scenarios_on_loom` selects a component and an engine. Budgets are small: these
//! tests run unoptimised, the command line does the searching.

mod checks;
mod convictions;

pub use checks::{
    all_scenarios_come_out_as_expected, comes_out_as_expected, every_mistake_is_noticed,
    nothing_goes_untested, random_bytes_find_nothing, replays_every_trace,
};
pub use convictions::convicts_every_mutant;

/// Emits what needs loom: a crate that states components need not have a feature for it.
#[cfg(feature = "loom")]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_loom {
    ($($items:tt)*) => { $($items)* };
}

/// Emits nothing: this build has no loom.
#[cfg(not(feature = "loom"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_loom {
    ($($items:tt)*) => {};
}

/// Emits what needs shuttle.
#[cfg(feature = "shuttle")]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_shuttle {
    ($($items:tt)*) => { $($items)* };
}

/// Emits nothing: this build has no shuttle.
#[cfg(not(feature = "shuttle"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_shuttle {
    ($($items:tt)*) => {};
}

/// Emits the tests of a component. The arguments are its type, and which of `mutants`,
/// `conformance` and `fuzz` it has.
#[macro_export]
macro_rules! component_tests {
    ($component:ident; $($other:ident),* $(,)?) => {
        $crate::__with_loom! {
            $crate::component_tests! { @engine $component, scenarios_on_loom, Loom }
        }
        $crate::__with_shuttle! {
            $crate::component_tests! { @engine $component, scenarios_on_shuttle, Sample }
            $crate::component_tests! { @engine $component, scenarios_on_trace, Trace }
        }
        $crate::component_tests! { @engine $component, scenarios_on_threads, Threads }
        $($crate::component_tests! { @other $component, $other })*

        #[cfg(test)]
        #[test]
        fn nothing_goes_untested() {
            $crate::component_tests::nothing_goes_untested::<$component>(
                &[$(stringify!($other)),*],
            );
        }
    };
    (@engine $component:ident, $test:ident, $engine:ident) => {
        #[cfg(test)]
        #[test]
        fn $test() {
            $crate::component_tests::all_scenarios_come_out_as_expected::<$component>(
                $crate::engine::Engine::$engine,
            );
        }
    };
    (@other $component:ident, mutants) => {
        $crate::__with_loom! {
            #[cfg(test)]
            #[test]
            fn mutants_are_convicted_by_loom() {
                $crate::component_tests::convicts_every_mutant::<$component>(
                    &[$crate::engine::Engine::Loom],
                );
            }
        }

        $crate::__with_shuttle! {
            #[cfg(test)]
            #[test]
            fn mutants_are_convicted_by_shuttle() {
                $crate::component_tests::convicts_every_mutant::<$component>(
                    &[$crate::engine::Engine::Sample],
                );
            }
        }

        $crate::__with_shuttle! {
            #[cfg(test)]
            #[test]
            fn mutants_are_convicted_by_trace() {
                $crate::component_tests::convicts_every_mutant::<$component>(
                    &[$crate::engine::Engine::Trace],
                );
            }
        }
    };
    (@other $component:ident, simulated_mutants) => {
        $crate::__with_shuttle! {
            #[cfg(test)]
            #[test]
            fn mutants_are_convicted_by_cluster_and_trace() {
                $crate::component_tests::convicts_every_mutant::<$component>(&[
                    $crate::engine::Engine::Cluster,
                    $crate::engine::Engine::Trace,
                ]);
            }
        }
    };
    (@other $component:ident, conformance) => {
        #[cfg(test)]
        #[test]
        fn conformance_replays_every_trace() {
            $crate::component_tests::replays_every_trace::<$component>();
        }
    };
    (@other $component:ident, fuzz) => {
        #[cfg(test)]
        #[test]
        fn random_bytes_find_nothing() {
            $crate::component_tests::random_bytes_find_nothing::<$component>();
        }
    };
}

pub use component_tests;
