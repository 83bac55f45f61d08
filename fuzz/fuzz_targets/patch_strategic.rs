//! Strategic merge patches of any bytes: a line with a kind, a line with an object, and then the
//! patch.

#![no_main]

use libfuzzer_sys::fuzz_target;
use seatrial_sim::patch::{self, Types};
use serde_json::{Value, from_slice, json, to_vec};

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(3, |byte| *byte == b'\n');
    let (group, kind) = match parts.next().unwrap_or_default() {
        b"Deployment" => ("apps", "Deployment"),
        b"Service" => ("", "Service"),
        b"Node" => ("", "Node"),
        _ => ("", "Pod"),
    };
    let types = Types::built_in(group, "v1", kind).expect("it is built in");
    let object = from_slice(parts.next().unwrap_or_default()).unwrap_or_else(|_| json!({}));
    let wanted = parts.next().unwrap_or_default();
    match patch::strategic(&object, wanted, &types) {
        Ok(new) => {
            assert!(new.is_object());
            let text = to_vec(&new).expect("it can be written");
            assert_eq!(from_slice::<Value>(&text).expect("it is not too deep to be read"), new);
            assert_eq!(patch::strategic(&object, wanted, &types).expect("the same again"), new);
        }
        Err(error) => assert!([400, 422, 500].contains(&error.status), "{error}"),
    }
});
