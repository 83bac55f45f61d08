//! Questions that clients ask, and tokens of service accounts.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use seatrial_sim::apiserver::{Answer, Fault, Options, Point, Request, Server, Trouble, User};
use seatrial_sim::protobuf;
use serde_json::{Value, json};

use super::{ask, call, person, server};

const AUTHORIZATION: &str = "/apis/authorization.k8s.io/v1";
const AUTHENTICATION: &str = "/apis/authentication.k8s.io/v1";

fn review(server: &mut Server, user: &User, path: &str, kind: &str, spec: Value) -> (u16, Value) {
    let group = path.split('/').nth(2).expect("a group");
    let body = json!({"apiVersion": format!("{group}/v1"), "kind": kind, "spec": spec});
    ask(server, user, Request::new("POST", path).json(&body))
}

fn signed_in(name: &str) -> User {
    person(name)
}

#[test]
fn a_client_asks_what_it_may_do_itself() {
    let mut server = server();
    let (path, kind) =
        (format!("{AUTHORIZATION}/selfsubjectaccessreviews"), "SelfSubjectAccessReview");
    let mut may = |verb: &str| {
        let asked = json!({"verb": verb, "resource": "pods", "namespace": "a"});
        let spec = json!({"resourceAttributes": asked});
        let (status, answer) = review(&mut server, &signed_in("jane"), &path, kind, spec);
        assert_eq!((status, &answer["kind"]), (201, &kind.into()), "{answer}");
        answer["status"].clone()
    };
    let reason = "RBAC: allowed by RoleBinding \"reader/a\" of Role \"reader\" to User \"jane\"";
    assert_eq!(may("get"), json!({"allowed": true, "reason": reason}));
    let missing = "RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found";
    assert_eq!(may("delete"), json!({"allowed": false, "reason": missing}));
    // kubectl asks in protobuf.
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": kind,
        "spec": {"resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "a"}},
    });
    let request = Request::new("POST", &path)
        .content(protobuf::MEDIA_TYPE, protobuf::encode(&body).expect("a message"))
        .with_header("Accept", protobuf::MEDIA_TYPE)
        .by(signed_in("jane"));
    let response = call(&mut server, &request);
    let answer = protobuf::decode(&response.body.bytes()).expect("a message");
    assert_eq!(answer["status"]["allowed"], true, "{answer}");
    for (spec, why) in [
        (json!({}), "exactly one of nonResourceAttributes or resourceAttributes"),
        (
            json!({"resourceAttributes": {}, "nonResourceAttributes": {}}),
            "cannot be specified in combination with resourceAttributes",
        ),
    ] {
        let (status, answer) = review(&mut server, &signed_in("jane"), &path, kind, spec);
        let said = answer["message"].as_str().unwrap_or("");
        assert!(status == 422 && said.contains(why), "{status} {said}");
    }
    for method in ["GET", "PUT", "DELETE"] {
        let (status, _) = ask(&mut server, &User::admin(), Request::new(method, &path));
        assert_eq!(status, 405, "{method}");
    }
}

#[test]
fn a_client_lists_its_rules() {
    let mut server = server();
    let path = format!("{AUTHORIZATION}/selfsubjectrulesreviews");
    let mut rules =
        |user: &User, spec: Value| review(&mut server, user, &path, "SelfSubjectRulesReview", spec);
    let (_, answer) = rules(&signed_in("nora"), json!({"namespace": "a"}));
    let status = &answer["status"];
    let own = json!({
        "verbs": ["get", "update", "delete"], "apiGroups": [""], "resources": ["configmaps"],
        "resourceNames": ["one", "two"],
    });
    let listed = status["resourceRules"].as_array().expect("rules");
    assert!(listed.contains(&own), "{status}");
    assert!(status["nonResourceRules"].to_string().contains("/healthz"), "{status}");
    assert_eq!(status["incomplete"], false);
    let (_, answer) = rules(&signed_in("jane"), json!({"namespace": "a"}));
    let why = "clusterrole.rbac.authorization.k8s.io \"gone\" not found";
    assert_eq!(answer["status"]["evaluationError"], why);
    assert_eq!(rules(&signed_in("nora"), json!({})).0, 400);
    let (_, answer) = rules(&User::admin(), json!({"namespace": "a"}));
    assert_eq!(answer["status"]["resourceRules"][0]["verbs"], json!(["*"]));
}

#[test]
fn a_question_about_others_is_a_right_of_its_own() {
    let mut server = server();
    let path = format!("{AUTHORIZATION}/subjectaccessreviews");
    let asked = json!({"verb": "get", "resource": "pods", "namespace": "a"});
    let spec = json!({"user": "jane", "resourceAttributes": asked});
    let mut answer = |user: &str, path: &str, kind: &str, spec: &Value| {
        let (status, answer) = review(&mut server, &signed_in(user), path, kind, spec.clone());
        (status, answer["status"]["allowed"].as_bool())
    };
    let kind = "SubjectAccessReview";
    assert_eq!(answer("jane", &path, kind, &spec).0, 403);
    assert_eq!(answer("judge", &path, kind, &spec), (201, Some(true)));
    assert_eq!(answer("judge", &path, kind, &json!({"resourceAttributes": asked})).0, 422);
    let local = |namespace: &str| {
        format!("{AUTHORIZATION}/namespaces/{namespace}/localsubjectaccessreviews")
    };
    let kind = "LocalSubjectAccessReview";
    assert_eq!(answer("adam", &local("c"), kind, &spec).0, 422, "another namespace");
    assert_eq!(answer("adam", &local("a"), kind, &spec).0, 403);
    assert_eq!(answer("chief", &local("a"), kind, &spec), (201, Some(true)));
}

/// A server with a service account, and a token of it.
fn with_token(spec: Value) -> (Server, (u16, Value)) {
    let mut server = server();
    let accounts = "/api/v1/namespaces/a/serviceaccounts";
    let body = json!({"metadata": {"name": "worker"}});
    ask(&mut server, &User::admin(), Request::new("POST", accounts).json(&body));
    let body =
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec});
    let request = Request::new("POST", &format!("{accounts}/worker/token")).json(&body);
    let given = ask(&mut server, &User::admin(), request);
    (server, given)
}

fn get(server: &mut Server, now: u64, token: &str, path: &str) -> u16 {
    let request =
        Request::new("GET", path).with_header("Authorization", &format!("Bearer {token}"));
    match server.handle(Duration::from_secs(now), &request) {
        Answer::Response(response) => response.status,
        other => panic!("no response: {other:?}"),
    }
}

#[test]
fn a_service_account_is_known_by_its_token_until_that_ends() {
    let (mut server, (status, given)) = with_token(json!({"expirationSeconds": 600}));
    assert_eq!((status, &given["kind"]), (201, &"TokenRequest".into()), "{given}");
    let token = given["status"]["token"].as_str().expect("a token").to_owned();
    assert_eq!(given["status"]["expirationTimestamp"], "1970-01-01T00:10:01Z");
    let claims = token.split('.').nth(1).expect("claims");
    let claims = URL_SAFE_NO_PAD.decode(claims).expect("base64");
    let claims: Value = serde_json::from_slice(&claims).expect("JSON");
    assert_eq!(claims["sub"], "system:serviceaccount:a:worker");
    assert_eq!((&claims["exp"], &claims["iat"]), (&601.into(), &1.into()));
    assert_eq!(claims["kubernetes.io"]["namespace"], "a");
    let (secrets, pods) = ("/api/v1/namespaces/a/secrets", "/api/v1/namespaces/a/pods");
    assert_eq!(get(&mut server, 1, &token, secrets), 200);
    assert_eq!(get(&mut server, 1, &token, pods), 403);
    assert_eq!(get(&mut server, 1, &token[1..], secrets), 401);
    let path = format!("{AUTHENTICATION}/tokenreviews");
    let mut known = |spec: Value| {
        review(&mut server, &User::admin(), &path, "TokenReview", spec).1["status"].clone()
    };
    let status = known(json!({"token": token}));
    assert_eq!(status["user"]["username"], "system:serviceaccount:a:worker");
    assert_eq!(status["authenticated"], true);
    assert!(status["user"]["extra"]["authentication.kubernetes.io/credential-id"].is_array());
    assert!(known(json!({"token": token, "audiences": ["others"]}))["authenticated"].is_null());
    let own = "https://kubernetes.default.svc.cluster.local";
    let status = known(json!({"token": token, "audiences": ["others", own]}));
    assert_eq!(status["audiences"], json!([own]), "only what the token is good for");
    assert!(known(json!({"token": "x"}))["authenticated"].is_null());
    assert!(!format!("{server:?}").contains(&token), "no log shows a token");
    assert_eq!(get(&mut server, 600, &token, secrets), 200);
    assert_eq!(get(&mut server, 601, &token, secrets), 401, "it has ended");
}

#[test]
fn a_token_goes_with_its_account_and_with_what_it_is_bound_to() {
    let account = "/api/v1/namespaces/a/serviceaccounts/worker";
    let secrets = "/api/v1/namespaces/a/secrets";
    let (mut server, (_, given)) = with_token(json!({}));
    let token = given["status"]["token"].as_str().expect("a token").to_owned();
    ask(&mut server, &User::admin(), Request::new("DELETE", account));
    assert_eq!(get(&mut server, 1, &token, secrets), 401);
    let body = json!({"metadata": {"name": "worker"}});
    let again = Request::new("POST", "/api/v1/namespaces/a/serviceaccounts").json(&body);
    assert_eq!(ask(&mut server, &User::admin(), again).0, 201);
    assert_eq!(get(&mut server, 1, &token, secrets), 401, "another one of that name");
    let pod = |name: &str, account: &str| {
        let spec =
            json!({"serviceAccountName": account, "containers": [{"name": "c", "image": "i"}]});
        json!({"metadata": {"name": name}, "spec": spec})
    };
    let pods = "/api/v1/namespaces/a/pods";
    let other = Request::new("POST", pods).json(&pod("other", "driver"));
    assert_eq!(ask(&mut server, &User::admin(), other).0, 201);
    let own = Request::new("POST", pods).json(&pod("p", "worker"));
    assert_eq!(ask(&mut server, &User::admin(), own).0, 201);
    let mut give = |pod: &str| {
        let bound = json!({"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": pod}});
        let (version, kind) = ("authentication.k8s.io/v1", "TokenRequest");
        let body = json!({"spec": bound, "apiVersion": version, "kind": kind});
        let request = Request::new("POST", &format!("{account}/token")).json(&body);
        ask(&mut server, &User::admin(), request)
    };
    assert_eq!(give("other").0, 400, "a pod of another account");
    let (_, given) = give("p");
    let token = given["status"]["token"].as_str().expect("a token").to_owned();
    assert_eq!(get(&mut server, 1, &token, secrets), 200);
    ask(&mut server, &User::admin(), Request::new("DELETE", &format!("{pods}/p")));
    assert_eq!(get(&mut server, 1, &token, secrets), 401);
}

#[test]
fn a_replica_that_lags_knows_who_asks() {
    let secrets = "/api/v1/namespaces/a/secrets";
    let (mut server, (_, given)) = with_token(json!({}));
    let token = given["status"]["token"].as_str().expect("a token").to_owned();
    let (at, what) = (Point::default(), Trouble::Stale(5));
    server.inject(Fault { at, after: 0, times: 2, what });
    assert_eq!(get(&mut server, 1, &token, secrets), 200, "the account is new");
    let account = Request::new("DELETE", "/api/v1/namespaces/a/serviceaccounts/worker");
    ask(&mut server, &User::admin(), account);
    server.inject(Fault { at: Point::default(), after: 0, times: 1, what: Trouble::Stale(1) });
    assert_eq!(get(&mut server, 1, &token, secrets), 401, "the account is gone");
}

#[test]
fn a_token_that_cannot_be_given_is_refused() {
    for (spec, status) in [
        (json!({"expirationSeconds": 599}), 422),
        (json!({"expirationSeconds": 5_000_000_000_i64}), 422),
        (json!({"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "none"}}), 404),
        (json!({"boundObjectRef": {"apiVersion": "v1", "kind": "Service", "name": "none"}}), 400),
    ] {
        assert_eq!(with_token(spec.clone()).1.0, status, "{spec}");
    }
    let mut server = Server::new(&Options::default());
    let path = "/api/v1/namespaces/default/serviceaccounts/none/token";
    let body =
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    assert_eq!(call(&mut server, &Request::new("POST", path).json(&body)).status, 404);
}

#[test]
fn where_nobody_asks_everything_is_allowed() {
    let mut server = Server::new(&Options::default());
    let path = format!("{AUTHORIZATION}/selfsubjectaccessreviews");
    let asked = json!({"verb": "delete", "resource": "nodes"});
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": asked},
    });
    let response = call(&mut server, &Request::new("POST", &path).json(&body));
    let answer = response.json().expect("an answer");
    assert_eq!(answer["status"], json!({"allowed": true}));
    assert_eq!(call(&mut server, &Request::new("GET", "/api/v1/nodes")).status, 200);
}
