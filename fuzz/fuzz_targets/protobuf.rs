//! Any bytes as an object in protobuf: what can be read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_sim::protobuf::{decode, encode};
use serde_json::{Value, from_str};

fuzz_target!(|bytes: &[u8]| {
    let Ok(object) = decode(bytes) else { return };
    let text = object.to_string();
    from_str::<Value>(&text).expect("it is not too deep to be read as JSON");
    let Some(written) = encode(&object) else { return };
    let again = decode(&written).expect("it can be read again");
    // The shortest text of a fraction need not be read as the same fraction.
    assert!(again == object || text.contains('.'), "{object}\n{again}");
});
