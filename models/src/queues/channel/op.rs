//! Sequences of calls, and the property that the machine agrees with the simple construction.
//!
//! A call that waits stays under way until a later step lets it try again, or gives it up.

use seatrial_core::channel::{
    Act, Acts, Choose, Hold, Leave, Len, Op as Call, Open, PipeId, Ret, Side,
};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::{Ambient, Instant};

use super::Channel;
use super::plain::Lists;
use crate::single_step::{Behind, HandClock, each_call};
use crate::trial::Component;

/// The largest number of channels, and of calls under way.
const MOST: usize = 3;

/// A call. Its numbers of channels and of calls under way are taken modulo their count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Opens a channel for this many messages; three or more means without limit.
    Open(u8),
    /// Sends the next message, and waits for this long.
    Send(u8, u8),
    /// Receives, and waits for this long.
    Receive(u8, u8),
    /// Selects between a send to one channel and a receive from another, and waits for this long.
    Select(u8, u8, u8),
    /// A call under way tries again.
    Look(u8),
    /// A call under way is given up.
    GiveUp(u8),
    /// One more caller uses an end.
    Copy(u8, bool),
    /// One caller fewer uses an end.
    Leave(u8, bool),
    /// Counts the messages.
    Len(u8),
    /// Lets this many milliseconds pass.
    Advance(u8),
}

/// Runs calls on the machine that ships and on the simple construction.
///
/// # Panics
/// If the two disagree, or the machine breaks a rule of its own.
pub fn check(ops: &[Op]) {
    check_on(ops, Behind(Channel::machine()));
}

/// As [`check`], on a machine in place of the one that ships.
///
/// # Panics
/// As [`check`].
pub fn check_on(ops: &[Op], machine: impl Machine<Op = Call<u8>, Ret = Ret<u8>>) {
    let mut pair = Pair {
        ours: Box::new(machine),
        simple: Lists::with(&[]),
        clock: HandClock::default(),
        users: Vec::new(),
        under_way: Vec::new(),
        message: 0,
    };
    for op in each_call(ops) {
        pair.step(*op);
    }
}

/// Reads calls from bytes, three each.
pub fn decode(bytes: &[u8]) -> Vec<Op> {
    let op = |bytes: &[u8]| {
        let [code, a, b] = [bytes[0], bytes[1], bytes[2]];
        match code % 20 {
            0..2 => Op::Open((a % 6).saturating_sub(2)),
            2..6 => Op::Send(a, b % 8),
            6..10 => Op::Receive(a, b % 8),
            10..12 => Op::Select(a, b, b / 16 % 8),
            12..14 => Op::Look(a),
            14..16 => Op::GiveUp(a),
            16 => Op::Copy(a, b % 2 == 0),
            17 => Op::Leave(a, b % 2 == 0),
            18 => Op::Len(a),
            _ => Op::Advance(a % 4),
        }
    };
    bytes.chunks_exact(3).map(op).collect()
}

/// A call under way: the acts, and the call on each of the two machines.
struct UnderWay {
    acts: Vec<Act<u8>>,
    ours: Call<u8>,
    simple: Call<u8>,
}

/// The machine and the simple construction, which get the same calls.
struct Pair {
    ours: Box<dyn Machine<Op = Call<u8>, Ret = Ret<u8>>>,
    simple: Lists,
    clock: HandClock,
    /// For each channel, how many callers use the sending end and the receiving end.
    users: Vec<[usize; 2]>,
    under_way: Vec<UnderWay>,
    message: u8,
}

impl Pair {
    fn step(&mut self, op: Op) {
        match op {
            Op::Open(capacity) => self.open(capacity),
            Op::Send(at, wait) => self.choose(&[(at, Side::Sending)], wait),
            Op::Receive(at, wait) => self.choose(&[(at, Side::Receiving)], wait),
            Op::Select(into, from, wait) => {
                let mut cases = [(into, Side::Sending), (from, Side::Receiving)];
                if wait.is_multiple_of(2) {
                    cases.reverse(); // chance takes the first case that is ready
                }
                self.choose(&cases, wait);
            }
            Op::Look(number) => {
                if let Some(at) = nth(number, self.under_way.len()) {
                    let call = self.under_way.remove(at);
                    self.look(at, call);
                }
            }
            Op::GiveUp(number) => {
                if let Some(at) = nth(number, self.under_way.len()) {
                    let mut call = self.under_way.remove(at);
                    self.ours.cancel(&mut call.ours, &mut Cx::new(&self.clock));
                    self.simple.cancel(&mut call.simple, &mut Cx::new(&self.clock));
                    self.ours.assert_valid();
                }
            }
            Op::Copy(at, sends) => self.copy(at, side(sends)),
            Op::Leave(at, sends) => self.leave(at, side(sends)),
            Op::Len(at) => {
                if let Some(at) = nth(at, self.users.len()) {
                    self.both(Call::Len(Len(PipeId(at))));
                }
            }
            Op::Advance(by) => self.clock.advance(std::time::Duration::from_millis(by.into())),
        }
    }

    /// Makes a call on both, and asserts that both answer the same.
    fn agree(&mut self, ours: &mut Call<u8>, simple: &mut Call<u8>) -> Step<Ret<u8>> {
        let step = self.ours.step(ours, &mut Cx::new(&self.clock));
        let expected = self.simple.step(simple, &mut Cx::new(&self.clock));
        assert_eq!(format!("{step:?}"), format!("{expected:?}"), "{ours:?}");
        self.ours.assert_valid();
        step
    }

    fn both(&mut self, call: Call<u8>) {
        let _same = self.agree(&mut call.clone(), &mut call.clone());
    }

    fn open(&mut self, capacity: u8) {
        let unused = self.users.iter().position(|users| *users == [0, 0]);
        if unused.is_none() && self.users.len() == MOST {
            return;
        }
        self.both(Call::Open(Open((capacity < 3).then_some(capacity.into()))));
        match unused {
            Some(at) => self.users[at] = [1, 1],
            None => self.users.push([1, 1]),
        }
    }

    fn choose(&mut self, wanted: &[(u8, Side)], wait: u8) {
        let mut acts = Vec::new();
        for (at, side) in wanted {
            let Some(at) = nth(*at, self.users.len()) else { return };
            if self.users[at][*side as usize] == 0 {
                return; // that end has no user
            }
            acts.push(match side {
                Side::Sending => {
                    self.message = (self.message + 1) % 100;
                    Act::Send(PipeId(at), Some(self.message))
                }
                Side::Receiving => Act::Receive(PipeId(at)),
            });
        }
        let until = match wait {
            0..2 => Instant::ZERO,
            2..5 => self.clock.now() + std::time::Duration::from_millis(wait.into()),
            _ => Instant::NEVER,
        };
        if self.under_way.len() < MOST || until == Instant::ZERO {
            let call = Call::Choose(Choose::new(Acts::Several(acts.clone().into()), until));
            let call = UnderWay { acts, ours: call.clone(), simple: call };
            self.look(self.under_way.len(), call);
        }
    }

    fn look(&mut self, at: usize, mut call: UnderWay) {
        if let Step::Wait { .. } = self.agree(&mut call.ours, &mut call.simple) {
            self.under_way.insert(at, call);
        }
    }

    fn copy(&mut self, at: u8, side: Side) {
        let Some(at) = nth(at, self.users.len()) else { return };
        if self.users[at][side as usize] > 0 {
            self.users[at][side as usize] += 1;
            self.both(Call::Hold(Hold(PipeId(at), side)));
        }
    }

    /// Drops a copy of an end, unless it is the last one and a call under way borrows it.
    fn leave(&mut self, at: u8, side: Side) {
        let Some(at) = nth(at, self.users.len()) else { return };
        let uses = |act: &Act<u8>| act.pipe() == PipeId(at) && act.side() == side;
        let is_borrowed = self.under_way.iter().any(|call| call.acts.iter().any(uses));
        let users = &mut self.users[at][side as usize];
        if *users > usize::from(is_borrowed) {
            *users -= 1;
            self.both(Call::Leave(Leave(PipeId(at), side)));
        }
    }
}

fn side(sends: bool) -> Side {
    if sends { Side::Sending } else { Side::Receiving }
}

fn nth(number: u8, of: usize) -> Option<usize> {
    (of > 0).then(|| usize::from(number) % of.max(1))
}
