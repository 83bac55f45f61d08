//! Limit ranges and quotas.

use std::time::Duration;

use super::{ask, call, hook, install, message, patch, server};
use seatrial_sim::apiserver::{Request, Response, Server};
use seatrial_sim::controllers::{Controller, Controllers};
use serde_json::{Value, json};

const CORE: &str = "/api/v1/namespaces/default";

fn post(server: &mut Server, plural: &str, body: &Value) -> Response {
    call(server, &Request::new("POST", &format!("{CORE}/{plural}")).json(body)).1
}

fn pod(name: &str, resources: &Value) -> Value {
    let container = json!({"name": "c", "image": "i", "resources": resources});
    json!({"metadata": {"name": name}, "spec": {"containers": [container]}})
}

fn limited(limits: &Value) -> Server {
    let mut server = server();
    let range = json!({"metadata": {"name": "lr"}, "spec": {"limits": limits}});
    assert_eq!(post(&mut server, "limitranges", &range).status, 201);
    server
}

#[test]
fn containers_get_the_defaults_of_a_limit_range() {
    let limits = json!([{"type": "Container", "default": {"cpu": "500m", "memory": "64Mi"}, "defaultRequest": {"cpu": "250m"}}]);
    let mut server = limited(&limits);
    let response = post(&mut server, "pods", &pod("p", &json!({})));
    let made = response.json().expect("a pod");
    let wanted = json!({"limits": {"cpu": "500m", "memory": "64Mi"}, "requests": {"cpu": "250m", "memory": "64Mi"}});
    assert_eq!(made["spec"]["containers"][0]["resources"], wanted);
    assert_eq!(
        made["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
        "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c"
    );
}

#[test]
fn what_a_webhook_adds_gets_the_defaults_too() {
    let limits = json!([{"type": "Container", "default": {"cpu": "500m"}, "min": {"cpu": "100m"}}]);
    let mut server = limited(&limits);
    let rule = json!({"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]});
    install(&mut server, "Mutating", "m", &[hook("m.x.io", json!({"rules": [rule]}))]);
    let added =
        json!([{"op": "add", "path": "/spec/containers/-", "value": {"name": "s", "image": "i"}}]);
    let request = Request::new("POST", &format!("{CORE}/pods")).json(&pod("p", &json!({})));
    let (calls, response) = ask(&mut server, &request, |call| patch(call, &added));
    assert_eq!((calls.len(), response.status), (1, 201), "{}", message(&response));
    let containers = &response.json().expect("a pod")["spec"]["containers"];
    let wanted = json!({"limits": {"cpu": "500m"}, "requests": {"cpu": "500m"}});
    assert_eq!([0, 1].map(|it| &containers[it]["resources"]), [&wanted, &wanted]);
}

/// Makes an object, which is refused for a reason if there is one.
fn judge(limits: &Value, plural: &str, object: &Value, why: &str) {
    let response = post(&mut limited(limits), plural, object);
    if why.is_empty() {
        assert_eq!(response.status, 201, "{}", message(&response));
        return;
    }
    assert_eq!(response.status, 403);
    assert_eq!(message(&response), format!("{plural} \"x\" is forbidden: {why}"));
    assert_eq!(response.json().expect("a status")["details"], json!({"kind": plural, "name": "x"}));
}

#[test]
fn what_is_too_little_or_too_much_is_refused() {
    let container = json!([{"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "100m", "memory": "10Mi"}}]);
    let whole = json!([{"type": "Pod", "max": {"cpu": "1"}, "min": {"memory": "10Mi"}}]);
    let ratio = json!([{"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}]);
    let of = |resources: Value| pod("x", &resources);
    for (limits, plural, object, why) in [
        (
            &container,
            "pods",
            of(json!({"limits": {"cpu": "2", "memory": "1Gi"}})),
            "maximum cpu usage per Container is 1, but limit is 2",
        ),
        (
            &container,
            "pods",
            of(json!({"requests": {"cpu": "50m"}, "limits": {"cpu": "1"}})),
            "minimum cpu usage per Container is 100m, but request is 50m",
        ),
        (&container, "pods", of(json!({})), ""),
        (
            &container,
            "pods",
            of(json!({"limits": {"cpu": "50m", "memory": "1Gi"}})),
            "minimum cpu usage per Container is 100m, but request is 50m",
        ),
        (
            &whole,
            "pods",
            of(json!({"requests": {"memory": "1Gi"}, "limits": {"cpu": "2"}})),
            "maximum cpu usage per Pod is 1, but limit is 2",
        ),
        (
            &whole,
            "pods",
            of(json!({})),
            "[minimum memory usage per Pod is 10Mi.  No request is specified, maximum cpu usage per Pod is 1.  No limit is specified]",
        ),
        (
            &ratio,
            "pods",
            of(json!({"requests": {"cpu": "1"}, "limits": {"cpu": "3"}})),
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
        (
            &ratio,
            "pods",
            of(json!({})),
            "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
        ),
    ] {
        judge(limits, plural, &object, why);
    }
}

/// A server with a quota, whose status the controller has written.
fn restricted(spec: &Value) -> Server {
    let mut server = server();
    post(&mut server, "resourcequotas", &json!({"metadata": {"name": "q"}, "spec": spec}));
    settle(&mut server);
    server
}

fn settle(server: &mut Server) {
    assert!(Controllers::only(&[Controller::Quotas]).settle(server, Duration::from_secs(2)));
}

fn used(server: &mut Server) -> Value {
    let quota = call(server, &Request::new("GET", &format!("{CORE}/resourcequotas/q"))).1;
    quota.json().expect("a quota")["status"]["used"].clone()
}

#[test]
fn a_quota_counts_what_is_made_and_refuses_what_is_too_much() {
    let hard = json!({
        "pods": "2", "requests.cpu": "1", "limits.memory": "1Gi", "configmaps": "1", "count/secrets": "0",
        "services.nodeports": "0", "requests.storage": "5Gi", "count/deployments.apps": "0",
    });
    let mut server = restricted(&json!({"hard": hard}));
    let forbidden = |response: &Response, what: &str, why: &str| {
        assert_eq!(response.status, 403, "{}", message(response));
        assert_eq!(message(response), format!("{what} is forbidden: {why}"));
    };
    let response = post(&mut server, "pods", &pod("p", &json!({})));
    forbidden(
        &response,
        "pods \"p\"",
        "failed quota: q: must specify limits.memory for: c; requests.cpu for: c",
    );
    let small = json!({"requests": {"cpu": "900m"}, "limits": {"memory": "512Mi"}});
    assert_eq!(post(&mut server, "pods", &pod("p", &small)).status, 201);
    let large = json!({"requests": {"cpu": "200m"}, "limits": {"memory": "2Gi"}});
    let response = post(&mut server, "pods", &pod("q", &large));
    let why = "exceeded quota: q, requested: limits.memory=2Gi,requests.cpu=200m, used: limits.memory=512Mi,requests.cpu=900m, limited: limits.memory=1Gi,requests.cpu=1";
    forbidden(&response, "pods \"q\"", why);
    let named = |name: &str| json!({"metadata": {"name": name}});
    let dry = call(
        &mut server,
        &Request::new("POST", &format!("{CORE}/configmaps?dryRun=All")).json(&named("a")),
    )
    .1;
    assert_eq!(dry.status, 201, "a dry run is judged, and counts nothing");
    assert_eq!(post(&mut server, "configmaps", &named("a")).status, 201);
    forbidden(
        &post(&mut server, "configmaps", &named("b")),
        "configmaps \"b\"",
        "exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1",
    );
    forbidden(
        &post(&mut server, "secrets", &named("s")),
        "secrets \"s\"",
        "exceeded quota: q, requested: count/secrets=1, used: count/secrets=0, limited: count/secrets=0",
    );
    let service =
        json!({"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    forbidden(
        &post(&mut server, "services", &service),
        "services \"s\"",
        "exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=0, limited: services.nodeports=0",
    );
    let wanted = json!({
        "pods": "1", "requests.cpu": "900m", "limits.memory": "512Mi", "configmaps": "1", "count/secrets": "0",
        "services.nodeports": "0", "requests.storage": "0", "count/deployments.apps": "0",
    });
    assert_eq!(used(&mut server), wanted);
    // The controller, not the deletion, gives back what a deleted object has used.
    call(&mut server, &Request::new("DELETE", &format!("{CORE}/pods/p")));
    assert_eq!(used(&mut server), wanted);
    settle(&mut server);
    assert_eq!(used(&mut server)["requests.cpu"], "0");
    assert_eq!(post(&mut server, "pods", &pod("q", &small)).status, 201);
}

#[test]
fn a_quota_counts_only_the_pods_of_its_scope_and_nothing_before_its_status_is_known() {
    let mut server = server();
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}});
    post(&mut server, "resourcequotas", &quota);
    assert_eq!(post(&mut server, "pods", &pod("a", &json!({}))).status, 201, "no controller runs");
    let ends = json!({"metadata": {"name": "e"}, "spec": {"activeDeadlineSeconds": 5, "containers": [{"name": "c", "image": "i"}]}});
    let asks = pod("n", &json!({"requests": {"cpu": "1"}}));
    let plain = pod("b", &json!({}));
    for (scope, refused) in [("Terminating", &ends), ("NotBestEffort", &asks)] {
        let mut server = restricted(&json!({"hard": {"pods": "0"}, "scopes": [scope]}));
        assert_eq!(post(&mut server, "pods", refused).status, 403, "{scope}");
        assert_eq!(post(&mut server, "pods", &plain).status, 201, "{scope}");
    }
    let mut server = restricted(&json!({"hard": {"cpu": "2"}}));
    let patch = json!({"status": {"used": null}}).to_string();
    let path = format!("{CORE}/resourcequotas/q/status");
    let forget = Request::new("PATCH", &path).content("application/merge-patch+json", patch);
    assert_eq!(call(&mut server, &forget).1.status, 200);
    let response = post(&mut server, "pods", &asks);
    assert_eq!(
        message(&response),
        "pods \"n\" is forbidden: status unknown for quota: q, resources: cpu"
    );
}

#[test]
fn what_is_limited_is_requested_where_nothing_else_is_said() {
    let limits = json!([{"type": "Container", "max": {"cpu": "1"}, "min": {"memory": "10Mi"}}]);
    let mut server = limited(&limits);
    let range = call(&mut server, &Request::new("GET", &format!("{CORE}/limitranges/lr"))).1;
    let item = &range.json().expect("a range")["spec"]["limits"][0];
    assert_eq!(item["default"], json!({"cpu": "1"}));
    assert_eq!(item["defaultRequest"], json!({"cpu": "1", "memory": "10Mi"}));
    let made = post(&mut server, "pods", &pod("p", &json!({"limits": {"cpu": "100m"}})));
    let made = made.json().expect("a pod");
    let requests = &made["spec"]["containers"][0]["resources"]["requests"];
    assert_eq!(*requests, json!({"cpu": "100m", "memory": "10Mi"}));
}

#[test]
fn a_claim_has_bounds() {
    let claim = |asked: &str| {
        let resources = json!({"requests": {"storage": asked}});
        json!({"metadata": {"name": "x"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources}})
    };
    let claims = json!([{"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}, "min": {"storage": "1Gi"}}]);
    let min = "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi";
    let max = "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi";
    for (asked, why) in [("500Mi", min), ("3Gi", max), ("2Gi", "")] {
        judge(&claims, "persistentvolumeclaims", &claim(asked), why);
    }
}
