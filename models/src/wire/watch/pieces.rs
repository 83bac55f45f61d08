//! The pieces of a watch's bytes.

use super::machine::LONGEST;

pub(super) const ADDED: &str = "{\"type\":\"ADDED\",\"object\":1}\n";
pub(super) const MODIFIED: &str = "{\"type\":\"MODIFIED\",\"object\":\"\u{fc}\"}\n";
pub(super) const DELETED: &str = "{\"type\":\"DELETED\",\"object\":3}\n";
pub(super) const BOOKMARK: &str = "{\"type\":\"BOOKMARK\",\"object\":[4]}\n";
/// Its type comes last.
pub(super) const TURNED: &str = "{\"object\":5,\"type\":\"ADDED\"}\n";
pub(super) const ERROR: &str = "{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n";
/// An event in two halves.
pub(super) const HALVES: [&str; 2] = ["{\"type\":\"DELETED\",\"obj", "ect\":{\"a\":7}}\n"];
/// An event that is cut within a letter.
pub(super) const LETTER: [&[u8]; 2] = [b"{\"type\":\"ADDED\",\"object\":\"\xc3", b"\xbc\"}\n"];
/// An event without a line end.
pub(super) const UNENDED: &str = "{\"type\":\"ADDED\",\"object\":8}";

/// Lines without sense.
pub(super) const NONSENSE: [&[u8]; 6] = [
    b"nonsense\n",
    b"{\"type\":\"NEW\",\"object\":1}\n",
    b"{\"type\":\"ADDED\"}\n",
    b"{\"object\":1}\n",
    b"[]\n",
    b"\"\xff\"\n",
];

/// An event in a line of this length.
pub(super) fn line_of(length: usize) -> Vec<u8> {
    format!("{UNENDED:<length$}\n").into_bytes()
}

/// All pieces; a byte of a fuzzer chooses one.
pub(super) fn all() -> Vec<Vec<u8>> {
    let texts = [ADDED, MODIFIED, DELETED, BOOKMARK, TURNED, ERROR, UNENDED, "\n", " \r\n", "\n\n"];
    let mut all: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    all.extend(HALVES.map(|half| half.as_bytes().to_vec()));
    all.extend(LETTER.map(<[u8]>::to_vec));
    all.extend(NONSENSE.map(<[u8]>::to_vec));
    all.extend([LONGEST, LONGEST + 1].map(line_of));
    all.push(vec![b' '; LONGEST / 2]);
    all
}
