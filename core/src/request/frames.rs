//! Splits the bytes of a watch into events: one JSON object a line.

use std::fmt;
use std::io::BufRead as _;

/// More memory than this is given back after a long line.
const KEPT: usize = 64 * 1024;

/// Bytes of a watch, from which whole lines are taken.
///
/// Its memory is limited, because a line has a longest length.
#[derive(Clone, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    /// The start of the first line that was not taken yet.
    start: usize,
    /// Up to here the end of that line was searched.
    seen: usize,
    longest: usize,
}

/// A line is longer than the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLong {
    /// How many bytes a line may have.
    pub longest: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event of the watch has more than {} bytes", self.longest)
    }
}

impl std::error::Error for TooLong {}

impl Frames {
    /// Makes an empty buffer; a line may have up to `longest` bytes.
    #[must_use]
    pub const fn new(longest: usize) -> Self {
        Self { bytes: Vec::new(), start: 0, seen: 0, longest }
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT);
            (self.start, self.seen) = (0, 0);
        } else if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.seen -= self.start;
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next whole line without its line end; empty lines are skipped.
    ///
    /// # Errors
    /// A line, complete or not, is too long.
    pub fn take(&mut self) -> Result<Option<&[u8]>, TooLong> {
        loop {
            let Some(end) = line_end(&self.bytes, self.seen) else {
                self.seen = self.bytes.len();
                self.check(self.seen)?;
                return Ok(None);
            };
            let start = self.start;
            self.check(end)?;
            (self.start, self.seen) = (end + 1, end + 1);
            if !self.bytes[start..end].iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(&self.bytes[start..end]));
            }
        }
    }

    /// Returns the rest once no more bytes come: a last line without a line end.
    #[must_use]
    pub fn rest(&self) -> Option<&[u8]> {
        Some(&self.bytes[self.start..]).filter(|rest| !rest.iter().all(u8::is_ascii_whitespace))
    }

    #[cfg(all(test, feature = "http"))]
    pub(super) fn held(&self) -> usize {
        self.bytes.capacity()
    }

    fn check(&self, end: usize) -> Result<(), TooLong> {
        let longest = self.longest;
        if end - self.start > longest { Err(TooLong { longest }) } else { Ok(()) }
    }
}

/// Returns the end of the first line that begins at `start` or before. The library call looks at
/// many bytes at a time.
fn line_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut rest = &bytes[start..];
    let skipped = rest.skip_until(b'\n').ok()?; // reading from a slice cannot fail
    let end = (start + skipped).checked_sub(1)?;
    (skipped > 0 && bytes[end] == b'\n').then_some(end)
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frames({} bytes)", self.bytes.len() - self.start)
    }
}
