//! Custom resources in several versions, which a webhook converts. What is expected here was answered by a
//! real server to the same requests.

mod changes;
pub(crate) mod hook;
mod more;
#[cfg(feature = "tls")]
mod secure;
#[cfg(feature = "tower")]
mod within;

use std::io::Read as _;
use std::time::Duration;

use seatrial_sim::apiserver::{
    Answer, CONVERSION_MISTAKES, Mistake, Options, Request, Response, Server,
};
use serde_json::{Value, json};

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "widgets.example.com";
const NOW: Duration = Duration::from_secs(1);

fn recorded(bytes: &[u8]) -> Vec<Value> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).expect("it is packed");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn situations() -> Vec<Value> {
    recorded(include_bytes!("../../../conformance/conversion/webhooks.jsonl.gz"))
}

/// The definition of widgets in two versions.
pub(crate) fn definition(group: &str, conversion: &Value) -> Value {
    let version = |name: &str, spec: Value| {
        json!({
            "name": name, "served": true, "storage": name == "v1", "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": spec},
                "status": {"type": "object", "properties": {"seen": {"type": "integer"}}},
            }}},
        })
    };
    let (number, text) = (json!({"type": "integer"}), json!({"type": "string"}));
    let dims = json!({"type": "object", "properties": {"size": number}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {
            "group": group, "names": {"kind": "Widget", "plural": "widgets"}, "scope": "Namespaced",
            "versions": [
                version("v1", json!({"size": number, "note": text})),
                version("v2", json!({"dims": dims, "note": text})),
            ],
            "conversion": conversion,
        },
    })
}

pub(crate) fn by_webhook(url: &str, authority: &str) -> Value {
    use base64::Engine as _;
    let authority = base64::engine::general_purpose::STANDARD.encode(authority);
    json!({"strategy": "Webhook", "webhook": {
        "clientConfig": {"url": url, "caBundle": authority}, "conversionReviewVersions": ["v1"],
    }})
}

/// A server, and the mistake that its webhook makes now.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) mode: String,
    /// How many objects each call was about.
    pub(crate) asked: Vec<usize>,
}

impl World {
    pub(crate) fn new(url: &str) -> Self {
        let server = Server::new(&Options::default());
        let mut world = Self { server, mode: "ok".to_owned(), asked: Vec::new() };
        let body = definition("example.com", &by_webhook(url, ""));
        assert_eq!(world.ask(&Request::new("POST", DEFINITIONS).json(&body)).status, 201);
        world
    }

    fn answer(&mut self, request: &Request) -> Answer {
        let Self { server, mode, asked } = self;
        // Managers are told apart by their times.
        let now = server.now() + NOW;
        server.handle_with(now, request, &mut |call| {
            asked.push(call.review["request"]["objects"].as_array().map_or(0, Vec::len));
            hook::answer(mode, call)
        })
    }

    pub(crate) fn ask(&mut self, request: &Request) -> Response {
        match self.answer(request) {
            Answer::Response(response) => response,
            other => panic!("no response: {other:?}"),
        }
    }

    /// Everything that a watch has to say by now.
    pub(crate) fn watch(&mut self, request: &Request) -> Vec<Value> {
        let Answer::Watch { id, .. } = self.answer(request) else { panic!("no watch") };
        let mut attempt = seatrial_sim::apiserver::Attempt::default();
        loop {
            let calls = self.server.unconverted(id, &mut attempt);
            if calls.is_empty() {
                return self.server.events(id).events.iter().map(|it| it.to_json()).collect();
            }
            for call in calls {
                let reply = hook::answer(&self.mode, &call);
                attempt.reply(call, reply);
            }
        }
    }

    /// Changes the definition.
    fn define(&mut self, change: impl Fn(&mut Value)) -> Value {
        let path = format!("{DEFINITIONS}/{WIDGETS}");
        let mut definition =
            self.ask(&Request::new("GET", &path)).json().expect("it is there").clone();
        change(&mut definition["spec"]);
        let response = self.ask(&Request::new("PUT", &path).json(&definition));
        assert_eq!(response.status, 200, "{response:?}");
        response.json().expect("an object").clone()
    }

    /// Goes through a situation, and says what differs from what a real server answered.
    fn replay(&mut self, situation: &Value) -> Vec<String> {
        let (mut differences, mut first) = (Vec::new(), String::new());
        for step in situation["steps"].as_array().expect("steps") {
            let Some(parts) = step["step"].as_array() else {
                self.turn(step);
                continue;
            };
            let text = |at: usize| parts.get(at).and_then(Value::as_str).unwrap_or("");
            let path = text(1).replace("FIRST", &first);
            let mut request = Request::new(text(0), &format!("/apis/example.com/{path}"));
            if let Some(body) = parts.get(2).filter(|it| !it.is_null()) {
                let body = body.to_string().replace("\"G/", "\"example.com/");
                let body = body.replace("\"RV\"", &format!("{:?}", self.version()));
                let of = if text(3).is_empty() { "application/json" } else { text(3) };
                request = request.content(of, body);
            }
            if !text(4).is_empty() {
                request = request.with_header("Accept", text(4));
            }
            let expected = normal(step["answer"].clone());
            let (status, answer) = if text(0) == "WATCH" {
                request.method = "GET".to_owned();
                (200, Value::from(self.watch(&request)))
            } else {
                let response = self.ask(&request);
                (response.status, response.json().cloned().unwrap_or_default())
            };
            if first.is_empty() && status == 201 {
                first = answer["metadata"]["resourceVersion"].as_str().unwrap_or("").to_owned();
            }
            let answer = normal(answer);
            if answer != expected || step.get("status").is_some_and(|it| *it != status) {
                let name = &situation["name"];
                differences.push(format!(
                    "{name} {} {path}\n  {status} {answer}\n  expected {expected}",
                    text(0)
                ));
            }
        }
        differences
    }

    fn version(&mut self) -> String {
        let path = "/apis/example.com/v1/namespaces/default/widgets/a";
        let response = self.ask(&Request::new("GET", path));
        let version = response.json().map(|it| it["metadata"]["resourceVersion"].clone());
        version.and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// A step that is no request.
    fn turn(&mut self, step: &Value) {
        match step["step"].as_str().expect("a text") {
            "storage:v2" => {
                self.define(|spec| {
                    for version in spec["versions"].as_array_mut().expect("versions") {
                        version["storage"] = (version["name"] == "v2").into();
                    }
                });
            }
            "none:" => {
                self.define(|spec| spec["conversion"] = json!({"strategy": "None"}));
            }
            "crd" => {
                let definition = self.define(|_| {});
                assert_eq!(definition["status"]["storedVersions"], step["answer"]);
            }
            mode => self.mode = mode.to_owned(),
        }
    }
}

/// An answer without what no two servers share.
fn normal(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let differs = [
                "uid",
                "resourceVersion",
                "time",
                "creationTimestamp",
                "deletionTimestamp",
                "remainingItemCount",
                "selfLink",
            ];
            let kept = fields.into_iter().filter(|it| !differs.contains(&it.0.as_str()));
            Value::Object(kept.map(|(key, it)| (key, normal(it))).collect())
        }
        Value::Array(items) => items.into_iter().map(normal).collect(),
        Value::String(text) => masked(&text).into(),
        other => other,
    }
}

fn masked(text: &str) -> String {
    let text = text.replace("HOST:443", "HOST");
    let mut text = text.replace("example.com", "G").replace("G.G", "G");
    for (begin, end) in
        [("response.uid=\"", "\""), (" is missing in ", ""), ("json parse error: ", "")]
    {
        if let Some((head, tail)) = text.split_once(begin) {
            let tail = if end.is_empty() { "" } else { tail.split_once(end).map_or("", |it| it.1) };
            text = format!("{head}{begin}...{end}{tail}");
        }
    }
    // Of a uid the length is enough.
    let is_uid = |it: &str| it.len() == 36 && it.matches('-').count() == 4;
    let words: Vec<&str> = text.split(' ').map(|it| if is_uid(it) { "UID" } else { it }).collect();
    words.join(" ")
}

fn differences(mistake: Option<Mistake>) -> Vec<String> {
    let situations = situations();
    assert!(situations.len() >= 60, "{}", situations.len());
    let each = situations.iter().flat_map(|situation| {
        let name = situation["name"].as_str().expect("a name");
        let mut world = World::new(&format!("https://HOST/{name}"));
        if let Some(mistake) = mistake {
            world.server = world.server.clone().with_mistake(mistake);
        }
        if matches!(name, "certificate" | "no-authority") {
            world.mode = "certificate".to_owned();
        }
        if let Some(versions) = situation.get("reviews") {
            world.define(|spec| {
                spec["conversion"]["webhook"]["conversionReviewVersions"] = versions.clone();
            });
        }
        world.replay(situation)
    });
    each.collect()
}

#[test]
fn sixty_situations_are_as_on_a_real_server() {
    let differences = differences(None);
    assert!(differences.is_empty(), "{}: {}", differences.len(), differences.join("\n"));
}

#[test]
fn every_wrong_server_is_convicted() {
    assert!(CONVERSION_MISTAKES.len() >= 3);
    for mistake in CONVERSION_MISTAKES {
        assert!(!differences(Some(*mistake)).is_empty(), "{}", mistake.name);
    }
}

#[test]
fn what_a_definition_says_about_conversion_is_judged_as_by_a_real_server() {
    let cases = recorded(include_bytes!("../../../conformance/conversion/definitions.jsonl.gz"));
    assert_eq!(cases.len(), 35);
    for case in cases {
        let (name, expected) = (case["name"].as_str().expect("a name"), &case["answer"]);
        // A secret is shown in no error, and texts that hold bytes are not read.
        if matches!(name, "user" | "no-base64") {
            continue;
        }
        let body = definition(&format!("{name}.crds.example.com"), &case["conversion"]);
        let mut server = Server::new(&Options::default());
        let path = format!("{DEFINITIONS}?dryRun=All");
        let Answer::Response(response) =
            server.handle(NOW, &Request::new("POST", &path).json(&body))
        else {
            panic!("no response")
        };
        let answer = response.json().expect("an object");
        assert_eq!(case["status"], response.status, "{name}: {answer}");
        if response.status == 201 {
            assert_eq!(answer["spec"]["conversion"], *expected, "{name}");
        } else {
            for field in ["message", "reason", "details"] {
                assert_eq!(answer[field], expected[field], "{name}");
            }
        }
    }
}
