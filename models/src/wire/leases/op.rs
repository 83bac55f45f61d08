//! Generated steps of a lock's trial.

use super::machine::Call;
use super::server::{Change, Trouble};

const HOLDERS: [&str; 2] = ["a", "b"];

/// Reads steps from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> Vec<Call> {
    bytes.iter().map(|byte| decode_call(*byte)).collect()
}

fn decode_call(byte: u8) -> Call {
    let more = byte / 16;
    let holder = HOLDERS[usize::from(more % 2)];
    match byte % 16 {
        0..4 => Call::Get,
        4 | 5 => Call::Create(holder, more % 3),
        6..11 => Call::Update(holder, more % 3),
        11 => {
            Call::Others([Change::Empties, Change::Deletes, Change::Spoils][usize::from(more % 3)])
        }
        12 => Call::Others(Change::Takes),
        13 | 14 => Call::Next(Trouble::Refuses(
            [400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 504][usize::from(more % 11)],
        )),
        _ => Call::Next(
            [Trouble::LosesRequest, Trouble::LosesAnswer, Trouble::Silence][usize::from(more % 3)],
        ),
    }
}
