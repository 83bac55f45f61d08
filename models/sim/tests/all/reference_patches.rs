//! Made-up patches and applies, against what the reference's own libraries gave for them.

use std::collections::BTreeMap;
use std::io::Read;

use seatrial_sim::patch::{self, Apply, PatchError, Types, Update};
use serde_json::{Value, json};

const TIME: &str = "2026-01-01T00:00:00Z";

#[test]
fn made_up_patches_give_what_the_reference_gives() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/conformance/patches/programs.jsonl.gz");
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let widget = Types::from_schema(&lines.next().unwrap()["schema"]).with_status();
    let pod = Types::built_in("", "v1", "Pod").unwrap();
    let mut counts = BTreeMap::<(String, bool), usize>::new();
    for program in lines {
        let kind = program["type"].as_str().unwrap().to_owned();
        let body = program["patch"].to_string();
        let (object, body) = (&program["object"], body.as_bytes());
        let result = match kind.as_str() {
            "json" => patch::json(object, body),
            "merge" => patch::merge(object, body),
            "strategic" => patch::strategic(object, body, &pod),
            _ => {
                for (refused, steps) in applies(&program["steps"], &widget) {
                    *counts.entry((kind.clone(), refused)).or_default() += steps;
                }
                continue;
            }
        };
        let refused =
            same(&result, &program["result"]).unwrap_or_else(|why| panic!("{why}{program}"));
        *counts.entry((kind, refused)).or_default() += 1;
    }
    println!("{counts:?}");
    for kind in ["json", "strategic", "apply"] {
        for refused in [true, false] {
            assert!(counts[&(kind.to_owned(), refused)] > 90, "{kind} {refused}: {counts:?}");
        }
    }
    assert_eq!(counts[&("merge".to_owned(), false)], 1000);
}

/// Whether both are refused; or how they differ.
fn same(ours: &Result<Value, PatchError>, theirs: &Value) -> Result<bool, String> {
    match (ours, theirs.get("ok")) {
        (Ok(new), Some(expected)) if new == expected => Ok(false),
        (Err(error), None) => match &theirs["refused"] {
            Value::String(message) if *message != error.message => Err(format!("{error}\n")),
            _ => Ok(true),
        },
        (Ok(new), _) => Err(format!("ours {new}\n")),
        (Err(error), _) => Err(format!("ours {error}\n")),
    }
}

/// Performs the steps of one program; how many were refused and how many not.
fn applies(steps: &Value, kind: &Types) -> [(bool, usize); 2] {
    let mut live: Option<Value> = None;
    let mut counts = [(true, 0), (false, 0)];
    for step in steps.as_array().unwrap() {
        let (manager, subresource) =
            (step["manager"].as_str().unwrap(), step["sub"].as_str().unwrap());
        let (api_version, time) = ("sim/v1", TIME);
        let mut object = step["obj"].clone();
        let mut result = if step["op"] == "apply" {
            let force = step["force"] == true;
            let request = Apply { manager, force, api_version, time, subresource };
            patch::apply(live.as_ref(), &object, &request, kind)
        } else {
            object["metadata"]["uid"] = json!("u");
            let update = Update { manager, api_version, time, subresource };
            patch::track(live.as_ref(), &mut object, &update, kind);
            Ok(object)
        };
        if let Ok(new) = &mut result {
            new["metadata"]["uid"] = json!("u");
            live = Some(new.clone());
            sort_managers(new);
        }
        let refused = same(&result, &step["result"])
            .unwrap_or_else(|why| panic!("{why}of {step}\nin {steps}"));
        counts[usize::from(!refused)].1 += 1;
    }
    counts
}

fn sort_managers(object: &mut Value) {
    let entries = object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut);
    let Some(entries) = entries else { return };
    for entry in entries.iter_mut() {
        entry.as_object_mut().unwrap().remove("time");
    }
    entries.sort_by_key(|entry| {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        (text("operation"), text("manager"), text("subresource"))
    });
}
