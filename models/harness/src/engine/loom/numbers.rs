//! Names for threads that do not depend on the schedule.
//!
//! A thread is known by the way it came about: the n-th child of the m-th child of main. loom runs
//! five threads at most, so there are only sixteen such ways, and each has a fixed number: 0 is
//! main, 1 to 4 are its children in order, then their children, and so on.

use std::sync::OnceLock;

/// The most threads of one execution, main included: loom has no room for more.
pub const MAX_LOOM_THREADS: usize = 5;

/// Returns the number of the thread that `path` leads to: each entry says which child, from one.
pub(super) fn number(path: &[u8]) -> u8 {
    static WAYS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let ways = WAYS.get_or_init(ways);
    let at = ways.iter().position(|way| way == path).expect("no more than five threads");
    u8::try_from(at).expect("sixteen ways")
}

/// Lists all ways to come about, by depth. The n-th child of a thread has n - 1 elder siblings, so
/// the entries of a way add up to less than the number of threads.
fn ways() -> Vec<Vec<u8>> {
    let mut all = vec![vec![]];
    let mut at = 0;
    while at < all.len() {
        let parent = all[at].clone();
        let ancestors: u8 = parent.iter().sum();
        for child in 1..MAX_LOOM_THREADS as u8 - ancestors {
            all.push([parent.as_slice(), &[child]].concat());
        }
        at += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_of_main_are_numbered_in_order() {
        assert_eq!(number(&[]), 0);
        for child in 1..=4 {
            assert_eq!(number(&[child]), child);
        }
    }

    #[test]
    fn grandchildren_come_after_all_children() {
        assert_eq!(ways().len(), 16);
        assert_eq!(number(&[1, 1]), 5);
        assert_eq!(number(&[3, 1]), 10);
        assert_eq!(number(&[1, 1, 1, 1]), 15);
    }
}
