//! Input from outside, as far as proptest makes it up.

use ::proptest::collection::vec;
use ::proptest::prelude::*;

use crate::request::text::{check_answer, check_retry_after, check_url, check_watch};

/// Bytes that often have a meaning.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        &b"\n"[..],
        b"{\"type\":\"ADDED\",\"object\":{}}\n",
        b"{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n",
        b"{\"kind\":\"Status\",\"status\":\"Failure\"}",
        b"299 - \"text\"",
        b"12",
        b"-3",
        b"/",
        b"..",
        b"%2F",
        b"?a=b&c",
        b"\xff",
    ];
    let word = prop_oneof![
        3 => proptest::sample::select(words.map(<[u8]>::to_vec).to_vec()),
        2 => vec(any::<u8>(), 0..6),
    ];
    vec(word, 0..14).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    fn addresses(bytes in bytes()) {
        check_url(&bytes);
    }

    fn answers(bytes in bytes()) {
        check_answer(&bytes);
    }

    fn watches(bytes in bytes()) {
        check_watch(&bytes);
    }

    fn delays(text in "[ +-]{0,2}[0-9]{0,20}[ a]?") {
        check_retry_after(&text);
    }
}

pub(crate) const TESTS: seatrial::tests::Tests =
    seatrial::tests![addresses, answers, watches, delays];
