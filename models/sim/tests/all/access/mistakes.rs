//! Each server that gets it wrong is convicted, by a question or by a request.

use seatrial_sim::apiserver::{ACCESS_MISTAKES, Request, Server};
use serde_json::{Value, json};

use super::{RBAC, ask, call, path, person, rule, server, wrong};

/// What requests show of a server: the status and the body of each.
fn shown(server: &mut Server) -> Vec<(u16, Value)> {
    let as_jane = |path: &str| Request::new("GET", path).with_header("Impersonate-User", "jane");
    let apply = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    let role = |name: &str, rules: Value| json!({"metadata": {"name": name}, "rules": rules});
    let roles = path("a", "roles", "");
    let bindings = path("a", "rolebindings", "");
    let bound = |name: &str, role: &str, user: &str| {
        json!({
            "metadata": {"name": name}, "roleRef": {"kind": "Role", "name": role},
            "subjects": [{"kind": "User", "name": user}],
        })
    };
    let some = json!([rule("get,patch", "core", "configmaps", Some(&"m"))]);
    let post = |path: &str, body: &Value| Request::new("POST", path).json(body);
    let patch = Request::new("PATCH", &format!("{bindings}/friend"));
    let renamed = json!({"roleRef": {"name": "reader"}}).to_string();
    let requests = [
        ("chief", post(&roles, &role("some", some))),
        ("chief", post(&bindings, &bound("friend", "some", "friend"))),
        ("chief", patch.content("application/merge-patch+json", renamed)),
        ("adam", post(&path("c", "roles", ""), &role("all", json!([rule("*", "*", "*", None)])))),
        ("jane", as_jane("/api/v1/namespaces/a/pods")),
        ("chief", as_jane("/api/v1/namespaces/b/secrets")),
        (
            "friend",
            Request::new("PATCH", "/api/v1/namespaces/a/configmaps/m2?fieldManager=f").content(
                "application/apply-patch+yaml",
                apply.to_string().replace("\"m\"", "\"m2\""),
            ),
        ),
        ("friend", Request::new("GET", "/api/v1/namespaces/a/configmaps/other")),
        (
            "chief",
            post(&roles, &role("patches", json!([rule("patch", "core", "configmaps", None)]))),
        ),
        ("chief", post(&bindings, &bound("patches", "patches", "pat"))),
        (
            "pat",
            Request::new("PATCH", "/api/v1/namespaces/a/configmaps/m?fieldManager=f")
                .content("application/apply-patch+yaml", apply.to_string()),
        ),
        ("chief", Request::new("GET", &format!("{RBAC}/clusterroles/none"))),
    ];
    let mut shown: Vec<_> =
        requests.into_iter().map(|(user, request)| ask(server, &person(user), request)).collect();
    let stranger = Request::new("GET", "/api/v1/nodes").with_header("Authorization", "Bearer none");
    let response = call(server, &stranger);
    shown.push((response.status, response.json().cloned().unwrap_or_default()));
    shown
}

#[test]
fn every_wrong_server_is_convicted() {
    let right = shown(&mut server());
    let statuses: Vec<u16> = right.iter().map(|it| it.0).collect();
    assert_eq!(statuses, [201, 201, 422, 403, 403, 403, 403, 403, 201, 201, 403, 404, 401]);
    assert!(ACCESS_MISTAKES.len() >= 10);
    let mut free = Vec::new();
    for mistake in ACCESS_MISTAKES {
        let mut changed = server().with_mistake(*mistake);
        let questions = wrong(&changed).len();
        if questions == 0 && shown(&mut changed) == right {
            free.push(mistake.name);
        }
    }
    assert_eq!(free, [""; 0]);
}

#[test]
fn the_table_alone_convicts_those_who_decide_wrongly() {
    for name in [
        "ignores_the_names_in_rules",
        "lets_a_part_go_with_the_whole",
        "lets_roles_reach_everywhere",
    ] {
        let mut all = ACCESS_MISTAKES.iter();
        let mistake = all.find(|it| it.name == name).expect("it is listed");
        assert!(!wrong(&server().with_mistake(*mistake)).is_empty(), "{name}");
    }
}
