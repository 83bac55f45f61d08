//! A watch as a short sequential object that reads byte by byte, optionally with a mistake.

use seatrial_core::machine::{Cx, Machine, Step};
use seatrial_core::request::TransportKind;
use serde_json::Value;

use super::machine::{Call, IDLE, LONGEST, Said, Told};
use crate::shared::Mistake;

/// A watch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    mistake: Mistake,
    line: Vec<u8>,
    silent: u32,
    ended: bool,
    open: bool,
}

impl Default for Spec {
    fn default() -> Self {
        Self::with("")
    }
}

impl Spec {
    pub(super) fn with(mistake: Mistake) -> Self {
        let open = mistake != "closes_too_early";
        Self { mistake, line: Vec::new(), silent: 0, ended: false, open }
    }

    fn end(&mut self, told: &mut Vec<Told>) {
        told.push(Told::End);
        self.ended = true;
        self.open &= self.mistake == "stays_open";
    }

    /// Tells an error and then the end.
    fn fails(&mut self, why: Told, told: &mut Vec<Told>) {
        told.push(why);
        self.end(told);
    }

    fn bytes(&mut self, bytes: &[u8], told: &mut Vec<Told>) {
        let text = String::from_utf8_lossy(bytes);
        let bytes = if self.mistake == "text_of_each_piece" { text.as_bytes() } else { bytes };
        if self.mistake == "parts_are_lost" {
            self.line.clear();
        }
        if self.mistake == "limit_of_a_piece" && bytes.len() > LONGEST {
            return self.fails(Told::TooLong, told);
        }
        if self.mistake != "only_events_are_heard" && self.mistake != "idle_from_the_start" {
            self.silent = 0;
        }
        for &byte in bytes {
            if self.ended && self.mistake != "hears_after_the_end" {
                return;
            }
            if byte == b'\n' {
                self.line_ends(told);
                if self.mistake == "first_of_a_piece" && !told.is_empty() {
                    return;
                }
                continue;
            }
            self.line.push(byte);
            if self.is_too_long() && self.mistake != "only_whole_lines" {
                return self.fails(Told::TooLong, told);
            }
        }
    }

    fn is_too_long(&self) -> bool {
        match self.mistake {
            "no_limit" => false,
            "one_too_few" => self.line.len() >= LONGEST,
            _ => self.line.len() > LONGEST,
        }
    }

    fn line_ends(&mut self, told: &mut Vec<Told>) {
        if self.is_too_long() {
            return self.fails(Told::TooLong, told);
        }
        let kept = if self.mistake == "line_stays" { self.line.clone() } else { Vec::new() };
        let line = std::mem::replace(&mut self.line, kept);
        if line.trim_ascii().is_empty() {
            match self.mistake {
                "empty_is_nonsense" => self.fails(Told::Nonsense, told),
                "empty_is_the_end" => self.end(told),
                _ => {}
            }
            return;
        }
        self.silent = if self.mistake == "idle_from_the_start" { self.silent } else { 0 };
        self.tell(event(self.mistake, &line), told);
    }

    fn tell(&mut self, event: Option<Told>, told: &mut Vec<Told>) {
        match (event, self.mistake) {
            (None, _) | (Some(Told::Nonsense), "nonsense_is_dropped") => {}
            (Some(Told::Refused(_)), "errors_are_dropped") => {}
            (Some(Told::Nonsense), "nonsense_ends_quietly") => self.end(told),
            (Some(Told::Refused(code)), "goes_on_after_errors") => told.push(Told::Refused(code)),
            (Some(event @ Told::Event(..)), _) => told.push(event),
            (Some(error), _) => self.fails(error, told),
        }
    }

    fn closes(&mut self, told: &mut Vec<Told>) {
        let line = std::mem::take(&mut self.line);
        let is_cut = serde_json::from_slice::<Value>(&line).is_err_and(|why| why.is_eof());
        let is_left = !line.trim_ascii().is_empty() && self.mistake != "last_is_lost";
        if is_left && (!is_cut || self.mistake == "cut_is_nonsense") {
            self.tell(event(self.mistake, &line), told);
        }
        if !self.ended {
            self.end(told);
        }
    }

    fn breaks(&mut self, kind: TransportKind, told: &mut Vec<Told>) {
        use TransportKind::{Eof, Reset, Timeout};
        let is_quiet = match self.mistake {
            "lost_is_quiet" => true,
            "broken_is_told" => false,
            _ => matches!(kind, Eof | Reset | Timeout),
        };
        if is_quiet { self.end(told) } else { self.fails(Told::Nonsense, told) }
    }

    fn silence(&mut self, seconds: u8, told: &mut Vec<Told>) {
        self.silent += u32::from(seconds);
        if self.silent >= IDLE.into() && self.mistake != "never_idle" {
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
    if mistake == "type_must_come_first" && !starts_with_type {
        return Some(Told::Nonsense);
    }
    let (Some(Value::String(of)), Some(object)) = (fields.get("type"), fields.get("object")) else {
        return Some(Told::Nonsense);
    };
    let of = match of.as_str() {
        "ERROR" => return Some(Told::Refused(object["code"].as_u64().unwrap_or(0) as u16)),
        "ADDED" => "ADDED",
        "DELETED" if mistake == "deleted_is_modified" => "MODIFIED",
        "MODIFIED" => "MODIFIED",
        "DELETED" => "DELETED",
        "BOOKMARK" => "BOOKMARK",
        _ => return (mistake != "unknown_is_dropped").then_some(Told::Nonsense),
    };
    Some(Told::Event(of, object.to_string()))
}

impl Machine for Spec {
    type Op = Call;
    type Ret = Said;

    fn step(&mut self, call: &mut Call, _: &mut Cx<'_>) -> Step<Said> {
        let mut told = Vec::new();
        let hears = !self.ended || self.mistake == "hears_after_the_end";
        match call {
            Call::Begin => *self = Self::with(self.mistake),
            Call::Bytes(bytes) if hears => self.bytes(bytes, &mut told),
            _ if self.ended => {}
            Call::Bytes(_) => {}
            Call::Silence(seconds) => self.silence(*seconds, &mut told),
            Call::Again(bytes) => {
                self.silent = if self.mistake == "idle_from_the_wait" { 0 } else { self.silent };
                let silent = self.silent;
                if !bytes.is_empty() {
                    self.bytes(bytes, &mut told);
                }
                self.silent =
                    if self.mistake == "deaf_between_waits" { silent } else { self.silent };
            }
            Call::Ends(None) => self.closes(&mut told),
            Call::Ends(Some(kind)) => self.breaks(*kind, &mut told),
            Call::Cancel(bytes) => {
                if self.mistake == "tells_after_cancel" {
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
