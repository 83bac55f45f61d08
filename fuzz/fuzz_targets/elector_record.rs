//! Election records, as any program may write them into an annotation.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::elector::text::check_bytes;

fuzz_target!(|bytes: &[u8]| check_bytes(bytes));
