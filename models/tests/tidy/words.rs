//! Words that a finished text does not contain, and some that make a text hard to read.

use crate::tree::File;

/// Marks of unfinished work, paths that exist only on one machine, and words for which a noun is
/// plainer. They are written in pieces, so that this file can be searched, too.
const FORBIDDEN: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("to", "do!("),
    concat!("unimpl", "emented!("),
    concat!("db", "g!("),
    concat!("#[ig", "nore"),
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("who", "ever"),
    concat!("Who", "ever"),
    concat!("So ", "many "),
    concat!(" so ", "many "),
];

/// Complains about forbidden words, with their lines.
pub(crate) fn forbidden(file: &File) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        for word in FORBIDDEN.iter().filter(|word| line.contains(**word)) {
            complaints.push(format!("{}:{}: {word}", file.path, number + 1));
        }
    }
    complaints
}
