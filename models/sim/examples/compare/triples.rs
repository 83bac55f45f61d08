//! Triples of a schema, an object and its change, drawn, and judged by both servers. The schemas are those of
//! the facts that tests hold; the objects are drawn from them, valid ones and others.

use std::error::Error;
use std::time::Duration;

use seatrial_sim::apiserver::{Answer, Request, Server};
use seatrial_sim::conformance::{Live, Target as _};
use serde_json::{Map, Value, json};

const FACTS: &str = include_str!("../../tests/all/custom/facts.json");
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NOW: Duration = Duration::from_secs(1_763_942_400);
const TEXTS: &[&str] = &[
    "",
    "a",
    "aa",
    "b",
    "x",
    "r",
    "abcdefgh",
    "é",
    "1",
    "5%",
    "2500m",
    "1Gi",
    "10.1.2.3",
    "11.0.0.1",
    "::1",
    "https://a:8443/x",
    "http://a",
    "2024-05-01T00:00:00Z",
    "2023-05-01",
    "59m",
    "2h",
    "YWJj",
    "YQ==",
    "Done",
    "Busy",
    "a@b.c",
    "a.example.com",
    "_",
    "123e4567-e89b-12d3-a456-426614174000",
];

/// The definitions: those of the facts, and one with every rule that the real server took.
fn definitions() -> Result<Vec<(String, Value)>, Box<dyn Error>> {
    let facts: Value = serde_json::from_str(FACTS)?;
    let mut all = Vec::new();
    for kind in facts["judged"].as_array().into_iter().flatten() {
        all.push((format!("{}t", kind["name"].as_str().unwrap_or("")), kind["schema"].clone()));
    }
    let taken = facts["refused"].as_array().into_iter().flatten().filter(|it| it["status"] == 201);
    let specs: Vec<_> = taken.map(|it| &it["schema"]["properties"]["spec"]).collect();
    let Some(first) = specs.first() else { return Ok(all) };
    let mut whole = Value::clone(first);
    let alike = specs.iter().filter(|it| it["properties"] == first["properties"]);
    let rules =
        alike.flat_map(|it| it["x-kubernetes-validations"].as_array().into_iter().flatten());
    let rules = rules.map(|it| {
        let mut rule = it.clone();
        rule["message"] = rule["rule"].clone();
        rule
    });
    whole["x-kubernetes-validations"] = rules.collect();
    all.push(("rulest".to_owned(), json!({"type": "object", "properties": {"spec": whole}})));
    Ok(all)
}

/// A value of a schema, or now and then another one.
fn draw(schema: &Value, random: &mut fastrand::Rng) -> Value {
    let text = |random: &mut fastrand::Rng| Value::from(TEXTS[random.usize(..TEXTS.len())]);
    match schema["type"].as_str() {
        _ if random.u8(..60) == 0 => Value::Null,
        _ if random.u8(..60) == 0 => text(random),
        Some("integer") => random.i64(-6..12).into(),
        Some("number") => (random.f64() * 4.0).into(),
        Some("boolean") => random.bool().into(),
        Some("array") => (0..random.usize(..4)).map(|_| draw(&schema["items"], random)).collect(),
        Some("object") if schema["additionalProperties"].is_object() => {
            let keys = ["a", "b", "c"].iter().filter(|_| random.bool()).collect::<Vec<_>>();
            let of = &schema["additionalProperties"];
            keys.into_iter()
                .map(|it| ((*it).to_owned(), draw(of, random)))
                .collect::<Map<_, _>>()
                .into()
        }
        Some("object") => {
            let mut fields = Map::new();
            for (key, of) in schema["properties"].as_object().into_iter().flatten() {
                // Few fields at once, so that not all objects are wrong.
                if random.u8(..4) == 0 || key == "n" || key == "k" || key == "spec" {
                    fields.insert(key.clone(), draw(of, random));
                }
            }
            fields.into()
        }
        Some(_) => text(random),
        None if random.bool() => random.i64(-6..12).into(),
        None => text(random),
    }
}

/// The status of an answer, its object or its causes, in order.
fn told(answer: Answer) -> (u16, Value) {
    let Answer::Response(response) = answer else { return (0, Value::Null) };
    let body = response.json().cloned().unwrap_or_default();
    if response.status < 400 {
        return (
            response.status,
            json!([body["spec"], body["status"], body["metadata"]["generation"]]),
        );
    }
    let causes = body["details"]["causes"].as_array().into_iter().flatten();
    let mut causes: Vec<_> = causes.map(ToString::to_string).collect();
    causes.sort();
    (response.status, json!([body["reason"], causes]))
}

/// Makes the kinds on both servers.
fn declare(own: &mut Server, live: &mut Live, definitions: &[(String, Value)]) {
    for (name, schema) in definitions {
        let mut body = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{name}.t.example")},
            "spec": {"group": "t.example", "scope": "Namespaced",
                "names": {"plural": name, "kind": "Triple", "listKind": "TripleList", "singular": name},
                "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": schema}}]}});
        body["spec"]["names"]["kind"] = format!("T{name}").into();
        body["spec"]["names"]["listKind"] = format!("T{name}List").into();
        let request = Request::new("POST", DEFINITIONS).json(&body);
        println!(
            "{name}: {} here, {} there",
            told(own.handle(NOW, &request)).0,
            told(live.send(&request)).0
        );
    }
    // A real server serves a new kind after a moment.
    std::thread::sleep(Duration::from_secs(5));
}

/// Judges this many triples on both; tells where they differ, and how often.
pub(crate) fn judge(live: &mut Live, count: u64) -> Result<usize, Box<dyn Error>> {
    let mut own = Server::new(&seatrial_sim::apiserver::Options::default());
    let definitions = definitions()?;
    declare(&mut own, live, &definitions);
    let mut differ = 0;
    for seed in 0..count {
        let mut random = fastrand::Rng::with_seed(seed);
        let (name, schema) = &definitions[random.usize(..definitions.len())];
        let path = format!("/apis/t.example/v1/namespaces/default/{name}");
        let at = format!("{path}/t{seed}");
        let mut versions = [Value::Null, Value::Null];
        for turn in 0..3 {
            let mut answers = Vec::new();
            let drawn = draw(schema, &mut random);
            let drawn = if drawn.is_object() { drawn } else { json!({}) };
            for (index, version) in versions.iter_mut().enumerate() {
                let mut object = drawn.clone();
                object["apiVersion"] = "t.example/v1".into();
                object["kind"] = format!("T{name}").into();
                object["metadata"] = json!({"name": format!("t{seed}")});
                let part = if turn == 2 && object["status"].is_object() { "/status" } else { "" };
                let request = if turn == 0 {
                    Request::new("POST", &path)
                } else {
                    object["metadata"]["resourceVersion"] = version.clone();
                    Request::new("PUT", &format!("{at}{part}"))
                };
                let request = request.json(&object);
                let answer =
                    if index == 0 { own.handle(NOW, &request) } else { live.send(&request) };
                if let Answer::Response(it) = &answer
                    && it.status < 300
                    && let Some(body) = it.json()
                {
                    *version = body["metadata"]["resourceVersion"].clone();
                }
                answers.push(told(answer));
            }
            if answers[0] != answers[1] {
                differ += 1;
                println!("triple {seed}, turn {turn}, {name}: {drawn}");
                println!(
                    "  ours  {} {}\n  there {} {}",
                    answers[0].0, answers[0].1, answers[1].0, answers[1].1
                );
                break;
            }
            if answers[0].0 >= 300 && turn == 0 {
                break;
            }
        }
    }
    println!("{differ} of {count} triples differ");
    Ok(differ)
}
