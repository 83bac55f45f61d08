//! What handlers read of an object, beyond what stores do.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::Described;

/// Labels or annotations, as objects carry them.
pub type Labels = BTreeMap<String, String>;

/// An object of a server. The methods say what an object without such metadata says, so a type
/// gives what it has; one implementation over a library's own trait of objects serves all its
/// types.
///
/// ```
/// use seatrial_core::informer::{Labels, Object};
/// use seatrial_core::store::{Described, Metadata};
///
/// struct Pod { name: String, version: String, labels: Labels }
///
/// impl Described for Pod {
///     fn metadata(&self) -> Option<Metadata<'_>> {
///         let (name, resource_version) = (&*self.name, &*self.version);
///         Some(Metadata { namespace: "default", name, uid: "", resource_version })
///     }
/// }
///
/// impl Object for Pod {
///     fn labels(&self) -> Option<&Labels> {
///         Some(&self.labels)
///     }
/// }
/// ```
pub trait Object: Described {
    /// Counts the changes of what the user asked for; `None` if the server does not count.
    fn generation(&self) -> Option<i64> {
        None
    }

    /// Returns the labels.
    fn labels(&self) -> Option<&Labels> {
        None
    }

    /// Returns the annotations.
    fn annotations(&self) -> Option<&Labels> {
        None
    }

    /// Returns the owners, in their order.
    fn owners(&self) -> Vec<Owner<'_>> {
        Vec::new()
    }

    /// Tells whether the deletion was asked for, and waits for finalizers or a grace period.
    fn is_terminating(&self) -> bool {
        false
    }
}

impl<T: Object + ?Sized> Object for Arc<T> {
    fn generation(&self) -> Option<i64> {
        T::generation(self)
    }

    fn labels(&self) -> Option<&Labels> {
        T::labels(self)
    }

    fn annotations(&self) -> Option<&Labels> {
        T::annotations(self)
    }

    fn owners(&self) -> Vec<Owner<'_>> {
        T::owners(self)
    }

    fn is_terminating(&self) -> bool {
        T::is_terminating(self)
    }
}

/// A reference of an object to one that owns it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Owner<'a> {
    /// The group and version of the owner, as `apps/v1`; the version alone for the core group.
    pub api_version: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// Whether it manages the object. One owner does at most.
    pub is_controller: bool,
}

impl Owner<'_> {
    /// Returns the group of the owner; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}
