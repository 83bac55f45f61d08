//! Calls on the limiters, against their sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::limiter::{check, decode};

fuzz_target!(|bytes: &[u8]| {
    let (shape, ops) = decode(bytes);
    check(&shape, &ops);
});
