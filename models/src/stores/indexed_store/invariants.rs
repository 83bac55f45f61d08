//! The promises of the indexed store, as checks of a history.

use super::book::{Answer, Call, Ended};
use super::moments::in_order;
use super::sequential::bits_of;
use super::{History, IndexedStore};
use crate::stores::fixtures::ended;
use crate::trial::{Invariant, Violation};

type Checked = Result<(), Violation>;

/// `one_moment` covers everything. The two before it name the fault if a single answer shows it;
/// they convict nothing that `one_moment` would not.
pub(super) fn all() -> Vec<Invariant<IndexedStore>> {
    vec![
        Invariant::always(
            "index_agrees",
            "an object that is read by a value has that value at every moment of the read, and is \
             read once",
            &["cache:IX-2", "cache:IX-12", "cache:IX-20", "cache:INV-20"],
            index_agrees,
        ),
        Invariant::always(
            "refused_writes_are_not_seen",
            "no reader ever sees what an index function refused",
            &["cache:IX-8", "cache:ST-4"],
            refused_writes_are_not_seen,
        ),
        Invariant::always(
            "one_moment",
            "every call takes effect at one moment between its beginning and its end",
            &[
                "cache:ST-20",
                "cache:ST-6",
                "cache:ST-7",
                "cache:IX-14",
                "cache:INV-21",
                "cache:ST-8",
                "cache:ST-12",
                "cache:ST-16",
                "cache:IX-3",
                "cache:IX-4",
                "cache:IX-6",
                "cache:IX-16",
                "cache:IX-18",
            ],
            one_moment,
        ),
    ]
}

/// Checks every answer alone.
fn at_every_end(history: &History, check: fn(&Ended) -> Result<(), String>) -> Checked {
    for ended in ended(history) {
        check(&ended).map_err(|because| Violation::at(ended.to, because))?;
    }
    Ok(())
}

fn index_agrees(history: &History) -> Checked {
    at_every_end(history, |ended| match (&ended.call, &ended.answer) {
        (Call::ByIndex(bit), Answer::Objects(objects)) => {
            if let Some(other) = objects.iter().find(|object| !bits_of(object).contains(bit)) {
                return Err(format!("{other:?} is read by bit {bit}"));
            }
            let twice = objects.windows(2).any(|pair| pair[0].key == pair[1].key);
            if twice { Err(format!("{objects:?} has an object twice")) } else { Ok(()) }
        }
        _ => Ok(()),
    })
}

fn refused_writes_are_not_seen(history: &History) -> Checked {
    let ended = ended(history);
    let refused = ended.iter().filter_map(|ended| match (&ended.call, &ended.answer) {
        (Call::Put(object), Answer::Refused) => Some(object),
        _ => None,
    });
    let refused: Vec<_> = refused.collect();
    for reader in &ended {
        let Answer::Objects(seen) = &reader.answer else { continue };
        if let Some(object) = seen.iter().find(|object| refused.contains(object)) {
            return Err(Violation::at(reader.to, format!("{object:?} is seen, and was refused")));
        }
    }
    Ok(())
}

fn one_moment(history: &History) -> Checked {
    let ended = ended(history);
    if in_order(&ended).is_some() {
        return Ok(());
    }
    let shortest = (1..=ended.len()).find(|&count| in_order(&ended[..count]).is_none());
    let last = &ended[shortest.map_or(0, |count| count - 1)];
    Err(Violation::at(last.to, format!("no order of the calls explains {:?}", last.answer)))
}
