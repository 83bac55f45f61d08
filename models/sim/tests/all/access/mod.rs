//! Who may do what: questions with known answers, requests, and servers that get it wrong.

mod grants;
mod identities;
mod mistakes;
mod reviews;

use seatrial_sim::apiserver::{Attributes, Request, Server, User};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::common::{self, answer as call, empty};

const POLICY: &str = include_str!("policy.txt");
const QUESTIONS: &str = include_str!("questions.txt");
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

/// Sends a request of a user; the status and the body.
fn ask(server: &mut Server, user: &User, request: Request) -> (u16, Value) {
    common::ask(server, &request.by(user.clone()))
}

fn person(name: &str) -> User {
    User::new(name, [])
}

/// The words of the lines that say something.
fn lines(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = text.lines().filter(|it| !it.is_empty() && !it.starts_with('#'));
    lines.map(|line| line.split_whitespace().collect())
}

/// `NAME@NAMESPACE`.
fn place(word: &str) -> (&str, &str) {
    word.split_once('@').unwrap_or((word, ""))
}

fn path(namespace: &str, own: &str, of_cluster: &str) -> String {
    match namespace {
        "" => format!("{RBAC}/{of_cluster}"),
        namespace => format!("{RBAC}/namespaces/{namespace}/{own}"),
    }
}

fn list(words: &str) -> Vec<&str> {
    words.split(',').collect()
}

fn rule(verbs: &str, group: &str, of: &str, names: Option<&&str>) -> Value {
    if group == "url" {
        return json!({"nonResourceURLs": list(of), "verbs": list(verbs)});
    }
    let group = if group == "core" { "" } else { group };
    let mut rule = json!({"apiGroups": [group], "resources": list(of), "verbs": list(verbs)});
    if let Some(names) = names {
        rule["resourceNames"] = json!(list(names));
    }
    rule
}

fn subject(word: &str) -> Value {
    let (kind, name) = word.split_once(':').expect("a kind");
    match kind {
        "user" => json!({"kind": "User", "name": name}),
        "group" => json!({"kind": "Group", "name": name}),
        _ => {
            let (namespace, name) = name.split_once('/').expect("a namespace");
            json!({"kind": "ServiceAccount", "name": name, "namespace": namespace})
        }
    }
}

/// A server with the roles and the bindings of the table.
fn server() -> Server {
    let mut server = empty();
    let admin = User::admin();
    server.authorize([]);
    for namespace in ["a", "b", "c", "d"] {
        let body = json!({"metadata": {"name": namespace}});
        let request = Request::new("POST", "/api/v1/namespaces").json(&body);
        assert_eq!(ask(&mut server, &admin, request).0, 201);
    }
    let mut roles: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for words in lines(POLICY).filter(|it| it[0] == "role") {
        let [_, name, verbs, group, of, names @ ..] = &words[..] else { panic!("{words:?}") };
        roles.entry(name).or_default().push(rule(verbs, group, of, names.first()));
    }
    for (word, rules) in roles {
        let (name, namespace) = place(word);
        let body = json!({"metadata": {"name": name}, "rules": rules});
        let request = Request::new("POST", &path(namespace, "roles", "clusterroles")).json(&body);
        let (status, answer) = ask(&mut server, &admin, request);
        assert_eq!(status, 201, "{answer}");
    }
    for words in lines(POLICY).filter(|it| it[0] == "bind") {
        let [_, name, role, subjects] = words[..] else { panic!("{words:?}") };
        let ((name, namespace), (role, own)) = (place(name), place(role));
        let kind = if own.is_empty() { "ClusterRole" } else { "Role" };
        let subjects: Vec<Value> = subjects.split(',').map(subject).collect();
        let body = json!({
            "metadata": {"name": name}, "subjects": subjects, "roleRef": {"kind": kind, "name": role},
        });
        let path = path(namespace, "rolebindings", "clusterrolebindings");
        let (status, answer) = ask(&mut server, &admin, Request::new("POST", &path).json(&body));
        assert_eq!(status, 201, "{answer}");
        assert_eq!(answer["roleRef"]["apiGroup"], "rbac.authorization.k8s.io");
    }
    server
}

/// The questions: the answer, the user, what they ask for.
fn questions() -> Vec<(bool, User, Attributes)> {
    let mut questions = Vec::new();
    for words in lines(QUESTIONS) {
        let [answer, users, verbs, place, rest @ ..] = &words[..] else { panic!("{words:?}") };
        for user in users.split(',') {
            let mut names = user.split('+').map(str::to_owned);
            let name = names.next().expect("a name");
            let user = User { name, groups: names.collect(), ..User::default() };
            for verb in verbs.split(',') {
                let verb = verb.to_owned();
                let all = match (*place, rest) {
                    ("url", [path]) => {
                        vec![Attributes { verb, path: (*path).to_owned(), ..Attributes::default() }]
                    }
                    (place, [group, of, name @ ..]) => {
                        let part = |word: &str, none: &str| {
                            if word == none { String::new() } else { word.to_owned() }
                        };
                        let one = |of: &str| {
                            let (resource, subresource) = of.split_once('/').unwrap_or((of, ""));
                            Attributes {
                                verb: verb.clone(),
                                group: part(group, "core"),
                                resource: resource.to_owned(),
                                subresource: subresource.to_owned(),
                                namespace: part(place, "-"),
                                name: name.first().copied().unwrap_or("").to_owned(),
                                path: String::new(),
                            }
                        };
                        of.split(',').map(one).collect()
                    }
                    _ => panic!("{words:?}"),
                };
                questions.extend(all.into_iter().map(|it| (*answer == "yes", user.clone(), it)));
            }
        }
    }
    questions
}

/// The questions that a server answers wrongly.
fn wrong(server: &Server) -> Vec<String> {
    let questions = questions();
    assert!(questions.len() >= 200, "{}", questions.len());
    let is_wrong = |(expected, user, asked): &(bool, User, Attributes)| {
        let decision = server.decide(user, asked);
        (decision.allowed != *expected).then(|| format!("{user:?} {asked:?}: {decision:?}"))
    };
    questions.iter().filter_map(is_wrong).collect()
}

#[test]
fn every_question_has_the_documented_answer() {
    assert_eq!(wrong(&server()), [""; 0]);
}

#[test]
fn a_review_gives_the_answer_of_the_decision() {
    let mut server = server();
    for (expected, user, asked) in questions() {
        let mut spec = json!({"user": user.name, "groups": user.groups});
        if asked.path.is_empty() {
            spec["resourceAttributes"] = json!({
                "verb": asked.verb, "group": asked.group, "resource": asked.resource,
                "subresource": asked.subresource, "namespace": asked.namespace, "name": asked.name,
            });
        } else {
            spec["nonResourceAttributes"] = json!({"verb": asked.verb, "path": asked.path});
        }
        let kind = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec,
        });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let request = Request::new("POST", path).json(&kind);
        let (status, review) = ask(&mut server, &User::admin(), request);
        assert_eq!((status, &review["status"]["allowed"]), (201, &expected.into()), "{review}");
    }
}

/// Roles and bindings of others, in another namespace and in the cluster.
fn crowd(server: &mut Server, count: usize) {
    let admin = User::admin();
    for number in 0..count {
        let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
        let role = json!({"metadata": {"name": format!("r{number}")}, "rules": rules});
        let (kind, at, bind) = match number % 2 {
            0 => ("Role", path("b", "roles", ""), path("b", "rolebindings", "")),
            _ => ("ClusterRole", path("", "", "clusterroles"), path("", "", "clusterrolebindings")),
        };
        let binding = json!({
            "metadata": {"name": format!("r{number}")},
            "subjects": [{"kind": "User", "name": format!("u{number}")}],
            "roleRef": {"kind": kind, "name": format!("r{number}")},
        });
        for (path, body) in [(at, role), (bind, binding)] {
            assert_eq!(ask(server, &admin, Request::new("POST", &path).json(&body)).0, 201);
        }
    }
}

#[test]
fn roles_of_others_are_not_looked_at() {
    let mut server = server();
    let jane = person("jane");
    let asked = |namespace: &str| {
        let path = format!("/api/v1/namespaces/{namespace}/pods/p");
        Attributes::of(&Request::new("GET", &path))
    };
    let counts = |server: &Server| ["a", "b"].map(|it| server.decide(&jane, &asked(it)).looked_at);
    let before = counts(&server);
    crowd(&mut server, 10_000);
    assert_eq!(counts(&server), before);
    assert!(before.into_iter().all(|it| it < 20), "{before:?}");
    let last = server.decide(&person("u9999"), &asked("b"));
    assert!(last.allowed && last.looked_at < 20, "{last:?}");
}

#[test]
fn the_verb_of_a_request_is_told_from_its_method_and_its_path() {
    for (method, target, expected) in [
        ("GET", "/api/v1/namespaces/a/pods/p", "get  pods//p in a"),
        ("HEAD", "/api/v1/namespaces/a/pods/p", "get  pods//p in a"),
        ("GET", "/api/v1/namespaces/a/pods", "list  pods// in a"),
        ("GET", "/api/v1/pods?watch=true", "watch  pods// in "),
        ("GET", "/api/v1/pods?watch=0", "list  pods// in "),
        ("GET", "/api/v1/watch/namespaces/a/pods/p", "watch  pods//p in a"),
        ("GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp", "list  pods//p in a"),
        ("POST", "/apis/apps/v1/namespaces/a/deployments", "create apps deployments// in a"),
        (
            "PUT",
            "/apis/apps/v1/namespaces/a/deployments/d/status",
            "update apps deployments/status/d in a",
        ),
        (
            "PATCH",
            "/apis/apps/v1/namespaces/a/deployments/d/scale",
            "patch apps deployments/scale/d in a",
        ),
        ("DELETE", "/api/v1/nodes/n", "delete  nodes//n in "),
        ("DELETE", "/api/v1/namespaces/a/pods", "deletecollection  pods// in a"),
        ("GET", "/api/v1/namespaces", "list  namespaces// in "),
        ("GET", "/api/v1/namespaces/a", "get  namespaces//a in a"),
        ("PUT", "/api/v1/namespaces/a/status", "update  namespaces/status/a in a"),
        ("PUT", "/api/v1/namespaces/a/finalize", "update  namespaces/finalize/a in a"),
        ("GET", "/apis/no.such.group/v1/things/t", "get no.such.group things//t in "),
        ("GET", "/apis/apps/v1", "get /apis/apps/v1"),
        ("GET", "/api/v1", "get /api/v1"),
        ("POST", "/hooks", "post /hooks"),
    ] {
        let it = Attributes::of(&Request::new(method, target));
        let found = match it.path.as_str() {
            "" => format!(
                "{} {} {}/{}/{} in {}",
                it.verb, it.group, it.resource, it.subresource, it.name, it.namespace
            ),
            path => format!("{} {path}", it.verb),
        };
        assert_eq!(found, expected, "{method} {target}");
    }
}
