//! Changes in recorded traces, each at a random place and the same in every run.

use serde_json::{Value, json};

/// A source of random numbers that is the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Visits all parts of a value that have no parts themselves: numbers, texts, empty lists and so
/// on.
fn leaves(value: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Array(list) if !list.is_empty() => {
            list.iter_mut().for_each(|part| leaves(part, visit));
        }
        Value::Object(fields) if !fields.is_empty() => {
            fields.values_mut().for_each(|part| leaves(part, visit));
        }
        leaf => visit(leaf),
    }
}

/// Changes one leaf of a value.
fn change_leaf(value: &mut Value, random: &mut Random, change: &dyn Fn(&Value) -> Value) {
    let mut count = 0;
    leaves(value, &mut |_| count += 1);
    let chosen = random.below(count);
    let mut at = 0;
    leaves(value, &mut |leaf| {
        if at == chosen {
            *leaf = change(leaf);
        }
        at += 1;
    });
}

/// Returns another value of the same kind, if there is one.
fn other(value: &Value) -> Value {
    match value {
        Value::Null => json!(true),
        Value::Bool(yes) => json!(!yes),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => json!(whole.wrapping_add(1)),
            (None, Some(real)) => json!(real * 2.0 + 1.0),
            (None, None) => Value::Null,
        },
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(_) | Value::Object(_) => Value::Null,
    }
}

/// Changes one recorded output of a trace; returns the index of its step.
pub(crate) fn change_an_output(trace: &mut Value, random: &mut Random) -> usize {
    let steps = trace["steps"].as_array_mut().expect("a trace has steps");
    let at = random.below(steps.len());
    change_leaf(&mut steps[at]["out"], random, &other);
    at
}

/// Values that no argument should have, but that a damaged file may contain.
fn strange() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1e300),
        json!(-0.5),
        json!(""),
        json!("x"),
        json!([]),
        json!([null]),
        json!({}),
        json!({ "k": 7 }),
    ]
}

/// Damages the meaning of a trace: an argument, the configuration or the name of a call.
pub(crate) fn damage_the_meaning(trace: &mut Value, random: &mut Random) {
    let strange = random.pick(&strange()).clone();
    if random.below(4) == 0 {
        change_leaf(&mut trace["config"], random, &|_| strange.clone());
        return;
    }
    let steps = trace["steps"].as_array_mut().expect("a trace has steps");
    let at = random.below(steps.len());
    match random.below(8) {
        0 => drop(steps.remove(at)),
        1 => {
            let again = steps[at].clone();
            steps.insert(at, again);
        }
        2 => steps[at]["op"] = strange,
        3 => steps[at]["args"] = strange,
        _ => change_leaf(&mut steps[at]["args"], random, &|_| strange.clone()),
    }
}

/// Damages the text of a trace: cuts it off.
pub(crate) fn cut(line: &str, random: &mut Random) -> String {
    let mut end = random.below(line.len());
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line[..end].to_owned()
}

/// Damages the text of a trace: replaces a few characters.
pub(crate) fn smudge(line: &str, random: &mut Random) -> String {
    const MARKS: &[char] = &['"', '{', '}', '[', ']', ',', ':', '9', '-', 'e', '\\', 'x', '\u{0}'];
    let mut letters: Vec<char> = line.chars().collect();
    for _ in 0..=random.below(3) {
        let at = random.below(letters.len());
        letters[at] = *random.pick(MARKS);
    }
    letters.into_iter().collect()
}
