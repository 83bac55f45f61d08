//! Bodies as large as they may be, each of which means much to some part of the server.

use seatrial_sim::apiserver::Request;
use seatrial_sim::conformance::world;
use serde_json::json;

use super::{MAPS, MEMORY, PODS, WIDGETS, map, patch, pod, send};

/// The largest body that a server reads.
const LARGEST: usize = 3 * 1024 * 1024;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// As many texts with commas between them as fit into a body.
fn many(text: impl Fn(usize) -> String) -> String {
    let mut all = String::new();
    for n in 0.. {
        let text = text(n);
        if all.len() + text.len() + 1_000 > LARGEST {
            break;
        }
        all.push_str(if n == 0 { "" } else { "," });
        all.push_str(&text);
    }
    all
}

fn posted(path: &str, body: impl Into<Vec<u8>>) -> Request {
    Request::new("POST", path).content("application/json", body)
}

/// The map that is there is replaced.
fn replaced(map: String) -> Request {
    Request::new("PUT", &format!("{MAPS}/a")).content("application/json", map)
}

fn of_kind(kind: &str, rest: &str) -> String {
    let version = if kind == "Widget" { "sim.example.com/v1" } else { "v1" };
    format!(r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"a"}},{rest}}}"#)
}

/// A definition with a schema, most of which is `properties`.
fn definition(properties: &str, rest: &str) -> String {
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"bigs.a.com"}},
"spec":{{"group":"a.com","scope":"Namespaced","names":{{"plural":"bigs","singular":"big","kind":"Big","listKind":"BigList"}},
"versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object","properties":{{{properties}}}{rest}}}}}}}]}}}}"#
    )
}

/// A widget with a list of values.
fn widget(values: &str) -> String {
    of_kind("Widget", &format!(r#""spec":{{"x":[{values}]}}"#))
}

fn data(value: &str) -> String {
    let entries = many(|n| format!(r#""k{n}":"{value}""#));
    of_kind("ConfigMap", &format!(r#""data":{{{entries}}}"#))
}

fn tiny(_: usize) -> String {
    r#"{"a":1}"#.to_owned()
}

fn containers(each: impl Fn(usize) -> String) -> String {
    of_kind("Pod", &format!(r#""spec":{{"containers":[{}]}}"#, many(each)))
}

/// A pod with many containers of two bytes each.
fn binary() -> Vec<u8> {
    let part = |number: u8, bytes: &[u8]| {
        let length = [0, 7, 14].map(|shift| (bytes.len() >> shift) as u8 | 0x80);
        [&[number << 3 | 2][..], &length, &[(bytes.len() >> 21) as u8], bytes].concat()
    };
    let spec = part(2, &[0x12, 0].repeat(1_000_000));
    [&b"k8s\0"[..], &part(1, b"\x0a\x02v1\x12\x03Pod"), &part(2, &spec)].concat()
}

/// Schemas within each other, each with a rule.
fn nested(n: usize) -> String {
    let around = |inner: String, _| {
        format!(
            r#"{{"type":"object","properties":{{"a":{inner}}},"x-kubernetes-validations":[{{"rule":"has(self.a)"}}]}}"#
        )
    };
    let schema = (0..40).fold(r#"{"type":"string"}"#.to_owned(), around);
    format!(r#""p{n}":{schema}"#)
}

fn rule(n: usize) -> String {
    let rule = "self.a.matches('a{999}') && ".repeat(3_000);
    format!(r#"{{"rule":"{rule}true","message":"{n}"}}"#)
}

/// A body by the name of what is in it, with the status of its answer; one after the other is made. Whether what has
/// two of them fits depends on how closely the server estimates its memory.
type Large = (&'static str, &'static [u16], fn() -> Request);

const VALUES: [Large; 10] = [
    ("tiny objects", &[413], || posted(WIDGETS, widget(&many(tiny)))),
    ("empty objects", &[413], || posted(WIDGETS, widget(&many(|_| "{}".to_owned())))),
    ("empty lists", &[413], || posted(WIDGETS, widget(&many(|_| "[]".to_owned())))),
    ("digits", &[413], || posted(WIDGETS, widget(&many(|n| (n % 10).to_string())))),
    ("objects as many as fit", &[201], || {
        posted(WIDGETS, widget(&many(|n| format!(r#"{{"a{n}":"{}"}}"#, "x".repeat(110)))))
    }),
    ("deep objects", &[413], || {
        let deep = |_| format!("{}1{}", r#"{"a":"#.repeat(60), "}".repeat(60));
        posted(WIDGETS, widget(&many(deep)))
    }),
    ("a long text", &[201], || {
        posted(WIDGETS, widget(&format!("\"{}\"", "x".repeat(LARGEST - 1_000))))
    }),
    ("a long text of signs", &[201], || {
        posted(WIDGETS, widget(&format!("\"{}\"", r"\n".repeat(LARGEST / 2 - 1_000))))
    }),
    ("long texts", &[201], || {
        posted(WIDGETS, widget(&many(|n| format!("\"{}{n}\"", "x".repeat(500)))))
    }),
    ("small data", &[200, 413], || replaced(data(""))),
];

const OBJECTS: [Large; 13] = [
    ("empty containers", &[413], || posted(PODS, containers(|_| "{}".to_owned()))),
    ("containers as many as fit", &[400, 413, 422], || {
        posted(PODS, containers(|n| format!(r#"{{"name":"{n}{}"}}"#, "x".repeat(140))))
    }),
    ("empty containers in binary", &[400, 413], || {
        Request::new("POST", PODS).content("application/vnd.kubernetes.protobuf", binary())
    }),
    ("data", &[200], || replaced(data(&"x".repeat(200)))),
    ("owned fields", &[200], || {
        let fields = many(|n| format!(r#""f:{n}{}":{{}}"#, "x".repeat(120)));
        let body = format!(
            r#"{{"metadata":{{"managedFields":[{{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{{"f:data":{{{fields}}}}}}}]}},"data":{{"a":"b"}}}}"#
        );
        patch(MAPS, "merge-patch+json", body)
    }),
    ("tiny objects, applied", &[413], || patch(WIDGETS, "apply-patch+yaml", widget(&many(tiny)))),
    ("data, applied", &[200], || patch(MAPS, "apply-patch+yaml", data(&"x".repeat(80)))),
    ("operations", &[422], || {
        let one = format!(r#"{{"op":"add","path":"/data/a","value":"{}"}}"#, "x".repeat(300));
        patch(MAPS, "json-patch+json", format!("[{}]", many(|_| one.clone())))
    }),
    ("containers, merged", &[422], || {
        let body = containers(|n| format!(r#"{{"name":"{n}","image":"{}"}}"#, "x".repeat(140)));
        patch(PODS, "strategic-merge-patch+json", body)
    }),
    ("patterns", &[422], || {
        let pattern = |n| {
            format!(
                r#""p{n}":{{"type":"string","pattern":"(\\w{{99}}){{10}}{}"}}"#,
                "x".repeat(100)
            )
        };
        posted(CRDS, definition(&many(pattern), ""))
    }),
    ("rules", &[422], || {
        let rules = format!(r#","x-kubernetes-validations":[{}]"#, many(rule));
        posted(CRDS, definition(r#""a":{"type":"string"}"#, &rules))
    }),
    ("deep schemas with rules", &[413, 422], || posted(CRDS, definition(&many(nested), ""))),
    ("alternatives", &[422], || {
        let one = |n| format!(r#"{{"pattern":"a{{{}}}{}"}}"#, n % 1_000, "x".repeat(120));
        let any = format!(r#""a":{{"type":"string","anyOf":[{}]}}"#, many(one));
        posted(CRDS, definition(&any, ""))
    }),
];

/// What each of the largest bodies costs: bytes allocated for each of its bytes, and
/// memory beside what is stored.
pub(crate) fn bodies_cost_little() {
    let mut server = world(1);
    send(&mut server, &map(&json!({})));
    send(&mut server, &Request::new("POST", PODS).json(&pod(1, |_| "c".to_owned())));
    for (name, statuses, request) in VALUES.iter().chain(&OBJECTS) {
        let (request, mut server) = (request(), server.clone());
        let (before, total, most) =
            (MEMORY.allocated(), MEMORY.total_allocated(), MEMORY.max_allocated());
        let status = send(&mut server, &request);
        let each = (MEMORY.total_allocated() - total) / request.body.len().max(1);
        let above = match MEMORY.max_allocated() {
            now if now > most => now - before,
            _ => 0, // less than one before it
        };
        println!("{name:32} {status}, {each:4} bytes for each byte, {} MiB above", above >> 20);
        // A body that is refused too early costs little, whatever the rest of the server does.
        assert!(statuses.contains(&status), "{name}: {status}, not one of {statuses:?}");
        assert!(each < 200, "{name}: {each} bytes for each byte");
        assert!(above < 64 << 20, "{name}: {} MiB above the content", above >> 20);
    }
}
