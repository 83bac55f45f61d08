//! Durations in the format that the server reads (`election:RQ-24`).

use std::fmt;

/// Nanoseconds, written as `1.5s`, `1m0s`, `100ms`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DurationText(pub(super) i64);

const UNITS: [(&str, u64); 3] = [("ms", 1_000_000), ("\u{b5}s", 1_000), ("ns", 1)];
const SECOND: u64 = 1_000_000_000;

impl fmt::Display for DurationText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let nanos = self.0.unsigned_abs();
        if nanos == 0 {
            return f.write_str("0s");
        }
        if nanos < SECOND {
            let (unit, size) =
                UNITS.into_iter().find(|(_, size)| nanos >= *size).unwrap_or(("ns", 1));
            decimal(f, nanos / size, nanos % size, size)?;
            return f.write_str(unit);
        }
        let (seconds, fraction) = (nanos / SECOND, nanos % SECOND);
        let (minutes, hours) = (seconds / 60, seconds / 3600);
        if hours > 0 {
            write!(f, "{hours}h")?;
        }
        if minutes > 0 {
            write!(f, "{}m", minutes % 60)?;
        }
        decimal(f, seconds % 60, fraction, SECOND)?;
        f.write_str("s")
    }
}

/// Writes a number with the fraction `fraction / of`, without trailing zeros.
fn decimal(f: &mut fmt::Formatter<'_>, whole: u64, mut fraction: u64, of: u64) -> fmt::Result {
    write!(f, "{whole}")?;
    if fraction == 0 {
        return Ok(());
    }
    let mut digits = of.ilog10() as usize;
    while fraction.is_multiple_of(10) {
        fraction /= 10;
        digits -= 1;
    }
    write!(f, ".{fraction:0digits$}")
}
