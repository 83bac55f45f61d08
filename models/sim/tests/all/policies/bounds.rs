//! Policies of strangers cost a bounded time and a bounded depth.

use seatrial_sim::apiserver::{Request, Server};
use serde_json::{Value, json};

use crate::common::{self, empty};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

fn ask(server: &mut Server, path: &str, body: &Value) -> (u16, Value) {
    common::ask(server, &Request::new("POST", path).json(body))
}

/// What a policy for config maps does with a new one.
fn made(kind: &str, spec: &Value) -> (u16, String) {
    let mut server = empty();
    let mut spec = spec.clone();
    let rule = json!({"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]});
    spec["matchConstraints"] = json!({"resourceRules": [rule]});
    let mut binding = json!({"policyName": "p"});
    if kind == "validating" {
        binding["validationActions"] = json!(["Deny"]);
    } else {
        spec["reinvocationPolicy"] = "IfNeeded".into();
    }
    let named = |spec: Value| json!({"metadata": {"name": "p"}, "spec": spec});
    let (status, answer) =
        ask(&mut server, &format!("{GROUP}/{kind}admissionpolicies"), &named(spec));
    let message = |answer: &Value| answer["message"].as_str().unwrap_or("").to_owned();
    if status != 201 {
        return (status, message(&answer));
    }
    let path = format!("{GROUP}/{kind}admissionpolicybindings");
    assert_eq!(ask(&mut server, &path, &named(binding)).0, 201);
    let object = json!({"metadata": {"name": "a"}, "data": {"a": "b"}});
    let (status, answer) = ask(&mut server, "/api/v1/namespaces/default/configmaps", &object);
    (status, message(&answer))
}

fn chain(count: usize, first: &str, next: impl Fn(usize) -> String) -> Value {
    let mut variables = vec![json!({"name": "v0", "expression": first})];
    for index in 1..count {
        variables.push(json!({"name": format!("v{index}"), "expression": next(index - 1)}));
    }
    variables.into()
}

#[test]
fn a_long_chain_of_variables_ends_before_the_stack_does() {
    let spec = json!({
        "variables": chain(3000, "true", |it| format!("!(!variables.v{it})")),
        "validations": [{"expression": "variables.v2999"}],
    });
    let (status, why) = made("validating", &spec);
    assert_eq!(status, 422);
    assert!(why.ends_with("it is too deep"), "{}", &why[why.len().saturating_sub(100)..]);
    // One of a usual length is none.
    let spec = json!({
        "variables": chain(20, "true", |it| format!("!(!variables.v{it})")),
        "validations": [{"expression": "variables.v19"}],
    });
    assert_eq!(made("validating", &spec).0, 201);
}

#[test]
fn values_that_double_are_no_patch() {
    let spec = json!({
        "variables": chain(40, "['x', 'y']", |it| format!("[variables.v{it}, variables.v{it}]")),
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {
            "expression": "[JSONPatch{op: 'add', path: '/data/b', value: variables.v39}]"}}],
    });
    let (status, why) = made("mutating", &spec);
    assert_eq!(status, 403);
    assert!(why.ends_with("the patch is too large"), "{why}");
}

#[test]
fn variables_that_cost_much_together_are_too_costly() {
    let heavy =
        "lists.range(40).all(a, lists.range(40).all(b, lists.range(40).all(c, a + b + c >= 0)))";
    let all: Vec<_> =
        (0..400).map(|it| json!({"name": format!("v{it}"), "expression": heavy})).collect();
    let uses: Vec<_> = (0..400).map(|it| format!("variables.v{it}")).collect();
    let uses = uses.chunks(50).map(|it| format!("({})", it.join(" && "))).collect::<Vec<_>>();
    let spec = json!({"variables": all, "validations": [{"expression": uses.join(" && ")}]});
    let (status, why) = made("validating", &spec);
    assert_eq!(status, 422);
    assert!(why.contains("running out of cost budget"), "{why}");
}

#[test]
fn expressions_that_are_too_large_together_are_refused() {
    let pattern = format!("object.metadata.name.matches('{}')", "a".repeat(10_000));
    let all: Vec<_> = (0..250).map(|_| json!({"expression": pattern})).collect();
    let (status, why) = made("validating", &json!({"validations": all}));
    assert_eq!(status, 422);
    assert!(why.contains("too large together"), "{}", &why[why.len().saturating_sub(200)..]);
}

#[test]
fn conditions_that_are_too_large_together_take_no_validation_away() {
    let pattern = format!("object.metadata.name.matches('{}')", "a".repeat(10_000));
    let expression = vec![pattern; 9].join(" && ");
    let all: Vec<_> =
        (0..23).map(|it| json!({"name": format!("c{it}"), "expression": expression})).collect();
    let spec = json!({"matchConditions": all, "validations": [{"expression": "false"}]});
    let (status, why) = made("validating", &spec);
    assert_eq!(status, 422);
    assert!(why.contains("too large together"), "{}", &why[why.len().saturating_sub(200)..]);
}

#[test]
fn a_patch_beyond_a_limit_is_no_test_that_fails() {
    let patch = "lists.range(10001).map(i, JSONPatch{op: 'test', path: '/data/a', value: 'b'})";
    let spec =
        json!({"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}]});
    let (status, why) = made("mutating", &spec);
    assert_eq!(status, 403);
    assert!(why.contains("maximum operations in a JSON patch is 10000, got 10001"), "{why}");
}
