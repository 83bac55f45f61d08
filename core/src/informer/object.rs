//! The properties of an object that handlers read, beyond those that stores read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::Described;

/// Labels or annotations, as objects carry them.
pub type Labels = BTreeMap<String, String>;

/// An object of a server. The default of each method is right for objects without that metadata, so
/// a type implements only the methods that it needs. One implementation over a library's own object
/// trait covers all its types.
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
    /// The number of changes to the specification; `None` if the server does not count them.
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

    /// Tells whether deletion was requested and waits for finalizers or a grace period.
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

/// A reference from an object to its owner.
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
    /// Whether it is the controller of the object. At most one owner is.
    pub is_controller: bool,
}

impl Owner<'_> {
    /// Returns the group of the owner; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}
