//! Turns a component into tests whose paths are addresses.
//!
//! `component_tests!` is called in the component's page and emits there
//!
//! | test | what it shows |
//! |---|---|
//! | `on_loom::<scenario>`, and so for `on_shuttle`, `on_trace` and `on_threads` | every invariant comes out as expected, and the scenario reaches its case |
//! | `mutants_are_convicted_by_loom`, and so by `shuttle` and `trace` | every mutant breaks what it says it breaks, equivalent ones break nothing |
//! | `mutants_are_convicted_by_cluster_and_trace` | the same of mutants that need both to show |
//! | `conformance_replays_every_trace` | the recorded traces of the reference replay |
//! | `random_bytes_find_nothing` | the property that fuzzers feed holds on random bytes |
//! | `nothing_goes_untested` | the list in the page is complete |
//!
//! so `cargo test queue::on_loom` selects an engine of a component and `cargo test on_loom::two_workers`
//! a scenario. Budgets are small: these tests run unoptimised, the command line does the searching.

mod checks;
mod convictions;

pub use checks::{
    comes_out_as_expected, every_mistake_is_noticed, nothing_goes_untested,
    random_bytes_find_nothing, replays_every_trace,
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

/// Emits the tests of a component. The arguments are its type, its scenarios, and which of
/// `mutants`, `conformance` and `fuzz` it has.
#[macro_export]
macro_rules! component_tests {
    ($component:ident; scenarios: $($scenario:ident),+; also: $($other:ident),* $(,)?) => {
        $crate::__with_loom! {
            $crate::component_tests! { @engine $component, on_loom, Loom; $($scenario),+ }
        }
        $crate::__with_shuttle! {
            $crate::component_tests! { @engine $component, on_shuttle, Sample; $($scenario),+ }
            $crate::component_tests! { @engine $component, on_trace, Trace; $($scenario),+ }
        }
        $crate::component_tests! { @engine $component, on_threads, Threads; $($scenario),+ }
        $($crate::component_tests! { @other $component, $other })*

        #[cfg(test)]
        #[test]
        fn nothing_goes_untested() {
            $crate::component_tests::nothing_goes_untested::<$component>(
                &[$(stringify!($scenario)),+],
                &[$(stringify!($other)),*],
            );
        }
    };
    (@engine $component:ident, $module:ident, $engine:ident; $($scenario:ident),+) => {
        #[cfg(test)]
        mod $module {
            $(
                #[test]
                fn $scenario() {
                    $crate::component_tests::comes_out_as_expected::<super::$component>(
                        $crate::engine::Engine::$engine,
                        stringify!($scenario),
                    );
                }
            )+
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
