//! Values that hold no others: sound ones, guesses, and strange ones.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::apiserver::Random;

/// Texts by their format.
const FORMATS: [(&str, [&str; 2]); 9] = [
    ("date-time", ["2026-01-01T00:00:00Z", "2106-02-07T06:28:16Z"]),
    ("date", ["2026-01-01", "2026-01-02"]),
    ("duration", ["30s", "1m30s"]),
    ("byte", ["YQ==", "Yg=="]),
    ("uuid", ["123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-42d3-a456-426614174001"]),
    ("ipv4", ["10.0.0.1", "10.0.0.2"]),
    ("email", ["a@example.com", "b@example.com"]),
    ("hostname", ["a.example.com", "b.example.com"]),
    ("uri", ["https://a.example.com", "https://b.example.com"]),
];

/// Texts that make no sense in most fields.
const STRANGE: [&str; 8] = ["", " ", "-1", "a b", "../a", "日本語", "Ünïcödé", "{{ a }}"];

/// A value of the schema other than the present one, if there is another; and whether it is a guess.
pub(super) fn draw(
    random: &mut Random,
    schema: &Value,
    known: &[&Value],
    current: Option<&Value>,
) -> (Value, bool) {
    let choose = |random: &mut Random, all: &[&Value]| -> Option<Value> {
        let others: Vec<_> = all.iter().filter(|it| Some(**it) != current).collect();
        let index = random.below(others.len() as u64) as usize;
        others.get(index).map(|it| (**it).clone())
    };
    if let Some(all) = schema["enum"].as_array() {
        let all: Vec<&Value> = all.iter().filter(|it| !it.is_null()).collect();
        let chosen = choose(random, &all).or_else(|| current.cloned());
        return (chosen.unwrap_or_default(), false);
    }
    let default = schema.get("default").filter(|it| !it.is_object());
    let known: Vec<&Value> = known.iter().copied().chain(default).collect();
    let distinct: BTreeSet<String> = known.iter().map(ToString::to_string).collect();
    let is_text = schema["type"] == "string"
        || schema["x-kubernetes-int-or-string"] == true && known.iter().any(|it| it.is_string());
    // Two examples of a text show what there is to choose from.
    if is_text
        && distinct.len() > 1
        && let Some(chosen) = choose(random, &known)
    {
        return (chosen, false);
    }
    match schema["type"].as_str() {
        Some("boolean") => {
            let now = current.and_then(Value::as_bool);
            (now.map_or_else(|| random.below(2) == 0, |it| !it).into(), false)
        }
        _ if is_text => text(random, schema, known.first().copied(), current),
        Some("integer" | "number") => (number(random, schema, &known, current), false),
        _ if schema["x-kubernetes-int-or-string"] == true => {
            (number(random, schema, &known, current), known.is_empty())
        }
        _ => (current.cloned().unwrap_or_default(), true),
    }
}

/// A number within its bounds, and near to what is known.
fn number(random: &mut Random, schema: &Value, known: &[&Value], now: Option<&Value>) -> Value {
    let bound = |name: &str| schema[name].as_f64().map(|it| it as i64);
    let step = bound("multipleOf").unwrap_or(1).max(1);
    let beyond = i64::from(schema["exclusiveMinimum"] == true);
    // Nothing says that zero makes sense.
    let least = bound("minimum").map_or(1, |it| it.saturating_add(beyond));
    let most = bound("maximum").unwrap_or(i64::MAX);
    let most = most.saturating_sub(i64::from(schema["exclusiveMaximum"] == true));
    let base = known.iter().find_map(|it| it.as_i64()).unwrap_or(least);
    let near = base.saturating_mul(2).max(base.saturating_add(3));
    let (least, most) = (least.max(base.saturating_sub(8)), most.min(near).max(least));
    let span = (most.saturating_sub(least) / step).clamp(0, 64);
    let first = random.below(span as u64 + 1) as i64;
    let round = |it: i64| (least.saturating_add(step - 1) / step + it) * step;
    let all = (0..=span).map(|it| round((first + it) % (span + 1)));
    let mut others = all.filter(|it| now.and_then(Value::as_i64) != Some(*it));
    others.next().map_or_else(|| now.cloned().unwrap_or_default(), Value::from)
}

/// A text like the known one.
fn text(
    random: &mut Random,
    schema: &Value,
    known: Option<&Value>,
    current: Option<&Value>,
) -> (Value, bool) {
    let now = current.and_then(Value::as_str);
    if let Some(base) = known.and_then(Value::as_str).filter(|it| !it.is_empty()) {
        if Some(base) != now && random.below(2) == 0 {
            return (base.into(), false);
        }
        for _ in 0..8 {
            let (other, is_guess) = like(random, base);
            if Some(&*other) != now {
                return (other.into(), is_guess);
            }
        }
    }
    let format = schema["format"].as_str().unwrap_or_default();
    if let Some((_, both)) = FORMATS.iter().find(|it| it.0 == format) {
        let other = both.iter().find(|it| Some(**it) != now);
        return (other.copied().unwrap_or_default().into(), false);
    }
    let least = schema["minLength"].as_u64().unwrap_or(1).clamp(1, 64) as usize;
    let letter = if now.is_some_and(|it| it.starts_with('a')) { "b" } else { "a" };
    (letter.repeat(least).into(), true)
}

/// Another text of the same form, and whether it is a guess.
fn like(random: &mut Random, text: &str) -> (String, bool) {
    if let Some(other) = in_other_unit(text).filter(|_| random.below(2) == 0) {
        return (other, false);
    }
    match text {
        "true" => return ("false".to_owned(), false),
        "false" => return ("true".to_owned(), false),
        _ => {}
    }
    if let Some(at) = text.rfind(|it: char| it.is_ascii_digit()) {
        let digit = char::from(b'1' + random.below(9) as u8);
        return (format!("{}{digit}{}", &text[..at], &text[at + 1..]), false);
    }
    // A word with a capital is one of few that the controller knows.
    let is_word = text.starts_with(|it: char| it.is_ascii_uppercase());
    (format!("{text}{}", char::from(b'a' + random.below(4) as u8)), is_word)
}

/// The same quantity in another unit.
fn in_other_unit(text: &str) -> Option<String> {
    const UNITS: [&str; 4] = ["Ki", "Mi", "Gi", "Ti"];
    let at = text.len().checked_sub(2)?;
    let (number, unit) = text.split_at_checked(at)?;
    let number: u64 = number.parse().ok()?;
    let index = UNITS.iter().position(|it| *it == unit)?;
    let smaller = UNITS.get(index.checked_sub(1)?)?;
    Some(format!("{}{smaller}", number.checked_mul(1_024)?))
}

/// The number of bytes of a quantity in such a unit, so that equal ones are equal.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let at = text.len().checked_sub(2)?;
    let (number, unit) = text.split_at_checked(at)?;
    let power = ["Ki", "Mi", "Gi", "Ti"].iter().position(|it| *it == unit)? as u32 + 1;
    number.parse::<u64>().ok()?.checked_mul(1_024_u64.checked_pow(power)?)
}

/// Values that make no sense: of another type, beyond the bounds, empty, or in other letters. None of them
/// is a large number, since a controller that is asked for a million pods rightly makes them.
pub(super) fn strange(schema: &Value) -> Vec<Value> {
    let mut all = vec![json!(null)];
    match schema["type"].as_str() {
        Some("integer" | "number") => {
            all.extend([json!(-1), json!(0), json!("1"), json!(1.5)]);
            let bound = |name: &str| schema[name].as_i64();
            all.extend(bound("minimum").map(|it| it.saturating_sub(1).into()));
            all.extend(bound("maximum").map(|it| it.saturating_add(1).into()));
        }
        Some("boolean") => all.extend([json!("yes"), json!(1)]),
        Some("array") => all.extend([json!([]), json!({}), json!([null]), json!("a")]),
        Some("object") => all.extend([json!({}), json!([]), json!({"": ""}), json!("a")]),
        _ => {
            all.extend(STRANGE.iter().map(|it| json!(it)));
            all.extend([json!("a".repeat(300)), json!(1)]);
        }
    }
    all
}

/// Whether two objects differ in the units of quantities at most.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    let [mut one, mut other] = [one.clone(), other.clone()];
    [&mut one, &mut other].into_iter().for_each(same_units);
    one == other
}

/// Writes equal quantities in the same unit.
pub(super) fn same_units(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(same_units),
        Value::Object(fields) => fields.values_mut().for_each(same_units),
        Value::String(text) => {
            if let Some(bytes) = bytes(text) {
                *text = format!("{bytes} bytes");
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_bounds_and_are_others() {
        let schema = json!({"type": "integer", "minimum": 0, "maximum": 9, "multipleOf": 3});
        let mut random = Random::new(1);
        let mut seen = BTreeSet::new();
        for _ in 0..64 {
            let (value, is_guess) = draw(&mut random, &schema, &[&json!(3)], Some(&json!(3)));
            let value = value.as_i64().expect("a number");
            assert!((0..=9).contains(&value) && value % 3 == 0 && value != 3 && !is_guess);
            seen.insert(value);
        }
        assert!(seen.len() > 1, "{seen:?}");
        let only = json!({"type": "integer", "minimum": 3, "maximum": 3});
        assert_eq!(draw(&mut random, &only, &[], Some(&json!(3))).0, 3);
    }

    #[test]
    fn the_same_quantity_is_drawn_in_other_units() {
        assert_eq!(in_other_unit("2Gi").as_deref(), Some("2048Mi"));
        assert_eq!(bytes("2Gi"), bytes("2048Mi"));
        for other in ["", "Gi", "1Ki", "é", "1.5Gi", "99999999999999999999Gi", "web"] {
            assert_eq!(in_other_unit(other), None, "{other}");
        }
        assert_eq!(bytes("99999999999999999Ti"), None);
    }

    #[test]
    fn of_a_text_without_an_example_nothing_is_known() {
        let mut random = Random::new(1);
        assert!(draw(&mut random, &json!({"type": "string"}), &[], None).1);
        for known in ["v1.2.3", "10Gi", "true", "web"] {
            let known = json!(known);
            let (other, is_guess) =
                draw(&mut random, &json!({"type": "string"}), &[&known], Some(&known));
            assert!(other != known && !is_guess, "{other}");
        }
        let known = json!("Recreate");
        assert!(draw(&mut random, &json!({"type": "string"}), &[&known], Some(&known)).1);
    }
}
