//! How far a store is: the rules of reading one's own writes, and of waiting for the first list.
//!
//! A store that has all changes up to a version has that version. The version gets newer with every
//! event, with bookmarks, and with lists; an older list takes it back, and callers that wait for a
//! newer version go on waiting. A store does not have the states that it refused, however new it
//! is: a caller that asks for one waits until something newer of that object is stored.

mod ledger;
mod operations;
mod state;
#[cfg(test)]
mod tests;
mod visible;

pub use state::NotVisibleError;

for_harness! {
    use operations::{Advance, AtLeast, Look, Op, Over, Prepare, Refuse, Ret, Stored, Synced};
    use operations::{Turn, WaitForSync};
    use state::{Fresh, Part, View, NEWS, SYNC};
    use visible::{Readable, Visible};
}
