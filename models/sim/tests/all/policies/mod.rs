//! Admission policies, held against what a real server of v1.36.2 answered (`facts.json.gz`).

mod bounds;

use std::io::Read;
use std::time::Duration;

use flate2::read::GzDecoder;
use seatrial_sim::apiserver::{
    ADMISSION_MISTAKES, Answer, Body, Mistake, Options, Request, Server, User,
};
use serde_json::{Value, json};

const NOW: Duration = Duration::from_secs(1_700_000_000);
const FACTS: &[u8] = include_bytes!("facts.json.gz");

/// What policies say of values where the message of the real server shows them in a form of its own language.
const OTHER_FORM: &str = ", got &";

fn facts() -> Value {
    let mut text = String::new();
    GzDecoder::new(FACTS).read_to_string(&mut text).expect("it is compressed text");
    serde_json::from_str(&text).expect("it is JSON")
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A server with what all cases begin with, whose user is an administrator.
fn server(facts: &Value, mistake: Option<Mistake>) -> Server {
    let mut server = Server::new(&Options::default());
    server.authorize([]);
    for step in items(&facts["common"]) {
        let (status, answer, _) = ask(&mut server, step);
        assert_eq!(status, 201, "{answer}");
    }
    match mistake {
        Some(mistake) => server.with_mistake(mistake),
        None => server,
    }
}

/// A request, as the facts have it: method, path, body, headers.
fn request(step: &Value) -> Request {
    let text = |index: usize| step[index].as_str().unwrap_or("");
    let (path, query) = text(1).split_once('?').unwrap_or((text(1), ""));
    let whole = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
    let mut request = Request::new(text(0), &whole);
    let headers = items(&step[3]).map(|it| [0, 1].map(|at| it[at].as_str().unwrap_or("")));
    let headers: Vec<_> = headers.collect();
    if !step[2].is_null() {
        let of = headers
            .iter()
            .find(|it| it[0] == "Content-Type")
            .map_or("application/json", |it| it[1]);
        request = request.content(of, step[2].to_string());
    }
    for [name, value] in headers {
        if name != "Content-Type" {
            request.headers.push((name.to_owned(), value.to_owned()));
        }
    }
    let mut user = User::new("compare", ["system:masters".to_owned()]);
    user.uid = "compare".to_owned();
    request.by(user)
}

fn ask(server: &mut Server, step: &Value) -> (u16, Value, Vec<String>) {
    let Answer::Response(response) = server.handle(NOW, &request(step)) else { panic!("a watch") };
    let warnings = response.headers.iter().filter(|(name, _)| *name == "Warning");
    let warnings = warnings.map(|(_, text)| text.clone()).collect();
    let Body::Json(body) = &response.body else { return (response.status, Value::Null, warnings) };
    (response.status, Value::clone(body), warnings)
}

/// An answer without what differs from server to server.
fn plain(mut body: Value) -> Value {
    let of_time = ["managedFields", "uid", "creationTimestamp", "resourceVersion"];
    if let Some(metadata) = body["metadata"].as_object_mut() {
        metadata.retain(|field, _| !of_time.contains(&field.as_str()));
        if metadata.contains_key("generateName") {
            metadata.remove("name");
        }
    }
    if body["kind"] == "Status"
        && let Some(details) = body["details"].as_object_mut()
    {
        details.remove("uid");
    }
    body
}

/// The part of a text that both servers write.
fn shared(text: &str) -> String {
    text.split(", got ").next().unwrap_or("").to_owned()
}

/// How our answer differs from that of the real server.
fn difference(server: &mut Server, step: &Value, real: &Value) -> Option<String> {
    let (status, body, warnings) = ask(server, step);
    let mut ours = json!({"status": status, "body": plain(body)});
    if !warnings.is_empty() {
        ours["warnings"] = json!(warnings);
    }
    let mut real = real.clone();
    real["body"] = plain(real["body"].take());
    let message = real["body"]["message"].as_str().unwrap_or("").to_owned();
    if message.contains(OTHER_FORM) {
        for side in [&mut real, &mut ours] {
            let text = shared(side["body"]["message"].as_str().unwrap_or(""));
            side["body"]["message"] = text.as_str().into();
            side["body"]["details"]["causes"][0]["message"] = text.into();
        }
    }
    // A name that is drawn is another one in each server.
    if message.contains("\"gen-") {
        let has_form = ours["body"]["message"].as_str().is_some_and(|it| it.contains("\"gen-"));
        let (one, two) = (&ours["status"], &real["status"]);
        return (one != two || !has_form).then(|| ours.to_string());
    }
    (ours != real).then(|| format!("{}\n    ours {ours}\n    real {real}", step[1]))
}

/// The differences over all cases, each with the name of its case, and how many answers were compared. A wrong
/// server is asked until the first one.
fn differences(mistake: Option<Mistake>) -> (Vec<String>, usize) {
    let facts = facts();
    let (mut wrong, mut count) = (Vec::new(), 0);
    let fresh = server(&facts, mistake);
    for case in items(&facts["judged"]) {
        if mistake.is_some() && !wrong.is_empty() {
            return (wrong, count);
        }
        let mut server = fresh.clone();
        for step in items(&case["policies"]) {
            let (status, answer, _) = ask(&mut server, step);
            if status != 201 {
                wrong.push(format!("{}: not made: {answer}", case["name"]));
            }
        }
        for step in items(&case["steps"]) {
            count += 1;
            let found = difference(&mut server, &step[0], &step[1]);
            wrong.extend(found.map(|it| format!("{}: {it}", case["name"])));
        }
    }
    let mut server = fresh.clone();
    for fact in items(&facts["refused"]) {
        count += 1;
        let found = difference(&mut server, &fact[1], &fact[2]);
        wrong.extend(found.map(|it| format!("{}: {it}", fact[0])));
    }
    (wrong, count)
}

#[test]
fn policies_are_refused_and_obeyed_as_by_the_real_server() {
    let (wrong, count) = differences(None);
    assert_eq!(count, 609);
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn servers_that_obey_policies_wrongly_are_convicted() {
    let wrong: Vec<_> = ADMISSION_MISTAKES.iter().filter(|it| it.traces == "policies").collect();
    assert_eq!(wrong.len(), 3);
    for mistake in wrong {
        assert!(!differences(Some(*mistake)).0.is_empty(), "{}", mistake.name);
    }
}
