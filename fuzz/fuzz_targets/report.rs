//! Reports and recorded traces, as a file may contain them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::texts::check_report;

fuzz_target!(|bytes: &[u8]| check_report(bytes));
