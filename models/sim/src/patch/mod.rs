//! The four ways to change a part of an object, as pure functions over JSON values.
//!
//! | content type | function | body |
//! |---|---|---|
//! | `application/json-patch+json` | [`json`] | a list of operations (RFC 6902) |
//! | `application/merge-patch+json` | [`merge`] | a partial object (RFC 7386) |
//! | `application/strategic-merge-patch+json` | [`strategic`] | a partial object with directives |
//! | `application/apply-patch+yaml` | [`apply()`] | the fields that a manager wants |
//!
//! [`track`] keeps `metadata.managedFields` up to date for every other write. [`Types`] says how the
//! lists and maps of a kind are merged and owned.
//!
//! No function here looks at names, versions or permissions: the server checks these around it. No
//! input makes one panic, and depth and size of what they accept are bounded.

mod apply;
mod built_in;
mod check;
mod combine;
mod difference;
mod error;
mod json;
mod limits;
mod managers;
mod merge;
mod overlay;
mod ownership;
mod pointer;
mod prune;
mod schema;
mod set;
mod strategic;
mod strategic_list;
#[cfg(test)]
mod tests;
mod track;
mod typed;
mod types;
mod versions;

pub(crate) use apply::apply_from;
pub use apply::{Apply, apply};
pub use error::PatchError;
pub use json::json;
pub(crate) use json::{Stopped, performed, type_name};
pub(crate) use limits::measure;
pub use managers::unchanged;
pub use merge::merge;
pub(crate) use merge::without_nulls;
pub(crate) use overlay::{Refused, lay_over};
pub use strategic::strategic;
pub(crate) use track::track_in;
pub use track::{Update, track};
pub use types::Types;
pub(crate) use versions::{Others, Versions};
