//! Amounts such as `500m`, `1Gi` and `2e3`.

use std::fmt;

use serde_json::Value;

/// The suffixes of thousands, from the smallest; the empty one is the fourth.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const ONE: i128 = 1_000_000_000;

/// An amount, to a billionth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) billionths: i128,
    is_binary: bool,
}

impl Quantity {
    pub(super) fn whole(count: usize) -> Self {
        Self { billionths: i128::try_from(count).unwrap_or(0) * ONE, is_binary: false }
    }

    /// Reads a text or a number; none if it is no amount, or too large for any machine.
    pub(super) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (is_negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if number.is_empty() || whole.len() > 18 || !fraction.bytes().all(|it| it.is_ascii_digit())
        {
            return None;
        }
        let (multiplier, is_binary) = multiplier(suffix)?;
        let scaled = |digits: &str, unit: i128| {
            let digits = if digits.is_empty() { 0 } else { digits.parse::<i128>().ok()? };
            digits.checked_mul(unit)
        };
        let fraction = fraction.get(..9).unwrap_or(fraction);
        let part = scaled(fraction, multiplier)? / 10_i128.pow(fraction.len() as u32);
        let billionths = scaled(whole, multiplier)?.checked_add(part)?;
        let billionths = if is_negative { -billionths } else { billionths };
        Some(Self { billionths, is_binary })
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let is_binary = if self.billionths == 0 { other.is_binary } else { self.is_binary };
        Self { billionths: self.billionths.saturating_add(other.billionths), is_binary }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self { billionths: self.billionths.saturating_sub(other.billionths), ..self }
    }

    pub(super) fn max(self, other: Self) -> Self {
        if other.billionths > self.billionths { other } else { self }
    }
}

/// What a suffix stands for, in billionths, and whether it is one of powers of two.
fn multiplier(suffix: &str) -> Option<(i128, bool)> {
    if let Some(power) = DECIMAL.iter().position(|it| *it == suffix) {
        return Some((1_000_i128.pow(power as u32), false));
    }
    if let Some(power) = BINARY.iter().position(|it| *it == suffix) {
        return Some((ONE << (10 * power), true));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?;
    let power = u32::try_from(exponent + 9).ok().filter(|it| *it <= 27)?;
    Some((10_i128.pow(power), false))
}

impl fmt::Display for Quantity {
    /// The shortest text without a fraction, as the real server writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.billionths;
        if left == 0 {
            return f.write_str("0");
        }
        let is_small = left.abs() < 1024 * ONE || left % ONE != 0;
        let (units, step) =
            if self.is_binary && !is_small { (&BINARY[..], 1024) } else { (&DECIMAL[..], 1000) };
        if step == 1024 {
            left /= ONE;
        }
        let mut power = 0;
        while left % step == 0 && power + 1 < units.len() {
            left /= step;
            power += 1;
        }
        write!(f, "{left}{}", units[power])
    }
}

#[cfg(test)]
mod tests {
    use super::Quantity;

    #[test]
    fn amounts_are_read_added_and_written_as_the_real_server_writes_them() {
        for (text, written) in [
            ("1", "1"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("0.1", "100m"),
            ("1.5Gi", "1536Mi"),
            ("1024Ki", "1Mi"),
            ("1000", "1k"),
            ("1e3", "1k"),
            ("-2", "-2"),
            ("512Ki", "512Ki"),
            ("0", "0"),
            (".5", "500m"),
        ] {
            assert_eq!(
                Quantity::parse(text).map(|it| it.to_string()).as_deref(),
                Some(written),
                "{text}"
            );
        }
        for bad in ["", "x", "1.2.3", "1Q", "--1", "9999999999999999999999", "1e99", "1e", "."] {
            assert_eq!(Quantity::parse(bad).filter(|_| bad != "."), None, "{bad}");
        }
        let sum = |a: &str, b: &str| {
            let read = |text| Quantity::parse(text).expect("an amount");
            read(a).plus(read(b)).to_string()
        };
        assert_eq!(sum("0", "100Mi"), "100Mi");
        assert_eq!(sum("900m", "200m"), "1100m");
        assert_eq!(sum("1Gi", "512Mi"), "1536Mi");
    }
}
