//! Changes that are merged, and changes that are not.

use super::*;

const A: Object = ("x", 1);
const B: Object = ("x", 2);

fn compressed(changes: &[Change]) -> Vec<Change> {
    changes.iter().cloned().collect::<Deltas<_, _>>().to_vec()
}

#[test]
fn of_two_deletions_the_older_stays_unless_it_is_a_tombstone() {
    let stone = |object| tombstone("x", Some(object));
    assert_eq!(compressed(&[deleted(A), deleted(B)]), [deleted(A)]);
    assert_eq!(compressed(&[deleted(A), stone(B)]), [deleted(A)]);
    assert_eq!(compressed(&[stone(A), deleted(B)]), [deleted(B)]);
    assert_eq!(compressed(&[stone(A), stone(B)]), [stone(B)]);
}

#[test]
fn any_number_of_deletions_in_a_row_become_one() {
    let stone = tombstone("x", None);
    assert_eq!(compressed(&[stone.clone(), stone.clone(), deleted(A), deleted(B)]), [deleted(A)]);
    assert_eq!(compressed(&[stone.clone(), stone.clone(), stone.clone()]), [stone]);
}

#[test]
fn compression_looks_at_the_newest_change_only() {
    let recreated = [deleted(A), Delta::Added(B), deleted(B)];
    assert_eq!(compressed(&recreated), recreated);
}

#[test]
fn nothing_else_is_merged() {
    let all = [
        Delta::Added(A),
        Delta::Added(A),
        Delta::Updated(A),
        Delta::Updated(A),
        Delta::Sync(A),
        Delta::Sync(A),
        Delta::Replaced(A),
        Delta::Replaced(A),
        deleted(A),
        Delta::Sync(A),
        deleted(A),
        Delta::Replaced(A),
    ];
    assert_eq!(compressed(&all), all);
}

#[test]
fn pushing_returns_what_compression_drops() {
    let mut deltas = Deltas::from(deleted(A));
    assert_eq!(deltas.push(deleted(B)), Some(deleted(B)));
    assert_eq!(deltas.push(Delta::Added(B)), None);
    assert_eq!(deltas.push(tombstone("x", None)), None);
    assert_eq!(deltas.push(deleted(B)), Some(tombstone("x", None)));
}

#[test]
fn oldest_and_newest_are_total() {
    assert_eq!(Deltas::<&str, Object>::new().oldest(), None);
    assert_eq!(Deltas::<&str, Object>::default().newest(), None);
    let deltas: Deltas<&str, _> = Deltas::from_iter([Delta::Added(A), Delta::Updated(B)]);
    assert_eq!(deltas.oldest(), Some(&Delta::Added(A)));
    assert_eq!(deltas.newest().map(Delta::kind), Some(DeltaKind::Updated));
    assert_eq!(format!("{deltas:?}"), r#"[Added(("x", 1)), Updated(("x", 2))]"#);
}

#[test]
fn an_entry_with_one_change_takes_two_words() {
    assert_eq!(size_of::<Deltas<String, Arc<u8>>>(), 16);
    assert_eq!(size_of::<Delta<String, Arc<u8>>>(), 16);
}
