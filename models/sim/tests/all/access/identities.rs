//! Who makes a request: tokens, nobody, and somebody else's name.

use seatrial_sim::apiserver::{Request, Server, User};
use serde_json::{Value, json};

use super::{ask, call, person, server};

const MAPS: &str = "/api/v1/namespaces/a/configmaps";

#[test]
fn refusals_are_worded_as_those_of_a_real_server() {
    let mut server = server();
    let jane = person("jane");
    let mut refused = |request: Request| {
        let (status, body) = ask(&mut server, &jane, request);
        assert_eq!(
            (status, &body["reason"], &body["code"]),
            (403, &"Forbidden".into(), &403.into())
        );
        (body["message"].as_str().expect("a text").to_owned(), body["details"].clone())
    };
    let (message, details) = refused(Request::new("GET", &format!("{MAPS}/x")));
    let missing = "RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found";
    assert_eq!(
        message,
        format!(
            "configmaps \"x\" is forbidden: User \"jane\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"a\": {missing}"
        )
    );
    assert_eq!(details, json!({"kind": "configmaps", "name": "x"}));
    let (message, details) = refused(Request::new("GET", "/apis/apps/v1/deployments"));
    assert_eq!(
        message,
        "deployments.apps is forbidden: User \"jane\" cannot list resource \"deployments\" in API group \"apps\" at the cluster scope"
    );
    assert_eq!(details, json!({"group": "apps", "kind": "deployments"}));
    let path = "/apis/apps/v1/namespaces/b/deployments/d/status";
    let (message, _) = refused(Request::new("PUT", path).json(&json!({})));
    assert_eq!(
        message,
        "deployments.apps \"d\" is forbidden: User \"jane\" cannot update resource \"deployments/status\" in API group \"apps\" in the namespace \"b\""
    );
    let (message, details) = refused(Request::new("GET", "/metrics"));
    assert_eq!(message, "forbidden: User \"jane\" cannot get path \"/metrics\"");
    assert_eq!(details, json!({}));
    // Also what is not served, and before a body is looked at.
    assert_eq!(
        refused(Request::new("GET", "/apis/none.example.com/v1/things")).1["kind"],
        "things"
    );
    let broken = Request::new("POST", MAPS).content("text/plain", "{");
    assert!(refused(broken).0.starts_with("configmaps is forbidden"));
}

#[test]
fn a_token_names_its_user_and_one_that_nobody_knows_is_no_token() {
    let mut server = server();
    server
        .authorize([("t0p-token".to_owned(), person("jane")), ("boss".to_owned(), User::admin())]);
    let mut get = |words: &str| {
        let request = Request::new("GET", "/api/v1/namespaces/a/pods");
        let response = call(&mut server, &request.with_header("authorization", words));
        let message = response.json().and_then(|it| it["message"].as_str()).map(str::to_owned);
        (response.status, message.unwrap_or_default())
    };
    assert_eq!(get("Bearer t0p-token").0, 200);
    assert_eq!(get("bearer  t0p-token").0, 200);
    assert_eq!(get("Bearer other"), (401, "Unauthorized".to_owned()));
    assert_eq!(get("Bearer t0p-toke"), (401, "Unauthorized".to_owned()));
    for nobody in ["", "Basic c2VjcmV0", "Bearer ", "t0p-token"] {
        let (status, message) = get(nobody);
        assert_eq!(status, 403, "{nobody}");
        assert!(message.contains("User \"system:anonymous\" cannot list"), "{message}");
    }
    assert!(!format!("{server:?}").contains("t0p-token"), "no log shows a token");
    let health = call(&mut server, &Request::new("GET", "/healthz"));
    assert_eq!(health.status, 200);
}

/// A request in the name of somebody else.
fn as_other(server: &mut Server, user: &str, headers: &[(&str, &str)]) -> (u16, Value) {
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let mut request = Request::new("POST", path).json(&review);
    for (name, value) in headers {
        request = request.with_header(name, value);
    }
    ask(server, &person(user), request)
}

#[test]
fn to_be_somebody_else_is_a_right_for_each_part_of_them() {
    let mut server = server();
    let (user, group) = ("Impersonate-User", "Impersonate-Group");
    let (status, jane) = as_other(&mut server, "mike", &[(user, "jane"), (group, "makers")]);
    assert_eq!(status, 201, "{jane}");
    let expected = json!({"username": "jane", "groups": ["makers", "system:authenticated"]});
    assert_eq!(jane["status"]["userInfo"], expected);
    let extra = ("impersonate-extra-Scopes", "view");
    let (_, jane) = as_other(&mut server, "mike", &[(user, "jane"), extra]);
    assert_eq!(jane["status"]["userInfo"]["extra"], json!({"scopes": ["view"]}));
    for (headers, resource) in [
        (vec![(user, "root")], "users \"root\""),
        (vec![(user, "jane"), (group, "system:masters")], "groups \"system:masters\""),
        (vec![(user, "jane"), (group, "makers"), (group, "others")], "groups \"others\""),
        (vec![(user, "jane"), ("Impersonate-Uid", "1")], "uids.authentication.k8s.io \"1\""),
        (
            vec![(user, "jane"), ("Impersonate-Extra-Scopes", "edit")],
            "userextras.authentication.k8s.io \"edit\"",
        ),
        (vec![(user, "system:serviceaccount:a:worker")], "serviceaccounts \"worker\""),
    ] {
        let (status, body) = as_other(&mut server, "mike", &headers);
        let message = body["message"].as_str().expect("a text");
        let begins = format!("{resource} is forbidden: User \"mike\" cannot impersonate resource ");
        assert!(status == 403 && message.starts_with(&begins), "{status} {message}");
    }
    assert_eq!(as_other(&mut server, "chief", &[(group, "makers")]).0, 500);
    let account = as_other(&mut server, "chief", &[(user, "system:serviceaccount:a:worker")]).1;
    let groups =
        json!(["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"]);
    assert_eq!(account["status"]["userInfo"]["groups"], groups);
    // What is not allowed to them is not allowed to who takes their name.
    let pods = Request::new("GET", "/api/v1/namespaces/b/pods").with_header(user, "jane");
    let (status, body) = ask(&mut server, &person("chief"), pods);
    assert_eq!(status, 403);
    assert!(body["message"].as_str().is_some_and(|it| it.contains("User \"jane\" cannot list")));
}
