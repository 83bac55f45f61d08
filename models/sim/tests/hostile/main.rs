//! What hostile requests cost: memory above the content, and growth with the size of a body.
//!
//! `SEATRIAL_HOSTILE=1000000` makes a million requests of the first test; 600 without it.

mod large;

use std::time::Duration;

use cap::Cap;
use rustix::time::{ClockId, clock_gettime};
use seatrial_sim::apiserver::{Answer, Request, Server};
use seatrial_sim::conformance::world;
use serde_json::{Value, json};

#[global_allocator]
static MEMORY: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

const WIDGETS: &str = "/apis/sim.example.com/v1/namespaces/default/widgets";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// A body of a kind that grows with a number, and how it is sent.
struct Attack {
    name: &'static str,
    /// What comes before, and is not measured.
    before: fn(usize) -> Vec<Request>,
    request: fn(usize) -> Request,
}

fn nothing(_: usize) -> Vec<Request> {
    Vec::new()
}

fn each(count: usize, one: impl Fn(usize) -> Value) -> Vec<Value> {
    (0..count).map(one).collect()
}

fn texts(count: usize, text: &str) -> Vec<Value> {
    each(count, |n| format!("{text}{n}").into())
}

fn fields(count: usize, value: &Value) -> Value {
    Value::Object((0..count).map(|n| (format!("k{n}"), value.clone())).collect())
}

fn map(metadata: &Value) -> Request {
    let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    object["metadata"]["name"] = "a".into();
    Request::new("POST", MAPS).json(&object)
}

fn widget(spec: Value) -> Value {
    json!({"apiVersion": "sim.example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec})
}

fn patch(path: &str, format: &str, body: impl Into<Vec<u8>>) -> Request {
    let request = Request::new("PATCH", &format!("{path}/a?fieldManager=m"));
    request.content(&format!("application/{format}"), body)
}

fn owner(n: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "name": format!("p{n}"), "uid": format!("u{n}")})
}

/// An object within others, the outer one of which has a long name.
fn under_a_long_name(count: usize, inner: String) -> String {
    let inner = (0..60).fold(inner, |inner, _| format!(r#"{{"x":{inner}}}"#));
    format!(r#"{{"{}":{inner}}}"#, "y".repeat(count * 8))
}

fn widget_text(spec: &str) -> String {
    format!(
        r#"{{"apiVersion":"sim.example.com/v1","kind":"Widget","metadata":{{"name":"a"}},"spec":{spec}}}"#
    )
}

fn pod(count: usize, name: fn(usize) -> String) -> Value {
    let containers = each(count, |n| json!({"name": name(n), "image": "i"}));
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": containers}})
}

const METADATA: [Attack; 6] = [
    Attack {
        name: "owner references",
        before: nothing,
        request: |n| map(&json!({"ownerReferences": each(n, owner)})),
    },
    Attack {
        name: "owner references that all control",
        before: nothing,
        request: |n| {
            let owners = each(n, |n| {
                let mut owner = owner(n);
                owner["controller"] = true.into();
                owner
            });
            map(&json!({"ownerReferences": owners}))
        },
    },
    Attack {
        name: "labels that are wrong",
        before: nothing,
        request: |n| map(&json!({"labels": fields(n, &"no such!".into())})),
    },
    Attack {
        name: "finalizers of an object that is being deleted",
        before: |n| {
            let made = map(&json!({"finalizers": texts(n, "a/x")}));
            vec![made, Request::new("DELETE", &format!("{MAPS}/a"))]
        },
        request: |n| {
            let body = json!({"metadata": {"finalizers": texts(n, "a/y")}});
            patch(MAPS, "merge-patch+json", body.to_string())
        },
    },
    Attack {
        name: "managers",
        before: |_| vec![map(&json!({}))],
        request: |n| {
            let managers = each(n, |n| {
                json!({"manager": format!("m{n}"), "operation": "Update", "apiVersion": "v1",
                    "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}}})
            });
            let body = json!({"metadata": {"managedFields": managers}, "data": {"a": "b"}});
            patch(MAPS, "merge-patch+json", body.to_string())
        },
    },
    Attack {
        name: "fields that are there twice",
        before: nothing,
        request: |n| {
            let twice = (0..n).map(|n| format!(r#""k{n}":1,"k{n}":2"#)).collect::<Vec<_>>();
            let body = widget_text(&under_a_long_name(n, format!("{{{}}}", twice.join(","))));
            Request::new("POST", WIDGETS).content("application/json", body)
        },
    },
];

const LISTS: [Attack; 8] = [
    Attack {
        name: "a set",
        before: nothing,
        request: |n| Request::new("POST", WIDGETS).json(&widget(json!({"tags": texts(n, "t")}))),
    },
    Attack {
        name: "a list by keys, each item of which changes",
        before: |n| {
            let ports = each(n, |n| json!({"name": format!("p{n}"), "port": 1}));
            vec![Request::new("POST", WIDGETS).json(&widget(json!({"ports": ports})))]
        },
        request: |n| {
            let ports = each(n, |n| json!({"name": format!("p{n}"), "port": 2}));
            patch(WIDGETS, "merge-patch+json", json!({"spec": {"ports": ports}}).to_string())
        },
    },
    Attack {
        name: "a list by keys, applied",
        before: nothing,
        request: |n| {
            let ports = each(n, |n| json!({"name": format!("p{n}"), "port": 2}));
            patch(WIDGETS, "apply-patch+yaml", widget(json!({"ports": ports})).to_string())
        },
    },
    Attack {
        name: "fields below a long name, applied",
        before: nothing,
        request: |n| {
            let inner = under_a_long_name(n, fields(n, &json!(1)).to_string());
            patch(WIDGETS, "apply-patch+yaml", widget_text(&inner))
        },
    },
    Attack {
        name: "fields below a long name, written",
        before: nothing,
        request: |n| {
            let inner = under_a_long_name(n, fields(n, &json!(1)).to_string());
            Request::new("POST", WIDGETS).content("application/json", widget_text(&inner))
        },
    },
    Attack {
        name: "containers",
        before: nothing,
        request: |n| Request::new("POST", PODS).json(&pod(n, |n| format!("c{n}"))),
    },
    Attack {
        name: "one container, merged again and again",
        before: |_| vec![Request::new("POST", PODS).json(&pod(1, |_| "c".to_owned()))],
        request: |n| {
            let body = json!({"spec": {"containers": each(n, |n| {
                json!({"name": "c", "image": format!("i{n}")})
            })}});
            patch(PODS, "strategic-merge-patch+json", body.to_string())
        },
    },
    Attack {
        name: "values of a label selector",
        before: |_| vec![map(&json!({}))],
        request: |n| {
            let values = (0..n).map(|n| format!("v{n}")).collect::<Vec<_>>().join(",");
            Request::new("GET", &format!("{MAPS}?labelSelector=a+in+({values})"))
        },
    },
];

fn attacks() -> impl Iterator<Item = &'static Attack> {
    METADATA.iter().chain(&LISTS)
}

/// The status of the answer, of which the bytes are made too.
fn send(server: &mut Server, request: &Request) -> u16 {
    match server.handle(Duration::ZERO, request) {
        Answer::Response(response) => {
            drop(response.body.bytes());
            response.status
        }
        other => panic!("{other:?}"),
    }
}

/// The cost of an attack: the bytes that it allocates, and the time of this thread.
fn cost(attack: &Attack, count: usize) -> (f64, f64) {
    let mut server = world(1);
    (attack.before)(count).iter().for_each(|request| {
        send(&mut server, request);
    });
    let request = (attack.request)(count);
    let one = || {
        let mut server = server.clone();
        let now = || clock_gettime(ClockId::ThreadCPUTime);
        let (bytes, begin) = (MEMORY.total_allocated(), now());
        send(&mut server, &request);
        let end = now();
        let time = (end.tv_sec - begin.tv_sec) as f64 * 1e9 + (end.tv_nsec - begin.tv_nsec) as f64;
        ((MEMORY.total_allocated() - bytes) as f64, time)
    };
    let all: Vec<_> = (0..3).map(|_| one()).collect();
    let least = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).fold(f64::MAX, f64::min);
    (least(|it| it.0), least(|it| it.1))
}

/// A list of many items, into the front of which a patch inserts.
fn inserts(server: &mut Server, items: usize, count: usize) -> u16 {
    send(server, &Request::new("POST", WIDGETS).json(&widget(json!({"x": vec![0; items]}))));
    let body = vec![json!({"op": "add", "path": "/spec/x/0", "value": 1}); count];
    send(server, &patch(WIDGETS, "json-patch+json", json!(body).to_string()))
}

/// One test, since others in this process would count.
#[test]
fn hostile_requests_cost_no_more_than_their_size() {
    large::bodies_cost_little();
    let small = 250;
    for attack in attacks() {
        let (bytes, time) = cost(attack, small);
        let (more_bytes, more_time) = cost(attack, small * 16);
        let (bytes, time) = (more_bytes / bytes, more_time / time);
        println!(
            "{:48} 16 times as much: {bytes:4.1} times the bytes, {time:4.1} the time",
            attack.name
        );
        // Sixteen times as much is linear, 256 times quadratic.
        assert!(bytes < 48.0, "{}: {bytes} times the bytes", attack.name);
        assert!(time < 96.0, "{}: {time} times the time", attack.name);
    }
    assert_eq!(inserts(&mut world(1), 500, 2_500), 200);
    assert_eq!(inserts(&mut world(1), 100_000, 2_500), 422, "it would move 250 million items");

    let rounds = std::env::var("SEATRIAL_HOSTILE").ok().and_then(|it| it.parse().ok());
    let rounds: usize = rounds.unwrap_or(600);
    let mut server = world(1);
    let requests: Vec<_> = attacks()
        .map(|attack| ((attack.before)(40), (attack.request)(40)))
        .chain(attacks().take(1).map(|attack| (Vec::new(), (attack.request)(4_000))))
        .collect();
    let names = [MAPS, WIDGETS, PODS];
    let begin = MEMORY.allocated();
    for round in 0..rounds {
        let (before, request) = &requests[round % requests.len()];
        before.iter().for_each(|request| {
            send(&mut server, request);
        });
        send(&mut server, request);
        for path in names {
            let none = json!({"metadata": {"finalizers": null}}).to_string();
            send(&mut server, &patch(path, "merge-patch+json", none));
            send(&mut server, &Request::new("DELETE", &format!("{path}/a")));
        }
    }
    let most = MEMORY.max_allocated().saturating_sub(begin) >> 20;
    println!("{rounds} hostile requests: at most {most} MiB above the content");
    assert!(most < 64, "{most} MiB above the content");
}
