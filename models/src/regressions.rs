//! How a property is tried, and the place where its failures are kept.

use proptest::test_runner::{Config, FailurePersistence, FileFailurePersistence};

/// Tries a property with this many cases. Keeps its failures in a file of the repository; keeps
/// none if the crate is used alone.
pub(crate) fn configured(cases: u32, path: &'static str) -> Config {
    let kept = || Box::new(FileFailurePersistence::Direct(path)) as Box<dyn FailurePersistence>;
    let failure_persistence = std::path::Path::new(path).exists().then(kept);
    Config { cases, failure_persistence, ..Config::default() }
}

/// Says how a property of a component is tried; the component has one file for all its failures.
macro_rules! tried {
    ($component:literal, cases: $cases:literal) => {
        $crate::regressions::configured(
            $cases,
            concat!(env!("CARGO_MANIFEST_DIR"), "/../proptest-regressions/", $component, ".txt"),
        )
    };
}

pub(crate) use tried;
