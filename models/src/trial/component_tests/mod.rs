//! Turns a component into tests whose paths are addresses.
//!
//! `component_tests!` stands in the component's page and emits there
//!
//! | test | what it shows |
//! |---|---|
//! | `loom::<scenario>`, and so for `shuttle`, `trace` and `threads` | every invariant comes out as expected, and the scenario reaches its case |
//! | `mutants_are_convicted_by_loom`, and so by `shuttle` and `trace` | every mutant breaks what it says it breaks, equivalent ones break nothing |
//! | `mutants_are_convicted_by_cluster_and_trace` | the same of mutants that need both to show |
//! | `conformance_replays_every_trace` | the recorded traces of the reference replay |
//! | `random_bytes_find_nothing` | the property that fuzzers feed holds on random bytes |
//! | `nothing_goes_untested` | the list in the page is complete |
//!
//! so `cargo test queue::loom` selects an engine of a component and `cargo test loom::two_workers`
//! a scenario. Budgets are small: these tests run unoptimised, the command line does the searching.

#[cfg(test)]
mod checks;
#[cfg(all(test, any(feature = "loom", feature = "shuttle")))]
mod convictions;

#[cfg(test)]
pub(crate) use checks::*;
#[cfg(all(test, any(feature = "loom", feature = "shuttle")))]
pub(crate) use convictions::*;

/// Emits the tests of a component: its type, its scenarios, and what else it has of `mutants`,
/// `conformance` and `fuzz`.
macro_rules! component_tests {
    ($component:ident; scenarios: $($scenario:ident),+; also: $($other:ident),* $(,)?) => {
        $crate::trial::component_tests! {
            @engine $component, loom, Loom, feature = "loom"; $($scenario),+
        }
        $crate::trial::component_tests! {
            @engine $component, shuttle, Sample, feature = "shuttle"; $($scenario),+
        }
        $crate::trial::component_tests! {
            @engine $component, trace, Trace, feature = "shuttle"; $($scenario),+
        }
        $crate::trial::component_tests! { @engine $component, threads, Threads, test; $($scenario),+ }
        $($crate::trial::component_tests! { @other $component, $other })*

        #[cfg(test)]
        #[test]
        fn nothing_goes_untested() {
            $crate::trial::component_tests::nothing_goes_untested::<$component>(
                &[$(stringify!($scenario)),+],
                &[$(stringify!($other)),*],
            );
        }
    };
    (@engine $component:ident, $module:ident, $engine:ident, $built:meta; $($scenario:ident),+) => {
        #[cfg(all(test, $built))]
        mod $module {
            $(
                #[test]
                fn $scenario() {
                    $crate::trial::component_tests::comes_out_as_expected::<super::$component>(
                        $crate::engine::Engine::$engine,
                        stringify!($scenario),
                    );
                }
            )+
        }
    };
    (@other $component:ident, mutants) => {
        #[cfg(all(test, feature = "loom"))]
        #[test]
        fn mutants_are_convicted_by_loom() {
            $crate::trial::component_tests::convicts_every_mutant::<$component>(
                &[$crate::engine::Engine::Loom],
            );
        }

        #[cfg(all(test, feature = "shuttle"))]
        #[test]
        fn mutants_are_convicted_by_shuttle() {
            $crate::trial::component_tests::convicts_every_mutant::<$component>(
                &[$crate::engine::Engine::Sample],
            );
        }

        #[cfg(all(test, feature = "shuttle"))]
        #[test]
        fn mutants_are_convicted_by_trace() {
            $crate::trial::component_tests::convicts_every_mutant::<$component>(
                &[$crate::engine::Engine::Trace],
            );
        }
    };
    (@other $component:ident, simulated_mutants) => {
        #[cfg(all(test, feature = "shuttle"))]
        #[test]
        fn mutants_are_convicted_by_cluster_and_trace() {
            $crate::trial::component_tests::convicts_every_mutant::<$component>(&[
                $crate::engine::Engine::Cluster,
                $crate::engine::Engine::Trace,
            ]);
        }
    };
    (@other $component:ident, conformance) => {
        #[cfg(test)]
        #[test]
        fn conformance_replays_every_trace() {
            $crate::trial::component_tests::replays_every_trace::<$component>();
        }
    };
    (@other $component:ident, fuzz) => {
        #[cfg(test)]
        #[test]
        fn random_bytes_find_nothing() {
            $crate::trial::component_tests::random_bytes_find_nothing::<$component>();
        }
    };
}

pub(crate) use component_tests;

/// Names the file in which the failures of a component's properties are kept.
#[cfg(test)]
macro_rules! regressions {
    ($component:literal) => {
        $crate::trial::component_tests::kept_in(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../proptest-regressions/",
            $component,
            ".txt"
        ))
    };
}

#[cfg(test)]
pub(crate) use regressions;
