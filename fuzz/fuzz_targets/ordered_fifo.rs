//! Calls on the ordered FIFO, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::ordered_fifo::check;

fuzz_target!(|bytes: &[u8]| check(bytes));
