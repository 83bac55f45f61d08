//! Answers of any bytes, and their header that says when to come again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::request::text::check_answer;

fuzz_target!(|bytes: &[u8]| check_answer(bytes));
