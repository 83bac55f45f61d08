//! Texts of schedules, routes and witnesses.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::texts::check_witness;

fuzz_target!(|bytes: &[u8]| check_witness(bytes));
