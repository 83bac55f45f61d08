//! Objects for stores and queues of objects.

use std::sync::Arc;

use crate::measure::{Key, keys};

/// An object of a hundred bytes, with a few fields to find it by.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) key: Key,
    /// A thousand objects share one of these, at a hundred thousand objects.
    pub(crate) zone: Arc<str>,
    /// A hundred objects share one of these.
    pub(crate) node: Arc<str>,
    pub(crate) payload: [u8; 52],
}

/// Returns that many objects, in an order that is unrelated to their keys.
pub(crate) fn objects(count: usize) -> Vec<Arc<Object>> {
    let shared = |name: &str, count: usize| -> Vec<Arc<str>> {
        (0..count).map(|number| format!("{name}-{number}").into()).collect()
    };
    let (zones, nodes) = (shared("zone", 100), shared("node", 1000));
    let object = |(number, key): (usize, Key)| {
        Arc::new(Object {
            key,
            zone: Arc::clone(&zones[number % zones.len()]),
            node: Arc::clone(&nodes[number % nodes.len()]),
            payload: [number as u8; 52],
        })
    };
    assert_eq!(size_of::<Object>(), 104);
    keys(count).into_iter().enumerate().map(object).collect()
}
