//! Compares the conversion between protobuf and JSON with that of another program.
//!
//! Each line of the input is an object: its protobuf in base64, a space, and its JSON. Both directions
//! must agree. `ci/protobuf.sh` feeds it with objects that the client in Go has made up.

use std::io::{self, BufRead as _};

use base64::Engine as _;
use seatrial_sim::protobuf;
use serde_json::Value;

/// JSON without the nulls of fields that nobody has set, which we leave out.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

fn compare(line: &str) -> Result<(), String> {
    let (bytes, json) = line.split_once(' ').ok_or("the line has no two parts")?;
    let bytes = base64::engine::general_purpose::STANDARD.decode(bytes);
    let bytes = bytes.map_err(|error| error.to_string())?;
    let mut theirs: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let mut ours = protobuf::decode(&bytes).map_err(|error| error.to_string())?;
    if protobuf::encode(&theirs).as_ref() != Some(&bytes) {
        return Err("the bytes of this JSON are others".to_owned());
    }
    if protobuf::encode(&ours).as_ref() != Some(&bytes) {
        return Err(format!("the bytes of what was read are others: {ours}"));
    }
    without_nulls(&mut theirs);
    without_nulls(&mut ours);
    if ours == theirs { Ok(()) } else { Err(format!("we read {ours}")) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut compared, mut different) = (0, 0);
    for line in io::stdin().lock().lines() {
        let line = line?;
        compared += 1;
        if let Err(why) = compare(&line) {
            different += 1;
            println!("{why}\n  {}", line.split_once(' ').map_or("", |(_, json)| json));
        }
    }
    println!("{compared} objects, {different} differ");
    if different > 0 || compared == 0 { Err("see above".into()) } else { Ok(()) }
}
