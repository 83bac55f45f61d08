//! Calls on the mutation cache, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::mutation_cache::{check, decode};

fuzz_target!(|bytes: &[u8]| check(&decode(bytes)));
