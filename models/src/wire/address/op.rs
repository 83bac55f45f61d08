//! Generated calls of the builder.

use super::machine::Call;
use super::words::{TIMEOUTS, URIS, VERBS, WORDS};

/// Reads calls from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> Vec<Call> {
    let mut bytes = bytes.iter().copied();
    std::iter::from_fn(|| decode_call(&mut bytes)).collect()
}

fn decode_call(bytes: &mut impl Iterator<Item = u8>) -> Option<Call> {
    let (code, more) = (bytes.next()?, usize::from(bytes.next()?));
    let mut word = || {
        let chosen = usize::from(bytes.next().unwrap_or(0)) % WORDS.len();
        WORDS[chosen].to_owned()
    };
    let words = |word: &mut dyn FnMut() -> String| (0..more % 4).map(|_| word()).collect();
    Some(match code % 20 {
        // The first mistake sticks, so another request begins often.
        0..5 => Call::Begin(code / 20, VERBS[more % VERBS.len()]),
        5 => Call::Namespace(word()),
        6 => Call::Scoped(word(), more % 2 == 0),
        7 | 8 => Call::Resource(word()),
        9 => Call::Name(word()),
        10 => Call::SubResource(words(&mut word)),
        11 => Call::Prefix(words(&mut word)),
        12 => Call::Suffix(words(&mut word)),
        13 | 14 => Call::AbsPath(words(&mut word)),
        15 => Call::Uri(&URIS[more % URIS.len()]),
        16 | 17 => Call::Param(["b", "timeout", "a b"][more % 3].to_owned(), word()),
        _ => Call::Timeout(&TIMEOUTS[more % TIMEOUTS.len()]),
    })
}
