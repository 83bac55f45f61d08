//! A watch written down again, byte by byte, with a mistake.

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::request::TransportKind;
use serde_json::Value;

use super::machine::{Call, IDLE, LONGEST, Said, Told};
use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub(super) enum Mistake {
        // What the reference did once.
        /// What has no sense is dropped, and the watch goes on.
        NonsenseIsDropped,
        /// What has no sense ends the watch without a word.
        NonsenseEndsQuietly,
        /// The body is closed once the watch has begun.
        ClosesTooEarly,

        // Lines.
        /// What was left of a piece is lost when the next comes.
        PartsAreLost,
        /// Each piece is made a text of its own: a letter that is cut is two that have no sense.
        TextOfEachPiece,
        /// Of the events of one piece the first is told alone.
        FirstOfAPiece,
        /// The line of before is told once more.
        LineStays,
        /// An empty line has no sense.
        EmptyIsNonsense,
        /// An empty line is the end.
        EmptyIsTheEnd,
        /// A last line that nothing ends is lost.
        LastIsLost,
        /// A last line that was cut has no sense.
        CutIsNonsense,

        // Bounds.
        /// A line has no longest length.
        NoLimit,
        /// Only whole lines are looked at.
        OnlyWholeLines,
        /// A line of just that length is too long.
        OneTooFew,
        /// The limit is of what comes at once.
        LimitOfAPiece,

        // Events.
        /// What is deleted was modified.
        DeletedIsModified,
        /// The type must come first.
        TypeMustComeFirst,
        /// A type that nobody knows is passed over.
        UnknownIsDropped,
        /// An error of the server is passed over.
        ErrorsAreDropped,
        /// After an error of the server it goes on.
        GoesOnAfterErrors,

        // The end.
        /// A connection that was lost is an end like any.
        LostIsQuiet,
        /// A connection that breaks is an error.
        BrokenIsTold,
        /// It waits for ever.
        NeverIdle,
        /// The silence counts from the beginning.
        IdleFromTheStart,
        /// The silence counts from when the caller has begun to wait.
        IdleFromTheWait,
        /// Only events end a silence.
        OnlyEventsAreHeard,
        /// What has come is told although the token has ended.
        TellsAfterCancel,
        /// The connection stays open after the end.
        StaysOpen,
        /// What comes after the end is told.
        HearsAfterTheEnd,
        /// Nothing is wrong: what the mistakes are made in.
        Nothing,
    }
}

use Mistake::*;

/// A watch with a mistake.
pub(super) struct Mistaken {
    mistake: Mistake,
    line: Vec<u8>,
    silent: u32,
    ended: bool,
    open: bool,
}

impl Mistaken {
    pub(super) const fn new(mistake: Mistake) -> Self {
        let open = !matches!(mistake, ClosesTooEarly);
        Self { mistake, line: Vec::new(), silent: 0, ended: false, open }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }

    fn end(&mut self, told: &mut Vec<Told>) {
        told.push(Told::End);
        self.ended = true;
        self.open &= self.makes(StaysOpen);
    }

    /// Tells the last thing: the end follows.
    fn fails(&mut self, why: Told, told: &mut Vec<Told>) {
        told.push(why);
        self.end(told);
    }

    fn bytes(&mut self, bytes: &[u8], told: &mut Vec<Told>) {
        let text = String::from_utf8_lossy(bytes);
        let bytes = if self.makes(TextOfEachPiece) { text.as_bytes() } else { bytes };
        if self.makes(PartsAreLost) {
            self.line.clear();
        }
        if self.makes(LimitOfAPiece) && bytes.len() > LONGEST {
            return self.fails(Told::TooLong, told);
        }
        if !self.makes(OnlyEventsAreHeard) && !self.makes(IdleFromTheStart) {
            self.silent = 0;
        }
        for &byte in bytes {
            if self.ended && !self.makes(HearsAfterTheEnd) {
                return;
            }
            if byte == b'\n' {
                self.line_ends(told);
                if self.makes(FirstOfAPiece) && !told.is_empty() {
                    return;
                }
                continue;
            }
            self.line.push(byte);
            if self.is_too_long() && !self.makes(OnlyWholeLines) {
                return self.fails(Told::TooLong, told);
            }
        }
    }

    fn is_too_long(&self) -> bool {
        match self.mistake {
            NoLimit => false,
            OneTooFew => self.line.len() >= LONGEST,
            _ => self.line.len() > LONGEST,
        }
    }

    fn line_ends(&mut self, told: &mut Vec<Told>) {
        if self.is_too_long() {
            return self.fails(Told::TooLong, told);
        }
        let kept = if self.makes(LineStays) { self.line.clone() } else { Vec::new() };
        let line = std::mem::replace(&mut self.line, kept);
        if line.trim_ascii().is_empty() {
            match self.mistake {
                EmptyIsNonsense => self.fails(Told::Nonsense, told),
                EmptyIsTheEnd => self.end(told),
                _ => {}
            }
            return;
        }
        self.silent = if self.makes(IdleFromTheStart) { self.silent } else { 0 };
        self.tell(event(self.mistake, &line), told);
    }

    fn tell(&mut self, event: Option<Told>, told: &mut Vec<Told>) {
        match (event, self.mistake) {
            (None, _) | (Some(Told::Nonsense), NonsenseIsDropped) => {}
            (Some(Told::Refused(_)), ErrorsAreDropped) => {}
            (Some(Told::Nonsense), NonsenseEndsQuietly) => self.end(told),
            (Some(Told::Refused(code)), GoesOnAfterErrors) => told.push(Told::Refused(code)),
            (Some(event @ Told::Event(..)), _) => told.push(event),
            (Some(error), _) => self.fails(error, told),
        }
    }

    fn closes(&mut self, told: &mut Vec<Told>) {
        let line = std::mem::take(&mut self.line);
        let is_cut = serde_json::from_slice::<Value>(&line).is_err_and(|why| why.is_eof());
        let is_left = !line.trim_ascii().is_empty() && !self.makes(LastIsLost);
        if is_left && (!is_cut || self.makes(CutIsNonsense)) {
            self.tell(event(self.mistake, &line), told);
        }
        if !self.ended {
            self.end(told);
        }
    }

    fn breaks(&mut self, kind: TransportKind, told: &mut Vec<Told>) {
        use TransportKind::{Eof, Reset, Timeout};
        let is_quiet = match self.mistake {
            LostIsQuiet => true,
            BrokenIsTold => false,
            _ => matches!(kind, Eof | Reset | Timeout),
        };
        if is_quiet { self.end(told) } else { self.fails(Told::Nonsense, told) }
    }

    fn silence(&mut self, seconds: u8, told: &mut Vec<Told>) {
        self.silent += u32::from(seconds);
        if self.silent >= IDLE.into() && !self.makes(NeverIdle) {
            self.end(told);
        }
    }
}

/// Reads a line; nothing of one that is passed over.
fn event(mistake: Mistake, line: &[u8]) -> Option<Told> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(line) else {
        return Some(Told::Nonsense);
    };
    let starts_with_type = line.starts_with(b"{\"type\"");
    if mistake == TypeMustComeFirst && !starts_with_type {
        return Some(Told::Nonsense);
    }
    let (Some(Value::String(of)), Some(object)) = (fields.get("type"), fields.get("object")) else {
        return Some(Told::Nonsense);
    };
    let of = match of.as_str() {
        "ERROR" => return Some(Told::Refused(object["code"].as_u64().unwrap_or(0) as u16)),
        "ADDED" => "ADDED",
        "DELETED" if mistake == DeletedIsModified => "MODIFIED",
        "MODIFIED" => "MODIFIED",
        "DELETED" => "DELETED",
        "BOOKMARK" => "BOOKMARK",
        _ => return (mistake != UnknownIsDropped).then_some(Told::Nonsense),
    };
    Some(Told::Event(of, object.to_string()))
}

impl Machine for Mistaken {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        let mut told = Vec::new();
        let hears = !self.ended || self.makes(HearsAfterTheEnd);
        match call {
            Call::Begin => *self = Self::new(self.mistake),
            Call::Bytes(bytes) if hears => self.bytes(bytes, &mut told),
            _ if self.ended => {}
            Call::Bytes(_) => {}
            Call::Silence(seconds) => self.silence(*seconds, &mut told),
            Call::Again if self.makes(IdleFromTheWait) => self.silent = 0,
            Call::Again => {}
            Call::Ends(None) => self.closes(&mut told),
            Call::Ends(Some(kind)) => self.breaks(*kind, &mut told),
            Call::Cancel(bytes) => {
                if self.makes(TellsAfterCancel) {
                    self.bytes(bytes, &mut told);
                }
                if !self.ended {
                    self.end(&mut told);
                }
            }
        }
        Step::Done(Said { told, open: self.open })
    }
}
