//! How objects get their keys.

use std::sync::Arc;

use crate::store::Cause;

/// Names an object. Deterministic and without side effects (`cache:KY-1`).
pub type KeyFunction<K, O> = Box<dyn Fn(&O) -> Result<K, Cause> + Send + Sync>;

/// Shows the key that an object carries, if it has one. A reference comes back in a register. A
/// `Result` with its error would come back through memory, written in other pieces than it is read
/// in; such a read cannot be served from the store buffer and waits until all stores are done, and
/// meanwhile the processor does not ask for the cache line of the next key.
type Shows<K, O> = Box<dyn for<'a> Fn(&'a O) -> Option<&'a K> + Send + Sync>;

/// The key function of a queue or store, in boxes of its own: what an `Arc` keeps has its place
/// computed in every call, if nobody knows how large it is.
pub(super) struct Naming<K, O> {
    key_of: KeyFunction<K, O>,
    /// Present if objects carry their keys. Whoever only looks at one, or asks whether there is one,
    /// need not count it, which is to write to where it lies.
    show: Option<Shows<K, O>>,
}

impl<K, O> Naming<K, O> {
    pub(super) fn made(key_of: impl Fn(&O) -> Result<K, Cause> + Send + Sync + 'static) -> Self {
        Self { key_of: Box::new(key_of), show: None }
    }

    pub(super) fn lent(
        key_of: impl for<'a> Fn(&'a O) -> Result<&'a K, Cause> + Send + Sync + 'static,
    ) -> Self
    where
        K: Clone,
    {
        let key_of = Arc::new(key_of);
        let shown = Arc::clone(&key_of);
        Self {
            key_of: Box::new(move |object| key_of(object).cloned()),
            show: Some(Box::new(move |object| shown(object).ok())),
        }
    }

    /// Returns the key of an object.
    #[inline]
    pub(super) fn key(&self, object: &O) -> Result<K, Cause> {
        (self.key_of)(object)
    }

    /// Returns the key of an object that carries it.
    #[inline]
    pub(super) fn shown<'a>(&self, object: &'a O) -> Option<&'a K> {
        self.show.as_ref()?(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::NoMetadata;

    fn show(object: &Option<String>) -> Result<&String, Cause> {
        object.as_ref().ok_or_else(|| Arc::new(NoMetadata) as Cause)
    }

    #[test]
    fn a_key_is_shown_by_objects_that_carry_it_and_the_same_either_way() {
        let made = Naming::made(|object: &Option<String>| show(object).cloned());
        let lent = Naming::lent(show);
        let (named, nameless) = (Some("web".to_owned()), None);
        for naming in [&made, &lent] {
            assert_eq!(naming.key(&named).unwrap(), "web");
            assert_eq!(naming.key(&nameless).unwrap_err().to_string(), "object has no meta");
            assert_eq!(naming.shown(&nameless), None);
        }
        assert_eq!(made.shown(&named), None);
        let shown = lent.shown(&named).map(std::ptr::from_ref);
        assert_eq!(shown, named.as_ref().map(std::ptr::from_ref), "not a copy");
    }
}
