//! The text of records and times.

use super::{Fields, Name, Record, Timestamp};
use crate::runtime::WallTime;

fn at(text: &str) -> Option<Timestamp> {
    Some(Timestamp::parse(text).unwrap())
}

fn micros(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "none".to_owned(), |time| time.to_string())
}

fn sample() -> Record {
    Record {
        holder: Name::new("pod-1"),
        duration_seconds: 15,
        acquire_time: at("2026-01-01T00:00:00.000001Z"),
        renew_time: at("2026-02-28T23:59:59.999999Z"),
        transitions: 3,
        strategy: Name::EMPTY,
        preferred_holder: Name::EMPTY,
    }
}

#[test]
fn a_record_is_written_as_the_reference_writes_it() {
    let json = concat!(
        r#"{"holderIdentity":"pod-1","leaseDurationSeconds":15,"#,
        r#""acquireTime":"2026-01-01T00:00:00Z","renewTime":"2026-02-28T23:59:59Z","#,
        r#""leaderTransitions":3,"strategy":"","preferredHolder":""}"#,
    );
    assert_eq!(sample().to_json(Fields::Current), json);
}

#[test]
fn an_older_record_has_five_fields_and_an_empty_one_has_null_times() {
    let json = concat!(
        r#"{"holderIdentity":"","leaseDurationSeconds":0,"acquireTime":null,"#,
        r#""renewTime":null,"leaderTransitions":0}"#,
    );
    assert_eq!(Record::default().to_json(Fields::Older), json);
}

#[test]
fn a_name_is_escaped_as_the_reference_escapes_it() {
    let record = Record { holder: Name::new("a\"\\\n\u{8}\u{1}<é>&\u{2028}\u{7f}"), ..sample() };
    let json = record.to_json(Fields::Older);
    let name = "\"a\\\"\\\\\\n\\b\\u0001\\u003cé\\u003e\\u0026\\u2028\u{7f}\"";
    assert!(json.contains(name), "{json}");
    assert_eq!(Record::from_json(&json).unwrap().holder, record.holder);
}

#[test]
fn missing_null_and_unknown_members_are_tolerated() {
    for text in ["{}", "null", " { } ", r#"{"holderIdentity":null,"acquireTime":null}"#] {
        assert_eq!(Record::from_json(text), Ok(Record::default()), "{text}");
    }
    let text = r#"{"x":[1,{"y":[]},"z",true,null,-1.5e+3],"HOLDERidentity":"me","v":{}}"#;
    assert_eq!(Record::from_json(text).unwrap().holder.as_str(), "me");
}

#[test]
fn the_last_of_two_equal_members_counts() {
    let text = r#"{"leaderTransitions":1,"leaderTransitions":2,"leaderTransitions":null}"#;
    assert_eq!(Record::from_json(text).unwrap().transitions, 2);
    let text = r#"{"renewTime":"2026-01-01T00:00:00Z","renewTime":null}"#;
    assert_eq!(Record::from_json(text).unwrap().renew_time, None);
    let text = r#"{"renewTime":"2026-01-01T00:00:00Z","RENEWTIME":null}"#;
    assert_eq!(Record::from_json(text).unwrap().renew_time, None);
    let text = r#"{"holderIdentity":"a","holderIdentity":null}"#;
    assert_eq!(Record::from_json(text).unwrap().holder.as_str(), "a", "null changes no name");
}

#[test]
fn what_is_no_record_is_refused_without_a_panic() {
    let deep = format!(r#"{{"x":{}"#, "[".repeat(20_000));
    for text in [
        "",
        " ",
        "1",
        "\"x\"",
        "nul",
        "{",
        "{}}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":[1,]}",
        "{\"a\":{1:2}}",
        r#"{"leaseDurationSeconds":1.0}"#,
        r#"{"leaseDurationSeconds":1e3}"#,
        r#"{"leaseDurationSeconds":99999999999999999999}"#,
        r#"{"leaseDurationSeconds":"15"}"#,
        r#"{"leaseDurationSeconds":01}"#,
        r#"{"leaseDurationSeconds":00}"#,
        r#"{"leaseDurationSeconds":-00}"#,
        r#"{"holderIdentity":"\ud83d\uzzzz"}"#,
        "{\u{c}}",
        r#"{"holderIdentity":7}"#,
        r#"{"holderIdentity":"\x"}"#,
        r#"{"holderIdentity":"\u12"}"#,
        r#"{"holderIdentity":"\u+123"}"#,
        r#"{"holderIdentity":"#,
        r#"{"acquireTime":"yesterday"}"#,
        r#"{"acquireTime":1}"#,
        "{\"holderIdentity\":\"a\nb\"}",
        &deep,
    ] {
        let error = Record::from_json(text).expect_err(text);
        assert!(error.to_string().starts_with("expected "), "{error}");
    }
}

#[test]
fn bytes_that_are_no_text_are_replaced_in_names_and_refused_elsewhere() {
    let record = Record::from_json_bytes(b"{\"holderIdentity\":\"a\xff\xc3(\"}").unwrap();
    assert_eq!(record.holder.as_str(), "a\u{fffd}\u{fffd}(");
    for bytes in [&b"\xff"[..], b"{\xff:1}", b"{\"transitions\":\xc3}", b"\xef\xbb\xbf{}"] {
        assert!(Record::from_json_bytes(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn half_a_surrogate_pair_becomes_the_replacement_character() {
    let holder = |text: &str| Record::from_json(text).unwrap().holder.to_string();
    assert_eq!(holder(r#"{"holderIdentity":"\ud83d\ude00"}"#), "😀");
    assert_eq!(holder(r#"{"holderIdentity":"\ud83dx"}"#), "\u{fffd}x");
    assert_eq!(holder(r#"{"holderIdentity":"\ud83d\u0041"}"#), "\u{fffd}A");
    assert_eq!(holder(r#"{"holderIdentity":"\ude00"}"#), "\u{fffd}");
    assert_eq!(holder(r#"{"holderIdentity":"\ud800\udc00\udbff\udfff"}"#), "\u{10000}\u{10ffff}");
}

#[test]
fn times_are_read_with_any_fraction_and_zone() {
    let read = |text: &str| micros(Timestamp::parse(text));
    assert_eq!(read("2024-02-29T12:00:00Z"), "2024-02-29T12:00:00.000000Z");
    assert_eq!(read("2024-02-29T12:00:00.1Z"), "2024-02-29T12:00:00.100000Z");
    assert_eq!(read("2024-02-29T12:00:00.123456789Z"), "2024-02-29T12:00:00.123456Z");
    assert_eq!(read("2024-03-01T00:30:00+01:00"), "2024-02-29T23:30:00.000000Z");
    assert_eq!(read("1969-12-31T23:59:59-00:30"), "1970-01-01T00:29:59.000000Z");
    assert_eq!(read("0000-01-01T00:00:00Z"), "0000-01-01T00:00:00.000000Z");
}

#[test]
fn what_is_no_time_is_refused() {
    for text in [
        "",
        "2023-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "2024-00-01T00:00:00Z",
        "2024-04-31T00:00:00Z",
        "2024-04-00T00:00:00Z",
        "2024-04-30T24:00:00Z",
        "2024-04-30T00:60:00Z",
        "2024-04-30T00:00:60Z",
        "2024-04-30 00:00:00Z",
        "2024-04-30T00:00:00",
        "2024-04-30T00:00:00.Z",
        "2024-04-30T00:00:00+24:00",
        "2024-04-30T00:00:00*01:00",
        "2024-04-30T00:00:00Zz",
        "+024-04-30T00:00:00Z",
        "äääääääääääääääääääääää",
    ] {
        assert_eq!(Timestamp::parse(text), None, "{text}");
    }
}

#[test]
fn every_day_of_four_centuries_is_written_and_read_back() {
    let mut previous = String::new();
    for day in -146_100..146_100_i64 {
        let time = Timestamp::from_micros(day * 86_400_000_000 + 1);
        let text = time.to_string();
        assert_eq!(Timestamp::parse(&text), Some(time), "{text}");
        assert!(text > previous, "{text} after {previous}");
        previous = text;
    }
}

#[test]
fn the_first_year_begins_with_the_time_that_means_none() {
    let text = r#"{"renewTime":"0001-01-01T00:00:00Z"}"#;
    assert_eq!(Record::from_json(text).unwrap().renew_time, None);
    let early = Record { renew_time: at("0001-01-01T00:00:00Z"), ..Record::default() };
    assert!(early.to_json(Fields::Current).contains("\"renewTime\":null"));
    assert!(early.same_json(&Record::default()));
}

#[test]
fn records_that_differ_below_the_second_have_the_same_json() {
    let later = Record { renew_time: at("2026-02-28T23:59:59.000000Z"), ..sample() };
    assert!(sample().same_json(&later));
    assert_eq!(sample().to_json(Fields::Current), later.to_json(Fields::Current));
    let next = Record { renew_time: at("2026-03-01T00:00:00Z"), ..sample() };
    assert!(!sample().same_json(&next));
}

#[test]
fn times_are_ordered_and_an_optional_one_costs_nothing() {
    let times = [i64::MIN, i64::MIN + 2, -1, 0, 1, i64::MAX].map(Timestamp::from_micros);
    assert!(times.is_sorted());
    assert_eq!(times[0].as_micros(), i64::MIN + 1);
    assert_eq!(times[2].as_micros(), -1);
    assert_eq!(size_of::<Option<Timestamp>>(), 8);
    assert_eq!(size_of::<Record>(), 56);
}

#[test]
fn a_zone_does_not_lead_out_of_the_years_that_can_be_written() {
    for (inside, outside) in [
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00+00:01"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59-00:01"),
    ] {
        let time = Timestamp::parse(inside).unwrap();
        assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
        assert_eq!(Timestamp::parse(outside), None);
    }
}

#[test]
fn times_before_1970_are_written_and_rounded_down_as_all_others() {
    assert_eq!(Timestamp::from(WallTime::from_nanos(-1)), Timestamp::from_micros(-1));
    assert_eq!(Timestamp::from(WallTime::from_nanos(1_999)), Timestamp::from_micros(1));
    let record = Record { renew_time: Some(Timestamp::from_micros(0)), ..sample() };
    assert!(record.to_json(Fields::Older).contains("\"renewTime\":\"1970-01-01T00:00:00Z\""));
    let record = Record { renew_time: Some(Timestamp::from_micros(-1_000_000)), ..sample() };
    assert!(record.to_json(Fields::Older).contains("\"renewTime\":\"1969-12-31T23:59:59Z\""));
}

#[test]
fn names_are_equal_if_all_of_their_bytes_are() {
    assert_eq!(Name::new("pod-a"), Name::new("pod-a"));
    for other in ["Pod-A", "pod-", "pod-b", ""] {
        assert_ne!(Name::new("pod-a"), Name::new(other));
    }
}
