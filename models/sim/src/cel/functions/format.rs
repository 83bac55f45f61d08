//! Formats with names: `format.dns1123Label().validate(text)` gives what is wrong, or nothing.

use super::{Function, none, one, search, time, url};
use crate::cel::value::{Outcome, Value};
use crate::names::{self, Naming};

const fn named(name: &'static str) -> Function {
    Function { name, overloads: &[" named_format"], cost: one, run }
}

pub(super) const TABLE: &[Function] = &[
    named("format.dns1123Label"),
    named("format.dns1123Subdomain"),
    named("format.dns1035Label"),
    named("format.qualifiedName"),
    named("format.dns1123LabelPrefix"),
    named("format.dns1123SubdomainPrefix"),
    named("format.dns1035LabelPrefix"),
    named("format.labelValue"),
    named("format.uri"),
    named("format.uuid"),
    named("format.byte"),
    named("format.date"),
    named("format.datetime"),
    Function {
        name: "format.named",
        overloads: &["string optional(named_format)"],
        cost: one,
        run,
    },
    Function {
        name: "validate",
        overloads: &[".named_format,string optional(list(string))"],
        cost: search,
        run,
    },
];

fn run<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(match (name, args) {
        ("format.named", [Value::Text(it)]) => {
            let known = TABLE.iter().map(|it| &it.name["format.".len().min(it.name.len())..]);
            let known = known.filter(|it| *it != "named").find(|known| **known == **it);
            crate::cel::maybe(known.map(Value::Format))
        }
        ("validate", [Value::Format(format), Value::Text(text)]) => {
            let wrong = check(format, text);
            let wrong = (!wrong.is_empty()).then(|| wrong.into_iter().map(Value::text).collect());
            crate::cel::maybe(wrong.map(Value::list))
        }
        (name, []) => {
            let known = TABLE.iter().find(|it| it.name == name);
            return known.map_or_else(none, |it| Ok(Value::Format(&it.name["format.".len()..])));
        }
        _ => return none(),
    })
}

fn check(format: &str, text: &str) -> Vec<String> {
    let is = |it: bool, why: &str| if it { Vec::new() } else { vec![why.to_owned()] };
    let is_prefix = format.ends_with("Prefix");
    match format.trim_end_matches("Prefix") {
        "dns1123Label" => names::name(text, Naming::Label, is_prefix),
        "dns1123Subdomain" => names::name(text, Naming::Subdomain, is_prefix),
        "dns1035Label" => names::name(text, Naming::Service, is_prefix),
        "qualifiedName" => names::qualified(text),
        "labelValue" => names::label_value(text),
        "uri" => is(url::parse(text).is_some(), "invalid URI for request"),
        "uuid" => is(is_uuid(text), "does not match the UUID format"),
        "byte" => {
            let engine = &base64::engine::general_purpose::STANDARD;
            is(base64::Engine::decode(engine, text).is_ok(), "invalid base64")
        }
        "date" => is(time::day(text).is_ok(), "invalid date"),
        _ => is(time::parse(text).is_some(), "invalid datetime"),
    }
}

pub(crate) fn is_uuid(text: &str) -> bool {
    let plain: String = text.chars().filter(|it| *it != '-').collect();
    let places: Vec<_> = text.match_indices('-').map(|it| it.0).collect();
    let is_cut = places.is_empty() || places == [8, 13, 18, 23];
    is_cut && plain.len() == 32 && plain.bytes().all(|it| it.is_ascii_hexdigit())
}
