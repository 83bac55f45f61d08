//! Steps of the trial of a lock in a Lease, against its sequential object.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_models::leases::{Leases, Spec, decode};
use seatrial_models::wire::check;

fuzz_target!(|bytes: &[u8]| check::<Leases, Spec>(&decode(bytes)));
