//! Generated inputs of a watch.

use seatrial_core::request::TransportKind;

use super::machine::{Call, IDLE};
use super::pieces;

/// The ways in which a body can end.
const ENDS: [Option<TransportKind>; 6] = [
    None,
    Some(TransportKind::Eof),
    Some(TransportKind::Reset),
    Some(TransportKind::Timeout),
    Some(TransportKind::ConnectionLost),
    Some(TransportKind::Other),
];

/// Reads inputs from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> Vec<Call> {
    let (mut bytes, pieces) = (bytes.iter().copied(), pieces::all());
    std::iter::from_fn(|| decode_call(&mut bytes, &pieces)).collect()
}

fn decode_call(bytes: &mut impl Iterator<Item = u8>, pieces: &[Vec<u8>]) -> Option<Call> {
    let code = bytes.next()?;
    let mut some = |count: usize| {
        let chosen = bytes.by_ref().take(count).map(|it| &pieces[usize::from(it) % pieces.len()]);
        chosen.flatten().copied().collect::<Vec<u8>>()
    };
    Some(match code % 16 {
        0..10 => Call::Bytes(some(1 + usize::from(code >> 4) % 3)),
        10 | 11 => Call::Silence((code >> 4) % (IDLE + 2)),
        12 => Call::Ends(ENDS[usize::from(code >> 4) % ENDS.len()]),
        13 => Call::Cancel(some(1)),
        14 => Call::Again(some(usize::from(code >> 4) % 2)),
        _ => Call::Begin,
    })
}
