//! How far a store is: the rules of reading one's own writes, and of waiting for the first list.
//!
//! A store that has all changes up to a version has that version. It gets newer with every event,
//! with bookmarks, and with lists; an older list takes it back. Callers that wait for
//! what was there then go on waiting. What the store refused it does not have, however new it is:
//! who asks for that waits until something newer of that object is stored.

mod ledger;
mod operations;
mod state;
#[cfg(test)]
mod tests;
mod visible;

pub use state::NotVisible;

for_harness! {
    use operations::{Advance, AtLeast, Look, Op, Over, Prepare, Refuse, Ret, Stored, Synced};
    use operations::{Turn, WaitForSync};
    use state::{Fresh, Part, View, NEWS, SYNC};
    use visible::{Readable, Visible};
}
