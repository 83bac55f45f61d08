//! The formats of fields.

use std::net::IpAddr;

use serde_json::Value;

use super::super::bounds::At;
use super::super::cause::{Cause, Causes};
use super::super::names::{self, Naming};

/// Names what is wrong with a value.
pub(super) type Format = fn(&Value, &At<'_>, &mut Causes);

fn tell(value: &Value, at: &At<'_>, wrong: Vec<String>, causes: &mut Causes) {
    causes.extend(wrong.into_iter().map(|why| Cause::invalid(at, value, why)));
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

pub(super) fn label(value: &Value, at: &At<'_>, causes: &mut Causes) {
    tell(value, at, names::name(text(value), Naming::Label, false), causes);
}

pub(super) fn subdomain(value: &Value, at: &At<'_>, causes: &mut Causes) {
    tell(value, at, names::name(text(value), Naming::Subdomain, false), causes);
}

/// A host of an ingress: a wildcard may come before it.
pub(super) fn host(value: &Value, at: &At<'_>, causes: &mut Causes) {
    let name = text(value);
    let name = name.strip_prefix("*.").unwrap_or(name);
    tell(value, at, names::name(name, Naming::Subdomain, false), causes);
}

pub(super) fn qualified(value: &Value, at: &At<'_>, causes: &mut Causes) {
    tell(value, at, names::qualified(text(value)), causes);
}

/// A map of labels.
pub(super) fn labels(value: &Value, at: &At<'_>, causes: &mut Causes) {
    for (key, value) in value.as_object().into_iter().flatten() {
        if causes.is_full() {
            return;
        }
        tell(&key.as_str().into(), at, names::qualified(key), causes);
        tell(value, at, names::label_value(text(value)), causes);
    }
}

/// The name of an environment variable.
pub(super) fn variable(value: &Value, at: &At<'_>, causes: &mut Causes) {
    if !text(value).bytes().all(|it| (b' '..=b'~').contains(&it) && it != b'=') {
        let why = "a valid environment variable name must consist only of printable ASCII characters other than '='";
        causes.push(Cause::invalid(at, value, why));
    }
}

/// A number from 1 to 65535, or the name of a port.
pub(super) fn port(value: &Value, at: &At<'_>, causes: &mut Causes) {
    match value {
        Value::String(name) => tell(value, at, port_name(name), causes),
        number if !number.as_i64().is_some_and(|it| (1..=65535).contains(&it)) => {
            causes.push(Cause::invalid(at, value, "must be between 1 and 65535, inclusive"));
        }
        _ => {}
    }
}

pub(super) fn port_name_of(value: &Value, at: &At<'_>, causes: &mut Causes) {
    tell(value, at, port_name(text(value)), causes);
}

fn port_name(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if name.len() > 15 {
        wrong.push("must be no more than 15 characters");
    }
    let fits = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    if !name.bytes().all(fits) {
        wrong.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    }
    if !name.bytes().any(|it| it.is_ascii_lowercase()) {
        wrong.push("must contain at least one letter (a-z)");
    }
    if name.contains("--") {
        wrong.push("must not contain consecutive hyphens");
    }
    if name.starts_with('-') || name.ends_with('-') {
        wrong.push("must not begin or end with a hyphen");
    }
    wrong.into_iter().map(str::to_owned).collect()
}

/// A count, or a part such as `25%`.
pub(super) fn part(value: &Value, at: &At<'_>, causes: &mut Causes) {
    let is_percent = |it: &str| {
        let digits = it.strip_suffix('%').unwrap_or("");
        !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
    };
    let why = match value {
        Value::String(it) if is_percent(it) => return,
        Value::String(_) => {
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
        }
        number if number.as_i64().is_some_and(|it| it < 0) => "must be greater than or equal to 0",
        _ => return,
    };
    causes.push(Cause::invalid(at, value, why));
}

/// The same, and no more than all.
pub(super) fn share(value: &Value, at: &At<'_>, causes: &mut Causes) {
    part(value, at, causes);
    let percent = text(value).strip_suffix('%').and_then(|it| it.parse::<u64>().ok());
    if percent.is_some_and(|it| it > 100) {
        causes.push(Cause::invalid(at, value, "must not be greater than 100%"));
    }
}

pub(super) fn address(value: &Value, at: &At<'_>, causes: &mut Causes) {
    if text(value) != "None" && text(value).parse::<IpAddr>().is_err() {
        let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        causes.push(Cause::invalid(at, value, why));
    }
}

pub(super) fn absolute(value: &Value, at: &At<'_>, causes: &mut Causes) {
    if !text(value).starts_with('/') {
        causes.push(Cause::invalid(at, value, "must be an absolute path"));
    }
}

/// The five fields of a schedule, or a word such as `@daily`.
pub(super) fn schedule(value: &Value, at: &At<'_>, causes: &mut Causes) {
    let whole = text(value);
    let fields: Vec<&str> = whole.split_whitespace().collect();
    if let Some(word) = whole.strip_prefix('@') {
        let known = ["yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"];
        if !known.contains(&word) && !word.starts_with("every ") {
            let why = format!("unrecognized descriptor: {whole}");
            causes.push(Cause::invalid(at, value, why));
        }
    } else if fields.len() != 5 {
        let (found, count) = (fields.join(" "), fields.len());
        let why = format!("expected exactly 5 fields, found {count}: [{found}]");
        causes.push(Cause::invalid(at, value, why));
    } else if let Some(field) = fields.iter().zip(BOUNDS).find(|(it, of)| !is_times(it, *of)) {
        let why = format!("failed to parse {}", field.0);
        causes.push(Cause::invalid(at, value, why));
    }
}

/// The least and the most of minutes, hours, days, months and days of the week.
const BOUNDS: [(u32, u32); 5] = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)];
const WORDS: [&str; 19] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "sun",
    "mon", "tue", "wed", "thu", "fri", "sat",
];

fn is_times(field: &str, (least, most): (u32, u32)) -> bool {
    let number = |it: &str| it.parse::<u32>().ok().filter(|it| (least..=most).contains(it));
    let is_word = |it: &str| most < 13 && WORDS.contains(&it.to_lowercase().as_str());
    let fits = |it: &str| number(it).is_some() || is_word(it);
    field.split(',').all(|times| {
        let (range, step) = times.split_once('/').unwrap_or((times, "1"));
        let is_range = match range.split_once('-') {
            _ if matches!(range, "*" | "?") => true,
            Some((from, to)) => {
                fits(from) && fits(to) && number(from).zip(number(to)).is_none_or(|(a, b)| a <= b)
            }
            None => fits(range),
        };
        is_range && step.parse::<u32>().is_ok_and(|it| it > 0)
    })
}
