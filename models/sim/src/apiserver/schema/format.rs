//! The formats of texts that a schema may name.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::apiserver::names::{self, Naming};
use crate::cel::{pattern, texts};

/// Formats that an expression describes.
const PATTERNS: &[(&str, &str)] = &[
    ("bsonobjectid", "^[0-9a-fA-F]{24}$"),
    ("email", r"^[^\s@<>,;]+@[^\s@<>,;]+$"),
    ("hexcolor", "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"),
    ("mac", "^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$"),
    ("ssn", r"^\d{3}[- ]?\d{2}[- ]?\d{4}$"),
    ("uuid3", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$"),
    ("uuid4", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"),
    ("uuid5", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"),
];

/// Whether a text has a format. A format that nobody knows accepts any text, and so do `isbn`, `creditcard`,
/// `rgbcolor` and `password`.
pub(super) fn fits(format: &str, text: &str) -> bool {
    match format.replace('-', "").as_str() {
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => texts::is_network(text),
        "uri" => texts::is_url(text),
        "hostname" => text.len() <= 255 && text.split('.').all(is_label),
        "uuid" => texts::is_uuid(text),
        "byte" => texts::is_base64(text),
        "date" => texts::is_date(text),
        "datetime" => texts::is_time(text),
        "duration" => texts::is_span(text),
        "k8sshortname" => names::name(text, Naming::Label, false).is_empty(),
        "k8slongname" => names::name(text, Naming::Subdomain, false).is_empty(),
        plain => PATTERNS
            .iter()
            .find(|it| it.0 == plain)
            .and_then(|it| pattern::compile(it.1).ok())
            .is_none_or(|it| it.is_match(text)),
    }
}

/// A part of the name of a machine.
fn is_label(text: &str) -> bool {
    let is_inner = |it: char| it.is_alphanumeric() || it == '-';
    let is_whole = !text.starts_with('-') && !text.ends_with('-') && !text.is_empty();
    is_whole && text.len() <= 63 && text.chars().all(is_inner)
}
