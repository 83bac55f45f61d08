//! Helpers that the tests share.

use std::io::Read as _;

use seatrial_sim::conformance::{TRACES, Trace};

pub(crate) use seatrial_sim::conformance::world as server;

pub(crate) fn traces(file: &str) -> Vec<Trace> {
    let (_, bytes) = TRACES.iter().find(|(name, _)| *name == file).expect("the file is carried");
    let mut text = String::new();
    flate2::read::GzDecoder::new(*bytes).read_to_string(&mut text).expect("it is gzip");
    text.lines().map(|line| Trace::parse(line).expect("the line is a trace")).collect()
}
