//! The defaults, the checks and the fields that stay of built-in kinds.

use seatrial_sim::apiserver::{KIND_MISTAKES, Request, Server};
use seatrial_sim::conformance::fields;
use serde_json::{Value, json};

use crate::common::{self, ask, causes, empty as server};

const PODS: &str = "/api/v1/namespaces/default/pods";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const SERVICES: &str = "/api/v1/namespaces/default/services";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";

fn create(server: &mut Server, path: &str, spec: &Value) -> (u16, Value) {
    let body = json!({"metadata": {"name": "a"}, "spec": spec});
    ask(server, &Request::new("POST", path).json(&body))
}

fn merge(server: &mut Server, path: &str, patch: &Value) -> (u16, Value) {
    ask(server, &common::merge(path, patch))
}

fn template() -> Value {
    json!({
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    })
}

fn deployment() -> Value {
    json!({"selector": {"matchLabels": {"app": "a"}}, "template": template()})
}

fn job() -> Value {
    let mut template = template();
    template["spec"]["restartPolicy"] = "Never".into();
    json!({"template": template})
}

#[test]
fn a_deployment_is_completed_as_by_a_real_server() {
    let (status, object) = create(&mut server(), DEPLOYMENTS, &deployment());
    let expected = json!({
        "replicas": 1, "selector": {"matchLabels": {"app": "a"}},
        "strategy": {
            "type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
        },
        "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
        "template": {
            "metadata": {"labels": {"app": "a"}},
            "spec": {
                "containers": [{
                    "name": "c", "image": "i:1", "resources": {}, "imagePullPolicy": "IfNotPresent",
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File",
                }],
                "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
                "dnsPolicy": "ClusterFirst", "securityContext": {},
                "schedulerName": "default-scheduler",
            },
        },
    });
    assert_eq!((status, &object["spec"]), (201, &expected));
    assert_eq!(object["status"], json!({}));
}

#[test]
fn a_service_gets_an_address_that_stays() {
    let mut server = server();
    let spec = json!({"type": "NodePort", "ports": [{"port": 80}, {"port": 81}]});
    let refused = create(&mut server, SERVICES, &spec);
    let required = "FieldValueRequired";
    assert_eq!(
        causes(&refused.1),
        [("spec.ports[0].name", required), ("spec.ports[1].name", required)]
    );
    let (status, service) =
        create(&mut server, SERVICES, &json!({"type": "NodePort", "ports": [{"port": 80}]}));
    let port = &service["spec"]["ports"][0];
    assert_eq!((status, &port["targetPort"], &port["protocol"]), (201, &80.into(), &"TCP".into()));
    assert!(port["nodePort"].as_u64().is_some_and(|it| it >= 30_000));
    let address = service["spec"]["clusterIP"].clone();
    assert!(address.as_str().is_some_and(|it| it.starts_with("10.")), "{address}");
    // What a client writes without the address keeps it.
    let bare =
        json!({"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    let path = format!("{SERVICES}/a");
    let (status, again) = ask(&mut server, &Request::new("PUT", &path).json(&bare));
    assert_eq!((status, &again["spec"]), (200, &service["spec"]));
    let moved = merge(&mut server, &path, &json!({"spec": {"clusterIP": "10.96.7.7"}}));
    assert_eq!(
        (moved.0, causes(&moved.1)),
        (422, vec![("spec.clusterIPs[0]", "FieldValueInvalid")])
    );
    let (_, plain) = merge(&mut server, &path, &json!({"spec": {"type": "ClusterIP"}}));
    assert!(plain["spec"]["ports"][0]["nodePort"].is_null(), "{plain}");
    assert!(plain["spec"]["externalTrafficPolicy"].is_null(), "{plain}");
    let none = create(&mut server, SERVICES, &json!({"ports": []}));
    assert_eq!(causes(&none.1), [("spec.ports", required)]);
}

#[test]
fn what_must_stay_stays() {
    let mut server = server();
    for (path, spec) in [(DEPLOYMENTS, deployment()), (JOBS, job())] {
        assert_eq!(create(&mut server, path, &spec).0, 201);
    }
    assert_eq!(create(&mut server, PODS, &template()["spec"]).0, 201);
    let claim =
        json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    assert_eq!(create(&mut server, CLAIMS, &claim).0, 201);
    let other = json!([{"name": "c", "image": "i:2"}]);
    let labels = json!({"matchLabels": {"app": "b"}});
    let (invalid, forbidden) = ("FieldValueInvalid", "FieldValueForbidden");
    for (path, change, expected) in [
        (JOBS, json!({"template": {"spec": {"containers": other}}}), ("spec.template", invalid)),
        (JOBS, json!({"completions": 3}), ("spec.completions", invalid)),
        (
            PODS,
            json!({"containers": [{"name": "c", "image": "i:1", "args": ["x"]}]}),
            ("spec", forbidden),
        ),
        (PODS, json!({"nodeName": "n"}), ("spec", forbidden)),
        (CLAIMS, json!({"resources": {"requests": {"storage": "1Mi"}}}), ("spec", forbidden)),
        (
            DEPLOYMENTS,
            json!({"selector": labels, "template": {"metadata": {"labels": {"app": "b"}}}}),
            ("spec.selector", invalid),
        ),
    ] {
        let answer = merge(&mut server, &format!("{path}/a"), &json!({"spec": change}));
        assert_eq!((answer.0, causes(&answer.1)), (422, vec![expected]), "{path} {change}");
    }
    for (path, change) in [
        (
            PODS,
            json!({"containers": [{"name": "c", "image": "i:2", "imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}]}),
        ),
        (JOBS, json!({"parallelism": 2})),
        (DEPLOYMENTS, json!({"template": {"spec": {"containers": other}}})),
    ] {
        let (status, answer) = merge(&mut server, &format!("{path}/a"), &json!({"spec": change}));
        assert_eq!(status, 200, "{answer}");
    }
}

/// The answers to every change of every field.
fn answers(server: &Server) -> Vec<(u16, Value)> {
    let mut server = server.clone();
    let posts = [(DEPLOYMENTS, deployment()), (JOBS, job()), (PODS, json!({"containers": []}))];
    let mut answers: Vec<_> =
        posts.iter().map(|(path, spec)| create(&mut server, path, spec)).collect();
    let change = json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 5}}}});
    answers.push(merge(&mut server, &format!("{JOBS}/a"), &change));
    answers
}

#[test]
fn a_server_that_gets_it_wrong_is_convicted() {
    let right = answers(&server());
    assert_eq!(right.iter().map(|it| it.0).collect::<Vec<_>>(), [201, 201, 422, 422]);
    for mistake in KIND_MISTAKES {
        assert_ne!(answers(&server().with_mistake(*mistake)), right, "{}", mistake.name);
    }
    assert_eq!(KIND_MISTAKES.len(), 3);
}

#[test]
fn every_field_of_every_kind_is_tried_and_its_own_answers_repeat() {
    let tried = fields().expect("programs");
    let mut kinds: Vec<_> = tried.iter().map(|it| it.kind.as_str()).collect();
    kinds.dedup();
    assert!(kinds.len() >= 18, "{kinds:?}");
    assert!(tried.len() > 800, "{}", tried.len());
    let is_refused = |status: u64| {
        tried.iter().any(|it| {
        it.trace.steps.iter().any(|step| matches!(step, seatrial_sim::conformance::Step::Call { response, .. } if response["status"] == status))
    })
    };
    assert!(is_refused(422) && is_refused(400) && is_refused(201));
}

#[test]
fn a_stateful_set_mounts_what_it_claims() {
    let sets = "/apis/apps/v1/namespaces/default/statefulsets";
    let spec = |mounted: &str| {
        let mut template = template();
        template["spec"]["containers"][0]["volumeMounts"] =
            json!([{"name": mounted, "mountPath": "/d"}]);
        let claim = json!({
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        });
        let selector = json!({"matchLabels": {"app": "a"}});
        json!({"serviceName": "s", "selector": selector, "template": template, "volumeClaimTemplates": [claim]})
    };
    let answer = create(&mut server(), sets, &spec("data"));
    assert_eq!(answer.0, 201, "{}", answer.1);
    let answer = create(&mut server(), sets, &spec("other"));
    let field = "spec.template.spec.containers[0].volumeMounts[0].name";
    assert_eq!(causes(&answer.1), [(field, "FieldValueNotFound")]);
}

/// What others do who decide where something runs, before it does.
#[test]
fn what_waits_may_be_told_where_to_run() {
    let mut server = server();
    let mut suspended = job();
    suspended["suspend"] = true.into();
    assert_eq!(create(&mut server, JOBS, &suspended).0, 201);
    let path = format!("{JOBS}/a");
    let image =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i:9"}]}}}});
    let answer = merge(&mut server, &path, &image);
    assert_eq!(causes(&answer.1), [("spec.template.spec", "FieldValueInvalid")]);
    let start = json!({"spec": {"suspend": false, "template": {
        "metadata": {"labels": {"more": "yes"}}, "spec": {"nodeSelector": {"a": "b"}},
    }}});
    assert_eq!(merge(&mut server, &path, &start).0, 200);
    let move_it = json!({"spec": {"template": {"spec": {"nodeSelector": {"a": "c"}}}}});
    let answer = merge(&mut server, &path, &move_it);
    assert_eq!(causes(&answer.1), [("spec.template", "FieldValueInvalid")]);

    let gated = json!({"schedulingGates": [{"name": "a.b/c"}], "containers": [{"name": "c", "image": "i"}]});
    assert_eq!(create(&mut server, PODS, &gated).0, 201);
    let path = format!("{PODS}/a");
    let open = json!({"spec": {"schedulingGates": [], "nodeSelector": {"a": "b"}}});
    assert_eq!(merge(&mut server, &path, &open).0, 200);
    let late = json!({"spec": {"nodeSelector": {"a": "c"}}});
    assert_eq!(causes(&merge(&mut server, &path, &late).1), [("spec", "FieldValueForbidden")]);
}

#[test]
fn a_template_has_no_ports_of_a_node_and_a_job_keeps_its_own_labels() {
    let mut server = server();
    let mut spec = deployment();
    spec["template"]["spec"]["hostNetwork"] = true.into();
    spec["template"]["spec"]["containers"][0]["ports"] = json!([{"containerPort": 80}]);
    let (_, made) = create(&mut server, DEPLOYMENTS, &spec);
    let pod = &made["spec"]["template"]["spec"];
    assert!(pod["containers"][0]["ports"][0]["hostPort"].is_null(), "{made}");
    let (_, made) = create(&mut server, PODS, pod);
    assert_eq!(made["spec"]["containers"][0]["ports"][0]["hostPort"], 80);

    let body = json!({"metadata": {"name": "own", "labels": {"mine": "x"}}, "spec": job()});
    let (_, made) = ask(&mut server, &Request::new("POST", JOBS).json(&body));
    assert_eq!(made["metadata"]["labels"], json!({"mine": "x"}));
    assert_eq!(made["spec"]["template"]["metadata"]["labels"]["job-name"], "own");
}
