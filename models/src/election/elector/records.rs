//! Records in JSON as any program may write them, and what the reference reads in them.

use seatrial_core::elector::{Fields, Name, Record, Timestamp};

use crate::single_step::each_call;

/// The members of a record, in several spellings, and two that it does not have.
const NAMES: [&str; 11] = [
    "holderIdentity",
    "leaseDurationSeconds",
    "acquireTime",
    "renewTime",
    "leaderTransitions",
    "strategy",
    "preferredHolder",
    "HOLDERIDENTITY",
    "renewtime",
    "holder",
    "",
];

/// A value of a member, by the meaning of its text.
#[derive(Clone, Copy)]
enum Value {
    Null,
    Text(&'static str),
    /// A text that is a time, in seconds since 1970.
    Time(&'static str, i64),
    Number(i64),
    /// It fits no member.
    Strange,
}

/// Texts of values; the first ones come more often.
const VALUES: [(&str, Value); 16] = [
    ("null", Value::Null),
    ("\"pod-1\"", Value::Text("pod-1")),
    ("15", Value::Number(15)),
    ("\"2026-01-01T00:00:09Z\"", Value::Time("2026-01-01T00:00:09Z", 1_767_225_609)),
    ("-3", Value::Number(-3)),
    ("\"\"", Value::Text("")),
    ("\"1970-01-01T01:00:00+01:00\"", Value::Time("1970-01-01T01:00:00+01:00", 0)),
    (r#""a\"\u00e9\n\ud83d\ude00""#, Value::Text("a\"\u{e9}\n\u{1F600}")),
    ("9223372036854775807", Value::Number(i64::MAX)),
    ("9223372036854775808", Value::Strange),
    ("1.5", Value::Strange),
    ("1e2", Value::Strange),
    ("true", Value::Strange),
    ("[null, {\"a\": [false]}]", Value::Strange),
    ("{}", Value::Strange),
    ("{\"holderIdentity\": \"inner\", \"b\": -0.5e-3}", Value::Strange),
];

/// Sets a member as the reference does (`election:LK-7`); `None` if the whole text is refused.
fn set(record: &mut Record, name: &str, value: Value) -> Option<()> {
    match (name.to_ascii_lowercase().as_str(), value) {
        ("acquiretime", Value::Null) => record.acquire_time = None,
        ("renewtime", Value::Null) => record.renew_time = None,
        (_, Value::Null) | ("holder" | "", _) => {}
        ("acquiretime", Value::Time(_, seconds)) => record.acquire_time = Some(time(seconds)),
        ("renewtime", Value::Time(_, seconds)) => record.renew_time = Some(time(seconds)),
        ("leasedurationseconds", Value::Number(number)) => record.duration_seconds = number,
        ("leadertransitions", Value::Number(number)) => record.transitions = number,
        ("holderidentity", Value::Text(text) | Value::Time(text, _)) => {
            record.holder = Name::new(text);
        }
        ("strategy", Value::Text(text) | Value::Time(text, _)) => record.strategy = Name::new(text),
        ("preferredholder", Value::Text(text) | Value::Time(text, _)) => {
            record.preferred_holder = Name::new(text);
        }
        _ => return None,
    }
    Some(())
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

/// Makes a record of the bytes, reads it, and compares what was read. The text without its last
/// part is refused.
///
/// # Panics
/// If something else was read.
pub(super) fn check_bytes(bytes: &[u8]) {
    let mut expected = Some(Record::default());
    let mut members = Vec::new();
    for pair in bytes.chunks_exact(2).take(10) {
        let name = NAMES[usize::from(pair[0]) % NAMES.len()];
        // Half of the values suit their member, or few records would be accepted.
        let (text, value) = match pair[1] {
            0..128 => suits(name, pair[1]),
            _ => VALUES[usize::from(pair[1]) % VALUES.len()],
        };
        let space = if pair[0] < 128 { "" } else { " \n\t" };
        members.push(format!("{space}\"{name}\"{space}:{space}{text}{space}"));
        expected = expected.and_then(|mut record| set(&mut record, name, value).map(|()| record));
    }
    let text = format!("{{{}}}", members.join(","));
    each_call([&text]).for_each(drop);
    let read = Record::from_json(&text).ok();
    assert_eq!(read, expected, "{text}");
    let cut = text.len() - 1 - bytes.len() % 3;
    if let Some(part) = text.get(..cut) {
        assert!(Record::from_json(part).is_err(), "{part} is no object");
    }
    if let Some(record) = &read {
        [Fields::Current, Fields::Older].into_iter().for_each(|fields| written(record, fields));
    }
}

/// A value that its member accepts.
fn suits(name: &str, number: u8) -> (&'static str, Value) {
    let fits = |(_, value): &&(&str, Value)| set(&mut Record::default(), name, *value).is_some();
    let all: Vec<_> = VALUES.iter().filter(fits).collect();
    *all[usize::from(number) % all.len()]
}

/// Any reader of JSON finds in a record's text what the record holds.
fn written(record: &Record, fields: Fields) {
    let text = record.to_json(fields);
    let json: serde_json::Value = serde_json::from_str(&text).expect("a record is written as JSON");
    assert_eq!(json["holderIdentity"], record.holder.as_str());
    assert_eq!(json["leaseDurationSeconds"], record.duration_seconds);
    assert_eq!(json["leaderTransitions"], record.transitions);
    for (name, time) in [("acquireTime", record.acquire_time), ("renewTime", record.renew_time)] {
        let read = json[name].as_str().map(|text| Timestamp::parse(text).expect("a time"));
        assert_eq!(read, time, "{text}");
    }
    let newer = ["strategy", "preferredHolder"].map(|name| json.get(name).is_some());
    assert_eq!(newer, [fields == Fields::Current; 2], "{text}");
    if fields == Fields::Current {
        assert_eq!(json["strategy"], record.strategy.as_str());
        assert_eq!(json["preferredHolder"], record.preferred_holder.as_str());
    }
}

pub(crate) mod tests {
    use seatrial::tests;
    use seatrial::tests::Tests;

    use super::check_bytes;
    use crate::random::random_bytes;

    fn records_of_any_members_are_read_as_the_reference_reads_them() {
        for seed in 0..20_000 {
            check_bytes(&random_bytes(seed, 1 + (seed % 20) as usize));
        }
    }

    pub(crate) const TESTS: Tests =
        tests![records_of_any_members_are_read_as_the_reference_reads_them];
}
