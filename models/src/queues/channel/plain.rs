//! Channels as simple as possible: plain lists that are searched from the front.
//!
//! It is the sequential object with which made-up calls are compared (`op.rs`). A mistake, which is one
//! changed line, makes a mutant of it with the name of the mistake.

use seatrial_core::channel::{
    Act, Choose, Chosen, Disconnected, MEETING, Op, Outcome, PipeId, RECEIVERS, Ret, SENDERS, Side,
};
use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::runtime::Instant;

use crate::shared::Mistakes;

const MS: u64 = 1_000_000;

struct Pipe {
    capacity: Option<usize>,
    kept: Vec<u8>,
    /// The messages that came back from callers that gave up, with the number of the hand-over.
    back: Vec<(u64, u8)>,
    /// How many callers use the sending end, and how many the receiving end.
    users: [usize; 2],
}

/// A call that waits.
struct Call {
    ticket: u64,
    acts: Vec<Act<u8>>,
    /// The case that was done for it with its outcome, and the number of the hand-over.
    met: Option<(usize, Outcome<u8>, u64)>,
}

/// Channels under one lock.
pub(super) struct Lists {
    mistakes: Mistakes,
    pipes: Vec<Pipe>,
    /// The oldest first.
    calls: Vec<Call>,
    tickets: u64,
    handed: u64,
    came_twice: bool,
}

impl Lists {
    pub(super) fn with(mistakes: Mistakes) -> Self {
        let (pipes, calls) = (Vec::new(), Vec::new());
        Self { mistakes, pipes, calls, tickets: 0, handed: 0, came_twice: false }
    }

    fn makes(&self, mistake: &str) -> bool {
        self.mistakes.contains(&mistake)
    }

    fn open(&mut self, capacity: Option<usize>) -> PipeId {
        let pipe = Pipe { capacity, kept: Vec::new(), back: Vec::new(), users: [1, 1] };
        let unused = self.pipes.iter().position(|pipe| pipe.users == [0, 0]);
        let at = unused.unwrap_or(self.pipes.len());
        if unused.is_some() {
            self.pipes[at] = pipe;
        } else {
            self.pipes.push(pipe);
        }
        PipeId(at)
    }

    fn leave(&mut self, at: PipeId, side: Side, cx: &mut Cx<'_>) -> Vec<u8> {
        let first_ends = match side {
            Side::Sending => self.makes("first_sender_ends"),
            Side::Receiving => self.makes("first_receiver_ends"),
        };
        let (takes, leaves) =
            (self.makes("last_sender_takes_all"), self.makes("last_receiver_leaves_all"));
        let pipe = &mut self.pipes[at.0];
        let users = &mut pipe.users[side as usize];
        *users = if first_ends { 0 } else { users.saturating_sub(1) };
        if *users > 0 {
            return Vec::new();
        }
        cx.wakes.all(MEETING);
        if side == Side::Sending {
            cx.wakes.all(RECEIVERS);
            if takes {
                pipe.kept.clear();
            }
            return Vec::new();
        }
        cx.wakes.all(SENDERS);
        let back = std::mem::take(&mut pipe.back).into_iter().map(|(_, message)| message);
        let left = std::mem::take(&mut pipe.kept).into_iter().chain(back);
        if leaves { Vec::new() } else { left.collect() }
    }

    fn has_room(&self, at: PipeId) -> bool {
        let pipe = &self.pipes[at.0];
        let kept = pipe.kept.len();
        pipe.capacity.is_none_or(|capacity| match capacity {
            0 => self.makes("rendezvous_keeps_one") && kept == 0,
            _ if self.makes("one_more_fits") => kept <= capacity,
            _ if self.makes("one_less_fits") => kept + 1 < capacity,
            _ => kept < capacity,
        })
    }

    /// Finds a call that waits for a partner, and its act that wants one.
    fn partner(&self, at: PipeId, side: Side) -> Option<(usize, usize)> {
        if self.pipes[at.0].capacity != Some(0) {
            return None;
        }
        let calls = self.calls.iter().enumerate().filter(|(_, call)| call.met.is_none());
        let mut wanting = calls.filter_map(|(number, call)| {
            let wants = |act: &Act<u8>| act.pipe() == at && act.side() == side;
            Some((number, call.acts.iter().position(wants)?))
        });
        if self.makes("newest_is_met") { wanting.next_back() } else { wanting.next() }
    }

    fn is_ready(&self, act: &Act<u8>) -> bool {
        let (at, pipe) = (act.pipe(), &self.pipes[act.pipe().0]);
        match act.side() {
            Side::Sending => {
                pipe.users[1] == 0
                    || self.has_room(at)
                    || self.partner(at, Side::Receiving).is_some()
            }
            Side::Receiving => {
                pipe.users[0] == 0
                    || !pipe.kept.is_empty()
                    || !pipe.back.is_empty()
                    || self.partner(at, Side::Sending).is_some()
            }
        }
    }

    fn hand(&mut self, (call, at): (usize, usize), number: u64, message: u8) {
        self.calls[call].met = Some((at, Outcome::Received(Ok(message)), number));
    }

    /// Wakes one caller if there is only one channel, and all callers if there are several.
    fn wake(&self, on: u8, cx: &mut Cx<'_>) {
        if self.pipes.len() == 1 {
            cx.wakes.one(on);
        } else {
            cx.wakes.all(on);
        }
        cx.wakes.all(MEETING);
    }

    fn send(&mut self, at: PipeId, message: u8, cx: &mut Cx<'_>) -> Outcome<u8> {
        if self.pipes[at.0].users[1] == 0 && !self.makes("sends_to_nobody") {
            let back = if self.makes("another_comes_back") { message + 100 } else { message };
            return Outcome::Sent(Err(Disconnected(back)));
        }
        if let Some(partner) = self.partner(at, Side::Receiving) {
            self.handed += 1;
            self.hand(partner, self.handed, message);
            cx.wakes.all(MEETING);
        } else {
            self.pipes[at.0].kept.push(message);
            self.wake(RECEIVERS, cx);
        }
        Outcome::Sent(Ok(()))
    }

    fn take_kept(&mut self, at: PipeId) -> Option<u8> {
        let (newest, twice) = (self.makes("newest_comes_first"), self.makes("first_comes_twice"));
        let pipe = &mut self.pipes[at.0];
        if pipe.kept.is_empty() {
            return (!pipe.back.is_empty()).then(|| pipe.back.remove(0).1);
        }
        if twice && !std::mem::replace(&mut self.came_twice, true) {
            return pipe.kept.first().copied();
        }
        Some(if newest { pipe.kept.pop()? } else { pipe.kept.remove(0) })
    }

    fn receive(&mut self, at: PipeId, cx: &mut Cx<'_>) -> Outcome<u8> {
        let pipe = &self.pipes[at.0];
        let was_full = pipe.capacity.is_some_and(|capacity| pipe.kept.len() >= capacity);
        if let Some(message) = self.take_kept(at) {
            if was_full || !self.makes("receive_wakes_if_full") {
                self.wake(SENDERS, cx);
            }
            return Outcome::Received(Ok(message));
        }
        let Some((call, act)) = self.partner(at, Side::Sending) else {
            return Outcome::Received(Err(Disconnected(())));
        };
        self.calls[call].met = Some((act, Outcome::Sent(Ok(())), 0));
        cx.wakes.all(MEETING);
        match self.calls[call].acts[act] {
            Act::Send(_, Some(message)) => Outcome::Received(Ok(message)),
            _ => unreachable!("who waits to send has a message"),
        }
    }

    fn do_one(&mut self, act: &Act<u8>, cx: &mut Cx<'_>) -> Outcome<u8> {
        match *act {
            Act::Send(at, message) => self.send(at, message.expect("a message is sent once"), cx),
            Act::Receive(at) => self.receive(at, cx),
        }
    }

    fn attempt(&mut self, acts: &[Act<u8>], cx: &mut Cx<'_>) -> Option<(usize, Outcome<u8>)> {
        let ready: Vec<usize> = (0..acts.len()).filter(|at| self.is_ready(&acts[*at])).collect();
        let nth = match ready.len() {
            0 => return None,
            1 => 0,
            _ if self.makes("first_case_wins") => 0,
            several => cx.ambient().choose(several as u32) as usize,
        };
        let outcome = self.do_one(&acts[ready[nth]], cx);
        for other in ready.iter().filter(|other| **other != ready[nth]) {
            let too = match acts[*other].side() {
                Side::Sending => "select_sends_all",
                Side::Receiving => "select_takes_all",
            };
            if self.makes(too) {
                let _lost = self.do_one(&acts[*other], cx);
            }
        }
        let says = if self.makes("select_says_first") { 0 } else { ready[nth] };
        Some((says, outcome))
    }

    /// Returns the time until which a call waits.
    fn until(&self, call: &Choose<u8>) -> Instant {
        let until = call.until.as_nanos();
        match call.until {
            Instant::NEVER | Instant::ZERO => call.until,
            _ if self.makes("deadline_is_early") => Instant::from_nanos(until.saturating_sub(MS)),
            _ if self.makes("deadline_is_late") => Instant::from_nanos(until + MS),
            _ => call.until,
        }
    }

    fn end(&self, acts: &[Act<u8>], done: Option<(usize, Outcome<u8>)>) -> Chosen<u8> {
        let others = acts.iter().enumerate();
        let others = others.filter(|(at, _)| done.as_ref().is_none_or(|(done, _)| done != at));
        let unsent = others.filter_map(|(at, act)| match act {
            Act::Send(_, message) => Some((at, (*message)?)),
            Act::Receive(_) => None,
        });
        let unsent = if self.makes("unsent_is_forgotten") { vec![] } else { unsent.collect() };
        Chosen { done, unsent }
    }

    fn take_call(&mut self, ticket: Option<u64>) -> Option<Call> {
        let at = self.calls.iter().position(|call| Some(call.ticket) == ticket)?;
        Some(self.calls.remove(at))
    }

    fn choose(&mut self, call: &mut Choose<u8>, cx: &mut Cx<'_>) -> Step<Chosen<u8>> {
        let waited = self.take_call(call.ticket);
        let has_waited = waited.is_some();
        // The acts of a call that has waited are kept here.
        let (acts, met) = match waited {
            Some(Call { acts, met, .. }) => (acts, met),
            None => (call.acts.to_vec(), None),
        };
        let until = self.until(call);
        let is_over = until != Instant::NEVER && until <= cx.now();
        let mut done = met.map(|(at, outcome, _)| (at, outcome));
        if done.is_none() && !(is_over && has_waited && self.makes("deadline_looks_no_more")) {
            done = self.attempt(&acts, cx);
        }
        if done.is_some() || is_over {
            return Step::Done(self.end(&acts, done));
        }
        let on = match &acts[..] {
            [act] if self.pipes[act.pipe().0].capacity != Some(0) => match act.side() {
                Side::Sending => SENDERS,
                Side::Receiving => RECEIVERS,
            },
            _ => MEETING,
        };
        let ticket = call.ticket.unwrap_or(self.tickets + 1);
        self.tickets = self.tickets.max(ticket);
        call.ticket = Some(ticket);
        let place = self.calls.iter().filter(|other| other.ticket < ticket).count();
        self.calls.insert(place, Call { ticket, acts, met: None });
        let sleeps = until != Instant::NEVER && !self.makes("sleeps_without_time");
        Step::Wait { on, until: sleeps.then_some(until) }
    }

    fn give_up(&mut self, call: &Choose<u8>, cx: &mut Cx<'_>) {
        if self.makes("given_up_stays") {
            return;
        }
        let Some(Call { acts, met, .. }) = self.take_call(call.ticket) else { return };
        let Some((act, Outcome::Received(Ok(message)), number)) = met else { return };
        if self.makes("given_up_loses_all") {
            return;
        }
        let at = acts[act].pipe();
        if !self.makes("back_is_not_told") {
            cx.wakes.all(MEETING);
        }
        if let Some(partner) = self.partner(at, Side::Receiving) {
            self.hand(partner, number, message);
        } else {
            let first = self.makes("back_comes_first");
            let back = &mut self.pipes[at.0].back;
            let before = back.iter().filter(|(other, _)| !first && *other < number).count();
            back.insert(before, (number, message));
        }
    }
}

impl Machine for Lists {
    type Op = Op<u8>;
    type Ret = Ret<u8>;

    fn step(&mut self, op: &mut Op<u8>, cx: &mut Cx<'_>) -> Step<Ret<u8>> {
        Step::Done(match op {
            Op::Open(open) => Ret::Open(self.open(open.0)),
            Op::Hold(hold) => {
                self.pipes[hold.0.0].users[hold.1 as usize] += 1;
                Ret::Hold(())
            }
            Op::Leave(leave) => Ret::Leave(self.leave(leave.0, leave.1, cx).into()),
            Op::Len(len) => {
                let kept = self.pipes[len.0.0].kept.len();
                Ret::Len(kept.saturating_sub(usize::from(self.makes("len_forgets_one"))))
            }
            Op::Choose(call) => return self.choose(call, cx).map(Ret::Choose),
        })
    }

    fn cancel(&mut self, op: &mut Op<u8>, cx: &mut Cx<'_>) {
        if let Op::Choose(call) = op {
            self.give_up(call, cx);
        }
    }
}
