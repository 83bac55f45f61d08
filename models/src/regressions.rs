//! The place where failures of properties are kept.

use proptest::test_runner::{FailurePersistence, FileFailurePersistence};

/// Keeps the failures of a property in a file of the repository; keeps none if the crate is used
/// alone.
pub(crate) fn kept_in(path: &'static str) -> Option<Box<dyn FailurePersistence>> {
    let exists = std::path::Path::new(path).exists();
    exists.then(|| Box::new(FileFailurePersistence::Direct(path)) as Box<dyn FailurePersistence>)
}

/// Names the file in which the failures of a component's properties are kept.
macro_rules! regressions {
    ($component:literal) => {
        $crate::regressions::kept_in(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../proptest-regressions/",
            $component,
            ".txt"
        ))
    };
}

pub(crate) use regressions;
