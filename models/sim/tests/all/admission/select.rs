//! Which requests a webhook is asked about, and which configurations are refused.

use super::{MAPS, call, hook, install, make, message, order, server};
use seatrial_sim::apiserver::{Request, Server};
use serde_json::{Value, json};

fn rule(groups: &str, versions: &str, resources: &str, scope: &str) -> Value {
    json!([{
        "operations": ["*"], "apiGroups": [groups], "apiVersions": [versions],
        "resources": resources.split(' ').collect::<Vec<_>>(), "scope": scope,
    }])
}

fn with(hooks: &[Value]) -> Server {
    let mut server = server();
    let deployment = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }});
    let path = "/apis/apps/v1/namespaces/default/deployments";
    assert_eq!(call(&mut server, &Request::new("POST", path).json(&deployment)).1.status, 201);
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let path = "/api/v1/namespaces/default/pods";
    assert_eq!(call(&mut server, &Request::new("POST", path).json(&pod)).1.status, 201);
    let response = install(&mut server, "Validating", "v", hooks);
    assert_eq!(response.status, 201, "{}", message(&response));
    server
}

#[test]
fn rules_name_groups_versions_resources_parts_and_scope() {
    let merge = |path: &str, body: Value| {
        Request::new("PATCH", path).content("application/merge-patch+json", body.to_string())
    };
    let deployment = "/apis/apps/v1/namespaces/default/deployments/d";
    let requests = [
        make("m"),
        merge(deployment, json!({"metadata": {"labels": {"x": "y"}}})),
        merge(&format!("{deployment}/status"), json!({"status": {"replicas": 1}})),
        merge(&format!("{deployment}/scale"), json!({"spec": {"replicas": 2}})),
        Request::new("POST", "/api/v1/namespaces").json(&json!({"metadata": {"name": "n"}})),
        Request::new("POST", "/api/v1/namespaces/default/pods/p/binding")
            .json(&json!({"metadata": {"name": "p"}, "target": {"name": "node"}})),
        Request::new("POST", "/api/v1/namespaces/default/pods/p/eviction").json(
            &json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}),
        ),
    ];
    // One letter for each request about which the webhook is asked.
    for (rule, wanted) in [
        (rule("*", "*", "*", "*"), "mdn"),
        (rule("*", "*", "*/*", "*"), "mdstnbe"),
        (rule("", "v1", "*", "*"), "mn"),
        (rule("apps", "v1", "deployments", "*"), "d"),
        (rule("apps", "v1", "deployments/*", "*"), "dst"),
        (rule("*", "*", "*/scale", "*"), "t"),
        (rule("apps", "v2", "deployments", "*"), ""),
        (rule("*", "*", "pods/eviction pods/binding", "*"), "be"),
        (rule("*", "*", "*", "Namespaced"), "md"),
        (rule("*", "*", "*", "Cluster"), "n"),
        (rule("extensions", "*", "*", "*"), ""),
    ] {
        let mut server = with(&[hook("a.b.c", json!({"rules": rule}))]);
        let mut found = String::new();
        for (letter, request) in "mdstnbe".chars().zip(&requests) {
            let (calls, response) = call(&mut server, request);
            assert!(response.status < 300, "{letter} {rule}: {}", message(&response));
            assert!(calls.len() < 2, "{letter}: {:?}", order(&calls));
            found.extend((!calls.is_empty()).then_some(letter));
            let kind = calls.first().map(|it| it.review["request"]["kind"]["kind"].clone());
            let wanted = match letter {
                't' => "Scale",
                'b' => "Binding",
                'e' => "Eviction",
                'n' => "Namespace",
                'm' => "ConfigMap",
                _ => "Deployment",
            };
            assert!(kind.is_none_or(|kind| kind == wanted), "{letter}");
            if let Some(of) = calls.first().filter(|_| letter == 'n') {
                assert_eq!(of.review["request"]["namespace"], "n", "a namespace lies in itself");
            }
        }
        assert_eq!(found, wanted, "{rule}");
    }
}

#[test]
fn selectors_look_at_the_namespace_and_at_both_states_of_the_object() {
    let merge = |body: Value| {
        Request::new("PATCH", &format!("{MAPS}/m"))
            .content("application/merge-patch+json", body.to_string())
    };
    let labelled = json!({"objectSelector": {"matchLabels": {"look": "yes"}}});
    let mut server = with(&[hook("a.b.c", labelled)]);
    let steps = [
        (make("m"), 0),
        (merge(json!({"metadata": {"labels": {"look": "yes"}}})), 1),
        (merge(json!({"data": {"a": "b"}})), 1),
        (merge(json!({"metadata": {"labels": null}})), 1),
        (merge(json!({"data": {"a": "c"}})), 0),
        (Request::new("DELETE", &format!("{MAPS}/m")), 0),
    ];
    for (index, (request, asked)) in steps.iter().enumerate() {
        assert_eq!(call(&mut server, request).0.len(), *asked, "step {index}");
    }
    let here = json!({"namespaceSelector": {"matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["default"]},
    ]}});
    let mut server = with(&[hook("a.b.c", here)]);
    call(
        &mut server,
        &Request::new("POST", "/api/v1/namespaces").json(&json!({"metadata": {"name": "n"}})),
    );
    assert_eq!(call(&mut server, &make("m")).0.len(), 0);
    let there = Request::new("POST", &MAPS.replace("default", "n"))
        .json(&json!({"metadata": {"name": "m"}}));
    assert_eq!(call(&mut server, &there).0.len(), 1);
}

#[test]
fn conditions_look_at_the_object_and_at_the_request() {
    let with_condition = |expression: &str, policy: &str| {
        let conditions = json!([{"name": "c", "expression": expression}]);
        let more = json!({"matchConditions": conditions, "failurePolicy": policy});
        with(&[hook("a.b.c", more)])
    };
    let labelled = Request::new("POST", MAPS)
        .json(&json!({"metadata": {"name": "m", "labels": {"look": "yes"}}}));
    let look = "object.metadata.?labels.look.orValue('') == 'yes'";
    let mine = "request.operation == 'CREATE' && request.name == 'm'";
    for (expression, asked) in [(look, [0, 1]), (mine, [1, 1]), ("oldObject != null", [0, 0])] {
        for (request, asked) in [make("m"), labelled.clone()].into_iter().zip(asked) {
            let (calls, response) = call(&mut with_condition(expression, "Fail"), &request);
            assert_eq!(calls.len(), asked, "{expression}: {}", message(&response));
        }
    }
    // What cannot be told counts as a call that fails.
    let unknown = "object.metadata.labels.look == 'yes'";
    let (calls, response) = call(&mut with_condition(unknown, "Fail"), &make("m"));
    assert_eq!((calls.len(), response.status), (0, 403));
    let why = "configmaps \"m\" is forbidden: expression 'object.metadata.labels.look == 'yes'' resulted in error: no such key: labels";
    assert_eq!(message(&response), why);
    let (calls, response) = call(&mut with_condition(unknown, "Ignore"), &make("m"));
    assert_eq!((calls.len(), response.status), (0, 201));
    // One that is false decides.
    let both = json!([
        {"name": "a", "expression": unknown}, {"name": "b", "expression": "false"},
    ]);
    let mut server = with(&[hook("a.b.c", json!({"matchConditions": both}))]);
    assert_eq!(call(&mut server, &make("m")).1.status, 201);
}

#[test]
fn configurations_are_completed() {
    let mut server = server();
    let response = install(&mut server, "Mutating", "m", &[hook("a.b.c", json!({}))]);
    let made = &response.json().expect("an object")["webhooks"][0];
    for (field, wanted) in [
        ("failurePolicy", json!("Fail")),
        ("matchPolicy", json!("Equivalent")),
        ("reinvocationPolicy", json!("Never")),
        ("timeoutSeconds", json!(10)),
        ("namespaceSelector", json!({})),
        ("objectSelector", json!({})),
    ] {
        assert_eq!(made[field], wanted, "{field}");
    }
    assert_eq!(made["rules"][0]["scope"], "*");
    // A strategic patch merges by name, as it does for the schema of the kind.
    let more = json!({"webhooks": [hook("b.b.c", json!({}))]}).to_string();
    let path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/m";
    let request = Request::new("PATCH", path);
    let merged =
        call(&mut server, &request.content("application/strategic-merge-patch+json", more)).1;
    let hooks = merged.json().expect("an object")["webhooks"].as_array().map(Vec::len);
    assert_eq!((merged.status, hooks), (200, Some(2)));
}

#[test]
fn wrong_configurations_are_refused() {
    let mut server = server();
    let condition = json!([{"name": "c", "expression": "object.metadata.name"}]);
    for (more, text) in [
        (
            json!({"name": "a"}),
            "name: Invalid value: \"a\": should be a domain with at least three segments separated by dots",
        ),
        (
            json!({"clientConfig": {}}),
            "clientConfig: Required value: exactly one of url or service is required",
        ),
        (
            json!({"clientConfig": {"url": "http://a/b"}}),
            "clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
        ),
        (
            json!({"clientConfig": {"url": "https://a/b?x=y"}}),
            "clientConfig.url: Invalid value: \"x=y\": query parameters are not permitted in the URL",
        ),
        (
            json!({"sideEffects": null}),
            "sideEffects: Required value: must specify one of None, NoneOnDryRun",
        ),
        (
            json!({"sideEffects": "Some"}),
            "sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\"",
        ),
        (
            json!({"admissionReviewVersions": ["v9"]}),
            "admissionReviewVersions: Invalid value: [\"v9\"]: must include at least one of v1, v1beta1",
        ),
        (
            json!({"timeoutSeconds": 40}),
            "timeoutSeconds: Invalid value: 40: the timeout value must be between 1 and 30 seconds",
        ),
        (
            json!({"failurePolicy": "x"}),
            "failurePolicy: Unsupported value: \"x\": supported values: \"Fail\", \"Ignore\"",
        ),
        (
            json!({"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Nope"}]}}),
            "namespaceSelector.matchExpressions[0].operator: Invalid value: \"Nope\": not a valid selector operator",
        ),
        (
            json!({"matchConditions": condition}),
            "matchConditions[0].expression: Invalid value: \"object.metadata.name\": must evaluate to bool but got dyn",
        ),
    ] {
        let response = install(&mut server, "Validating", "v", &[hook("a.b.c", more.clone())]);
        assert_eq!(response.status, 422, "{more}");
        let start = "ValidatingWebhookConfiguration.admissionregistration.k8s.io \"v\" is invalid: webhooks[0].";
        assert_eq!(message(&response), format!("{start}{text}"));
    }
}

#[test]
fn conditions_of_a_configuration_that_are_too_large_together_are_refused() {
    let mut server = server();
    let expression = ["object.metadata.name.matches('(aaaaaaaaaa){1000}')"; 9].join(" && ");
    let all: Vec<_> =
        (0..10).map(|it| json!({"name": format!("c{it}"), "expression": expression})).collect();
    let hooks = ["a.x.io", "b.x.io", "c.x.io"].map(|it| hook(it, json!({"matchConditions": all})));
    // Each alone is small enough.
    assert_eq!(install(&mut server, "Validating", "one", &hooks[..1]).status, 201);
    let refused = install(&mut server, "Validating", "all", &hooks);
    assert_eq!(refused.status, 422);
    assert!(message(&refused).contains("too large together"), "{}", message(&refused));
}
