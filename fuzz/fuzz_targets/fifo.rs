//! Calls on the FIFO, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::fifo::check;

fuzz_target!(|bytes: &[u8]| check(bytes));
