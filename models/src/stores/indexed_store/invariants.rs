//! The promises of the indexed store, as checks of a history.

use super::sequential::Model;
use super::{History, IndexedStore};
use crate::stores::fixtures;
use crate::trial::{Invariant, Violation};

pub(super) fn all() -> Vec<Invariant<IndexedStore>> {
    vec![Invariant::always(
        "one_moment",
        "every call takes effect at one moment between its beginning and its end",
        &[
            "cache:ST-20",
            "cache:ST-6",
            "cache:ST-7",
            "cache:IX-14",
            "cache:INV-21",
            "cache:ST-8",
            "cache:ST-12",
            "cache:ST-16",
            "cache:IX-3",
            "cache:IX-4",
            "cache:IX-6",
            "cache:IX-16",
            "cache:IX-18",
            "cache:IX-2",
            "cache:IX-8",
            "cache:IX-12",
            "cache:IX-20",
            "cache:ST-4",
            "cache:INV-20",
        ],
        one_moment,
    )]
}

fn one_moment(history: &History) -> Result<(), Violation> {
    fixtures::one_moment(history, &Model::default())
}
