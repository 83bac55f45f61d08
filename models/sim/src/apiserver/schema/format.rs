//! The formats of texts that a schema may name.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;

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
        "hostname" => is_hostname(text),
        "uuid" => texts::is_uuid(text),
        "byte" => texts::is_base64(text),
        "date" => texts::is_date(text),
        "datetime" => texts::is_time(text),
        "duration" => texts::is_span(text),
        "k8sshortname" => names::name(text, Naming::Label, false).is_empty(),
        "k8slongname" => names::name(text, Naming::Subdomain, false).is_empty(),
        plain => {
            let index = PATTERNS.iter().position(|it| it.0 == plain);
            // Each is compiled once, and not for each value.
            index.and_then(|it| compiled()[it].as_ref()).is_none_or(|it| it.is_match(text))
        }
    }
}

fn compiled() -> &'static [Option<regex::Regex>] {
    static COMPILED: OnceLock<Vec<Option<regex::Regex>>> = OnceLock::new();
    COMPILED.get_or_init(|| PATTERNS.iter().map(|it| pattern::compile(it.1).ok()).collect())
}

/// The name of a machine, as the real server takes it: a name without dots may have a dash in its second place
/// only, and symbols count as letters.
fn is_hostname(text: &str) -> bool {
    let is_letter = |it: char| it.is_alphanumeric() || "$+<=>^`|~".contains(it);
    let is_last = |it: char| it.is_alphanumeric() || it == '-';
    let is_inner = |it: char| is_letter(it) || it == '-';
    let ends = |it: &str| it.starts_with(is_letter) && it.ends_with(is_letter);
    if text.len() > 255 || text.split('.').any(|it| it.len() > 63) {
        return false;
    }
    match text.rsplit_once('.') {
        Some((labels, last)) => {
            let is_label = |it: &str| ends(it) && it.chars().all(is_inner);
            labels.split('.').all(is_label) && last.len() >= 2 && last.chars().all(is_last)
        }
        None => {
            let mut letters = text.chars();
            let rest = letters.next().filter(|it| is_letter(*it)).map(|_| letters.as_str());
            let rest = rest.map(|it| it.strip_prefix('-').unwrap_or(it));
            rest.is_some_and(|it| it.chars().all(is_letter))
        }
    }
}
