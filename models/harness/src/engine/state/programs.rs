//! Programs of callers: lists of calls.

use std::sync::Arc;

use super::Bytes;

/// One list of calls for each caller.
#[derive(Clone, Debug)]
pub struct Programs<Call> {
    calls: Arc<[Vec<Call>]>,
    /// A number for what is left of each list at each place: equal lists have equal numbers.
    left: Arc<[Vec<u32>]>,
}

/// How far a caller has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    program: u8,
    done: u8,
}

impl Place {
    /// Goes on to the next call.
    #[inline]
    pub fn advance(&mut self) {
        self.done += 1;
    }
}

impl<Call: Copy + PartialEq> Programs<Call> {
    /// Makes programs of the calls of each caller.
    #[must_use]
    pub fn new(programs: &[&[Call]]) -> Self {
        let mut known: Vec<&[Call]> = Vec::new();
        let mut left = Vec::new();
        for program in programs {
            let rests = (0..=program.len()).map(|at| &program[at..]);
            let number = |rest| match known.iter().position(|same| *same == rest) {
                Some(number) => number as u32,
                None => {
                    known.push(rest);
                    known.len() as u32 - 1
                }
            };
            left.push(rests.map(number).collect());
        }
        Self { calls: programs.iter().map(|it| it.to_vec()).collect(), left: left.into() }
    }

    /// Returns where each caller begins.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let count = u8::try_from(self.calls.len()).expect("callers are few");
        (0..count).map(|program| Place { program, done: 0 }).collect()
    }

    /// Returns the call at a place, `None` behind the last.
    #[inline]
    #[must_use]
    pub fn call(&self, at: Place) -> Option<Call> {
        self.calls[usize::from(at.program)].get(usize::from(at.done)).copied()
    }

    /// Returns every call of every caller.
    pub fn all(&self) -> impl Iterator<Item = Call> {
        self.calls.iter().flatten().copied()
    }

    /// Appends what is left to do at a place.
    #[inline]
    pub fn view(&self, at: Place, into: &mut Bytes) {
        let left = &self.left[usize::from(at.program)];
        into.number(left[usize::from(at.done).min(left.len() - 1)]);
    }
}
