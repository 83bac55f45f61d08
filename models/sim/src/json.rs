//! Reads JSON and notices keys that appear twice.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::short::{LONGEST, MOST, short};

/// Stands for the part of a path that would make it too long.
const CUT: &str = "...";

/// How much memory the values of one body may take: a body of tiny objects takes a hundred times its length.
pub(crate) const ROOM: usize = 32 * 1024 * 1024;
/// Says that they would take more.
pub(crate) const TOO_MUCH: &str =
    "its values would take more memory than this server gives to a request";
/// What an object takes that is not empty; the fields of each are kept in pieces of this size.
pub(crate) const OBJECT: usize = 640;
/// How many fields fit into the first piece. One more makes it two pieces, and one around them.
const FIRST: u32 = 11;
/// What each field takes beyond them, and each item of a list.
pub(crate) const FIELD: usize = OBJECT / 6;
const ITEM: usize = 2 * size_of::<Value>();

/// About how much memory the values of JSON take, which is not read for that. Deeper values than can be read
/// count nothing.
pub(crate) fn memory(bytes: &[u8]) -> usize {
    // Whether each of the values around is an object, the innermost last.
    let (mut around, mut depth, mut sum, mut at) = (0_u128, 0, 0, 0);
    // How many fields each of them has so far, the outermost first.
    let mut fields = [0_u32; u128::BITS as usize];
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let from = at;
                loop {
                    let end = bytes[at..].iter().position(|it| matches!(it, b'"' | b'\\'));
                    at = end.map_or(bytes.len(), |end| at + end + 1);
                    if end.is_none() || bytes[at - 1] == b'"' {
                        break;
                    }
                    at = bytes.len().min(at + 1);
                }
                // A text takes whole words, and one more.
                sum += 16 + (at - from).next_multiple_of(16);
            }
            b'{' | b'[' if depth < fields.len() => {
                around = around << 1 | u128::from(*byte == b'{');
                fields[depth] = 0;
                depth += 1;
                sum += if *byte == b'{' { 0 } else { ITEM };
            }
            b'{' | b'[' => return sum,
            b'}' | b']' => (around, depth) = (around >> 1, depth.saturating_sub(1)),
            b':' if depth > 0 => {
                let count = &mut fields[depth - 1];
                *count += 1;
                sum += match *count {
                    1 => OBJECT,
                    2..=FIRST => 0,
                    more if more == FIRST + 1 => 2 * OBJECT,
                    _ => FIELD,
                };
            }
            b',' if around & 1 == 0 => sum += ITEM,
            _ => {}
        }
    }
    sum
}

/// The value, and the paths of the keys that appear more than once in their object, the last of
/// which counts: the first hundred paths, each once. An object within more than 127 others is an
/// error.
pub(crate) fn parse(bytes: &[u8]) -> Result<(Value, Vec<String>), serde_json::Error> {
    let twice = RefCell::new(Vec::new());
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Seed { twice: &twice }.deserialize(&mut reader)?;
    reader.end()?;
    let plain = |path: String| match path.starts_with(CUT) {
        true => path,
        false => path.trim_start_matches('.').to_owned(),
    };
    Ok((value, twice.into_inner().into_iter().map(plain).collect()))
}

#[derive(Clone, Copy)]
struct Seed<'a> {
    twice: &'a RefCell<Vec<String>>,
}

impl Seed<'_> {
    /// Paths are put together on the way out, so that a body without mistakes pays nothing.
    fn prefix(self, from: usize, with: impl Fn() -> String) {
        let mut twice = self.twice.borrow_mut();
        if twice.len() > from {
            let prefix = with();
            for path in twice[from..].iter_mut().filter(|path| !path.starts_with(CUT)) {
                let fits = path.len() + prefix.len() <= LONGEST;
                path.insert_str(0, if fits { &prefix } else { CUT });
            }
        }
    }

    /// Notes a key that is there twice in an object whose own paths begin at `from`.
    fn note(self, from: usize, key: &str) {
        let mut twice = self.twice.borrow_mut();
        if twice.len() >= MOST {
            return;
        }
        let path = short(format_args!(".{key}"));
        if !twice[from..].contains(&path) {
            twice.push(path);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let from = self.twice.borrow().len();
            let Some(item) = access.next_element_seed(self)? else { break };
            self.prefix(from, || format!("[{}]", items.len()));
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        let begin = self.twice.borrow().len();
        while let Some(key) = access.next_key::<String>()? {
            let from = self.twice.borrow().len();
            let value = access.next_value_seed(self)?;
            self.prefix(from, || short(format_args!(".{key}")));
            match fields.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(value);
                }
                Entry::Occupied(mut place) => {
                    self.note(begin, place.key());
                    place.insert(value);
                }
            }
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FIELD, ITEM, OBJECT, ROOM, memory, parse};

    #[test]
    fn the_memory_of_values_is_known_before_they_are_read() {
        for (text, expected) in [
            ("", 0),
            ("1", 0),
            ("[1,2,3]", 3 * ITEM),
            (r#"{"a":1}"#, OBJECT + 32),
            ("{}", 0),
            (r#"{"a":[{},{"b":{}}],"\\\",{[":2}"#, 2 * OBJECT + 2 * ITEM + 96),
            (r#""{{{{"#, 32),
            (r#""\"#, 32),
            ("]}]}:", 0),
        ] {
            assert_eq!(memory(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(memory(&b"[".repeat(1_000)), 128 * ITEM);
        // The first piece is paid for once, and what comes after it in parts.
        let object = |count| format!("{{{}}}", vec![r#""a":{}"#; count].join(","));
        for (count, expected) in
            [(1, OBJECT), (11, OBJECT), (12, 3 * OBJECT), (14, 3 * OBJECT + 2 * FIELD)]
        {
            assert_eq!(memory(object(count).as_bytes()), expected + 32 * count, "{count}");
        }
    }

    /// Bodies such as people send: each takes less than two thirds of what it may.
    #[test]
    fn ordinary_bodies_are_far_from_the_bound() {
        let numbered = |count: usize, one: fn(usize) -> String| {
            (0..count).map(one).collect::<Vec<_>>().join(",")
        };
        let owners = numbered(10_000, |n| {
            format!(r#"{{"apiVersion":"v1","kind":"Pod","name":"pod-{n}","uid":"{n:036}"}}"#)
        });
        let owned = numbered(10_000, |n| format!(r#""k:{{\"uid\":\"{n:036}\"}}":{{}}"#));
        let keys = numbered(30_000, |n| format!(r#""key-{n}":"value""#));
        let of_keys = numbered(30_000, |n| format!(r#""f:key-{n}":{{}}"#));
        let schema = numbered(25_000, |n| format!(r#""aFieldOfASpec{n}":{{"type":"string"}}"#));
        for (name, body) in [
            ("owners", format!(r#"{{"a":[{owners}],"b":{{{owned}}}}}"#)),
            ("keys", format!(r#"{{"a":{{{keys}}},"b":{{{of_keys}}}}}"#)),
            ("a schema", format!(r#"{{"properties":{{{schema}}}}}"#)),
        ] {
            let share = memory(body.as_bytes()) * 100 / ROOM;
            assert!(share < 67, "{name}: {share} % for {} bytes", body.len());
        }
    }

    #[test]
    fn keys_that_appear_twice_are_told_by_path_and_the_last_one_counts() {
        let body = br#"{"m":{"name":"a","name":"b"},"l":[{},{"k":1,"k":2}],"m2":1}"#;
        let (value, twice) = parse(body).expect("it is JSON");
        assert_eq!(value, json!({"m": {"name": "b"}, "l": [{}, {"k": 2}], "m2": 1}));
        assert_eq!(twice, ["m.name", "l[1].k"]);
    }

    #[test]
    fn a_hundred_paths_are_told_each_once_and_none_is_long() {
        let same = format!("{{{}}}", vec![r#""a":1"#; 1_000].join(","));
        assert_eq!(parse(same.as_bytes()).expect("it is JSON").1, ["a"]);
        let many = (0..1_000).map(|n| format!(r#""k{n}":1,"k{n}":2"#)).collect::<Vec<_>>();
        let many = format!("{{{}}}", many.join(","));
        let inner =
            (0..100).fold(many, |inner, _| format!(r#"{{"{}":{inner}}}"#, "x".repeat(1_000)));
        let (_, twice) = parse(inner.as_bytes()).expect("it is JSON");
        assert_eq!(twice.len(), 100);
        assert!(twice.iter().all(|path| path.len() < 10_000 && path.starts_with("...")));
        assert!(twice[7].ends_with("x.k7"), "{}", twice[7].len());
    }

    #[test]
    fn depth_and_rubbish_are_errors() {
        assert!(parse(&b"[".repeat(100_000)).is_err());
        assert!(parse(b"{} x").is_err());
        assert!(parse(b"").is_err());
    }
}
