//! The DeltaFIFO as a queue of objects under trial.

use std::collections::BTreeMap;

use seatrial_core::delta_fifo::{self as core, DeltaQueue, Op as Queued, Popped, Ret, Verb};
use seatrial_core::fifo::{AfterPop, SlowHook};
use seatrial_core::store::{KeyHasher, Keyed, LastState};

use super::{Change, DeltaFifo, Led, MapAndKeys, Over, View};
use crate::engine::AnyRuntime;
use crate::events::fixtures::{
    Answer, Config, Driven, Hosted, Kind, Mistakes, Object, Objects, Op, Shown, Store, at_once,
    hashed, keyed, named, named_change, named_last, said, taken, transform,
};

type Known = Store<u8, Object>;
pub(super) type Queue = core::DeltaFifo<u8, Object, Known, AnyRuntime>;

impl Shown<DeltaFifo> for DeltaQueue<u8, Object, Known> {
    fn waiting(&self) -> Vec<(u8, Vec<Change>)> {
        self.iter().map(|(key, deltas)| (*key, deltas.to_vec())).collect()
    }
}

impl Shown<DeltaFifo> for MapAndKeys<u8, Object, Known> {
    fn waiting(&self) -> Vec<(u8, Vec<Change>)> {
        self.pending()
    }
}

impl Objects for DeltaFifo {
    type Op = Queued<u8, Object>;
    type Ret = Ret<u8, Object>;
    type Rules = DeltaQueue<u8, Object, Known>;
    type Plain = MapAndKeys<u8, Object, Known>;
    type Entry = (u8, Vec<Change>);
    type Queue = Queue;
    type View = View;

    fn ships(config: &Config) -> Self::Rules {
        DeltaQueue::new(KeyHasher::fixed(7), config.known.clone(), config.emit_replaced)
    }

    fn plain(config: &Config, mistakes: Mistakes) -> Self::Plain {
        MapAndKeys::with(mistakes, config.known.clone(), config.emit_replaced)
    }

    fn has_synced(plain: &Self::Plain) -> bool {
        plain.has_synced()
    }

    fn queue(
        runtime: &AnyRuntime,
        config: &Config,
        on_slow: Option<SlowHook>,
        host: Hosted<Self>,
    ) -> Queue {
        Queue::with_host(runtime, config.intake(), on_slow, host)
    }

    fn consume(store: &Known, popped: &Popped<u8, Object>) {
        store.apply(&popped.key, &popped.deltas);
    }

    fn kind(op: &Self::Op) -> Kind {
        match op {
            Queued::Put(_) => Kind::Put,
            Queued::Delete(_) => Kind::Delete,
            Queued::Replace(_) => Kind::List,
            Queued::Resync(_) => Kind::Resync,
            Queued::Pop(_) => Kind::Pop,
            Queued::Processed(_) => Kind::Processed,
            Queued::AddIfAbsent(_) => Kind::PutBack,
            Queued::Close(_) => Kind::Close,
            Queued::HasSynced(_) => Kind::HasSynced,
            Queued::WaitForSync(_) => Kind::WaitForSync,
            Queued::IsClosed(_) | Queued::Get(_) | Queued::List(_) | Queued::Len(_) => Kind::Read,
        }
    }

    fn answer(ret: &Self::Ret) -> Answer {
        match ret {
            Ret::Pop(Some(_)) => Answer::Took,
            Ret::Pop(None) => Answer::End,
            Ret::HasSynced(says) => Answer::Asked(*says),
            Ret::WaitForSync(says) => Answer::Waited(*says),
            _ => Answer::Other,
        }
    }

    fn view(known: &BTreeMap<u8, Object>) -> View {
        View::of(known)
    }

    fn see(view: &mut View, _: &Led, over: &Over<'_>) {
        view.see(over);
    }

    fn says(op: &Self::Op, ret: Option<&Self::Ret>) -> Option<String> {
        Some(match (op, ret) {
            (Queued::Put(put), _) => {
                let verb = if put.verb == Verb::Add { "add" } else { "update" };
                match &put.object {
                    Some(Ok(object)) => format!("{verb} {}", named([object])),
                    _ => format!("{verb}: refused"),
                }
            }
            (Queued::Delete(delete), _) => match &delete.last {
                Some(Ok(last)) => format!("delete {}", named_last(last)),
                _ => "delete: refused".to_owned(),
            },
            (Queued::Replace(list), _) => {
                let refused = if list.refused.is_some() { ", refused" } else { "" };
                format!("list {}{refused}", named(list.objects.iter().map(|keyed| &keyed.object)))
            }
            (Queued::Pop(_), Some(Ret::Pop(Some(popped)))) => {
                let initial = if popped.initial { ", initial" } else { "" };
                format!("pop -> {}: {}{initial}", popped.key, changes(&popped.deltas))
            }
            (Queued::Processed(core::Processed { requeue: Some(_) }), _) => {
                "processed, asked back".to_owned()
            }
            (Queued::AddIfAbsent(add), _) => format!("put back {}", changes(&add.deltas)),
            _ => return None,
        })
    }

    fn own_call(driven: &mut Driven<Self>, op: &Op) -> String {
        match op {
            // The key of a list of changes comes from its newest object, and there may be none.
            Op::AddBack => {
                let deltas = driven.last.as_ref().map(|popped| popped.deltas.clone());
                let back = driven.queue.add_if_absent(deltas.unwrap_or_default());
                said(&back.map_err(Into::into)).to_owned()
            }
            Op::PopAndRequeue => {
                let mut seen = None;
                let ended = at_once(driven.queue.pop_or_requeue_async(|popped| {
                    seen = Some(popped.clone());
                    (AfterPop::Requeue, ())
                }));
                driven.popped(seen, ended.map(|popped| popped.is_ok()))
            }
            Op::Get(key) => format!("{:?}", driven.queue.get(key)),
            other => unreachable!("a DeltaFIFO has no call {other:?}"),
        }
    }

    fn listing(queue: &Queue) -> String {
        format!("{:?}", queue.list())
    }

    fn by_hand(
        config: &Config,
        last: Option<&Self::Ret>,
        op: &Op,
    ) -> Result<Self::Op, &'static str> {
        let taken = |object: &Object| taken(config, *object, transform);
        let put = |verb, object: &Object| {
            let (key, object) = (keyed(object).ok(), Some(taken(object)));
            Queued::Put(core::Put { verb, key, object })
        };
        let delete = |key, last| Queued::Delete(core::Delete { key: Some(key), last: Some(last) });
        Ok(match op {
            Op::Add(object) => put(Verb::Add, object),
            Op::Update(object) => put(Verb::Update, object),
            Op::Delete(object) => delete(keyed(object)?, taken(object).map(LastState::Final)),
            Op::DeleteUnseen(key, object) => {
                delete(hashed(*key), Ok(LastState::unknown(*key, *object)))
            }
            Op::Replace(list) => {
                let mut objects = vec![];
                let refused = list.iter().find_map(|listed| {
                    let object = taken(listed);
                    object.map(|it| objects.push(Keyed { key: hashed(listed.0), object: it })).err()
                });
                Queued::Replace(core::Replace::new(objects, refused))
            }
            Op::Resync => Queued::Resync(core::Resync::new()),
            // Without changes there is no key.
            Op::AddBack => Queued::AddIfAbsent(back(last.ok_or("key")?).ok_or("key")?),
            Op::Pop | Op::PopAndFail | Op::PopAndPanic | Op::PopAndRequeue => {
                Queued::Pop(core::Pop)
            }
            Op::Get(key) => Queued::Get(core::Get(hashed(*key))),
            Op::Close => Queued::Close(core::Close),
            other => unreachable!("a DeltaFIFO has no call {other:?}"),
        })
    }

    fn ends(asked: Option<&Self::Ret>) -> Self::Op {
        let requeue = asked.and_then(back).map(Box::new);
        Queued::Processed(core::Processed { requeue })
    }

    fn handed(ret: &Self::Ret) -> Vec<Object> {
        let Ret::Pop(Some(popped)) = ret else { return vec![] };
        popped.deltas.iter().filter_map(Change::object).copied().collect()
    }

    fn consume_all(store: &Known, ret: &Self::Ret) {
        if let Ret::Pop(Some(popped)) = ret {
            Self::consume(store, popped);
        }
    }

    fn reads() -> [Self::Op; 4] {
        [
            Queued::Len(core::Len),
            Queued::HasSynced(core::HasSynced),
            Queued::IsClosed(core::IsClosed),
            Queued::List(core::List),
        ]
    }

    fn tells(ret: &Self::Ret) -> String {
        match ret {
            Ret::Put(end) | Ret::Delete(end) | Ret::Replace(end) => said(end).to_owned(),
            Ret::Pop(popped) => format!("{popped:?}"),
            Ret::Get(deltas) => format!("{deltas:?}"),
            Ret::List(list) => format!("{list:?}"),
            Ret::Len(len) => len.to_string(),
            Ret::HasSynced(says) | Ret::IsClosed(says) | Ret::WaitForSync(says) => says.to_string(),
            Ret::Resync(()) | Ret::AddIfAbsent(()) | Ret::Processed(()) | Ret::Close(()) => {
                "ok".to_owned()
            }
        }
    }

    fn decode(bytes: &[u8]) -> (Config, Vec<Op>) {
        let mut bytes = bytes.iter().copied();
        let first = bytes.next().unwrap_or(0);
        let mut known = Store::default();
        if first & 0x38 == 0x38 {
            known = known.unreadable();
        }
        let config = Config {
            known: (first & 1 != 0).then_some(known),
            emit_replaced: first & 2 != 0,
            transform: first & 4 != 0,
            ..Config::default()
        };
        (config, std::iter::from_fn(|| decode_op(&mut bytes)).collect())
    }
}

/// Makes the call that puts back what was taken.
fn back(taken: &Ret<u8, Object>) -> Option<core::AddIfAbsent<u8, Object>> {
    let Ret::Pop(Some(popped)) = taken else { return None };
    Some(core::AddIfAbsent { key: Some(hashed(popped.key)), deltas: popped.deltas.clone() })
}

fn changes<'a>(deltas: impl IntoIterator<Item = &'a Change>) -> String {
    deltas.into_iter().map(named_change).collect::<Vec<_>>().join(", ")
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let mut object = || Some((bytes.next()? % 6, bytes.next()? % 16));
    Some(match code % 16 {
        0 | 1 => Op::Add(object()?),
        2 | 3 => Op::Update(object()?),
        4 | 5 => Op::Delete(object()?),
        6 => {
            let (key, version) = object()?;
            // The object of a tombstone may have another key.
            let last = (bytes.next()? % 6, version);
            Op::DeleteUnseen(key, (version > 3).then_some(last))
        }
        7 | 8 => Op::Replace((0..code >> 5).map_while(|_| object()).collect()),
        9 => Op::Resync,
        10 | 11 => Op::Pop,
        12 => Op::PopAndFail,
        13 if code < 128 => Op::PopAndPanic,
        13 => Op::PopAndRequeue,
        14 => Op::Get(bytes.next()? % 6),
        _ if code < 240 => Op::AddBack,
        _ => Op::Close,
    })
}
