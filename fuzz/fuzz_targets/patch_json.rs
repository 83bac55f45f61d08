//! JSON patches of any bytes: a line with an object, and then the patch.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_sim::patch;
use serde_json::{Value, from_slice, json, to_vec};

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let object = from_slice(parts.next().unwrap_or_default()).unwrap_or_else(|_| json!({}));
    let wanted = parts.next().unwrap_or_default();
    match patch::json(&object, wanted) {
        Ok(new) => {
            let text = to_vec(&new).expect("it can be written");
            let again = from_slice::<Value>(&text).expect("it is not too deep to be read");
            assert_eq!(again, new);
            assert!(text.len() <= 7 * (bytes.len() + (3 << 20)), "it grew without bound");
            assert_eq!(patch::json(&object, wanted).expect("the same again"), new);
        }
        Err(error) => assert!([400, 413, 422].contains(&error.status), "{error}"),
    }
});
