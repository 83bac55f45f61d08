//! Servers that obey webhooks wrongly are noticed.

use super::{MAPS, ask, hook, install, make, patch, reply, server};
use seatrial_sim::apiserver::{ADMISSION_MISTAKES, Mistake, Request, WebhookCall, WebhookReply};
use serde_json::{Value, json};

/// Everything that a few requests show of a server.
fn shown(mistake: Option<Mistake>) -> Vec<(u16, Option<Value>, usize)> {
    let mut server = server();
    if let Some(mistake) = mistake {
        server = server.with_mistake(mistake);
    }
    install(
        &mut server,
        "Mutating",
        "m",
        &[hook("m.one.io", json!({})), hook("m.two.io", json!({}))],
    );
    let labelled = json!({"objectSelector": {"matchLabels": {"look": "yes"}}});
    let ignored = json!({"failurePolicy": "Ignore"});
    install(
        &mut server,
        "Validating",
        "v",
        &[hook("v.one.io", labelled), hook("v.two.io", ignored)],
    );
    let answer = |call: &WebhookCall| match call.webhook.as_str() {
        "v.two.io" => WebhookReply::Failed("EOF".to_owned()),
        name @ ("m.one.io" | "m.two.io") if call.review["request"]["operation"] == "CREATE" => {
            patch(
                call,
                &json!([
                    {"op": "add", "path": "/data", "value": {"by": name}},
                    {"op": "add", "path": "/metadata/labels", "value": {"look": "yes"}},
                ]),
            )
        }
        _ => reply(call, json!({"allowed": true})),
    };
    let unlabel = json!({"metadata": {"labels": null}}).to_string();
    let unlabel = Request::new("PATCH", &format!("{MAPS}/a"))
        .content("application/merge-patch+json", unlabel);
    let requests = [make("a"), unlabel, Request::new("GET", &format!("{MAPS}/a"))];
    let told = requests.map(|request| ask(&mut server, &request, answer));
    told.into_iter().map(|(calls, it)| (it.status, it.json().cloned(), calls.len())).collect()
}

#[test]
fn every_wrong_server_is_convicted() {
    let right = shown(None);
    assert_eq!(
        right.iter().map(|it| (it.0, it.2)).collect::<Vec<_>>(),
        [(201, 4), (200, 4), (200, 0)]
    );
    assert!(ADMISSION_MISTAKES.len() >= 3);
    for mistake in ADMISSION_MISTAKES.iter().filter(|it| it.traces == "requests") {
        assert_ne!(shown(Some(*mistake)), right, "{}", mistake.name);
    }
}
