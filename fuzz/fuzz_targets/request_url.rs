//! Addresses of arbitrary parts.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::request::text::check_url;

fuzz_target!(|bytes: &[u8]| check_url(bytes));
