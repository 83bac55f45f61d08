//! A schedule that is written down, followed to the letter or as near as the program lets it be.

use super::{Chooser, Decision, Kernel, Options};
use crate::engine::{Choice, End, Schedule};

pub(in crate::engine::shuttle) struct Replay {
    schedule: Schedule,
    at: usize,
    exact: bool,
    /// Whether threads run as long as they can after the last written decision, in place of a divergence.
    goes_on: bool,
    begun: bool,
    last: Option<u8>,
}

impl Replay {
    pub(super) fn exactly(schedule: Schedule) -> Self {
        Self { schedule, at: 0, exact: true, goes_on: false, begun: false, last: None }
    }

    pub(super) fn nearly(schedule: Schedule) -> Self {
        Self { exact: false, goes_on: true, ..Self::exactly(schedule) }
    }

    /// Follows a beginning to the letter.
    pub(in crate::engine::shuttle) fn beginning(schedule: Schedule) -> Self {
        Self { goes_on: true, ..Self::exactly(schedule) }
    }

    /// Takes the next written decision that fits a step; `None` if there is none.
    fn next_step(&mut self, options: Options) -> Decision<Option<Choice>> {
        while let Some(&choice) = self.schedule.choices.get(self.at) {
            if options.allow(choice) {
                self.at += 1;
                return Ok(Some(choice));
            }
            if self.exact {
                return Err(self.misfit(choice));
            }
            self.at += 1;
        }
        if self.goes_on { Ok(None) } else { Err(self.too_short()) }
    }

    fn misfit(&self, choice: Choice) -> End {
        let choice = Schedule { choices: vec![choice] };
        End::Diverged(format!(
            "decision {} of the schedule, `{choice}`, cannot be taken",
            self.at + 1
        ))
    }

    fn too_short(&self) -> End {
        End::Diverged(format!("the schedule ends after {} decisions, the program goes on", self.at))
    }
}

impl Chooser for Replay {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true)
    }

    fn thread(&mut self, _kernel: &Kernel, options: Options) -> Decision<Choice> {
        let written = self.next_step(options)?;
        let stays = self.last.map(Choice::Thread).filter(|&last| options.allow(last));
        let chosen = written.or(stays).unwrap_or_else(|| options.nth(0));
        if let Choice::Thread(thread) = chosen {
            self.last = Some(thread);
        }
        Ok(chosen)
    }

    fn unmet(&self) -> Option<End> {
        let left = self.schedule.choices.len() - self.at;
        let too_long = || {
            End::Diverged(format!(
                "the program ends after {} decisions, the schedule has {left} more",
                self.at
            ))
        };
        (self.exact && left > 0).then(too_long)
    }

    fn data(&mut self, _kernel: &Kernel, options: u32) -> Decision<u32> {
        match self.schedule.choices.get(self.at) {
            Some(&Choice::Data(answer)) if answer < options => {
                self.at += 1;
                Ok(answer)
            }
            Some(&choice) if self.exact => Err(self.misfit(choice)),
            None if !self.goes_on => Err(self.too_short()),
            _ => Ok(0), // an answer that does not fit is left out with the next step
        }
    }
}
