use std::io::Read as _;

use base64::Engine as _;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::table::{Empty, Id, Special, Table, Type};
use super::{MAGIC, decode, encode, frame, time};

/// Objects that the Go client has written, and the JSON of what it reads: one of every kind.
fn written_in_go() -> Vec<(Vec<u8>, Value)> {
    let packed = include_bytes!("../../conformance/protobuf/objects.txt.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("it is gzip");
    let pair = |line: &str| {
        let (bytes, json) = line.split_once(' ').expect("two parts");
        let bytes = base64::engine::general_purpose::STANDARD.decode(bytes).expect("base64");
        (bytes, serde_json::from_str(json).expect("JSON"))
    };
    text.lines().map(pair).collect()
}

fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

#[test]
fn bytes_and_json_are_those_of_the_published_types() {
    let objects = written_in_go();
    assert!(objects.len() > 100);
    for (bytes, mut theirs) in objects {
        let kind = format!("{} {}", theirs["apiVersion"], theirs["kind"]);
        assert_eq!(encode(&theirs).as_ref(), Some(&bytes), "{kind}");
        let mut ours = decode(&bytes).expect("it is a message");
        assert_eq!(encode(&ours), Some(bytes), "{kind}");
        without_nulls(&mut theirs);
        without_nulls(&mut ours);
        assert_eq!(ours, theirs);
    }
}

/// A value that no field leaves out.
fn made_up(of: &Type, depth: usize) -> Value {
    match of {
        Type::Text => "text".into(),
        Type::Bool => true.into(),
        Type::Int32 => i32::MIN.into(),
        Type::Int64 => i64::MAX.into(),
        Type::Double => json!(0.25),
        Type::Bytes => "AAH/".into(),
        Type::Json => json!({"any": [null, 1]}),
        Type::List(of) => json!([made_up(of, depth), made_up(of, depth)]),
        Type::Map(of) => json!({"": made_up(of, depth), "key": made_up(of, depth)}),
        Type::Message(id) => Value::Object(fields(*id, depth + 1)),
        Type::Special(special, id) => match special {
            Special::Time => "2024-02-29T12:00:00Z".into(),
            Special::MicroTime => "1969-12-31T23:59:59.999999Z".into(),
            Special::Quantity => "250m".into(),
            Special::IntOrString if depth.is_multiple_of(2) => "25%".into(),
            Special::IntOrString => (-7).into(),
            Special::Raw => json!({"any": [null, 1]}),
            Special::Strings | Special::SchemaOrStrings => json!(["a", "b"]),
            Special::SchemaOrBool if depth > 1 => true.into(),
            Special::SchemaOrList if depth > 1 => json!([]),
            Special::SchemaOrBool | Special::SchemaOrList => {
                let schema = &Table::get()
                    .message(*id)
                    .field(1 + u32::from(*special == Special::SchemaOrBool));
                schema.map_or(Value::Null, |field| made_up(&field.of, depth))
            }
        },
    }
}

/// Every field of a message; not those that may be absent, if it is deep.
fn fields(id: Id, depth: usize) -> Map<String, Value> {
    let mut all = Map::new();
    for field in &Table::get().message(id).fields {
        match (&field.name, &field.of) {
            (None, Type::Message(inner)) => all.extend(fields(*inner, depth)),
            (Some(_), _) if field.empty == Empty::Absent && depth > 1 => {}
            (Some(name), of) => {
                let value = made_up(of, depth);
                if value != json!([]) {
                    all.insert(name.clone(), value);
                }
            }
            _ => {}
        }
    }
    all
}

#[test]
fn every_field_of_every_kind_goes_there_and_back() {
    let table = Table::get();
    let mut kinds = 0;
    for (api_version, package) in table.packages() {
        for (_, kind) in table.names().filter(|(of, _)| *of == package) {
            let id = table.kind(api_version, kind).expect("it is there");
            let mut object = fields(id, 0);
            // Parts of objects may have such fields: only whole objects have an envelope.
            if object.contains_key("kind")
                || object.contains_key("apiVersion")
                || package == "special"
            {
                continue;
            }
            object.insert("kind".to_owned(), kind.into());
            object.insert("apiVersion".to_owned(), api_version.into());
            let object = Value::Object(object);
            let bytes = encode(&object).expect("it has a message");
            assert_eq!(decode(&bytes).expect("it can be read"), object, "{api_version} {kind}");
            kinds += 1;
        }
    }
    assert!(kinds > 400, "{kinds}");
}

#[test]
fn what_nobody_has_set_is_shown_as_the_published_types_show_it() {
    let read = |kind: &str| {
        let bytes = [MAGIC, b"\x0a\x06\x0a\x02v1\x12\x00\x12\x00"].concat();
        super::decode_as(&bytes, Some(("", kind))).expect("an empty message")
    };
    assert_eq!(read("ConfigMap"), json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}));
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"containers": null}, "status": {},
    });
    let mut read = read("Pod");
    if read["spec"].get("containers").is_none() {
        read["spec"]["containers"] = Value::Null;
    }
    assert_eq!(read, pod);
}

#[test]
fn broken_messages_are_refused_by_name() {
    let map = |raw: &[u8]| {
        let head = b"\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12";
        [MAGIC, head, &[raw.len() as u8], raw].concat()
    };
    for (raw, why) in [
        (&b"\x0a\x05a"[..], "unexpected EOF"),
        (b"\x08\x01", "proto: wrong wireType = 0 for field Metadata"),
        (b"\x0a\x02\x08\x01", "proto: wrong wireType = 0 for field Name"),
        (b"\x00\x01", "proto: ConfigMap: illegal tag 0 (wire type 0)"),
        (b"\x0c", "proto: ConfigMap: wiretype end group for non-group"),
        (b"\x0f", "proto: illegal wireType 7"),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "proto: integer overflow"),
        (
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            "proto: negative length found during unmarshaling",
        ),
    ] {
        let error = decode(&map(raw)).expect_err("it is broken");
        assert_eq!((error.to_string().as_str(), error.is_of_envelope()), (why, false));
    }
    // Fields of a later release, and groups, are skipped.
    let later = decode(&map(b"\xa3\x06\x0a\x00\xa4\x06\xa8\x06\x05\xad\x06abcd")).expect("skipped");
    assert_eq!(later["kind"], "ConfigMap");
    for (bytes, why) in [
        (&b""[..], "empty data"),
        (b"k8s\0", "empty body"),
        (
            b"{}",
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
        ),
        (b"k8s\0\x0a\x7f", "unexpected EOF"),
    ] {
        let error = decode(bytes).expect_err("it is no envelope");
        assert_eq!((error.to_string().as_str(), error.is_of_envelope()), (why, true));
    }
}

#[test]
fn what_would_grow_is_refused() {
    let message = |version: &str, kind: &str, raw: &[u8]| {
        let meta = [within(1, version.as_bytes()), within(2, kind.as_bytes())].concat();
        [MAGIC, &within(1, &meta), &within(2, raw)].concat()
    };
    // Each two bytes would become a claim with its metadata, its specification and its status.
    let claims = b"\x22\x00".repeat(150_000);
    let error = decode(&message("apps/v1", "StatefulSet", &within(2, &claims)));
    assert_eq!(error.expect_err("too many").to_string(), super::read::TOO_MUCH);
    // A schema that is not a schema that is not a schema.
    let schema = (0..1_000).fold(Vec::new(), |schema, _| within(28, &schema));
    // Of a version of a definition.
    let raw = [2, 7, 4, 1].into_iter().rev().fold(schema, |inner, number| within(number, &inner));
    let error = decode(&message("apiextensions.k8s.io/v1", "CustomResourceDefinition", &raw));
    assert_eq!(error.expect_err("too deep").to_string(), "it is too deep");
}

fn within(number: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    super::wire::put_bytes(number, bytes, &mut out);
    out
}

#[test]
fn an_event_stands_behind_its_length() {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let bytes = frame("ADDED", &object).expect("it has a message");
    let (length, message) = bytes.split_at(4);
    assert_eq!(u32::from_be_bytes(length.try_into().expect("four")) as usize, message.len());
    assert!(message.starts_with(b"\x0a\x05ADDED\x12"));
    let object = json!({"apiVersion": "sim.example.com/v1", "kind": "Widget"});
    assert_eq!((encode(&object), frame("ADDED", &object)), (None, None));
}

#[test]
fn times_are_those_of_the_calendar() {
    for (text, seconds, micros) in [
        ("1970-01-01T00:00:00Z", 0, 0),
        ("2024-02-29T12:00:00.5Z", 1_709_208_000, 500_000),
        ("1969-12-31T23:59:59Z", -1, 0),
        ("2100-03-01T01:30:00+01:30", 4_107_542_400, 0),
        ("0001-01-01T00:00:00Z", time::NEVER, 0),
        ("9999-12-31T23:59:59Z", 253_402_300_799, 0),
    ] {
        assert_eq!(time::read(text), Some((seconds, micros)), "{text}");
        if text.ends_with("00Z") {
            assert_eq!(time::write(seconds, None).as_deref(), Some(text));
        }
    }
    for text in ["", "today", "2024-02-29", "2024-02-29T12:00:00", "+024-02-29T12:00:00Z"] {
        assert_eq!(time::read(text), None, "{text}");
    }
    assert_eq!(time::write(i64::MAX, None), None);
    assert_eq!(time::write(i64::MIN, None), None);
}

/// Whatever can be read can be written, and read again; its JSON is not too deep for other readers.
fn check(bytes: &[u8]) {
    let Ok(object) = decode(bytes) else { return };
    let text = object.to_string();
    serde_json::from_str::<Value>(&text).expect("it can be read as JSON");
    if let Some(again) = encode(&object) {
        let again = decode(&again).expect("it can be read again");
        // The shortest text of a fraction need not be read as the same fraction.
        assert!(again == object || text.contains('.'), "{object}\n{again}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_bytes_are_read_or_refused(
        place in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 0..6),
    ) {
        thread_local! { static OBJECTS: Vec<(Vec<u8>, Value)> = written_in_go(); }
        let mut bytes = OBJECTS.with(|objects| place.get(objects).0.clone());
        for (at, byte, how) in changes {
            let at = at.index(bytes.len().max(1));
            match how {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, byte),
                _ => drop(bytes.get_mut(at).map(|it| *it = byte)),
            }
        }
        check(&bytes);
    }

    #[test]
    fn any_raw_content_is_read_or_refused(raw in prop::collection::vec(any::<u8>(), 0..40)) {
        check(&[MAGIC, b"\x0a\x09\x0a\x02v1\x12\x03Pod", &within(2, &raw)].concat());
    }
}
