//! Webhooks as their configurations declare them, and which requests each is asked about.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::metadata::{strings, text};
use super::conditions::Conditions;
use super::scope::Scope;

/// One webhook of a configuration, with the defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct Hook {
    /// Its configuration as it is stored.
    pub(super) source: Arc<Value>,
    /// The configuration.
    pub(super) of: String,
    pub(super) name: String,
    pub(super) is_mutating: bool,
    pub(super) scope: Scope,
    /// It is asked only if they hold.
    pub(super) conditions: Conditions,
    /// A call that fails is as if there was none.
    pub(super) may_fail: bool,
    /// It changes something outside also in a dry run.
    pub(super) has_side_effects: bool,
    /// It is asked again if a later one changes the object.
    pub(super) comes_again: bool,
    pub(super) timeout: Duration,
    pub(super) to: Address,
    pub(super) authorities: Vec<u8>,
    /// The version of reviews that it reads.
    pub(super) version: &'static str,
}

/// Where a webhook listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The host, or `name.namespace.svc` for a service.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path: without empty parts, and without a slash at its end.
    pub path: String,
    /// It is one of a service, whose name and namespace these are.
    pub service: Option<(String, String)>,
}

impl Hook {
    /// The webhooks of a configuration in their order.
    pub(super) fn all(configuration: &Arc<Value>) -> Vec<Arc<Self>> {
        let is_mutating = configuration["kind"] == "MutatingWebhookConfiguration";
        let hooks = configuration["webhooks"].as_array().into_iter().flatten();
        hooks.map(|hook| Arc::new(Self::new(configuration.clone(), is_mutating, hook))).collect()
    }

    fn new(source: Arc<Value>, is_mutating: bool, hook: &Value) -> Self {
        let part = |field: &str| hook[field].as_str().unwrap_or("");
        let authorities = hook["clientConfig"]["caBundle"].as_str().unwrap_or("");
        let versions = strings(&hook["admissionReviewVersions"]);
        let known = versions.iter().find(|it| matches!(**it, "v1" | "v1beta1"));
        Self {
            of: text(&source, "name").to_owned(),
            source,
            name: part("name").to_owned(),
            is_mutating,
            scope: Scope::of_hook(hook),
            conditions: Conditions::of(hook),
            may_fail: part("failurePolicy") == "Ignore",
            has_side_effects: !matches!(part("sideEffects"), "None" | "NoneOnDryRun"),
            comes_again: part("reinvocationPolicy") == "IfNeeded",
            timeout: Duration::from_secs(
                hook["timeoutSeconds"].as_u64().unwrap_or(10).clamp(1, 30),
            ),
            to: Address::new(&hook["clientConfig"]),
            authorities: STANDARD.decode(authorities).unwrap_or_default(),
            version: if known == Some(&"v1beta1") { "v1beta1" } else { "v1" },
        }
    }
}

impl Address {
    pub(in super::super) fn new(client: &Value) -> Self {
        let part = |of: &Value, field: &str| of[field].as_str().unwrap_or("").to_owned();
        let service = &client["service"];
        if service.is_object() {
            let (name, namespace) = (part(service, "name"), part(service, "namespace"));
            let path = joined(&part(service, "path"));
            let port = service["port"].as_u64().and_then(|it| u16::try_from(it).ok());
            let host = format!("{name}.{namespace}.svc");
            return Self {
                host,
                port: port.unwrap_or(443),
                path,
                service: Some((name, namespace)),
            };
        }
        let url = part(client, "url");
        let rest = url.strip_prefix("https://").unwrap_or("");
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        // The last colon of an address of IPv6 in brackets belongs to it.
        let named = place.rsplit_once(':').filter(|(_, port)| !port.contains(']'));
        let (host, port) = named.unwrap_or((place, "443"));
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Self { host, port: port.parse().unwrap_or(443), path: joined(path), service: None }
    }

    /// The URL of a call that may take so long.
    pub fn url(&self, timeout: Duration) -> String {
        let Self { host, port, path, .. } = self;
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        format!("https://{host}:{port}{path}?timeout={}s", timeout.as_secs())
    }
}

/// A path as the client of the reference joins it. The URLs of envtest have two slashes before it.
fn joined(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::{Options, Request, Server};
    use super::super::{GROUP, MUTATING};
    use super::*;

    #[test]
    fn what_has_not_changed_stays_compiled() {
        let install = |server: &mut Server, name: &str| {
            let hook = json!({
                "name": "a.x.io", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://127.0.0.1:1/"},
            });
            let body = json!({"metadata": {"name": name}, "webhooks": [hook]});
            let request = Request::new("POST", &format!("/apis/{GROUP}/v1/{MUTATING}"));
            server.handle(Duration::ZERO, &request.json(&body));
        };
        let mut server = Server::new(&Options::default());
        install(&mut server, "one");
        let first = server.hooks.mutating[0].clone();
        install(&mut server, "two");
        assert_eq!(server.hooks.mutating.len(), 2);
        assert!(Arc::ptr_eq(&first, &server.hooks.mutating[0]));
    }
}
