//! The FIFO's page.

mod conformance;
mod invariants;
mod mutants;
mod plain;
mod scenarios;
pub(crate) mod tests;

use seatrial_core::fifo::{self as core, AfterPop, FifoQueue, Op as Queued, Popped, Ret};
use seatrial_core::machine::Step;
use seatrial_core::store::{KeyHasher, Keyed};

use crate::conformance::Conformance;
use crate::engine::AnyRuntime;
use crate::events::fixtures::{
    self, Answer, Config, Driven, Hosted, Kind, Mistakes, Object, Objects, Op, Shown, Store,
    TAKEN_BACK, Tried, at_once, check_many, hashed, itself, keyed, named, said,
};
use crate::trial::{Component, Invariant, MachineOf, Mutant, OpOf, Property, RetOf, Scenario};

pub use plain::{MapAndList, REFERENCE};

/// The FIFO, as a component under trial.
#[derive(Clone, Copy, Debug)]
pub struct Fifo;

type Queue = core::Fifo<u8, Object, AnyRuntime>;

/// Checks the calls that a fuzzer's bytes decode to.
///
/// # Panics
/// If the queue that ships and the plain one disagree.
pub fn check(bytes: &[u8]) {
    let (config, ops) = Fifo::decode(bytes);
    fixtures::check::<Fifo>(&config, &ops);
}

impl Component for Fifo {
    type Machine = Tried<Fifo>;

    const NAME: &'static str = "fifo";
    const SAYS: &'static str = "the queue of newest objects";

    fn machine() -> MachineOf<Self> {
        fixtures::machine()
    }

    fn scenarios() -> Vec<Scenario<Self>> {
        scenarios::all()
    }

    fn invariants() -> Vec<Invariant<Self>> {
        invariants::all()
    }

    fn mutants() -> Vec<Mutant<Self>> {
        mutants::all()
    }

    fn never_alone() -> &'static [(&'static str, &'static str)] {
        &[("synced_for_good", TAKEN_BACK)]
    }

    fn describe(call: &OpOf<Self>, outcome: &Step<RetOf<Self>>) -> String {
        fixtures::describe::<Self>(call, outcome)
    }

    fn conformance() -> Vec<Conformance> {
        vec![conformance::conformance()]
    }

    fn fuzz() -> Option<fn(&[u8])> {
        Some(|bytes| {
            check(bytes);
            check_many(bytes, |system| core::Fifo::new(system, itself));
        })
    }

    fn fuzz_mutant(mutant: &Mutant<Self>) -> Option<Property> {
        Some(fixtures::fuzz_mutant(mutant))
    }

    fn is_of_waking(mutant: &Mutant<Self>) -> bool {
        mutants::of_wakes().iter().any(|edited| edited.name == mutant.name)
    }
}

impl Shown<Fifo> for FifoQueue<u8, Object> {
    fn waiting(&self) -> Vec<(u8, Object)> {
        self.iter().map(|(key, object)| (*key, *object)).collect()
    }
}

impl Shown<Fifo> for MapAndList<u8, Object> {
    fn waiting(&self) -> Vec<(u8, Object)> {
        self.list()
    }
}

impl Objects for Fifo {
    type Op = Queued<u8, Object>;
    type Ret = Ret<u8, Object>;
    type Rules = FifoQueue<u8, Object>;
    type Plain = MapAndList<u8, Object>;
    type Entry = (u8, Object);
    type Queue = Queue;
    type View = ();

    fn ships(_: &Config) -> Self::Rules {
        FifoQueue::new(KeyHasher::fixed(7))
    }

    fn plain(_: &Config, mistakes: Mistakes) -> Self::Plain {
        MapAndList::with(mistakes)
    }

    fn has_synced(plain: &Self::Plain) -> bool {
        plain.latch
    }

    fn queue(
        runtime: &AnyRuntime,
        config: &Config,
        on_slow: Option<core::SlowHook>,
        host: Hosted<Self>,
    ) -> Queue {
        Queue::with_host(runtime, config.intake(), on_slow, host)
    }

    fn consume(store: &Store<u8, Object>, popped: &Popped<u8, Object>) {
        store.objects().insert(popped.key, popped.object);
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

    fn says(op: &Self::Op, ret: Option<&Self::Ret>) -> Option<String> {
        Some(match (op, ret) {
            (Queued::Put(put), _) => format!("put {}", named(&put.object)),
            (Queued::Delete(delete), _) => format!("delete {:?}", delete.0),
            (Queued::Replace(list), _) => {
                format!("list {}", named(list.0.iter().map(|keyed| &keyed.object)))
            }
            (Queued::Pop(_), Some(Ret::Pop(Some(popped)))) => {
                let initial = if popped.initial { ", initial" } else { "" };
                format!("pop -> {}{initial}", named([&popped.object]))
            }
            (Queued::Processed(core::Processed { requeue: Some(_) }), _) => {
                "processed, asked back".to_owned()
            }
            (Queued::AddIfAbsent(add), _) => format!("put back {}", named(&add.object)),
            _ => return None,
        })
    }

    fn own_call(driven: &mut Driven<Self>, op: &Op) -> String {
        match op {
            Op::AddIfAbsent(object) => {
                let done = driven.queue.add_if_absent(*object);
                said(&done.map_err(Into::into)).to_owned()
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
            other => unreachable!("a FIFO has no call {other:?}"),
        }
    }

    fn listing(queue: &Queue) -> String {
        format!("{:?}", queue.list())
    }

    fn by_hand(_: &Config, _: Option<&Self::Ret>, op: &Op) -> Result<Self::Op, &'static str> {
        Ok(match op {
            Op::Add(object) | Op::Update(object) => {
                Queued::Put(core::Put { key: Some(keyed(object)?), object: Some(*object) })
            }
            Op::Delete(object) => Queued::Delete(core::Delete(keyed(object)?)),
            Op::DeleteUnseen(key, _) => Queued::Delete(core::Delete(hashed(*key))),
            Op::Replace(list) => {
                let keyed =
                    |object: &Object| keyed(object).map(|key| Keyed { key, object: *object });
                let list: Result<Vec<_>, _> = list.iter().map(keyed).collect();
                Queued::Replace(core::Replace(list?.into()))
            }
            Op::Resync => Queued::Resync(core::Resync),
            Op::AddIfAbsent(object) => Queued::AddIfAbsent(core::AddIfAbsent {
                key: Some(keyed(object)?),
                object: Some(*object),
            }),
            Op::Pop | Op::PopAndPanic | Op::PopAndRequeue => Queued::Pop(core::Pop::new()),
            Op::Get(key) => Queued::Get(core::Get(hashed(*key))),
            Op::Close => Queued::Close(core::Close),
            other => unreachable!("a FIFO has no call {other:?}"),
        })
    }

    fn ends(back: Option<&Self::Ret>) -> Self::Op {
        let requeue = match back {
            Some(Ret::Pop(Some(popped))) => {
                let (key, object) = (Some(hashed(popped.key)), Some(popped.object));
                Some(Box::new(core::AddIfAbsent { key, object }))
            }
            _ => None,
        };
        Queued::Processed(core::Processed { requeue })
    }

    fn consume_all(store: &Store<u8, Object>, ret: &Self::Ret) {
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
            Ret::Pop(popped) => format!("{popped:?}"),
            Ret::Get(object) => format!("{object:?}"),
            Ret::List(list) => format!("{list:?}"),
            Ret::Len(len) => len.to_string(),
            Ret::HasSynced(says) | Ret::IsClosed(says) | Ret::WaitForSync(says) => says.to_string(),
            Ret::Put(())
            | Ret::Delete(_)
            | Ret::Replace(())
            | Ret::Resync(())
            | Ret::AddIfAbsent(())
            | Ret::Processed(())
            | Ret::Close(()) => "ok".to_owned(),
        }
    }

    fn decode(bytes: &[u8]) -> (Config, Vec<Op>) {
        let mut bytes = bytes.iter().copied();
        (Config::default(), std::iter::from_fn(|| decode_op(&mut bytes)).collect())
    }
}

fn decode_op(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let mut object = || Some((bytes.next()? % 5, bytes.next()? % 16));
    Some(match code % 16 {
        0..4 => Op::Add(object()?),
        4..7 => Op::Delete(object()?),
        7 => Op::DeleteUnseen(bytes.next()? % 5, None),
        8 | 9 => Op::Replace((0..code >> 5).map_while(|_| object()).collect()),
        10 => Op::Resync,
        11 | 12 => Op::Pop,
        13 if code < 128 => Op::PopAndPanic,
        13 => Op::PopAndRequeue,
        14 if code < 128 => Op::AddIfAbsent(object()?),
        14 => Op::Get(bytes.next()? % 5),
        _ if code < 224 => Op::Pop,
        _ => Op::Close,
    })
}
