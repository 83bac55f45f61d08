//! The machine and the sequential object side by side.
//!
//! Callers that would sleep are kept, and a woken caller goes on when the sequence says so. So one
//! thread shows the returned values and the sleepers, and that no caller sleeps that could go on.

use std::num::NonZeroUsize;
use std::time::Duration;

use seatrial_core::machine::{CHANNELS, Channel, Cx, Many, Step, UpTo};
use seatrial_core::queue::{self as core, Add, DoneKey, Drain, DrainUntil, Finished, Ret, Token};
use seatrial_core::queue::{DRAINS, GETTERS};

use super::op::Op;
use super::{Plain, Queue};
use crate::single_step::{HandClock, hash};
use crate::trial::MachineOf;

type Call = core::Op<u8>;

/// A caller in `get` or in a drain whose call has not returned.
struct Caller {
    call: Call,
    /// The channel on which it sleeps; `None` if it was woken, or if its sleep ends by time.
    asleep_on: Option<Channel>,
    /// Whether its condition held at some moment since it began.
    was_satisfied: bool,
    /// Whether `shut_down` was called since it began.
    was_released: bool,
}

impl Caller {
    fn new(call: Call) -> Self {
        Self { call, asleep_on: None, was_satisfied: false, was_released: false }
    }

    /// Returns the condition of a drain; `None` for a consumer.
    fn drains_until(&self) -> Option<DrainUntil> {
        match &self.call {
            Call::Drain(Drain { until, .. }) => Some(*until),
            _ => None,
        }
    }
}

/// The machine and the sequential object, which get the same calls.
pub(super) struct Pair {
    machine: MachineOf<Queue>,
    clock: HandClock,
    spec: Plain<u8>,
    /// Deliveries that have not ended.
    live: Vec<(Token, u8)>,
    /// Tokens of deliveries that have ended.
    ended: Vec<Token>,
    /// The callers that wait, in the order in which they fell asleep.
    waiting: Vec<Caller>,
}

/// Two items share each hash: the table must tell them apart by their values.
fn hashed(key: u8) -> u64 {
    hash(&(key / 2))
}

fn add(key: u8) -> Add<u8> {
    Add { key: Some(key), hash: hashed(key) }
}

/// Returns one element of a list; the number is taken modulo its length.
fn nth<T: Copy>(list: &[T], number: u8) -> Option<T> {
    list.get(usize::from(number) % list.len().max(1)).copied()
}

impl Pair {
    pub(super) fn new(machine: MachineOf<Queue>) -> Self {
        Self {
            machine,
            clock: HandClock::default(),
            spec: Plain::default(),
            live: Vec::new(),
            ended: Vec::new(),
            waiting: Vec::new(),
        }
    }

    pub(super) fn apply(&mut self, op: Op) {
        self.clock.advance(Duration::from_millis(1));
        match op {
            Op::Add(key) => {
                let _unit = self.returned(Call::Add(add(key)));
                self.spec.add(key);
            }
            Op::AddAll(first, more) => {
                let keys = || (0..=more).map(|nth| (first + 2 * nth) % 5);
                let _units = self.returned(Call::AddAll(Many(keys().map(add).collect())));
                for key in keys() {
                    self.spec.add(key);
                }
            }
            Op::Get => self.enter(Call::Get(core::Get)),
            Op::GetBatch(most) => {
                let most = NonZeroUsize::new(most.into()).unwrap_or(NonZeroUsize::MIN);
                self.enter(Call::GetBatch(UpTo { most, call: core::Get }));
            }
            Op::DoneAll(count) => self.done_all(count.into()),
            Op::Done(number) => {
                if let Some((token, _)) = nth(&self.live, number) {
                    self.done(token);
                }
            }
            Op::DoneAgain(number) => {
                if let Some(token) = nth(&self.ended, number) {
                    self.done(token);
                }
            }
            Op::DoneForeign(slot, delivery) => self.done(Token::new(slot.into(), delivery.into())),
            Op::DoneKey(key) => {
                let named = self.live.iter().position(|(_, live)| *live == key);
                let ret = self.returned(Call::DoneKey(DoneKey { key, hash: hashed(key) }));
                self.ended(named, &ret);
            }
            Op::ShutDown => {
                let _unit = self.returned(Call::ShutDown(core::ShutDown));
                self.spec.shutting_down = true;
                self.waiting.iter_mut().for_each(|caller| caller.was_released = true);
            }
            Op::Drain => self.enter(drain(DrainUntil::NothingInFlight)),
            Op::StrictDrain => self.enter(drain(DrainUntil::AllWorkDone)),
            Op::Resume(number) => self.resume(number),
            Op::GiveUp(number) => self.give_up(number),
        }
    }

    /// Makes one step of a call, as the shell would.
    fn step(&mut self, call: &mut Call) -> Step<Ret<u8>> {
        let mut cx = Cx::new(&self.clock);
        let step = self.machine.step(call, &mut cx);
        let wakes = cx.wakes;
        self.machine.assert_valid();
        for channel in 0..CHANNELS as Channel {
            self.wake(channel, wakes.get(channel));
        }
        step
    }

    /// Wakes sleepers, the one that has slept longest first.
    fn wake(&mut self, channel: Channel, count: u16) {
        let asleep = self.waiting.iter_mut().filter(|caller| caller.asleep_on == Some(channel));
        asleep.take(count.into()).for_each(|caller| caller.asleep_on = None);
    }

    /// Runs a call that must not wait.
    fn returned(&mut self, mut call: Call) -> Ret<u8> {
        match self.step(&mut call) {
            Step::Done(ret) => ret,
            other => panic!("{call:?} gives {other:?} and must return at once"),
        }
    }

    /// Begins a call that may wait.
    fn enter(&mut self, call: Call) {
        self.go_on(Caller::new(call));
    }

    fn resume(&mut self, number: u8) {
        let all = 0..self.waiting.len();
        let awake: Vec<_> = all.filter(|at| self.waiting[*at].asleep_on.is_none()).collect();
        if let Some(at) = nth(&awake, number) {
            let caller = self.waiting.remove(at);
            self.go_on(caller);
        }
    }

    /// Drops a call that waits, as the shell would: a wake-up that it does not use is passed on.
    fn give_up(&mut self, number: u8) {
        let all: Vec<_> = (0..self.waiting.len()).collect();
        let Some(at) = nth(&all, number) else { return };
        let mut caller = self.waiting.remove(at);
        let channel = if caller.drains_until().is_some() { DRAINS } else { GETTERS };
        let mut cx = Cx::new(&self.clock);
        if caller.asleep_on.is_none() {
            cx.wakes.one(channel);
        }
        self.machine.cancel(&mut caller.call, &mut cx);
        let passed_on = cx.wakes;
        self.machine.assert_valid();
        self.wake(channel, passed_on.get(channel));
    }

    fn go_on(&mut self, mut caller: Caller) {
        let step = self.step(&mut caller.call);
        match caller.drains_until() {
            Some(until) => self.judge_drain(&caller, until, &step),
            None => self.judge_batch(&caller.call, &step),
        }
        if let Step::Wait { on, until } = step {
            caller.asleep_on = until.is_none().then_some(on);
            self.waiting.push(caller);
        }
        self.note_satisfied_drains();
    }

    /// Judges a get, or a batch as the gets that it stands for.
    fn judge_batch(&mut self, call: &Call, step: &Step<Ret<u8>>) {
        let (Call::GetBatch(UpTo { most, .. }), Step::Done(Ret::GetBatch(taken))) = (call, step)
        else {
            return self.judge_get(step);
        };
        for one in taken {
            self.judge_get(&Step::Done(Ret::Get(Some(*one))));
        }
        if taken.is_empty() {
            self.judge_get(&Step::Done(Ret::Get(None)));
        }
        assert!(taken.len() <= most.get(), "a batch of {} where {most} were asked", taken.len());
        let more = taken.len() < most.get() && !self.spec.waiting.is_empty();
        assert!(!more, "a batch leaves an item for which it has room");
    }

    fn judge_get(&mut self, step: &Step<Ret<u8>>) {
        let running = !self.spec.shutting_down;
        match (step, self.spec.get().map(|(_, key)| key)) {
            (Step::Done(Ret::Get(Some((token, key)))), Some(next)) => {
                assert_eq!(*key, next, "items come out in the order in which they were queued");
                assert!(self.live.iter().all(|(live, _)| live != token), "a token is unique");
                self.live.push((*token, next));
            }
            (Step::Done(Ret::Get(None)), None) => assert!(!running, "a consumer is sent home"),
            (Step::Wait { .. }, None) => assert!(running, "a consumer sleeps after shutdown"),
            (step, next) => panic!("get gives {step:?} where {next:?} is next"),
        }
    }

    fn judge_drain(&mut self, caller: &Caller, until: DrainUntil, step: &Step<Ret<u8>>) {
        self.spec.shutting_down = true;
        let (satisfied, released) = (self.spec.is_drained(until), caller.was_released);
        match step {
            Step::Done(Ret::Drain(())) => {
                assert!(satisfied || released || caller.was_satisfied, "a drain returns too early");
            }
            Step::Wait { .. } => assert!(!satisfied && !released, "a drain waits for nothing"),
            other => panic!("a drain gives {other:?}"),
        }
    }

    fn note_satisfied_drains(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        for caller in &mut waiting {
            let satisfied = caller.drains_until().is_some_and(|until| self.spec.is_drained(until));
            caller.was_satisfied |= satisfied;
        }
        self.waiting = waiting;
    }

    fn done(&mut self, token: Token) {
        let named = self.live.iter().position(|(live, _)| *live == token);
        let ret = self.returned(Call::Done(core::Done(token)));
        self.ended(named, &ret);
    }

    /// Ends the oldest deliveries together, and one that had ended before.
    fn done_all(&mut self, count: usize) {
        let live = self.live.iter().take(count).map(|(token, _)| *token);
        let tokens: Vec<Token> = live.chain(self.ended.first().copied()).collect();
        let all = Many(tokens.iter().copied().map(core::Done).collect());
        let Ret::DoneAll(finished) = self.returned(Call::DoneAll(all)) else {
            panic!("done_all gives what it gives")
        };
        assert_eq!(finished.len(), tokens.len(), "each token has its answer");
        for (token, finished) in tokens.into_iter().zip(finished) {
            let named = self.live.iter().position(|(live, _)| *live == token);
            self.ended(named, &Ret::Done(finished));
        }
    }

    fn ended(&mut self, named: Option<usize>, ret: &Ret<u8>) {
        let (Ret::Done(finished) | Ret::DoneKey(finished)) = ret else {
            panic!("done gives {ret:?}")
        };
        match (named, finished) {
            (Some(at), Finished::Ended(left)) => {
                let (token, key) = self.live.remove(at);
                self.ended.push(token);
                self.spec.done_key(&key);
                let stays = self.spec.dirty.contains(&key);
                assert!(left.is_none_or(|left| left == key && !stays), "{left:?} leaves");
            }
            (None, Finished::NotInProcessing) => {}
            (Some(at), _) => panic!("done does not end {:?}", self.live[at]),
            (None, _) => panic!("done ends a delivery that it does not name"),
        }
        self.note_satisfied_drains();
    }

    pub(super) fn compare(&mut self) {
        match self.returned(Call::Len(core::Len)) {
            Ret::Len(len) => assert_eq!(len, self.spec.waiting.len(), "len counts what waits"),
            other => panic!("len gives {other:?}"),
        }
        match self.returned(Call::ShuttingDown(core::ShuttingDown)) {
            Ret::ShuttingDown(says) => assert_eq!(says, self.spec.shutting_down, "shutting down"),
            other => panic!("shutting_down gives {other:?}"),
        }
        self.nobody_sleeps_in_vain();
    }

    /// Checks that every caller that could go on was woken (`workqueue:LIV-1` to `LIV-5`).
    fn nobody_sleeps_in_vain(&self) {
        let getters = self.waiting.iter().filter(|caller| caller.drains_until().is_none());
        let (asleep, awake): (Vec<_>, Vec<_>) =
            getters.partition(|caller| caller.asleep_on.is_some());
        if !asleep.is_empty() {
            assert!(!self.spec.shutting_down, "a consumer sleeps through the shutdown");
            let spare = self.spec.waiting.len().checked_sub(awake.len() + 1);
            assert_eq!(spare, None, "an item waits, a consumer sleeps, and nobody was woken");
        }
        for drain in self.waiting.iter().filter(|caller| caller.asleep_on.is_some()) {
            if let Some(until) = drain.drains_until() {
                assert!(!self.spec.is_drained(until), "a drain sleeps though nothing is in flight");
                assert!(!drain.was_released, "a drain sleeps through its release");
            }
        }
    }
}

fn drain(until: DrainUntil) -> Call {
    Call::Drain(Drain { until, began: None })
}
