//! Retired locks: in an annotation of a ConfigMap or of an Endpoints object, and pairs of locks.
//! They exist only for moving away from them, to a [`LeaseLock`](super::LeaseLock).

mod annotation;
mod pair;

pub use annotation::{
    ANNOTATION, AnnotationLock, ConfigMap, ConfigMapLock, Endpoints, EndpointsLock,
};
pub use pair::{PairLock, UNKNOWN_HOLDER};
