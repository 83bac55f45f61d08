//! Schedules made of bytes, for fuzzers.

use super::{Chooser, Decision, Kernel, Options};
use crate::engine::Choice;

pub(super) struct Bytes {
    bytes: std::vec::IntoIter<u8>,
    begun: bool,
    last: Option<Choice>,
}

impl Bytes {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into_iter(), begun: false, last: None }
    }

    /// Returns the next number below `bound`; zero when the bytes are used up.
    fn below(&mut self, bound: usize) -> usize {
        let mut number = 0;
        let mut reach = 1;
        while reach < bound {
            number = number << 8 | usize::from(self.bytes.next().unwrap_or(0));
            reach <<= 8;
        }
        number % bound
    }
}

impl Chooser for Bytes {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true)
    }

    /// A decision without alternative uses no byte. A thread that can go on comes first, then all
    /// others in the order of their start, last the clock.
    fn thread(&mut self, _kernel: &Kernel, options: Options) -> Decision<Choice> {
        let number = self.below(options.len());
        let stays = self.last.filter(|&last| options.allow(last));
        let others = options.all().filter(|&option| Some(option) != stays);
        let chosen = stays.into_iter().chain(others).nth(number);
        let chosen = chosen.expect("fewer than there are options");
        self.last = Some(chosen).filter(|&chosen| chosen != Choice::Clock);
        Ok(chosen)
    }

    fn data(&mut self, _kernel: &Kernel, options: u32) -> Decision<u32> {
        Ok(self.below(options as usize) as u32)
    }
}
