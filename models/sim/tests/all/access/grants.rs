//! Writes of roles and bindings, and what they grant from then on.

use seatrial_sim::apiserver::{Attributes, Request, Server, User};
use serde_json::{Value, json};

use super::{RBAC, ask, path, person, rule, server};

fn write(server: &mut Server, user: &str, method: &str, path: &str, body: &Value) -> (u16, String) {
    let request = Request::new(method, path);
    let request = match method {
        "PATCH" => request.content("application/merge-patch+json", body.to_string()),
        _ => request.json(body),
    };
    let (status, answer) = ask(server, &person(user), request);
    (status, answer["message"].as_str().unwrap_or("").to_owned())
}

fn role(name: &str, rules: Value) -> Value {
    json!({"metadata": {"name": name}, "rules": rules})
}

fn binding(name: &str, kind: &str, role: &str) -> Value {
    json!({
        "metadata": {"name": name}, "roleRef": {"kind": kind, "name": role},
        "subjects": [{"kind": "User", "name": "friend"}],
    })
}

/// Lets a user write roles and bindings in a namespace, and more.
fn trust(server: &mut Server, user: &str, verbs: &str) {
    let own = rule(verbs, "rbac.authorization.k8s.io", "roles,rolebindings,clusterroles", None);
    let name = user.to_owned();
    let body = role(&name, json!([own, rule("get,list", "core", "pods", None)]));
    let bound = json!({
        "metadata": {"name": user}, "roleRef": {"kind": "ClusterRole", "name": user},
        "subjects": [{"kind": "User", "name": user}],
    });
    for (plural, body) in [("clusterroles", &body), ("clusterrolebindings", &bound)] {
        let (status, why) = write(server, "chief", "POST", &format!("{RBAC}/{plural}"), body);
        assert_eq!(status, 201, "{why}");
    }
}

#[test]
fn nobody_grants_what_they_may_not_do() {
    let mut server = server();
    trust(&mut server, "olga", "create,update,patch,get");
    let (roles, bindings) = (path("a", "roles", ""), path("a", "rolebindings", ""));
    let held = role("held", json!([rule("get", "core", "pods", None)]));
    assert_eq!(write(&mut server, "olga", "POST", &roles, &held).0, 201);
    let named = role("few", json!([rule("list", "core", "pods", Some(&"p"))]));
    assert_eq!(write(&mut server, "olga", "POST", &roles, &named).0, 201);
    let more = json!([
        rule("get,watch", "core", "pods", None),
        rule("delete,watch", "apps", "deployments", None)
    ]);
    let (status, why) = write(&mut server, "olga", "POST", &roles, &role("more", more.clone()));
    assert_eq!(status, 403);
    assert_eq!(
        why,
        "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"olga\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\"]}\n{APIGroups:[\"apps\"], Resources:[\"deployments\"], Verbs:[\"delete\" \"watch\"]}"
    );
    let change = json!({"rules": more});
    assert_eq!(write(&mut server, "olga", "PATCH", &format!("{roles}/held"), &change).0, 403);
    // A label may put a role into another one; what the garbage collector does is no grant.
    for (metadata, status) in [
        (json!({"labels": {"a": "b"}}), 403),
        (json!({"finalizers": ["example.com/held"]}), 200),
        (json!({"finalizers": null}), 200),
    ] {
        let body = json!({"metadata": metadata});
        let found = write(&mut server, "olga", "PATCH", &format!("{roles}/reader"), &body);
        assert_eq!(found.0, status, "{metadata}: {}", found.1);
    }
    // A binding grants what its role does.
    assert_eq!(write(&mut server, "olga", "POST", &bindings, &binding("x", "Role", "held")).0, 201);
    let (status, why) =
        write(&mut server, "olga", "POST", &bindings, &binding("y", "ClusterRole", "stars"));
    assert!(status == 403 && why.contains("not currently held"), "{status} {why}");
    assert_eq!(write(&mut server, "olga", "POST", &bindings, &binding("z", "Role", "none")).0, 404);
    let all = role("gathers", json!([]));
    let mut gathers = all.clone();
    gathers["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]});
    let at = format!("{RBAC}/clusterroles");
    assert_eq!(write(&mut server, "olga", "POST", &at, &all).0, 201);
    let (status, why) = write(&mut server, "olga", "PATCH", &format!("{at}/gathers"), &gathers);
    assert!(
        status == 403
            && why.ends_with("must have cluster-admin privileges to use the aggregationRule"),
        "{why}"
    );
}

#[test]
fn rules_that_are_too_many_to_be_compared_are_not_granted() {
    let mut server = server();
    let many = (0..8_000).map(|n| format!("v{n},")).collect::<String>() + "create";
    trust(&mut server, "olga", &many);
    let roles = path("a", "roles", "");
    let of = |name: &str, verbs: &str| {
        role(name, json!([rule(verbs, "rbac.authorization.k8s.io", "roles", None)]))
    };
    let (status, why) = write(&mut server, "olga", "POST", &roles, &of("large", &many));
    assert!(status == 403 && why.contains("more combinations"), "{status} {why}");
    assert_eq!(write(&mut server, "olga", "POST", &roles, &of("small", "v7")).0, 201);
}

#[test]
fn the_verbs_escalate_and_bind_lift_the_check() {
    let mut server = server();
    trust(&mut server, "emil", "create,update,escalate");
    trust(&mut server, "boris", "create,bind");
    let (roles, bindings) = (path("a", "roles", ""), path("a", "rolebindings", ""));
    let more = role("more", json!([rule("*", "*", "*", None)]));
    assert_eq!(write(&mut server, "boris", "POST", &roles, &more).0, 403);
    assert_eq!(write(&mut server, "emil", "POST", &roles, &more).0, 201);
    let all = binding("all", "ClusterRole", "stars");
    assert_eq!(write(&mut server, "emil", "POST", &bindings, &all).0, 403);
    assert_eq!(write(&mut server, "boris", "POST", &bindings, &all).0, 201);
    // A rule that would be taken apart into too many is refused, and nothing is taken apart.
    let many: Vec<String> = (0..3_000).map(|it| format!("x{it}")).collect();
    let huge = json!([{"apiGroups": many, "resources": many, "verbs": many}]);
    let (status, why) = write(&mut server, "boris", "POST", &roles, &role("huge", huge));
    assert!(status == 403 && why.len() < 500, "{status} {why}");
}

#[test]
fn what_is_granted_holds_from_the_next_request_on() {
    let mut server = server();
    let friend = person("friend");
    let pods = || Request::new("GET", "/api/v1/namespaces/a/pods");
    let bindings = path("a", "rolebindings", "");
    let may = |server: &mut Server| ask(server, &friend, pods()).0 == 200;
    assert!(!may(&mut server));
    write(&mut server, "chief", "POST", &bindings, &binding("b", "Role", "reader"));
    assert!(may(&mut server));
    let other = json!({"subjects": [{"kind": "User", "name": "other"}]});
    write(&mut server, "chief", "PATCH", &format!("{bindings}/b"), &other);
    assert!(!may(&mut server));
    let back = json!({"subjects": [{"kind": "User", "name": "friend"}]});
    write(&mut server, "chief", "PATCH", &format!("{bindings}/b"), &back);
    let reader = format!("{}/reader", path("a", "roles", ""));
    write(&mut server, "chief", "PATCH", &reader, &json!({"rules": []}));
    assert!(!may(&mut server));
    let rules = json!({"rules": [rule("list", "core", "pods", None)]});
    write(&mut server, "chief", "PATCH", &reader, &rules);
    assert!(may(&mut server));
    let (status, why) = write(
        &mut server,
        "chief",
        "PATCH",
        &format!("{bindings}/b"),
        &json!({"roleRef": {"name": "named"}}),
    );
    assert!(status == 422 && why.contains("cannot change roleRef"), "{status} {why}");
    write(&mut server, "chief", "DELETE", &format!("{bindings}/b"), &json!({}));
    assert!(!may(&mut server));
}

#[test]
fn roles_are_put_together_from_others() {
    let mut server = server();
    let at = format!("{RBAC}/clusterroles");
    let asked = Attributes {
        verb: "get".to_owned(),
        group: "example.com".to_owned(),
        resource: "widgets".to_owned(),
        namespace: "c".to_owned(),
        ..Attributes::default()
    };
    let may = |server: &Server, user: &str| server.decide(&person(user), &asked).allowed;
    let people = ["victor", "edith", "adam"];
    assert_eq!(people.map(|it| may(&server, it)), [false; 3]);
    let mut widgets = role("widgets", json!([rule("get", "example.com", "widgets", None)]));
    widgets["metadata"]["labels"] = json!({"rbac.authorization.k8s.io/aggregate-to-edit": "true"});
    assert_eq!(write(&mut server, "chief", "POST", &at, &widgets).0, 201);
    assert_eq!(people.map(|it| may(&server, it)), [false, true, true], "edit goes into admin");
    let edit = ask(&mut server, &User::admin(), Request::new("GET", &format!("{at}/edit"))).1;
    let rules = edit["rules"].as_array().expect("rules");
    assert!(rules.iter().any(|it| it["resources"] == json!(["widgets"])), "{edit}");
    write(&mut server, "chief", "DELETE", &format!("{at}/widgets"), &json!({}));
    assert_eq!(people.map(|it| may(&server, it)), [false; 3]);
    // Two that gather each other come to an end.
    for (name, other) in [("one", "two"), ("two", "one")] {
        let mut body = role(name, json!([]));
        body["metadata"]["labels"] = json!({"is": name});
        body["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {"is": other}}]});
        assert_eq!(write(&mut server, "chief", "POST", &at, &body).0, 201);
    }
    widgets["metadata"]["labels"] = json!({"is": "one"});
    assert_eq!(write(&mut server, "chief", "POST", &at, &widgets).0, 201);
    let two = ask(&mut server, &User::admin(), Request::new("GET", &format!("{at}/two"))).1;
    assert_eq!(two["rules"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_apply_that_makes_an_object_needs_the_right_to_create_it() {
    let mut server = server();
    let at = path("a", "roles", "");
    let rules = json!([rule("patch", "core", "configmaps", None)]);
    write(&mut server, "chief", "POST", &at, &role("patcher", rules));
    write(
        &mut server,
        "chief",
        "POST",
        &path("a", "rolebindings", ""),
        &binding("p", "Role", "patcher"),
    );
    let apply = || {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
        let path = "/api/v1/namespaces/a/configmaps/m?fieldManager=f";
        Request::new("PATCH", path).content("application/apply-patch+yaml", map.to_string())
    };
    let (status, body) = ask(&mut server, &person("friend"), apply());
    assert_eq!(status, 403);
    assert_eq!(
        body["message"],
        "configmaps \"m\" is forbidden: User \"friend\" cannot create resource \"configmaps\" in API group \"\" in the namespace \"a\""
    );
    let mut admin = |request| ask(&mut server, &User::admin(), request).0;
    assert_eq!(admin(apply()), 201);
    assert_eq!(ask(&mut server, &person("friend"), apply()).0, 200, "it is there by now");
}

#[test]
fn roles_and_bindings_must_make_sense() {
    let mut server = server();
    let roles = path("a", "roles", "");
    for (rule, why) in [
        (json!({"apiGroups": [""], "resources": ["pods"]}), "rules[0].verbs: Required value"),
        (json!({"verbs": ["get"], "resources": ["pods"]}), "rules[0].apiGroups: Required value"),
        (json!({"verbs": ["get"], "apiGroups": [""]}), "rules[0].resources: Required value"),
        (json!({"verbs": ["get"], "nonResourceURLs": ["/a"]}), "namespaced rules cannot apply"),
    ] {
        let (status, said) = write(&mut server, "chief", "POST", &roles, &role("r", json!([rule])));
        assert!(status == 422 && said.contains(why), "{status} {said}");
    }
    let bindings = path("a", "rolebindings", "");
    let (status, said) = write(&mut server, "chief", "POST", &bindings, &binding("b", "Pod", "r"));
    assert!(status == 422 && said.contains("roleRef.kind: Unsupported value"), "{said}");
    // What makes none is not in the way.
    for odd in [
        json!({"rules": "none"}),
        json!({"rules": [1, null, {"verbs": 1}]}),
        json!({"rules": [[]]}),
    ] {
        let (status, _) = write(&mut server, "chief", "POST", &roles, &odd);
        assert!((400..500).contains(&status), "{status}");
    }
}
