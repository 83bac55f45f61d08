//! Amounts such as `500m` or `1Gi`: read, compared, added, and written in the one form that a server stores.

use std::cmp::Ordering;
use std::fmt::{self, Display};

use serde_json::Value;

/// A number with the kind of suffix that it came with. More than the billionth part is rounded up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quantity {
    pub(crate) billionths: i128,
    form: Form,
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
const DECIMAL: [(&str, i32); 10] = [
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
/// The largest amount is nearly eight exbibytes.
const MOST: i128 = (i64::MAX as i128) * ONE;

impl Quantity {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || WRONG.to_owned();
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = digits.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(digits.len());
        let (number, suffix) = digits.split_at(end);
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + part.len() == 0 || part.contains('.') || number.len() > 60 {
            return Err(wrong());
        }
        let (form, ten, binary) = if let Some((_, it)) = BINARY.iter().find(|it| it.0 == suffix) {
            (Form::Binary, 0, 1024_i128.pow(*it))
        } else if let Some((_, it)) = DECIMAL.iter().find(|it| it.0 == suffix) {
            (Form::Decimal, *it, 1)
        } else {
            let exponent = suffix.strip_prefix(['e', 'E']).and_then(|it| it.parse().ok());
            (Form::Exponent, exponent.filter(|it| (-40..=40).contains(it)).ok_or_else(wrong)?, 1)
        };
        // The value is `all` times ten to the power of `scale`, in billionths.
        let all: i128 = format!("0{whole}{part}").parse().unwrap_or(MOST);
        let scale = ten + 9 - i32::try_from(part.len()).unwrap_or(0);
        let power = 10_i128.checked_pow(scale.unsigned_abs()).unwrap_or(MOST);
        let all = all.saturating_mul(binary);
        let value = if scale >= 0 {
            all.saturating_mul(power)
        } else {
            all / power + i128::from(all % power != 0)
        };
        let value = value.min(MOST);
        let billionths = if text.starts_with('-') { -value } else { value };
        Ok(Self { billionths, form })
    }

    pub(crate) fn whole(count: usize) -> Self {
        Self { billionths: i128::try_from(count).unwrap_or(0) * ONE, form: Form::Decimal }
    }

    /// Another amount in the same form.
    pub(crate) fn at(self, billionths: i128) -> Self {
        Self { billionths, ..self }
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
        Self { billionths: self.billionths.saturating_add(other.billionths), form }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.at(self.billionths.saturating_sub(other.billionths))
    }

    pub(crate) fn is_negative(self) -> bool {
        self.billionths < 0
    }

    pub(crate) fn is_whole(self) -> bool {
        self.billionths % ONE == 0
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
        let power = |it: i32| 10_i128.pow((it + 9).unsigned_abs());
        let fits = |it: &&(&str, i32)| value % power(it.1) == 0;
        let (suffix, ten) = DECIMAL.iter().rev().find(fits).copied().unwrap_or(("n", -9));
        let digits = value / power(ten);
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
        assert!(Quantity::parse("1Gi").ok() > Quantity::parse("1G").ok());
        let sum = |a: &str, b: &str| {
            let read = |text| Quantity::parse(text).expect("an amount");
            read(a).plus(read(b)).to_string()
        };
        assert_eq!(sum("0", "100Mi"), "100Mi");
        assert_eq!(sum("900m", "200m"), "1100m");
        assert_eq!(sum("1Gi", "512Mi"), "1536Mi");
    }
}
