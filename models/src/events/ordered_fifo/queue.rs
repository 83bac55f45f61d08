//! The ordered FIFO as a queue of objects under trial.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use seatrial_core::delta_fifo::{Delta, Verb};
use seatrial_core::fifo::SlowHook;
use seatrial_core::ordered_fifo::{
    self as core, Event, Mode, Op as Queued, OrderedQueue, Popped, Ret,
};
use seatrial_core::store::{Cause, Intake};

use super::plain::key_of_change;
use super::{EventList, Happened, Led, OrderedFifo, Over, by_hand};
use crate::engine::AnyRuntime;
use crate::events::fixtures::{
    self, Answer, Config, Driven, Hosted, Kind, Mistakes, Object, Objects, Op, Shown, Store,
    at_once, named, named_change, named_last, said,
};

type Known = Store<u8, Object>;
pub(super) type Queue = core::OrderedFifo<u8, Object, Known, AnyRuntime>;

/// What the writers saw last, and what was handed out.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The objects that the writers saw last (`cache:INV-3`).
    pub(super) seen: BTreeMap<u8, Object>,
    /// The objects of a consumer that applies every event that it is handed.
    pub(super) handed: BTreeMap<u8, Object>,
}

impl Shown<OrderedFifo> for OrderedQueue<u8, Object, Known> {
    fn waiting(&self) -> Vec<Happened> {
        self.iter().collect()
    }
}

impl Shown<OrderedFifo> for EventList {
    fn waiting(&self) -> Vec<Happened> {
        self.events()
    }
}

/// The transformer: as [`fixtures::transform`], and version 14 loses its key.
pub(super) fn transform(object: Object) -> Result<Object, Cause> {
    if object.1 == 14 { Ok((0, 14)) } else { fixtures::transform(object) }
}

fn intake(config: &Config) -> Intake<u8, Object> {
    let plain = Config { transform: false, ..config.clone() }.intake();
    if config.transform { plain.with_transform(transform) } else { plain }
}

/// Tells whether the lock must be released with this many events left in the queue.
fn unlocks(config: &Config, left: usize) -> bool {
    let short = left < config.batch_size.get().saturating_mul(2);
    config.known.is_none() && config.unlock && short
}

/// Applies an event to a store, as a consumer does.
pub(super) fn apply(store: &mut BTreeMap<u8, Object>, event: &Happened) {
    match event {
        Event::Delta(change) => {
            if let Some(key) = key_of_change(change) {
                fixtures::apply(store, &key, [change]);
            }
        }
        Event::ReplacedAll(list) => *store = by_key(&list.objects),
        Event::SyncAll | Event::Bookmark(_) => {}
    }
}

fn by_key(objects: &[Object]) -> BTreeMap<u8, Object> {
    objects.iter().map(|object| (object.0, *object)).collect()
}

/// Returns the events that a call took.
pub(super) fn taken<'a>(over: &Over<'a>) -> &'a [Happened] {
    events_of(over.ret)
}

/// Returns the events that an answer took.
fn events_of(ret: &Ret<u8, Object>) -> &[Happened] {
    match ret {
        Ret::Pop(Some(popped)) => std::slice::from_ref(&popped.event),
        Ret::PopBatch(Some(batch)) => &batch.events,
        _ => &[],
    }
}

impl Objects for OrderedFifo {
    type Op = Queued<u8, Object>;
    type Ret = Ret<u8, Object>;
    type Rules = OrderedQueue<u8, Object, Known>;
    type Plain = EventList;
    type Entry = Happened;
    type Queue = Queue;
    type View = View;

    fn ships(config: &Config) -> Self::Rules {
        let mode = match &config.known {
            Some(known) => Mode::Plain { known: known.clone() },
            None => Mode::Atomic {
                unlock_while_processing: config.unlock,
                emit_bookmarks: config.emit_bookmarks,
            },
        };
        OrderedQueue::new(intake(config), mode, config.batch_size.get())
    }

    fn plain(config: &Config, mistakes: Mistakes) -> EventList {
        EventList::with(mistakes, config)
    }

    fn has_synced(plain: &EventList) -> bool {
        plain.has_synced()
    }

    fn queue(
        runtime: &AnyRuntime,
        config: &Config,
        on_slow: Option<SlowHook>,
        host: Hosted<Self>,
    ) -> Queue {
        Queue::with_host(runtime, intake(config), config.known.is_none(), on_slow, host)
    }

    fn consume(store: &Known, popped: &Popped<u8, Object>) {
        apply(&mut store.objects(), &popped.event);
    }

    fn kind(op: &Self::Op) -> Kind {
        match op {
            Queued::Put(_) => Kind::Put,
            Queued::Delete(_) => Kind::Delete,
            Queued::Replace(_) | Queued::ReplaceAll(_) => Kind::List,
            Queued::Resync(_) => Kind::Resync,
            Queued::Mark(_) => Kind::Bookmark,
            Queued::Pop(_) | Queued::PopBatch(_) => Kind::Pop,
            Queued::Processed(_) => Kind::Processed,
            Queued::Close(_) => Kind::Close,
            Queued::HasSynced(_) => Kind::HasSynced,
            Queued::WaitForSync(_) => Kind::WaitForSync,
            Queued::IsClosed(_) | Queued::List(_) | Queued::Len(_) => Kind::Read,
        }
    }

    fn answer(ret: &Self::Ret) -> Answer {
        match ret {
            Ret::Pop(Some(_)) | Ret::PopBatch(Some(_)) => Answer::Took,
            Ret::Pop(None) | Ret::PopBatch(None) => Answer::End,
            Ret::HasSynced(says) => Answer::Asked(*says),
            Ret::WaitForSync(says) => Answer::Waited(*says),
            _ => Answer::Other,
        }
    }

    fn view(known: &BTreeMap<u8, Object>) -> View {
        View { seen: known.clone(), handed: known.clone() }
    }

    fn see(view: &mut View, _: &Led, over: &Over<'_>) {
        match over.op {
            Queued::Put(put) => {
                if let Some(Ok(object)) = put.object {
                    view.seen.insert(object.0, object);
                }
            }
            Queued::Delete(delete) => {
                if let Some(Ok(last)) = &delete.last {
                    let key = key_of_change(&Delta::Deleted(last.clone()));
                    key.map(|key| view.seen.remove(&key));
                }
            }
            Queued::Replace(list) => {
                if list.refused.is_none() {
                    view.seen.clear();
                }
                let listed = list.objects.iter().map(|keyed| (*keyed.key.key(), keyed.object));
                view.seen.extend(listed);
            }
            Queued::ReplaceAll(list) => view.seen = by_key(&list.0.objects),
            _ => events_of(over.ret).iter().for_each(|event| apply(&mut view.handed, event)),
        }
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
                format!("list {}", named(list.objects.iter().map(|keyed| &keyed.object)))
            }
            (Queued::ReplaceAll(list), _) => format!("list {}", named(&list.0.objects)),
            (Queued::Mark(mark), _) => format!("bookmark {}", mark.0.resource_version),
            (_, Some(Ret::Pop(Some(popped)))) => {
                format!("pop -> {}", events(std::slice::from_ref(&popped.event), popped.initial))
            }
            (_, Some(Ret::PopBatch(Some(batch)))) => {
                format!("pop -> {}", events(&batch.events, batch.initial))
            }
            _ => return None,
        })
    }

    fn own_call(driven: &mut Driven<Self>, op: &Op) -> String {
        match op {
            Op::PopBatch | Op::PopAndWrite(_) | Op::PopAndReplace => pop_batch(driven, op),
            other => unreachable!("an ordered FIFO has no call {other:?}"),
        }
    }

    fn pops_nothing(queue: &Queue) -> Vec<Option<bool>> {
        let popped = at_once(queue.pop_async(|_| ())).map(|popped| popped.is_ok());
        let batch = at_once(queue.pop_batch_async(|_| ())).map(|batch| batch.is_ok());
        vec![popped, batch]
    }

    fn listing(queue: &Queue) -> String {
        format!("{:?}", queue.list())
    }

    fn by_hand(config: &Config, _: Option<&Self::Ret>, op: &Op) -> Result<Self::Op, &'static str> {
        by_hand::call(config, op)
    }

    fn meanwhile(config: &Config, op: &Op) -> Option<Self::Op> {
        match op {
            Op::PopAndWrite(object) => by_hand::call(config, &Op::Add(*object)).ok(),
            Op::PopAndReplace => Some(by_hand::listed_at("7", vec![])),
            _ => None,
        }
    }

    fn ends(_: Option<&Self::Ret>) -> Self::Op {
        Queued::Processed(core::Processed)
    }

    fn handed(ret: &Self::Ret) -> Vec<Object> {
        let objects = |event: &Happened| match event {
            Event::Delta(change) => change.object().copied().into_iter().collect(),
            Event::ReplacedAll(list) => list.objects.clone(),
            Event::SyncAll | Event::Bookmark(_) => vec![],
        };
        events_of(ret).iter().flat_map(objects).collect()
    }

    fn consume_all(store: &Known, ret: &Self::Ret) {
        events_of(ret).iter().for_each(|event| apply(&mut store.objects(), event));
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
            Ret::Put(end) | Ret::Delete(end) | Ret::Replace(end) | Ret::Resync(end) => {
                said(end).to_owned()
            }
            Ret::Pop(popped) => format!("{popped:?}"),
            Ret::PopBatch(batch) => format!("{batch:?}"),
            Ret::List(list) => format!("{list:?}"),
            Ret::Len(len) => len.to_string(),
            Ret::HasSynced(says) | Ret::IsClosed(says) | Ret::WaitForSync(says) => says.to_string(),
            Ret::ReplaceAll(()) | Ret::Mark(()) | Ret::Processed(()) | Ret::Close(()) => {
                "ok".to_owned()
            }
        }
    }

    fn decode(bytes: &[u8]) -> (Config, Vec<Op>) {
        let mut bytes = bytes.iter().copied();
        let first = bytes.next().unwrap_or(0);
        let config = Config {
            known: (first & 1 == 0).then(Store::default),
            unlock: first & 2 != 0,
            emit_bookmarks: first & 4 != 0,
            transform: first & 8 != 0,
            batch_size: NonZeroUsize::MIN.saturating_add(usize::from(first >> 6)),
            ..Config::default()
        };
        (config, std::iter::from_fn(|| decode_op(&mut bytes)).collect())
    }
}

/// Takes a batch, and writes or lists while it is processed if the lock is released.
fn pop_batch(driven: &Driven<OrderedFifo>, meanwhile: &Op) -> String {
    let Driven { config, queue, store, .. } = driven;
    let synced = queue.has_synced();
    let mut seen = None;
    let process = |batch: &core::Batch<u8, Object>| {
        seen = Some(batch.clone());
        if unlocks(config, batch.left) {
            let now = (queue.len(), queue.has_synced());
            assert_eq!(now, (batch.left, synced), "what is in process is neither left nor done");
            match meanwhile {
                Op::PopAndWrite(object) => drop(queue.add(*object)),
                Op::PopAndReplace => queue.replace(vec![], "7").expect("an empty list is fine"),
                _ => {}
            }
        }
        if config.known.is_some() {
            batch.events.iter().for_each(|event| apply(&mut store.objects(), event));
        }
    };
    let ended = at_once(queue.pop_batch_async(process)).map(|batch| batch.is_ok());
    if seen.is_none() {
        driven.nothing_is_left(ended);
    }
    format!("{seen:?} {ended:?}")
}

fn events(events: &[Happened], initial: bool) -> String {
    let event = |event: &Happened| match event {
        Event::Delta(change) => named_change(change),
        Event::ReplacedAll(list) => format!("the list {}", named(&list.objects)),
        Event::SyncAll => "resync".to_owned(),
        Event::Bookmark(mark) => format!("bookmark {}", mark.resource_version),
    };
    let all: Vec<_> = events.iter().map(event).collect();
    format!("{}{}", all.join(", "), if initial { ", initial" } else { "" })
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let mut object = || Some((bytes.next()? % 6, bytes.next()? % 16));
    Some(match code % 16 {
        0 | 1 => Op::Add(object()?),
        2 | 3 => Op::Update(object()?),
        4 => Op::Delete(object()?),
        5 => {
            let (key, version) = object()?;
            // The object of a tombstone may have another key.
            let last = (bytes.next()? % 6, version);
            Op::DeleteUnseen(key, (version > 3).then_some(last))
        }
        6 | 7 => Op::Replace((0..code >> 5).map_while(|_| object()).collect()),
        8 => Op::Resync,
        9 if code < 128 => Op::Bookmark,
        9 => Op::Spoil(bytes.next()? % 5 + 1),
        10 => Op::Pop,
        11 if code < 128 => Op::PopAndPanic,
        11..13 => Op::PopBatch,
        13 => Op::PopAndWrite(object()?),
        14 => Op::PopAndReplace,
        _ if code < 224 => Op::Pop,
        _ => Op::Close,
    })
}
