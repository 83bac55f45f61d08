//! The decisions of one execution, as text that a person can read and a command line can carry.
//!
//! `a` is the main thread, `b` the first thread that was started, and so on; a number behind a
//! letter says how many steps the thread takes in a row. After `z` come `A` to `Z`, then `[52]` and
//! so on. `=2` is the answer to a choice of data. `.` lets the clock jump to the next deadline.

use std::fmt;
use std::str::FromStr;

/// One decision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// This thread takes the next step. Threads are numbered in the order of their start, so a
    /// schedule needs nothing but itself to be replayed.
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
                    write!(f, "{}", ThreadLetter(thread))?;
                    (run, run)
                }
                Choice::Clock => {
                    f.write_str(".")?;
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
pub const MAX_THREADS: usize = 128;
/// The most decisions of one execution on any engine: an execution that takes more counts as
/// endless. It is the same for all engines, so that one engine can replay an execution that another
/// one calls endless. It is within the 16 bits in which loom, and the clocks of the search of all
/// traces, count steps.
pub const MAX_STEPS: u64 = 20_000;
/// The longest schedule that is read. No engine runs that far, and the text of a run is short: a
/// damaged line must not fill the memory.
const MAX_DECISIONS: usize = 1_000_000;

/// How schedules and pictures call a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadLetter(pub u8);

impl fmt::Display for ThreadLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            thread @ 0..26 => write!(f, "{}", char::from(b'a' + thread)),
            thread @ 26..52 => write!(f, "{}", char::from(b'A' + thread - 26)),
            thread => write!(f, "[{thread}]"),
        }
    }
}

/// Reads a number at the beginning of `bytes`; returns it and its length, which may be zero.
fn number(bytes: &[u8]) -> Option<(Option<u32>, usize)> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut number = (digits > 0).then_some(0_u32);
    for digit in &bytes[..digits] {
        number = Some(number?.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?);
    }
    Some((number, digits))
}

/// Reads the thread at the beginning of `bytes`; returns it and its length.
fn thread(bytes: &[u8]) -> Option<(u8, usize)> {
    match *bytes.first()? {
        letter @ b'a'..=b'z' => Some((letter - b'a', 1)),
        letter @ b'A'..=b'Z' => Some((letter - b'A' + 26, 1)),
        b'[' => {
            let (number, digits) = number(&bytes[1..])?;
            let named = number? as usize;
            let is_named_so = bytes.get(1 + digits) == Some(&b']') && named >= 52;
            (is_named_so && named < MAX_THREADS).then_some((named as u8, digits + 2))
        }
        _ => None,
    }
}

/// Reads the decision, or the run of them, at the beginning of `bytes`.
fn decision(bytes: &[u8]) -> Option<(Choice, usize, usize)> {
    match *bytes.first()? {
        b'.' => Some((Choice::Clock, 1, 1)),
        b'=' => {
            let (answer, digits) = number(&bytes[1..])?;
            Some((Choice::Data(answer?), 1, 1 + digits))
        }
        _ => {
            let (thread, length) = thread(bytes)?;
            let (run, digits) = number(&bytes[length..])?;
            let run = run.map_or(1, |run| run as usize);
            (1..=MAX_DECISIONS).contains(&run).then_some((
                Choice::Thread(thread),
                run,
                length + digits,
            ))
        }
    }
}

impl FromStr for Schedule {
    type Err = ParseScheduleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut at, mut choices) = (0, Vec::new());
        while at < text.len() {
            let read = decision(&text.as_bytes()[at..]);
            let (choice, run, length) = read.ok_or(ParseScheduleError { at })?;
            if run > MAX_DECISIONS - choices.len() {
                return Err(ParseScheduleError { at });
            }
            choices.extend(std::iter::repeat_n(choice, run));
            at += length;
        }
        Ok(Self { choices })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_survives_its_text() {
        let text = "a4b2.=13c=0a12B[77]3[127]..";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!(schedule.choices.len(), 4 + 2 + 1 + 1 + 1 + 1 + 12 + 1 + 3 + 1 + 2);
        assert_eq!(schedule.to_string(), text);
    }

    #[test]
    fn what_is_no_schedule_says_where() {
        let none = [("a4?", 2), ("a0", 0), ("=", 0), ("a99999999999", 0), (".3", 1), ("aä", 1)];
        let brackets = [("[51]", 0), ("b[128]", 1), ("[]", 0), ("[77", 0), ("[77]0", 0), ("[", 0)];
        let longer_than_any = [("a999999b2", 7), ("a1000001", 0)];
        for (text, at) in none.into_iter().chain(brackets).chain(longer_than_any) {
            assert_eq!(text.parse::<Schedule>(), Err(ParseScheduleError { at }), "{text}");
        }
    }
}
