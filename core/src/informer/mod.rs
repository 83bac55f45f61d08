//! Informers: a local store that follows a collection of a server, and tells handlers and
//! subscribers of its changes (client-go `tools/cache`).

/// Options whose fields a checker reads. Users set them by methods of the same names.
macro_rules! read_by_harness {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$about_field:meta])* $field:ident: $type:ty,)+
        }
    ) => {
        #[cfg(feature = "harness")]
        $(#[$about])*
        pub struct $name {
            $($(#[$about_field])* pub $field: $type,)+
        }
        #[cfg(not(feature = "harness"))]
        $(#[$about])*
        pub struct $name {
            $($(#[$about_field])* pub(crate) $field: $type,)+
        }
    };
}

mod apply;
mod builder;
mod change;
pub mod feed;
pub mod fresh;
mod handler;
mod health;
pub mod keys;
mod list_watch;
mod object;
mod own_writes;
mod partly;
mod predicate;
mod process;
mod readers;
mod reads;
pub mod reflector;
mod registry;
mod shared;
#[cfg(test)]
mod tests;
mod versions;

pub use apply::{ApplyError, apply, apply_batch};
pub use builder::Builder;
pub use change::{Change, ObjectChange};
pub use feed::{FeedError, Progress, Subscription};
pub use fresh::NotVisibleError;
pub use handler::{Handler, Handling, OnPanic, Registration, Report};
pub use health::{Recovery, Unwell};
pub use list_watch::{
    BoxFuture, Event, ListOptions, ListWatch, Match, OpenWatch, Page, SourceError, SourceKind,
    WatchOptions,
};
pub use object::{Labels, Object, Owner};
pub use own_writes::{AfterOwnWrites, after_own_writes};
pub use predicate::{Predicate, selected};
pub use readers::Wants;
pub use registry::Registry;
pub use shared::{AlreadyRun, Informer, OnRejected};

for_harness! {
    use registry::{Members, Runs};
}
