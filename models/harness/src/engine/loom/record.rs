//! The decisions of one execution as they are taken, or as a replay prescribes them.

use crate::engine::{Choice, Schedule};
use crate::random::Random;

/// The record of one execution.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) schedule: Schedule,
    pub(super) steps: u64,
    pub(super) preemptions: u32,
    /// The decisions to follow, where a schedule is replayed.
    script: Option<Schedule>,
    max_steps: u64,
    /// A hash per lock, or atomic number, over the threads that used it, in order.
    orders: Vec<u64>,
    data: u64,
}

impl Record {
    pub(super) fn new(max_steps: u64, script: Option<Schedule>) -> Self {
        Self { script, max_steps, ..Self::default() }
    }

    pub(super) fn is_replay(&self) -> bool {
        self.script.is_some()
    }

    /// Tells whether `thread` may take the next step: always, unless a replay names another one.
    pub(super) fn allows(&self, thread: u8) -> bool {
        self.prescribed().is_none_or(|next| next == Some(Choice::Thread(thread)))
    }

    /// Tells whether the clock may jump: always, unless a replay prescribes something else.
    pub(super) fn allows_jump(&self) -> bool {
        self.prescribed().is_none_or(|next| next == Some(Choice::Clock))
    }

    /// Returns the next answer of a replay; the inner `None` if it prescribes something else.
    pub(super) fn prescribed_answer(&self, options: u32) -> Option<Option<u32>> {
        self.prescribed().map(|next| match next {
            Some(Choice::Data(answer)) if answer < options => Some(answer),
            _ => None,
        })
    }

    /// Says why a replay cannot go on as prescribed.
    pub(super) fn misfit(&self) -> String {
        match self.prescribed().flatten() {
            Some(choice) => {
                let choice = Schedule { choices: vec![choice] };
                let at = self.schedule.choices.len() + 1;
                format!("decision {at} of the schedule, `{choice}`, cannot be taken")
            }
            None => {
                let len = self.schedule.choices.len();
                format!("the schedule ends after {len} decisions, the program goes on")
            }
        }
    }

    /// Tells whether a replay prescribes more than was done.
    pub(super) fn is_short(&self) -> bool {
        self.prescribed().flatten().is_some()
    }

    fn prescribed(&self) -> Option<Option<Choice>> {
        self.script.as_ref().map(|script| script.choices.get(self.schedule.choices.len()).copied())
    }

    pub(super) fn step(&mut self, thread: u8, preempted: bool) {
        self.steps += 1;
        self.preemptions += u32::from(preempted);
        self.schedule.choices.push(Choice::Thread(thread));
    }

    pub(super) fn jumped(&mut self) {
        self.schedule.choices.push(Choice::Clock);
    }

    pub(super) fn is_too_long(&self) -> bool {
        self.steps >= self.max_steps
    }

    pub(super) fn answered(&mut self, thread: u8, nth: u32, answer: u32) {
        self.schedule.choices.push(Choice::Data(answer));
        let question = u64::from(thread) << 32 | u64::from(nth);
        self.data ^= mix(mix(question) ^ u64::from(answer));
    }

    /// Notes which of the values of an atomic number a thread has read, counted back from the newest.
    pub(super) fn looked_back(&mut self, thread: u8, object: usize, back: u32) {
        self.schedule.choices.push(Choice::Data(back));
        let access = (u64::from(back) + 1) << 32 | u64::from(thread);
        self.orders[object] = mix(self.orders[object] ^ access);
    }

    /// Adds a lock, named by the thread that made it and how many that thread had made before.
    pub(super) fn new_lock(&mut self, thread: u8, nth: u32) {
        self.orders.push(mix(u64::from(thread) << 32 | u64::from(nth)));
    }

    pub(super) fn acquired(&mut self, thread: u8, lock: usize) {
        self.orders[lock] = mix(self.orders[lock] ^ (u64::from(thread) + 1));
    }

    /// Returns the number of the trace: the order of acquisitions of each lock, and the answers.
    pub(super) fn trace(&self) -> u64 {
        self.orders.iter().fold(self.data, |sum, order| sum.wrapping_add(mix(*order)))
    }
}

/// Spreads the bits of a number.
pub(super) fn mix(x: u64) -> u64 {
    Random::new(x).bits()
}
