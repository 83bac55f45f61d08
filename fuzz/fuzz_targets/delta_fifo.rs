//! Calls on the DeltaFIFO, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::delta_fifo::check;

fuzz_target!(|bytes: &[u8]| check(bytes));
