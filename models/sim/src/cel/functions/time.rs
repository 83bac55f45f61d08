//! Points in time and spans of it.

use super::{Function, none, one, tenth};
use crate::cel::value::{Outcome, Value};

const SECOND: i128 = 1_000_000_000;

const fn part(name: &'static str, overloads: &'static [&'static str]) -> Function {
    Function { name, overloads, cost: one, run }
}

const OF_TIME: &[&str] = &[".timestamp int", ".timestamp,string int"];
const OF_BOTH: &[&str] = &[".timestamp int", ".timestamp,string int", ".duration int"];

pub(in crate::cel) const TABLE: &[Function] = &[
    Function {
        name: "timestamp",
        overloads: &["string timestamp", "int timestamp", "timestamp timestamp"],
        cost: tenth,
        run,
    },
    Function {
        name: "duration",
        overloads: &["string duration", "int duration", "duration duration"],
        cost: tenth,
        run,
    },
    part("getFullYear", OF_TIME),
    part("getMonth", OF_TIME),
    part("getDate", OF_TIME),
    part("getDayOfMonth", OF_TIME),
    part("getDayOfWeek", OF_TIME),
    part("getDayOfYear", OF_TIME),
    part("getHours", OF_BOTH),
    part("getMinutes", OF_BOTH),
    part("getSeconds", OF_BOTH),
    part("getMilliseconds", OF_BOTH),
];

/// Days since the Unix epoch.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The year, the month and the day of a number of days.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (era * 400 + years, if month < 10 { month + 3 } else { month - 9 });
    (if month <= 2 { year + 1 } else { year }, month, day)
}

pub(in crate::cel) fn day<'a>(text: &str) -> Outcome<'a> {
    let wrong = || format!("Invalid date formatted string {text}");
    parse_day(text).map(|it| Value::Time(i128::from(it) * 86_400 * SECOND)).ok_or_else(wrong)
}

fn parse_day(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let is_date = bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, it)| match at {
            4 | 7 => *it == b'-',
            _ => it.is_ascii_digit(),
        });
    if !is_date {
        return None;
    }
    let (year, month, day) =
        (text[..4].parse().ok()?, text[5..7].parse().ok()?, text[8..].parse().ok()?);
    let found = days(year, month, day);
    (date(found) == (year, month, day)).then_some(found)
}

pub(in crate::cel) fn instant<'a>(text: &str) -> Outcome<'a> {
    let wrong = || format!("Invalid date-time formatted string {text}");
    parse(text).map(Value::Time).ok_or_else(wrong)
}

/// How long the text of a time or a span may be: it is read again at each use, which costs next to nothing.
const LONGEST: usize = 1024;

/// A time by RFC 3339.
pub(crate) fn parse(text: &str) -> Option<i128> {
    if text.len() > LONGEST {
        return None;
    }
    let day = parse_day(text.get(..10)?)?;
    let rest = text.get(10..)?.strip_prefix(['T', 't'])?;
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = rest.get(range)?;
        digits.bytes().all(|it| it.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let (hour, minute, second) = (number(0..2)?, number(3..5)?, number(6..8)?);
    let is_shaped = rest.get(2..3)? == ":" && rest.get(5..6)? == ":";
    if !is_shaped || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut rest = rest.get(8..)?;
    let mut nanos = 0;
    if let Some(after) = rest.strip_prefix('.') {
        let length = after.bytes().take_while(u8::is_ascii_digit).count();
        let digits: String = after[..length].chars().chain("000000000".chars()).take(9).collect();
        nanos = digits.parse::<i128>().ok().filter(|_| length > 0)?;
        rest = &after[length..];
    }
    let shift = if matches!(rest, "Z" | "z") { 0 } else { zone(rest)? };
    let seconds = day * 86_400 + hour * 3600 + minute * 60 + second - shift;
    Some(i128::from(seconds) * SECOND + nanos)
}

/// The seconds of `+02:00` before the time of Greenwich.
fn zone(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => (1, text),
    };
    let (hours, minutes) = rest.split_once(':')?;
    // Two digits each: nothing that is multiplied below can be too large.
    let number = |it: &str| {
        let is_number = it.len() == 2 && it.bytes().all(|it| it.is_ascii_digit());
        is_number.then(|| it.parse::<i64>().ok()).flatten()
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 23 && minutes <= 59).then(|| sign * (hours * 3600 + minutes * 60))
}

pub(super) fn written(time: i128) -> String {
    let (seconds, nanos) = (time.div_euclid(SECOND) as i64, time.rem_euclid(SECOND));
    let (year, month, day) = date(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let fraction = format!("{nanos:09}");
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{dot}{fraction}Z")
}

const UNITS: &[(&str, f64)] =
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 6e10), ("h", 3.6e12)];

pub(in crate::cel) fn span<'a>(text: &str) -> Outcome<'a> {
    let wrong = || format!("Invalid duration {text}: time: invalid duration {text:?}");
    parse_span(text).or_else(|| loose(text)).map(Value::Span).ok_or_else(wrong)
}

/// The units of spans that a schema takes too: a short name, and how a long one begins.
const LOOSE: &[(&[&str], &str, i64)] = &[
    (&["ns"], "nano", 1),
    (&["us", "µs"], "micro", 1_000),
    (&["ms"], "milli", 1_000_000),
    (&["s"], "sec", 1_000_000_000),
    (&["m"], "min", 60_000_000_000),
    (&["h", "hr"], "hour", 3_600_000_000_000),
    (&["d"], "day", 86_400_000_000_000),
    (&["w"], "week", 604_800_000_000_000),
];

/// A span such as `3 days`: all numbers with a unit that are anywhere in a text.
fn loose(text: &str) -> Option<i64> {
    let (mut rest, mut sum) = (text, None);
    if text.len() > LONGEST {
        return None;
    }
    while let Some(at) = rest.find(|it: char| it.is_ascii_digit()) {
        let (number, after) = rest[at..]
            .split_at(rest[at..].find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len() - at));
        let after = after.trim_start();
        let length =
            after.find(|it: char| !it.is_ascii_alphabetic() && it != 'µ').unwrap_or(after.len());
        let unit = after[..length].to_lowercase();
        let factor = LOOSE.iter().find(|it| it.0.contains(&&*unit) || unit.starts_with(it.1));
        if let (Ok(number), Some((_, _, factor))) = (number.parse::<i64>(), factor) {
            sum = Some(number.saturating_mul(*factor).saturating_add(sum.unwrap_or(0)));
        }
        rest = &after[length..];
    }
    sum
}

/// A span such as `1h30m`.
pub(crate) fn parse_span(text: &str) -> Option<i64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let (mut whole, mut part) = (0i128, 0.0);
    if rest.is_empty() || rest.len() > LONGEST {
        return None;
    }
    while !rest.is_empty() {
        let length = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let number = &rest[..length];
        rest = &rest[length..];
        let length = rest.find(|it: char| it.is_ascii_digit() || it == '.').unwrap_or(rest.len());
        let unit = UNITS.iter().find(|it| it.0 == &rest[..length])?.1;
        rest = &rest[length..];
        match number.parse::<i64>() {
            Ok(number) => whole = whole.checked_add(i128::from(number) * unit as i128)?,
            Err(_) => part += number.parse::<f64>().ok()? * unit,
        }
    }
    // A number of very many digits becomes the largest one there is.
    let sum = whole.checked_add(part.round() as i128)?;
    i64::try_from(sum.checked_mul(sign as i128)?).ok()
}

pub(super) fn written_span(nanos: i64) -> String {
    let (seconds, rest) = (nanos / 1_000_000_000, (nanos % 1_000_000_000).abs());
    let fraction = format!("{rest:09}");
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    let sign = if nanos < 0 && seconds == 0 { "-" } else { "" };
    format!("{sign}{seconds}{dot}{fraction}s")
}

/// Sums and differences of times and spans.
pub(super) fn moved<'a>(name: &str, one: &Value<'a>, two: &Value<'a>) -> Outcome<'a> {
    let sign = match name {
        "_+_" => 1,
        "_-_" => -1,
        _ => return none(),
    };
    let span = |nanos: i128| {
        i64::try_from(nanos).map(Value::Span).map_err(|_| "duration overflow".to_owned())
    };
    match (one, two) {
        (Value::Time(one), Value::Span(two)) => Ok(Value::Time(one + sign * i128::from(*two))),
        (Value::Span(one), Value::Time(two)) if sign == 1 => {
            Ok(Value::Time(two + i128::from(*one)))
        }
        (Value::Time(one), Value::Time(two)) if sign == -1 => span(one - two),
        (Value::Span(one), Value::Span(two)) => span(i128::from(*one) + sign * i128::from(*two)),
        _ => none(),
    }
}

fn run<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let wrong = |text: &str| format!("type conversion error from 'string' to '{name}': {text}");
    match (name, args) {
        ("timestamp", [Value::Text(it)]) => parse(it).map(Value::Time).ok_or_else(|| wrong(it)),
        ("timestamp", [Value::Int(it)]) => Ok(Value::Time(i128::from(*it) * SECOND)),
        ("duration", [Value::Text(it)]) => parse_span(it).map(Value::Span).ok_or_else(|| wrong(it)),
        ("duration", [Value::Int(it)]) => Ok(Value::Span(*it)),
        ("timestamp", [it @ Value::Time(_)]) | ("duration", [it @ Value::Span(_)]) => {
            Ok(it.clone())
        }
        (_, [Value::Span(it)]) => Ok(Value::Int(match name {
            "getHours" => it / 3_600_000_000_000,
            "getMinutes" => it / 60_000_000_000,
            "getSeconds" => it / 1_000_000_000,
            _ => it / 1_000_000 % 1000,
        })),
        (_, [Value::Time(it), rest @ ..]) => {
            let shift = match rest {
                [Value::Text(it)] if &**it != "UTC" => {
                    zone(it).ok_or_else(|| format!("unknown time zone {it}"))?
                }
                _ => 0,
            };
            let time = it + i128::from(shift) * SECOND;
            let (seconds, nanos) = (time.div_euclid(SECOND) as i64, time.rem_euclid(SECOND) as i64);
            let whole = seconds.div_euclid(86_400);
            let (year, month, day) = date(whole);
            Ok(Value::Int(match name {
                "getFullYear" => year,
                "getMonth" => month - 1,
                "getDate" => day,
                "getDayOfMonth" => day - 1,
                "getDayOfWeek" => (whole + 4).rem_euclid(7),
                "getDayOfYear" => whole - days(year, 1, 1),
                "getHours" => seconds.rem_euclid(86_400) / 3600,
                "getMinutes" => seconds.rem_euclid(3600) / 60,
                "getSeconds" => seconds.rem_euclid(60),
                _ => nanos / 1_000_000,
            }))
        }
        _ => none(),
    }
}
