//! Points on the wall clock, as stored in records.
//!
//! They are stored and shown, never compared with a clock (`election:LE-11`).

use std::fmt;
use std::num::NonZeroU64;

use crate::runtime::WallTime;

const MICROS: i64 = 1_000_000;
const DAY_SECONDS: i64 = 86_400;
/// 0001-01-01T00:00:00Z, which the reference treats as "no time" and writes as `null`.
const NO_TIME_SECONDS: i64 = -62_135_596_800;
/// The years 0 to 9999, in seconds since 1970. RFC 3339 cannot express others.
const WRITABLE_SECONDS: std::ops::Range<i64> = -62_167_219_200..253_402_300_800;

/// A wall-clock time in whole microseconds since 1970-01-01T00:00:00Z.
// Stored with the sign bit inverted. This keeps the order and leaves zero for the `None` of an
// optional time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(NonZeroU64);

const SIGN: u64 = 1 << 63;

impl Timestamp {
    /// Makes the time that lies `micros` after 1970 (before, if negative).
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        match NonZeroU64::new(micros as u64 ^ SIGN) {
            Some(biased) => Self(biased),
            None => Self(NonZeroU64::MIN), // the smallest time becomes the next one
        }
    }

    /// Returns the microseconds since 1970.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        (self.0.get() ^ SIGN) as i64
    }

    /// Returns the time in whole seconds; the fraction is dropped, not rounded (`election:LK-8`).
    #[must_use]
    pub const fn whole_seconds(self) -> i64 {
        self.as_micros().div_euclid(MICROS)
    }

    /// Reads RFC 3339 with any number of fraction digits (`election:LK-12`). `None` if the text is
    /// not such a time.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (date, rest) = bytes.split_at_checked(11)?;
        let (clock, rest) = rest.split_at_checked(8)?;
        if date[4] != b'-' || date[7] != b'-' || date[10] != b'T' {
            return None;
        }
        if clock[2] != b':' || clock[5] != b':' {
            return None;
        }
        let (year, month, day) = (digits(&date[..4])?, digits(&date[5..7])?, digits(&date[8..10])?);
        let (hour, minute, second) =
            (digits(&clock[..2])?, digits(&clock[3..5])?, digits(&clock[6..8])?);
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
            return None;
        }
        let (fraction, zone) = split_fraction(rest)?;
        let of_day = hour * 3600 + minute * 60 + second - offset_seconds(zone)?;
        let seconds = days_since_1970(year, month, day) * DAY_SECONDS + of_day;
        // The offset of the zone may lead to a year that cannot be written.
        let writable = WRITABLE_SECONDS.contains(&seconds);
        writable.then(|| Self::from_micros(seconds * MICROS + fraction))
    }

    /// Tells whether this is the time that the reference treats as "none".
    pub(super) fn is_no_time(self) -> bool {
        self.as_micros() == NO_TIME_SECONDS * MICROS
    }

    /// Writes the time with whole seconds, `YYYY-MM-DDThh:mm:ssZ` (`election:LK-8`).
    pub fn write_seconds(self, out: &mut String) {
        self.write_date_and_clock(out);
        out.push('Z');
    }

    /// Writes the time with exactly six fraction digits (`election:LK-12`).
    pub fn write_micros(self, out: &mut String) {
        self.write_date_and_clock(out);
        out.push('.');
        push_number(out, self.as_micros().rem_euclid(MICROS), 6);
        out.push('Z');
    }

    fn write_date_and_clock(self, out: &mut String) {
        let seconds = self.whole_seconds();
        let (year, month, day) = date_of(seconds.div_euclid(DAY_SECONDS));
        let of_day = seconds.rem_euclid(DAY_SECONDS);
        if year < 0 {
            out.push('-');
        }
        push_number(out, year.abs(), 4);
        for (mark, number) in [('-', month), ('-', day), ('T', of_day / 3600)] {
            out.push(mark);
            push_number(out, number, 2);
        }
        for number in [of_day / 60 % 60, of_day % 60] {
            out.push(':');
            push_number(out, number, 2);
        }
    }
}

impl From<WallTime> for Timestamp {
    fn from(wall: WallTime) -> Self {
        Self::from_micros(wall.as_nanos().div_euclid(1_000))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write_micros(&mut text);
        f.write_str(&text)
    }
}

fn push_number(out: &mut String, number: i64, width: usize) {
    let text = number.to_string();
    for _ in text.len()..width {
        out.push('0');
    }
    out.push_str(&text);
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
    })
}

/// Splits off `.123`, and returns it as microseconds; digits beyond the sixth are dropped.
fn split_fraction(rest: &[u8]) -> Option<(i64, &[u8])> {
    let Some(tail) = rest.strip_prefix(b".") else { return Some((0, rest)) };
    let count = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let mut micros = digits(&tail[..count.min(6)])?;
    for _ in count..6 {
        micros *= 10;
    }
    Some((micros, &tail[count..]))
}

/// Returns the offset of a zone from UTC.
fn offset_seconds(zone: &[u8]) -> Option<i64> {
    if zone == b"Z" {
        return Some(0);
    }
    let &[sign, h1, h2, b':', m1, m2] = zone else { return None };
    let (hours, minutes) = (digits(&[h1, h2])?, digits(&[m1, m2])?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    match sign {
        b'+' => Some(hours * 3600 + minutes * 60),
        b'-' => Some(-hours * 3600 - minutes * 60),
        _ => None,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Counts days in the proleptic Gregorian calendar. Years begin in March here, so that a leap day
/// is the last day of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year.div_euclid(400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Inverts [`days_since_1970`].
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year + days.div_euclid(146_097) * 400;
    (if month <= 2 { year + 1 } else { year }, month, day)
}
