//! Times: seconds since the Unix epoch, and the text that JSON has for them.

/// How many days come before the Unix epoch, in a calendar whose years begin in March of year 0.
const EPOCH: i64 = 719_468;
const DAY: i64 = 86_400;
/// The first second of the year 1, which is no time at all.
pub(super) const NEVER: i64 = -62_135_596_800;
/// The first second of the year 10000, which has no text.
const END: i64 = 253_402_300_800;

/// The seconds and the microseconds of a text such as `2024-02-29T12:00:00.5+01:00`.
pub(super) fn read(text: &str) -> Option<(i64, i64)> {
    let part = |range: std::ops::Range<usize>| number(text.get(range)?);
    let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
    let (hour, minute, second) = (part(11..13)?, part(14..16)?, part(17..19)?);
    let rest = text.get(19..)?;
    let fraction = rest.strip_prefix('.').unwrap_or("");
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    let micros = fraction[..digits].bytes().chain(std::iter::repeat(b'0')).take(6);
    let micros = micros.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    let zone = if digits > 0 { &fraction[digits..] } else { rest };
    let offset = match zone.as_bytes() {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let seconds = number(zone.get(1..3)?)? * 3_600 + number(zone.get(4..6)?)? * 60;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = 365 * year + leaps + (153 * month + 2) / 5 + day - 1 - EPOCH;
    Some((days * DAY + hour * 3_600 + minute * 60 + second - offset, micros))
}

fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// The text of a time in UTC; none if its year has not four digits.
pub(super) fn write(seconds: i64, micros: Option<i64>) -> Option<String> {
    if !(NEVER..END).contains(&seconds) {
        return None;
    }
    let (days, rest) = (seconds.div_euclid(DAY) + EPOCH, seconds.rem_euclid(DAY));
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    let fraction = micros.map_or(String::new(), |micros| format!(".{micros:06}"));
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"))
}
