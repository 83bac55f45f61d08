//! Content types: of requests, of bodies, and of answers.

use super::scripted::{Act, Bed, Chunk, answers};
use crate::request::{Reason, Request, RequestError, Verb};

/// The headers of the only attempt of a call.
fn sent(request: impl FnOnce(Request) -> Request) -> [Option<String>; 2] {
    let bed = Bed::new([answers(200, "{}")]);
    let request = request(bed.request(Verb::Patch));
    bed.run(bed.client.send(&request, &bed.token)).unwrap();
    let seen = bed.script.seen.lock();
    ["Accept", "Content-Type"].map(|name| {
        let all: Vec<_> = seen[0].headers.all(name).collect();
        (!all.is_empty()).then(|| all.join(" | "))
    })
}

fn texts(accept: &str, content: Option<&str>) -> [Option<String>; 2] {
    [Some(accept.to_owned()), content.map(str::to_owned)]
}

const JSON: &str = "application/json, */*";
const MERGE: &str = "application/merge-patch+json";

#[test]
fn json_is_asked_for_unless_the_caller_says_what() {
    assert_eq!(sent(|request| request), texts(JSON, None));
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    assert_eq!(sent(|request| request.header("accept", &[table])), texts(table, None));
    let both = ["application/yaml", "application/json"];
    let told = sent(|request| request.header("Accept", &both));
    assert_eq!(told, texts("application/yaml | application/json", None));
}

#[test]
fn an_object_says_what_it_is_and_bytes_do_not() {
    assert_eq!(sent(|request| request.body(*b"[]")), texts(JSON, None));
    let made = sent(|request| request.body_made(|| Ok(b"[]".to_vec())));
    assert_eq!(made, texts(JSON, None));
    assert_eq!(sent(|request| request.body_json(&[1])), texts(JSON, Some("application/json")));
    let patch = sent(|request| request.header("content-type", &[MERGE]).body(*b"{}"));
    assert_eq!(patch, texts(JSON, Some(MERGE)));
    // As in the reference, the later call determines the header.
    let over = sent(|request| request.header("content-type", &[MERGE]).body_json(&[1]));
    assert_eq!(over, texts(JSON, Some("application/json")));
    let under = sent(|request| request.body_json(&[1]).header("content-type", &[MERGE]));
    assert_eq!(under, texts(JSON, Some(MERGE)));
}

fn answered(kind: &'static str, body: &[u8]) -> Act {
    Act::Answers(200, vec![("Content-Type", kind)], vec![Chunk::Bytes(body.to_vec())])
}

#[test]
fn an_answer_of_another_type_is_told_where_it_cannot_be_read() {
    for (kind, body, reads) in [
        ("application/json", &b"[1]"[..], true),
        ("application/vnd.api+json; charset=utf-8", b"[1]", true),
        ("text/plain", b"[1]", true),
        ("application/vnd.kubernetes.protobuf", b"k8s\0\n", false),
        ("application/cbor", b"\xd9\xd9\xf7\x81\x01", false),
    ] {
        let bed = Bed::new([answered(kind, body)]);
        let reply = bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token)).unwrap();
        assert_eq!(reply.body, body, "as it was sent");
        match reply.json::<[u8; 1]>() {
            Ok(value) => assert!(reads && value == [1], "{kind}"),
            Err(RequestError::Decode(why)) => {
                assert!(!reads && why.to_string().contains(kind), "{kind}: {why}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_server_that_does_not_speak_what_is_asked_for_says_so() {
    for (status, reason) in [(406, Reason::NotAcceptable), (415, Reason::UnsupportedMediaType)] {
        let said = "only the following types are spoken: application/json";
        let body = vec![Chunk::Bytes(said.as_bytes().to_vec())];
        let bed = Bed::new([Act::Answers(status, vec![("Content-Type", "text/plain")], body)]);
        let request = bed.request(Verb::Post).header("Accept", &["application/cbor"]);
        let error = bed.run(bed.client.send(&request, &bed.token)).unwrap_err();
        assert!(error.status().unwrap().is(&reason) && error.to_string().contains(said), "{error}");
        assert_eq!(bed.script.seen.lock().len(), 1, "nothing else is tried");
    }
}
