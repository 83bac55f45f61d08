//! What a definition says about conversion.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::admission::{Address, check_client};
use super::super::cause::{Cause, Causes};
use super::super::metadata::{strings, text};
use super::super::names::{self, Naming};
use crate::short::short;

/// The webhook that converts the objects of a definition.
#[derive(Clone, Debug)]
pub(in super::super) struct Converter {
    /// The name of the definition.
    pub(super) name: String,
    pub(super) to: Address,
    pub(super) authorities: Vec<u8>,
    /// The version of reviews that it reads.
    pub(super) version: &'static str,
}

impl Converter {
    /// The one that a definition declares, if it does.
    pub(in super::super) fn of(definition: &Value) -> Option<Self> {
        let conversion = &definition["spec"]["conversion"];
        let webhook =
            Some(&conversion["webhook"]).filter(|_| conversion["strategy"] == "Webhook")?;
        let authorities = webhook["clientConfig"]["caBundle"].as_str().unwrap_or("");
        let versions = strings(&webhook["conversionReviewVersions"]);
        let known = versions.into_iter().find(|it| matches!(*it, "v1" | "v1beta1"));
        Some(Self {
            name: text(definition, "name").to_owned(),
            to: Address::new(&webhook["clientConfig"]),
            authorities: STANDARD.decode(authorities).unwrap_or_default(),
            version: if known == Some("v1beta1") { "v1beta1" } else { "v1" },
        })
    }
}

/// Fills in what a client may leave out.
pub(in super::super) fn complete(spec: &mut Value) {
    if !spec.is_object() {
        return;
    }
    if spec["conversion"].is_null() {
        spec["conversion"] = json!({"strategy": "None"});
    }
    let service = spec.pointer_mut("/conversion/webhook/clientConfig/service");
    if let Some(service) = service.filter(|it| it.is_object() && it["port"].is_null()) {
        service["port"] = 443.into();
    }
}

/// Names what is wrong. The fields have the names of an older version of definitions.
pub(in super::super) fn check(conversion: &Value, causes: &mut Causes) {
    let at = "spec.conversion";
    let (client_at, versions_at) =
        (format!("{at}.webhookClientConfig"), format!("{at}.conversionReviewVersions"));
    let strategy = &conversion["strategy"];
    let (client, versions) = (
        &conversion["webhook"]["clientConfig"],
        &conversion["webhook"]["conversionReviewVersions"],
    );
    let is_webhook = strategy == "Webhook";
    match strategy.as_str() {
        None | Some("") => causes.push(Cause::required(format!("{at}.strategy"), "")),
        Some("None" | "Webhook") => {}
        Some(_) => {
            let known = ["None", "Webhook"];
            causes.push(Cause::unsupported(format!("{at}.strategy"), strategy, &known));
        }
    }
    if !is_webhook {
        let why = "should not be set when strategy is not set to Webhook";
        for (field, value) in [(client_at, client), (versions_at, versions)] {
            if !value.is_null() {
                causes.push(Cause::forbidden(field, why));
            }
        }
        return;
    }
    if client.is_null() {
        let why = "required when strategy is set to Webhook";
        causes.push(Cause::required(&client_at, why));
    } else {
        // A real server takes the name of the service for its namespace, and the other way round.
        let mut client = client.clone();
        if client["service"].is_object() {
            let of = client["service"].clone();
            client["service"]["name"] = of["namespace"].clone();
            client["service"]["namespace"] = of["name"].clone();
        }
        check_client(&client_at, &client, causes);
    }
    check_versions(&versions_at, versions, causes);
}

fn check_versions(at: &str, versions: &Value, causes: &mut Causes) {
    let named = strings(versions);
    if named.is_empty() {
        causes.push(Cause::required(at, ""));
        return;
    }
    let mut seen = std::collections::BTreeSet::new();
    for (index, version) in named.iter().enumerate() {
        let field = format!("{at}[{index}]");
        if !seen.insert(*version) {
            causes.push(Cause::invalid(field, &short(version).into(), "duplicate version"));
            continue;
        }
        for why in names::name(version, Naming::Service, false) {
            causes.push(Cause::invalid(&field, &(*version).into(), why));
        }
        if causes.is_full() {
            return;
        }
    }
    if !named.iter().any(|it| matches!(*it, "v1" | "v1beta1")) {
        let why = "must include at least one of v1, v1beta1";
        causes.push(Cause::invalid(at, versions, why));
    }
}
