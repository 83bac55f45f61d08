//! The formats of names, label keys and values, and the messages about those that break them.

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SERVICE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const QUALIFIED: &str = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// How the objects of a resource may be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    Subdomain,
    Label,
    Service,
    /// Whatever fits into a path.
    Segment,
}

/// The errors of a name; `is_prefix` if a suffix is still to come.
pub(crate) fn name(name: &str, naming: Naming, is_prefix: bool) -> Vec<String> {
    // The generated suffix ends with a letter or digit, so that a dash may come before it.
    let name = if is_prefix { name.strip_suffix('-').unwrap_or(name) } else { name };
    let (limit, fits, why) = match naming {
        Naming::Subdomain => (253, is_subdomain(name), SUBDOMAIN),
        Naming::Label => (63, is_label(name), LABEL),
        Naming::Service => {
            let starts = name.starts_with(|it: char| it.is_ascii_lowercase());
            (63, starts && is_label(name), SERVICE)
        }
        Naming::Segment => return segment(name, is_prefix),
    };
    let mut wrong = Vec::new();
    if name.len() > limit {
        wrong.push(format!("must be no more than {limit} characters"));
    }
    if !fits {
        wrong.push(why.to_owned());
    }
    wrong
}

pub(super) fn segment(name: &str, is_prefix: bool) -> Vec<String> {
    let whole = [".", ".."].into_iter().filter(|it| !is_prefix && *it == name);
    let whole = whole.map(|it| format!("may not be '{it}'"));
    let part = ["/", "%"].into_iter().filter(|it| name.contains(*it));
    whole.chain(part.map(|it| format!("may not contain '{it}'"))).collect()
}

fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.bytes().all(inner) && !text.is_empty() && !text.starts_with('-') && !text.ends_with('-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_name_part(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    text.bytes().all(inner) && edge(text.bytes().next()) && edge(text.bytes().next_back())
}

/// The errors of the key of a label or an annotation, or of a finalizer.
pub(crate) fn qualified(key: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let part = match key.split_once('/') {
        None => key,
        Some((prefix, part)) if !part.contains('/') => {
            if prefix.is_empty() {
                wrong.push("prefix part must be non-empty".to_owned());
            } else if !is_subdomain(prefix) {
                wrong.push(format!("prefix part {SUBDOMAIN}"));
            }
            if prefix.len() > 253 {
                wrong.push("prefix part must be no more than 253 characters".to_owned());
            }
            part
        }
        _ => return vec![QUALIFIED.to_owned()],
    };
    if part.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if part.len() > 63 {
        wrong.push("name part must be no more than 63 characters".to_owned());
    }
    if !is_name_part(part) {
        wrong.push(NAME_PART.to_owned());
    }
    wrong
}

/// The errors of the value of a label.
pub(crate) fn label_value(value: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if value.len() > 63 {
        wrong.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_name_part(value) {
        wrong.push(VALUE.to_owned());
    }
    wrong
}

/// The errors of a key of a `ConfigMap` or `Secret`.
pub(crate) fn config_key(key: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if key.len() > 253 {
        wrong.push("must be no more than 253 characters".to_owned());
    }
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if key.is_empty() || !key.bytes().all(inner) {
        wrong.push(CONFIG_KEY.to_owned());
    } else if key == "." || key == ".." {
        wrong.push(format!("must not be '{key}'"));
    } else if key.starts_with("..") {
        wrong.push("must not start with '..'".to_owned());
    }
    wrong
}
