//! Amounts such as `500m` or `1Gi`: read, compared, added, and written in the one form that a server stores.

use std::cmp::Ordering;
use std::fmt::{self, Display};

use serde_json::Value;

/// A number with the kind of suffix that it came with. More than the billionth part is rounded up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quantity {
    pub(crate) billionths: i128,
    form: Form,
    /// The power of ten in which the reference counts it, if 64 bits are enough for that count.
    scale: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Decimal,
    Exponent,
    Binary,
}

pub(crate) const ONE: i128 = 1_000_000_000;
/// Suffixes with the powers of ten, or of 1024, that they stand for.
const DECIMAL: [(&str, i64); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const BINARY: [(&str, u32); 6] = [("Ki", 1), ("Mi", 2), ("Gi", 3), ("Ti", 4), ("Pi", 5), ("Ei", 6)];
const WRONG: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
/// With a binary suffix nothing is more than nearly eight exbibytes.
const MOST_BINARY: i128 = (i64::MAX as i128) * ONE;
/// Of the others, all above 10^29 count as that.
const MOST: i128 = 10_i128.pow(38);

/// Ten to this power, or the nearest number.
fn power(ten: i64) -> i128 {
    let ten = u32::try_from(ten.unsigned_abs()).unwrap_or(u32::MAX);
    10_i128.checked_pow(ten).unwrap_or(i128::MAX)
}

impl Quantity {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || WRONG.to_owned();
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = digits.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(digits.len());
        let (number, suffix) = digits.split_at(end);
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + part.len() == 0 || part.contains('.') {
            return Err(wrong());
        }
        let (form, ten, binary) = if let Some((_, it)) = BINARY.iter().find(|it| it.0 == suffix) {
            (Form::Binary, 0, *it)
        } else if let Some((_, it)) = DECIMAL.iter().find(|it| it.0 == suffix) {
            (Form::Decimal, *it, 0)
        } else {
            let exponent = suffix.strip_prefix(['e', 'E']).and_then(|it| it.parse().ok());
            (Form::Exponent, exponent.filter(|it| (-40..=40).contains(it)).ok_or_else(wrong)?, 0)
        };
        let number = Number { whole: whole.trim_start_matches('0'), part, ten, binary };
        let most = if form == Form::Binary { MOST_BINARY } else { MOST };
        let value = number.billionths().min(most);
        let form = if form == Form::Binary && value < ONE { Form::Decimal } else { form };
        let billionths = if text.starts_with('-') { -value } else { value };
        Ok(Self { billionths, form, scale: number.scale() })
    }

    pub(crate) fn whole(count: usize) -> Self {
        Self::from(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// Reads a text or a number; none if it is no amount.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text).ok(),
            Value::Number(number) => Self::parse(&number.to_string()).ok(),
            _ => None,
        }
    }

    /// A sum has the form of the first amount that is not zero.
    pub(crate) fn plus(self, other: Self) -> Self {
        let form = if self.billionths == 0 { other.form } else { self.form };
        let billionths = self.billionths.saturating_add(other.billionths).clamp(-MOST, MOST);
        let scale = self.scale.zip(other.scale).and_then(|(one, two)| {
            if other.billionths == 0 || self.billionths == 0 {
                return Some(if other.billionths == 0 { one } else { two });
            }
            let unit = power(one.min(two) + 9);
            let fits = |it: i128| i64::try_from(it / unit).is_ok();
            let all = [self.billionths, other.billionths, billionths];
            all.into_iter().all(fits).then_some(one.min(two))
        });
        Self { billionths, form, scale }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(Self { billionths: -other.billionths, ..other })
    }

    /// The amount, if the reference counts it in 64 bits and in ones or more: so it does not with `1000m` and `1Pi`.
    pub(crate) fn as_integer(self) -> Option<i64> {
        self.scale.filter(|it| *it >= 0)?;
        i64::try_from(self.billionths / ONE).ok()
    }

    pub(crate) fn is_negative(self) -> bool {
        self.billionths < 0
    }

    pub(crate) fn is_whole(self) -> bool {
        self.billionths % ONE == 0
    }
}

impl From<i64> for Quantity {
    fn from(count: i64) -> Self {
        Self { billionths: i128::from(count) * ONE, form: Form::Decimal, scale: Some(0) }
    }
}

/// The digits of an amount, without the zeros before them, and the powers of ten and 1024 of its suffix.
struct Number<'a> {
    whole: &'a str,
    part: &'a str,
    ten: i64,
    binary: u32,
}

impl Number<'_> {
    fn places(&self) -> i64 {
        i64::try_from(self.part.len()).unwrap_or(i64::MAX / 2)
    }

    /// What is less than a billionth is rounded up, also behind the digits for which there is room.
    fn billionths(&self) -> i128 {
        let digits = format!("{}{}", self.whole, self.part);
        let digits = digits.trim_start_matches('0');
        let room = 38 - 3 * self.binary as usize;
        let (kept, cut) = digits.split_at(room.min(digits.len()));
        let all = kept.parse().unwrap_or(0) * 1024_i128.pow(self.binary);
        let scale = self.ten + 9 - self.places() + i64::try_from(cut.len()).unwrap_or(0);
        let (value, rest) = match scale {
            0.. => (all.saturating_mul(power(scale)), 0),
            _ => (all / power(scale), all % power(scale)),
        };
        let is_more = rest != 0 || cut.bytes().any(|it| it != b'0');
        value.saturating_add(i128::from(is_more))
    }

    /// The reference counts in 64 bits what has few digits, and a binary suffix counts as some more.
    fn scale(&self) -> Option<i64> {
        let (whole, places) = (self.whole.len().max(1), self.places());
        if self.binary > 0 {
            return (self.part.is_empty() && whole + 3 * self.binary as usize <= 14).then_some(0);
        }
        let scale = self.ten - places;
        (whole + self.part.len() <= 18 && scale >= -9).then_some(scale)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.billionths == other.billionths
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.billionths.cmp(&other.billionths)
    }
}

impl Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.billionths;
        if value == 0 {
            return f.write_str("0");
        }
        let is_small = value.abs() < 1024 * ONE;
        if self.form == Form::Binary && self.is_whole() && !is_small {
            let fits = |it: &&(&str, u32)| (value / ONE) % 1024_i128.pow(it.1) == 0;
            let (suffix, power) = BINARY.iter().rev().find(fits).copied().unwrap_or(("", 0));
            return write!(f, "{}{suffix}", value / ONE / 1024_i128.pow(power));
        }
        // Above `E` the reference writes the digits without any suffix.
        let (mut digits, mut ten) = (value, -9);
        while digits % 1000 == 0 {
            (digits, ten) = (digits / 1000, ten + 3);
        }
        let suffix = DECIMAL.iter().find(|it| it.1 == ten).map_or("", |it| it.0);
        match self.form {
            Form::Exponent if ten != 0 => write!(f, "{digits}e{ten}"),
            _ => write!(f, "{digits}{suffix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_the_published_types_write_them() {
        for (text, written) in [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1Gi", "1Gi"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("1000", "1k"),
            ("1e3", "1e3"),
            ("0.1Ki", "102400m"),
            ("512", "512"),
            ("-2", "-2"),
            ("+1", "1"),
            (".5", "500m"),
            ("0Gi", "0"),
            ("1000Ki", "1000Ki"),
            ("1.0001n", "2n"),
            ("1500m", "1500m"),
            ("512Ki", "512Ki"),
            ("0", "0"),
            ("10E", "10E"),
            ("1000E", "1"),
            ("12e20", "1200e18"),
            ("1e21", "1e21"),
            ("9Ei", "9223372036854775807"),
            ("0.0001Ki", "102400u"),
            ("-0.1n", "-1n"),
            ("0.0000000000000000000000001E", "100n"),
            ("1.0000000000000000000000000000000000000000", "1"),
            ("1.0000000000000000000000000000000000000001", "1000000001n"),
            ("1.0000000000000000000000000000000000000000Ki", "1Ki"),
            ("1.0000000000000000000000000000000000000001Ki", "1024000000001n"),
            ("0000000000000000000000000000000000000000000000000000000000000000005", "5"),
        ] {
            assert_eq!(
                Quantity::parse(text).map(|it| it.to_string()),
                Ok(written.into()),
                "{text}"
            );
        }
        for text in ["", "x", "1x", "1.2.3", "Gi", "1 Gi", "1Gii", "--1", "1e", "1e99999"] {
            assert!(Quantity::parse(text).is_err(), "{text}");
        }
        let read = |text: &str| Quantity::parse(text).expect("an amount");
        assert!(read("1Gi") > read("1G") && read("20E") > read("10E"));
        assert!(read("9Ei") == read("8Ei") && read("10E") > read("9Ei"));
        let sum = |a: &str, b: &str| read(a).plus(read(b)).to_string();
        assert_eq!(sum("0", "100Mi"), "100Mi");
        assert_eq!(sum("900m", "200m"), "1100m");
        assert_eq!(read("-1e40").plus(read("-1e40")).minus(read("1e40")), read("-1e40"));
        assert_eq!(sum("1Gi", "512Mi"), "1536Mi");
    }

    #[test]
    fn whole_numbers_are_those_that_the_reference_counts_in_64_bits() {
        let read = |text: &str| Quantity::parse(text).expect("an amount");
        for (text, count) in [
            ("1k", Some(1000)),
            ("1.0e1", Some(10)),
            ("1.Gi", Some(1 << 30)),
            ("10Ti", Some(10 << 40)),
            ("100000000000000000", Some(100_000_000_000_000_000)),
            ("0Gi", Some(0)),
            ("1.0", None),
            ("1000m", None),
            ("0m", None),
            ("100Ti", None),
            ("1Pi", None),
            ("1.5Gi", None),
            ("10E", None),
            ("9223372036854775807", None),
        ] {
            assert_eq!(read(text).as_integer(), count, "{text}");
        }
        for (one, two, count) in [
            ("10E", "-5E", Some(5_000_000_000_000_000_000)),
            ("0.0", "1", Some(1)),
            ("1", "0.0", Some(1)),
            ("500m", "500m", None),
            ("1Pi", "1", None),
            ("1E", "1n", None),
        ] {
            assert_eq!(read(one).plus(read(two)).as_integer(), count, "{one} {two}");
        }
    }
}
