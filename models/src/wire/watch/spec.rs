//! A short sequential watch: it reads all its bytes anew each time.

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::request::TransportKind;
use serde_json::Value;

use super::machine::{Call, IDLE, LONGEST, Said, Told};

/// The types of events (`election:RQ-100`).
const TYPES: [&str; 4] = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"];

/// A watch that remembers every byte.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spec {
    bytes: Vec<u8>,
    told: usize,
    silent: u32,
    ended: bool,
}

impl Spec {
    /// Takes an input, and returns what the watch tells next.
    pub fn call(&mut self, call: &Call) -> Said {
        let was_over = self.ended;
        let mut told = Vec::new();
        match call {
            Call::Begin => *self = Self::default(),
            _ if was_over => {}
            Call::Again(bytes) if bytes.is_empty() => {}
            Call::Bytes(bytes) | Call::Again(bytes) => {
                self.silent = 0;
                self.bytes.extend_from_slice(bytes);
                told = self.news(false);
            }
            Call::Silence(seconds) => {
                self.silent += u32::from(*seconds);
                self.ended = self.silent >= IDLE.into();
            }
            Call::Ends(None) => {
                told = self.news(true);
                self.ended = true;
            }
            Call::Ends(Some(kind)) => {
                use TransportKind::{Eof, Reset, Timeout};
                told.extend((!matches!(kind, Eof | Reset | Timeout)).then_some(Told::Nonsense));
                self.ended = true;
            }
            Call::Cancel(_) => self.ended = true,
        }
        if self.ended && !was_over {
            told.push(Told::End);
        }
        Said { told, open: !self.ended }
    }

    /// Returns the items that were not told yet.
    fn news(&mut self, is_all: bool) -> Vec<Told> {
        let all = meaning(&self.bytes, is_all);
        let is_last = |told: &Told| !matches!(told, Told::Event(..));
        self.ended = all.last().is_some_and(is_last);
        let news = all[self.told..].to_vec();
        self.told = all.len();
        news
    }
}

impl Machine for Spec {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        Step::Done(self.call(call))
    }
}

/// The meaning of bytes up to the first error (`election:RQ-103`). With `is_all`, no more bytes
/// come.
fn meaning(bytes: &[u8], is_all: bool) -> Vec<Told> {
    let mut told = Vec::new();
    let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let has_end = lines.peek().is_some();
        if line.len() > LONGEST {
            told.push(Told::TooLong);
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) || !has_end && !is_all {
            continue;
        }
        told.extend(event(line, has_end));
        if !matches!(told.last(), None | Some(Told::Event(..))) {
            break;
        }
    }
    told
}

/// The meaning of one line. A line that is not ended may have been cut off, which is no error.
fn event(line: &[u8], has_end: bool) -> Option<Told> {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(why) => return (has_end || !why.is_eof()).then_some(Told::Nonsense),
    };
    let (Some(of), Some(object)) = (value["type"].as_str(), value.get("object")) else {
        return Some(Told::Nonsense);
    };
    if of == "ERROR" {
        return Some(Told::Refused(object["code"].as_u64().unwrap_or(0) as u16));
    }
    let known = TYPES.iter().find(|known| **known == of);
    Some(known.map_or(Told::Nonsense, |known| Told::Event(known, object.to_string())))
}
