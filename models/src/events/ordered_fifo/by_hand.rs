//! The calls on the rules of the ordered FIFO, made by hand instead of by the shell.

use std::sync::Arc;

use seatrial_core::delta_fifo::Verb;
use seatrial_core::ordered_fifo as core;
use seatrial_core::store::{Keyed, LastState};

use super::queue::transform;
use crate::events::fixtures::{Config, Object, Op, keyed, taken};

type Queued = core::Op<u8, Object>;

/// Makes the call on the rules to which a call comes down.
///
/// # Errors
/// The rules are not asked, and the call ends like this.
pub(super) fn call(config: &Config, op: &Op) -> Result<Queued, &'static str> {
    let taken = |object: &Object| taken(config, *object, transform);
    let put = |verb, object| Queued::Put(core::Put { verb, object: Some(taken(object)) });
    let delete = |last| Queued::Delete(core::Delete { last: Some(last) });
    Ok(match op {
        Op::Add(object) => put(Verb::Add, object),
        Op::Update(object) => put(Verb::Update, object),
        Op::Delete(object) => delete(taken(object).map(LastState::Final)),
        Op::DeleteUnseen(key, object) => delete(Ok(LastState::unknown(*key, *object))),
        Op::Replace(list) if config.known.is_none() => whole_list(config, list)?,
        Op::Replace(list) => {
            let keys: Result<Vec<_>, _> = list.iter().map(keyed).collect();
            let (mut objects, mut behind) = (vec![], keys?);
            let refused = list.iter().find_map(|listed| {
                let object = taken(listed);
                object.map(|it| objects.push(Keyed { key: behind.remove(0), object: it })).err()
            });
            Queued::Replace(core::Replace { objects, behind: behind.into(), refused })
        }
        Op::Resync => Queued::Resync(core::Resync),
        Op::Bookmark => {
            let resource_version = "8".to_owned();
            Queued::Mark(core::Mark(Arc::new(core::Bookmark { resource_version })))
        }
        Op::Pop | Op::PopAndPanic => Queued::Pop(core::Pop),
        Op::PopBatch | Op::PopAndWrite(_) | Op::PopAndReplace => Queued::PopBatch(core::PopBatch),
        Op::Close => Queued::Close(core::Close),
        other => unreachable!("an ordered FIFO has no call {other:?}"),
    })
}

/// Makes the call that queues a list as one event. The key of an object is not asked for.
fn whole_list(config: &Config, list: &[Object]) -> Result<Queued, &'static str> {
    let transformed = |object: &Object| match config.transform {
        true => transform(*object).map_err(|_| "transform"),
        false => Ok(*object),
    };
    let objects: Result<Vec<_>, _> = list.iter().map(transformed).collect();
    Ok(listed_at("9", objects?))
}

/// Makes the call that queues these objects as one event.
pub(super) fn listed_at(version: &str, objects: Vec<Object>) -> Queued {
    let snapshot = core::Snapshot { resource_version: version.to_owned(), objects };
    Queued::ReplaceAll(core::ReplaceAll(Arc::new(snapshot)))
}
