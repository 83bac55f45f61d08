//! Clients that speak protobuf, and objects of the traces that travel so.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::common::{MAPS, SECOND, answer, server, traces};
use seatrial_sim::apiserver::{Answer, Body, Request, Response, Server};
use seatrial_sim::conformance::{Recorder, Step, Trace, replay};
use seatrial_sim::http::{Face, Listen};
use seatrial_sim::protobuf::{MEDIA_TYPE, decode, encode, frame};
use serde_json::{Value, json};

const WIDGETS: &str = "/apis/sim.example.com/v1/namespaces/default/widgets";

/// A request of a client that sends protobuf, and takes JSON if it must.
fn binary(method: &str, target: &str, body: Option<&Value>) -> Request {
    let mut request = Request::new(method, target);
    request.headers.push(("Accept".to_owned(), format!("{MEDIA_TYPE},application/json")));
    match body {
        Some(body) => request.content(MEDIA_TYPE, encode(body).expect("the kind has a message")),
        None => request,
    }
}

/// The object of an answer that must be protobuf.
fn object(response: &Response) -> Value {
    assert_eq!(response.header("Content-Type"), Some(MEDIA_TYPE));
    assert!(matches!(response.body, Body::Protobuf(_)));
    decode(&response.body.bytes()).expect("the answer is a message")
}

fn map(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
        "data": {"key": "value"}, "binaryData": {"bytes": "AAH/"},
    })
}

#[test]
fn an_object_lives_on_protobuf_alone() {
    let mut server = server(1);
    let created = answer(&mut server, &binary("POST", MAPS, Some(&map("a"))));
    assert_eq!(created.status, 201);
    let mut object = object(&created);
    assert_eq!(object["binaryData"]["bytes"], "AAH/");
    let path = format!("{MAPS}/a");
    let read = answer(&mut server, &Request::new("GET", &path));
    assert_eq!(read.json(), Some(&object), "it is the same as JSON");
    object["data"]["key"] = "other".into();
    let updated = answer(&mut server, &binary("PUT", &path, Some(&object)));
    assert_eq!(
        (updated.status, self::object(&updated)["data"]["key"].as_str()),
        (200, Some("other"))
    );
    let mut patch = binary("PATCH", &path, None);
    patch = patch.content("application/merge-patch+json", r#"{"data":{"more":"1"}}"#);
    assert_eq!(self::object(&answer(&mut server, &patch))["data"]["more"], "1");
    let list = self::object(&answer(&mut server, &binary("GET", MAPS, None)));
    assert_eq!(
        (list["kind"].as_str(), list["items"][0]["data"]["more"].as_str()),
        (Some("ConfigMapList"), Some("1"))
    );
    let wrong =
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "other"}});
    let refused = answer(&mut server, &binary("DELETE", &path, Some(&wrong)));
    assert_eq!(
        (refused.status, self::object(&refused)["reason"].as_str()),
        (409, Some("Conflict"))
    );
    let options =
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"});
    let deleted = answer(&mut server, &binary("DELETE", &path, Some(&options)));
    assert_eq!((deleted.status, self::object(&deleted)["status"].as_str()), (200, Some("Success")));
    let missing = answer(&mut server, &binary("GET", &path, None));
    assert_eq!(
        (missing.status, self::object(&missing)["reason"].as_str()),
        (404, Some("NotFound"))
    );
}

#[test]
fn a_watch_tells_frames() {
    let mut server = server(1);
    answer(&mut server, &binary("POST", MAPS, Some(&map("a"))));
    let mut request = Request::new("GET", &format!("{MAPS}?watch=1"));
    request.headers.push(("Accept".to_owned(), format!("{MEDIA_TYPE};stream=watch")));
    let Answer::Watch { id, head } = server.handle(SECOND, &request) else { panic!("no watch") };
    assert_eq!(
        head.header("Content-Type"),
        Some("application/vnd.kubernetes.protobuf;stream=watch")
    );
    let news = server.events(id);
    let bytes = news.events[0].bytes(&head);
    assert_eq!(
        u32::from_be_bytes(bytes[..4].try_into().expect("a length")) as usize,
        bytes.len() - 4
    );
    let place = bytes.windows(4).position(|it| it == b"k8s\0").expect("an envelope");
    assert_eq!(decode(&bytes[place..]).expect("an object")["metadata"]["name"], "a");
}

#[test]
fn frames_arrive_over_a_socket() {
    let mut inner = server(1);
    let created = object(&answer(&mut inner, &binary("POST", MAPS, Some(&map("a")))));
    let frame = frame("ADDED", &created).expect("a message");
    let face = Face::listen(inner, &Listen::default()).expect("a port is free");
    let mut socket = TcpStream::connect(face.address()).expect("it listens");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let accept = format!("Accept: {MEDIA_TYPE};stream=watch");
    write!(socket, "GET {MAPS}?watch=1 HTTP/1.1\r\nHost: a\r\n{accept}\r\n\r\n")
        .expect("it is sent");
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    while !bytes.windows(frame.len()).any(|it| it == frame) {
        let count = socket.read(&mut piece).expect("the watch goes on");
        assert!(count > 0, "{}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&piece[..count]);
    }
    let head = String::from_utf8_lossy(&bytes).to_lowercase();
    assert!(head.contains("content-type: application/vnd.kubernetes.protobuf;stream=watch"));
}

#[test]
fn a_recording_of_protobuf_is_text_that_replays() {
    let (mut recorded, now) = (server(1), Duration::from_secs(1));
    let mut recorder = Recorder::within(1 << 20).expect("there is room");
    let path = format!("{MAPS}/a");
    for request in [
        binary("POST", MAPS, Some(&map("a"))),
        binary("POST", MAPS, Some(&map("a"))),
        binary("GET", &path, None),
        binary("DELETE", &path, Some(&json!({"apiVersion": "v1", "kind": "DeleteOptions"}))),
    ] {
        let answer = recorded.handle(now, &request);
        recorder.call(now, &request, &answer);
    }
    let text = recorder.trace("protobuf");
    assert!(!text.contains("raw_body"), "{text}");
    let report = replay(&Trace::parse(&text).expect("it is a trace"), server(2));
    assert_eq!(format!("{:?}", report.departures), "[]");
}

#[test]
fn an_accept_header_decides_by_order_and_quality() {
    let mut server = server(1);
    answer(&mut server, &Request::new("POST", MAPS).json(&map("a")));
    let widget = json!({"apiVersion": "sim.example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 1}});
    assert_eq!(answer(&mut server, &Request::new("POST", WIDGETS).json(&widget)).status, 201);
    let json = "application/json";
    let partial = format!("{MEDIA_TYPE};as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    let table = format!("{MEDIA_TYPE};as=Table;g=meta.k8s.io;v=v1");
    for (path, accept, status, of) in [
        (MAPS, MEDIA_TYPE.to_owned(), 200, MEDIA_TYPE),
        (MAPS, format!("{MEDIA_TYPE}, {json}"), 200, MEDIA_TYPE),
        (MAPS, format!("{json},{MEDIA_TYPE}"), 200, json),
        (MAPS, format!("{json};q=0.5,{MEDIA_TYPE};q=0.9"), 200, MEDIA_TYPE),
        (MAPS, format!("{MEDIA_TYPE};q=0.5,{json}"), 200, json),
        (MAPS, "*/*".to_owned(), 200, json),
        (MAPS, partial.clone(), 200, MEDIA_TYPE),
        (MAPS, table.clone(), 406, json),
        (MAPS, format!("{table},{json}"), 200, json),
        // Custom resources have no messages, but their metadata and failures have.
        (WIDGETS, format!("{MEDIA_TYPE},{json}"), 200, json),
        (WIDGETS, MEDIA_TYPE.to_owned(), 406, MEDIA_TYPE),
        (WIDGETS, partial, 200, MEDIA_TYPE),
    ] {
        let mut request = Request::new("GET", &format!("{path}/a"));
        request.headers.push(("Accept".to_owned(), accept.clone()));
        let response = answer(&mut server, &request);
        assert_eq!(
            (response.status, response.header("Content-Type")),
            (status, Some(of)),
            "{path} {accept}"
        );
        let (bytes, body) = (response.body.bytes(), response.json().expect("an object"));
        if of == MEDIA_TYPE {
            assert_eq!(decode(&bytes).expect("a message")["kind"], body["kind"]);
        }
    }
}

#[test]
fn bodies_that_are_no_messages_are_refused() {
    let mut server = server(1);
    let refused = |server: &mut Server, path: &str, body: &[u8]| {
        let response = answer(server, &Request::new("POST", path).content(MEDIA_TYPE, body));
        (
            response.status,
            response.json().expect("a status")["message"].as_str().unwrap_or("").to_owned(),
        )
    };
    let (status, why) = refused(&mut server, MAPS, b"{}");
    assert_eq!((status, why.contains("expected prefix [107 56 115 0]")), (400, true), "{why}");
    let (status, why) = refused(&mut server, MAPS, b"");
    assert_eq!((status, why.contains("empty data")), (400, true), "{why}");
    let cut = encode(&map("a")).expect("a message");
    let mut cut = cut[..cut.len() - 20].to_vec();
    cut.extend([0xff; 20]);
    assert_eq!(refused(&mut server, MAPS, &cut).0, 400);
    let secret = encode(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}));
    let (status, why) = refused(&mut server, MAPS, &secret.expect("a message"));
    assert_eq!((status, why.starts_with("Secret in version")), (400, true), "{why}");
    assert_eq!(refused(&mut server, WIDGETS, &encode(&map("a")).expect("a message")).0, 415);
}

/// What the wire does not know: symbols of the traces, empty lists, the kinds of items.
fn without_symbols(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, value| {
                !value.is_null() && *value != json!([]) && !key.ends_with("Timestamp")
            });
            for item in fields.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten()
            {
                item.as_object_mut().map(|item| (item.remove("kind"), item.remove("apiVersion")));
            }
            fields.values_mut().for_each(without_symbols);
        }
        Value::Array(items) => items.iter_mut().for_each(without_symbols),
        _ => {}
    }
}

#[test]
fn objects_of_the_traces_go_there_and_back() {
    let mut travelled = 0;
    for file in ["crud", "finalizers", "lease", "list", "patch", "watch"] {
        for trace in traces(file) {
            let bodies = trace.steps.iter().flat_map(|step| match step {
                Step::Call { response, .. } | Step::Open { response, .. } => {
                    vec![&response["body"]]
                }
                Step::Read { events, .. } => {
                    events.as_array().into_iter().flatten().map(|event| &event["object"]).collect()
                }
                _ => Vec::new(),
            });
            for body in bodies {
                let Some(bytes) = encode(body) else { continue };
                let (mut sent, mut read) = (body.clone(), decode(&bytes).expect("a message"));
                without_symbols(&mut sent);
                without_symbols(&mut read);
                assert_eq!(read, sent, "{}", trace.name);
                travelled += 1;
            }
        }
    }
    assert!(travelled > 1_000, "{travelled}");
}
