//! The decisions of one execution, as text that a person can read and a command line can carry.
//!
//! `a` is the main thread, `b` the first thread that was started, and so on; a number behind a
//! letter says how many steps the thread takes in a row. `=2` is the answer to a choice of data.
//! `!` lets the clock jump to the next deadline.

use std::fmt;
use std::str::FromStr;

/// One decision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// This thread takes the next step. Threads are numbered in a way that does not depend on the
    /// schedule.
    Thread(u8),
    /// The answer to [`Ambient::choose`](seatrial_core::runtime::Ambient::choose).
    Data(u32),
    /// The clock jumps to the earliest deadline.
    Clock,
}

/// The decisions of one execution, in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schedule {
    /// The decisions.
    pub choices: Vec<Choice>,
}

/// The text is not a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseScheduleError {
    /// The byte at which it stops making sense.
    pub at: usize,
}

impl fmt::Display for ParseScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no decision can be read at byte {} of the schedule", self.at)
    }
}

impl std::error::Error for ParseScheduleError {}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.choices.as_slice();
        while let Some(&first) = rest.first() {
            let run = rest.iter().take_while(|choice| **choice == first).count();
            let (shown, taken) = match first {
                Choice::Thread(thread) => {
                    write!(f, "{}", letter(thread))?;
                    (run, run)
                }
                Choice::Clock => {
                    f.write_str("!")?;
                    (1, 1)
                }
                Choice::Data(answer) => {
                    write!(f, "={answer}")?;
                    (1, 1)
                }
            };
            if shown > 1 {
                write!(f, "{shown}")?;
            }
            rest = &rest[taken..];
        }
        Ok(())
    }
}

/// The most threads that a schedule can name.
pub const MAX_THREADS: usize = 52;
/// The longest run of one thread that is read; a longer one is not a schedule of ours.
const MAX_RUN: usize = 1_000_000;

fn letter(thread: u8) -> char {
    char::from(if thread < 26 { b'a' + thread } else { b'A' + thread - 26 })
}

impl FromStr for Schedule {
    type Err = ParseScheduleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = text.as_bytes();
        let (mut at, mut choices) = (0, Vec::new());
        while at < bytes.len() {
            let error = ParseScheduleError { at };
            let head = bytes[at];
            let digits = bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
            let number = (digits > 0).then(|| text[at + 1..=at + digits].parse::<u32>());
            let number = number.transpose().map_err(|_| error.clone())?;
            match (head, number) {
                (b'!', None) => choices.push(Choice::Clock),
                (b'=', Some(answer)) => choices.push(Choice::Data(answer)),
                (b'a'..=b'z' | b'A'..=b'Z', run) => {
                    let thread =
                        if head.is_ascii_lowercase() { head - b'a' } else { head - b'A' + 26 };
                    let run = run.map_or(1, |run| run as usize);
                    if !(1..=MAX_RUN).contains(&run) {
                        return Err(error);
                    }
                    choices.extend(std::iter::repeat_n(Choice::Thread(thread), run));
                }
                _ => return Err(error),
            }
            at += 1 + digits;
        }
        Ok(Self { choices })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_survives_its_text() {
        let text = "a4b2!=13c=0a12B!!";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!(schedule.choices.len(), 4 + 2 + 1 + 1 + 1 + 1 + 12 + 1 + 2);
        assert_eq!(schedule.to_string(), text);
    }

    #[test]
    fn what_is_no_schedule_says_where() {
        for (text, at) in [("a4?", 2), ("a0", 0), ("=", 0), ("a99999999999", 0), ("!3", 0)] {
            assert_eq!(text.parse::<Schedule>(), Err(ParseScheduleError { at }), "{text}");
        }
    }
}
