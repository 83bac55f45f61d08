//! Generated steps of a client's trial.

use seatrial_core::request::Mode;

use super::machine::{Call, Pace, Sending};
use super::server::Act;
use super::spec::Carries;
use crate::request::{After, FAILURES, Outcome};

/// Reads steps from the bytes of a fuzzer; every input is valid.
pub fn decode(bytes: &[u8]) -> Vec<Call> {
    let mut bytes = bytes.iter().copied();
    std::iter::from_fn(|| decode_call(&mut bytes)).collect()
}

fn decode_call(bytes: &mut impl Iterator<Item = u8>) -> Option<Call> {
    let code = bytes.next()?;
    let more = code / 16;
    Some(match code % 16 {
        0 => Call::Begin([Pace::Free, Pace::Slow, Pace::Slow, Pace::Never][usize::from(more % 4)]),
        1 | 2 => Call::Make(
            [Carries::Nothing, Carries::Bytes, Carries::Made, Carries::Reader]
                [usize::from(more % 4)],
        ),
        3 => Call::Rest(more),
        of => {
            let mode = [Mode::Whole, Mode::Whole, Mode::Stream, Mode::Watch][usize::from(of % 4)];
            let cancelled = if of < 8 { Some(more) } else { None };
            let acts = (0..more % 4).map_while(|_| Some(act(bytes.next()?))).collect();
            let timeout = (of >= 12).then_some(more);
            Call::Send(Sending { mode, acts, cancelled, timeout })
        }
    })
}

fn act(byte: u8) -> Act {
    let more = byte / 8;
    let kind = FAILURES[usize::from(more) % FAILURES.len()].0;
    match byte % 8 {
        0 => Act::Hangs,
        1 => Act::Half(kind),
        2 | 3 => Act::Ends(Outcome::Fails(kind)),
        4 => {
            let status = [200, 201, 204, 404, 429, 500, 503][usize::from(more) % 7];
            Act::Ends(Outcome::Status(status, After::Silent))
        }
        5 if more % 4 == 1 => Act::Pieces(more / 4),
        5 if more % 4 == 3 => Act::Later(more / 4 + 5),
        5 => Act::Ends(Outcome::Status(429, After::Date)),
        _ => {
            let after = After::Seconds(more.cast_signed() % 8 - 1);
            Act::Ends(Outcome::Status([429, 503][usize::from(byte % 2)], after))
        }
    }
}
