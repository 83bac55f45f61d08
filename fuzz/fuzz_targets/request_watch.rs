//! Watches of any bytes, in chunks of any length.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::request::text::check_watch;

fuzz_target!(|bytes: &[u8]| check_watch(bytes));
