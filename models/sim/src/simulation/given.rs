//! What the server chooses for a service: an address and node ports. They depend on what was written before, so
//! two runs that are equal in all that matters have others.

use std::collections::BTreeMap;

use serde_json::Value;

/// Whether somebody has asked for a field of the specification: what the server gave is owned by nobody.
fn is_asked_for(service: &Value, field: &str) -> bool {
    let owned = service["metadata"]["managedFields"].as_array().into_iter().flatten();
    let name = format!("\"f:{field}\"");
    owned.into_iter().any(|it| it["fieldsV1"]["f:spec"].to_string().contains(&name))
}

/// The address that the server gave to an object, if it is a service that has one.
pub(super) fn address<'a>(resource: &str, service: &'a Value) -> Option<&'a str> {
    let address = service["spec"]["clusterIP"].as_str().filter(|it| *it != "None");
    address
        .filter(|it| resource == "services" && !it.is_empty())
        .filter(|_| !is_asked_for(service, "clusterIP"))
}

/// Whether somebody has asked for the node port of this port.
fn is_port_asked_for(service: &Value, port: &Value) -> bool {
    let owned = service["metadata"]["managedFields"].as_array().into_iter().flatten();
    let fields = owned.filter_map(|it| it["fieldsV1"]["f:spec"]["f:ports"].as_object()).flatten();
    let mut asked = fields.filter(|it| it.1.get("f:nodePort").is_some()).map(|it| it.0);
    asked.any(|key| {
        let key = key.strip_prefix("k:").and_then(|it| serde_json::from_str::<Value>(it).ok());
        // Of what is not named by its port, nobody knows which one it is.
        key.is_none_or(|key| {
            key["port"] == port["port"]
                && key["protocol"].as_str().unwrap_or("TCP")
                    == port["protocol"].as_str().unwrap_or("TCP")
        })
    })
}

/// Puts a word in the place of each node port that the server gave.
pub(super) fn hide_ports(service: &Value, normal: &mut Value) {
    let spec = &mut normal["spec"];
    let ports = spec["ports"].as_array_mut().into_iter().flatten();
    for port in ports.filter(|it| !is_port_asked_for(service, it)) {
        if let Some(field) = port.get_mut("nodePort") {
            *field = "<given>".into();
        }
    }
    let health = spec.get_mut("healthCheckNodePort");
    if let Some(health) = health.filter(|_| !is_asked_for(service, "healthCheckNodePort")) {
        *health = "<given>".into();
    }
}

/// A text with a name in the place of each address, which may stand there with a port or in a URL.
pub(super) fn named(text: &str, names: &BTreeMap<String, String>) -> String {
    let is_part = |it: char| it.is_ascii_digit() || it == '.';
    let (mut named, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(is_part) {
        let (before, from) = rest.split_at(at);
        let (part, after) = from.split_at(from.find(|it| !is_part(it)).unwrap_or(from.len()));
        named.push_str(before);
        // The dot at the end is that of a sentence.
        let bare = part.trim_end_matches('.');
        named.push_str(names.get(bare).map_or(bare, String::as_str));
        named.push_str(&part[bare.len()..]);
        rest = after;
    }
    named + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::learn::Learned;
    use super::super::normal::{Normal, Times, View, normalise};
    use super::super::rules::Rules;
    use super::super::state::State;
    use super::*;
    use crate::apiserver::{Options, Request, Server};

    /// The end of a cluster after some other writes: a service, and a map that says where it is.
    fn end(others: usize, service: &Value) -> Normal {
        let mut server = Server::new(&Options::default());
        let space = "/api/v1/namespaces/default";
        let mut post = |plural: &str, object: &Value| {
            let request = Request::new("POST", &format!("{space}/{plural}")).json(object);
            drop(server.handle(server.now(), &request));
            State::of(&server)
        };
        for index in 0..others {
            post("secrets", &json!({"metadata": {"name": format!("s{index}")}}));
        }
        let made = post("services", service);
        let address = made.get("services", "default/db").expect("it is there")["spec"].clone();
        let at = format!("tcp://{}:80", address["clusterIP"].as_str().unwrap_or_default());
        let state = post("configmaps", &json!({"metadata": {"name": "map"}, "data": {"at": at}}));
        let (rules, learned) = (Rules::default(), Learned::default());
        let view = View { rules: &rules, learned: &learned, times: Times::default() };
        let mut end = normalise(&state, &[], &view);
        end.retain(|key, _| key.0 != "secrets");
        end
    }

    #[test]
    fn addresses_that_the_server_gives_are_compared_up_to_renaming_and_others_as_they_are() {
        let service = |spec: Value| json!({"metadata": {"name": "db"}, "spec": spec});
        let given = service(json!({"type": "NodePort", "ports": [{"port": 80}]}));
        let one = end(0, &given);
        assert_eq!(one, end(3, &given));
        let map = &one[&("configmaps".to_owned(), "default/map".to_owned())];
        assert_eq!(map["data"]["at"], "tcp://<address of services default/db>:80");
        // Another service of a name has another end, and so has one that asks for an address or a port.
        assert_eq!(
            named("10.96.0.7. And 10.96.0.70", &[("10.96.0.7".into(), "it".into())].into()),
            "it. And 10.96.0.70"
        );
        let both =
            json!([{"name": "a", "port": 80, "nodePort": 30_080}, {"name": "b", "port": 81}]);
        let both = service(json!({"type": "NodePort", "ports": both}));
        assert_eq!(end(0, &both), end(3, &both), "each port is one of its own");
        let headless = service(json!({"clusterIP": "None", "ports": [{"port": 80}]}));
        assert_ne!(one, end(0, &headless));
        for [first, other] in [
            ["10.96.0.7", "10.96.0.8"].map(|it| json!({"clusterIP": it, "ports": [{"port": 80}]})),
            [30_080, 30_081]
                .map(|it| json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": it}]})),
        ] {
            let [first, other] = [first, other].map(service);
            assert_eq!(end(0, &first), end(3, &first));
            assert_ne!(end(0, &first), end(0, &other));
        }
    }
}
