//! A second watch, written byte by byte, with a mistake.

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::request::TransportKind;
use serde_json::Value;

use super::machine::{Call, IDLE, LONGEST, Said, Told};
use crate::trial::mistakes;

mistakes! {
    /// One changed line.
    pub(super) enum Mistake {
        // The reference did these once.
        /// Input without sense is dropped, and the watch goes on.
        NonsenseIsDropped,
        /// Input without sense ends the watch without an error.
        NonsenseEndsQuietly,
        /// The connection is closed as soon as the watch has begun.
        ClosesTooEarly,

        // Mistakes in cutting lines.
        /// The rest of a piece is lost when the next piece comes.
        PartsAreLost,
        /// Each piece is made a text alone: the two halves of a cut letter then make no sense.
        TextOfEachPiece,
        /// Only the first event of each piece is told.
        FirstOfAPiece,
        /// A line is kept, and told again with the next one.
        LineStays,
        /// An empty line makes no sense.
        EmptyIsNonsense,
        /// An empty line ends the watch.
        EmptyIsTheEnd,
        /// A last line without a line end is lost.
        LastIsLost,
        /// A last line that was cut off makes no sense.
        CutIsNonsense,

        // Mistakes in the bounds.
        /// The length of a line is not limited.
        NoLimit,
        /// Only whole lines are checked for their length.
        OnlyWholeLines,
        /// A line of exactly the longest length is too long.
        OneTooFew,
        /// The limit applies to each piece, too.
        LimitOfAPiece,

        // Mistakes in the events.
        /// A deletion is told as a modification.
        DeletedIsModified,
        /// The type must come first.
        TypeMustComeFirst,
        /// An event of an unknown type is skipped.
        UnknownIsDropped,
        /// An error of the server is skipped.
        ErrorsAreDropped,
        /// The watch goes on after an error of the server.
        GoesOnAfterErrors,

        // Mistakes in the end.
        /// A lost connection is told as a normal end.
        LostIsQuiet,
        /// Every broken connection is reported as an error.
        BrokenIsTold,
        /// The watch waits for ever.
        NeverIdle,
        /// The silence is counted from the beginning of the watch.
        IdleFromTheStart,
        /// The silence is counted from the beginning of the caller's wait.
        IdleFromTheWait,
        /// What comes between two waits ends no silence.
        DeafBetweenWaits,
        /// Only events end a silence.
        OnlyEventsAreHeard,
        /// Input that has come is told although the token has ended.
        TellsAfterCancel,
        /// The connection stays open after the end.
        StaysOpen,
        /// Input after the end is told.
        HearsAfterTheEnd,
        /// No mistake.
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

    /// Tells an error and then the end.
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

/// Reads a line; `None` if its event is skipped.
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
            Call::Again(bytes) => {
                self.silent = if self.makes(IdleFromTheWait) { 0 } else { self.silent };
                let silent = self.silent;
                if !bytes.is_empty() {
                    self.bytes(bytes, &mut told);
                }
                self.silent = if self.makes(DeafBetweenWaits) { silent } else { self.silent };
            }
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
