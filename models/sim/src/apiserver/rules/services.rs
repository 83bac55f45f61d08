//! Services: their addresses and ports, and how those change with the type.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::super::bounds::At;
use super::super::cause::{Cause, Causes};
use super::super::metadata::text;
use super::super::resource::Resource;
use super::super::status::{Failure, Outcome};
use super::super::store::Key;
use super::super::{Server, types};

/// Where addresses begin, and how many there are.
const ADDRESSES: (u32, u64) = (0x0a60_0000, 1 << 20);
const NODE_PORTS: (u64, u64) = (30_000, 2_768);

fn kind(spec: &Value) -> &str {
    spec["type"].as_str().unwrap_or("")
}

fn has_node_ports(spec: &Value) -> bool {
    kind(spec) == "NodePort"
        || kind(spec) == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] != false
}

fn remove(spec: &mut Value, field: &str) {
    if let Some(fields) = spec.as_object_mut() {
        fields.remove(field);
    }
}

/// A port leads to the same port of a pod.
pub(super) fn ports(port: &mut Value) {
    if types::is_empty(&port["targetPort"]) {
        port["targetPort"] = port["port"].clone();
    }
}

/// Keeps what was given before, and drops what the type does not have any more.
pub(crate) fn prepare(service: &mut Value, old: Option<&Value>) {
    if service["status"].as_object().is_none_or(serde_json::Map::is_empty) {
        service["status"] = json!({"loadBalancer": {}});
    }
    let spec = &mut service["spec"];
    if let Some(old) = old {
        keep(spec, &old["spec"]);
    }
    let first = spec["clusterIPs"][0].as_str().unwrap_or("").to_owned();
    let own = spec["clusterIP"].as_str().unwrap_or("").to_owned();
    if own.is_empty() && !first.is_empty() && old.is_none() {
        spec["clusterIP"] = first.into();
    } else if !own.is_empty() && first.is_empty() {
        spec["clusterIPs"] = json!([own]);
    }
}

fn keep(spec: &mut Value, old: &Value) {
    let changes = kind(spec) != kind(old);
    if kind(spec) == "ExternalName" && changes {
        let fields = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
        for field in fields.into_iter().chain(["internalTrafficPolicy", "externalTrafficPolicy"]) {
            if spec[field] == old[field] {
                remove(spec, field);
            }
        }
    }
    if kind(spec) != "ExternalName" && kind(old) != "ExternalName" {
        let had = spec["clusterIP"].as_str().is_some_and(|it| !it.is_empty());
        let moved = had && spec["clusterIP"] != old["clusterIP"];
        if moved && spec["clusterIPs"] == old["clusterIPs"] {
            spec["clusterIPs"] = json!([spec["clusterIP"]]);
        }
        for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            if types::is_empty(&spec[field]) && !old[field].is_null() {
                spec[field] = old[field].clone();
            }
        }
    }
    if changes && !matches!(kind(spec), "NodePort" | "LoadBalancer") {
        if spec["externalTrafficPolicy"] == old["externalTrafficPolicy"] {
            remove(spec, "externalTrafficPolicy");
        }
        remove(spec, "allocateLoadBalancerNodePorts");
    }
    let (gives, gave) = (has_node_ports(spec), has_node_ports(old));
    let before = old["ports"].as_array().cloned().unwrap_or_default();
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        let is_same =
            |it: &&Value| it["port"] == port["port"] && it["protocol"] == port["protocol"];
        let Some(old) = before.iter().find(is_same).filter(|_| gave) else { continue };
        if gives && types::is_empty(&port["nodePort"]) && !old["nodePort"].is_null() {
            port["nodePort"] = old["nodePort"].clone();
        } else if !gives && changes && port["nodePort"] == old["nodePort"] {
            remove(port, "nodePort");
        }
    }
}

pub(super) fn check(spec: &Value, _: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let none = Vec::new();
    let ports = spec["ports"].as_array().unwrap_or(&none);
    let is_headless = spec["clusterIP"] == "None";
    let list = At::Field(at, "ports");
    if ports.is_empty() && kind(spec) != "ExternalName" && !is_headless {
        causes.push(Cause::required(list, ""));
    }
    if is_headless && matches!(kind(spec), "NodePort" | "LoadBalancer") {
        let why = format!("may not be set to 'None' for {} services", kind(spec));
        let first = At::Field(at, "clusterIPs");
        causes.push(Cause::invalid(At::Item(&first, 0), &spec["clusterIP"], why));
    }
    let mut seen = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let place = At::Item(&list, index);
        if ports.len() > 1 && types::is_empty(&port["name"]) && !causes.is_full() {
            causes.push(Cause::required(At::Field(&place, "name"), ""));
        }
        if kind(spec) == "ClusterIP" && !types::is_empty(&port["nodePort"]) {
            let why = "may not be used when `type` is 'ClusterIP'";
            causes.push(Cause::forbidden(At::Field(&place, "nodePort"), why));
        }
        let key = (port["protocol"].as_str().unwrap_or(""), port["port"].as_i64());
        if !seen.insert(key) && !causes.is_full() {
            let message = format!("Duplicate value: {}", json!({"protocol": key.0, "port": key.1}));
            causes.push(Cause::new(place, "FieldValueDuplicate", message));
        }
    }
    if !matches!(kind(spec), "NodePort" | "LoadBalancer")
        && !types::is_empty(&spec["externalTrafficPolicy"])
    {
        let why = "may only be set for externally-accessible services";
        let place = At::Field(at, "externalTrafficPolicy");
        causes.push(Cause::invalid(place, &spec["externalTrafficPolicy"], why));
    }
}

/// An address stays.
pub(super) fn change(spec: &Value, old: Option<&Value>, at: &At<'_>, causes: &mut Causes) {
    let Some(old) = old else { return };
    if [spec, old].into_iter().any(|it| kind(it) == "ExternalName") {
        return;
    }
    if !types::is_empty(&old["clusterIP"]) && spec["clusterIPs"][0] != old["clusterIPs"][0] {
        let field = At::Field(at, "clusterIPs");
        let why = "may not change once set";
        causes.push(Cause::invalid(At::Item(&field, 0), &spec["clusterIPs"], why));
    }
}

impl Server {
    /// Gives a service the addresses and ports that it needs.
    pub(in super::super) fn allocate(
        &self,
        resource: &Resource,
        service: &mut Value,
    ) -> Outcome<()> {
        if resource.plural != "services" || !resource.group.is_empty() {
            return Ok(());
        }
        let refuse = |service: &Value, cause| {
            Err(Failure::invalid("", "Service", text(service, "name"), &[cause]))
        };
        let spec = &service["spec"];
        if kind(spec) == "ExternalName" {
            return Ok(());
        }
        let own = spec["clusterIP"].as_str().unwrap_or("").to_owned();
        let uid = service["metadata"]["uid"].clone();
        let key = Key::new(text(service, "namespace"), text(service, "name"));
        // What it has already need not be looked for among all services.
        let before =
            self.stored(resource, &key).map(|it| &it.object["spec"]).unwrap_or(&Value::Null);
        if own.is_empty() {
            let given =
                Ipv4Addr::from(ADDRESSES.0 + (self.revision() % (ADDRESSES.1 - 2) + 1) as u32);
            service["spec"]["clusterIP"] = given.to_string().into();
            service["spec"]["clusterIPs"] = json!([given.to_string()]);
        } else if own != "None" && before["clusterIP"] != own.as_str() {
            let mut others = self.services(resource).filter(|it| it["metadata"]["uid"] != uid);
            if others.any(|it| it["spec"]["clusterIP"] == own.as_str()) {
                let why = "failed to allocate IP: provided IP is already allocated";
                let cause = Cause::invalid("spec.clusterIPs", &json!([own]), why);
                return refuse(service, cause);
            }
        }
        let spec = &mut service["spec"];
        let is_both = own == "None" && types::is_empty(&spec["selector"]);
        let (families, policy) = match is_both {
            true => (json!(["IPv4", "IPv6"]), "RequireDualStack"),
            false => (json!(["IPv4"]), "SingleStack"),
        };
        for (field, value) in [("ipFamilies", families), ("ipFamilyPolicy", policy.into())] {
            if types::is_empty(&spec[field]) {
                spec[field] = value;
            }
        }
        let ports = |spec: &Value| -> Vec<Option<u64>> {
            let ports = spec["ports"].as_array().into_iter().flatten();
            ports.map(|port| port["nodePort"].as_u64()).collect()
        };
        let has = ports(spec);
        let is_as_before = has == ports(before) && has.iter().all(Option::is_some);
        if !has_node_ports(spec) || is_as_before {
            return Ok(());
        }
        let mut used: BTreeSet<u64> = self
            .services(resource)
            .filter(|it| it["metadata"]["uid"] != uid)
            .flat_map(|it| it["spec"]["ports"].as_array().into_iter().flatten())
            .filter_map(|port| port["nodePort"].as_u64())
            .collect();
        let from = self.revision();
        for index in 0..service["spec"]["ports"].as_array().map_or(0, Vec::len) {
            let asked = service["spec"]["ports"][index]["nodePort"].as_u64().unwrap_or(0);
            let mut free = (0..NODE_PORTS.1).map(|it| NODE_PORTS.0 + (from + it) % NODE_PORTS.1);
            let given = if asked > 0 { Some(asked) } else { free.find(|it| !used.contains(it)) };
            match given.filter(|it| used.insert(*it)) {
                Some(port) => service["spec"]["ports"][index]["nodePort"] = port.into(),
                None => {
                    let field = format!("spec.ports[{index}].nodePort");
                    let why = "provided port is already allocated";
                    return refuse(service, Cause::invalid(field, &asked.into(), why));
                }
            }
        }
        Ok(())
    }

    fn services(&self, resource: &Resource) -> impl Iterator<Item = &Value> {
        let table = self.store.table(&resource.qualified());
        table.into_iter().flat_map(|it| it.objects.iter()).map(|(_, it)| &*it.object)
    }
}
