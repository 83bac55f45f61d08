//! What texts may be, as schemas and expressions both ask.

use base64::Engine;

use super::functions::{format, net, time, url};

pub(crate) fn is_network(text: &str) -> bool {
    net::network(text).is_some()
}

pub(crate) fn is_url(text: &str) -> bool {
    url::parse(text).is_some()
}

pub(crate) fn is_uuid(text: &str) -> bool {
    format::is_uuid(text)
}

pub(crate) fn is_base64(text: &str) -> bool {
    !text.is_empty() && base64::engine::general_purpose::STANDARD.decode(text).is_ok()
}

pub(crate) fn is_date(text: &str) -> bool {
    time::day(text).is_ok()
}

pub(crate) fn is_time(text: &str) -> bool {
    time::parse(text).is_some()
}

pub(crate) fn is_span(text: &str) -> bool {
    time::span(text).is_ok()
}
