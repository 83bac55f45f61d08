//! What mutating policies make of an object.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::super::mistake::Slip;
use super::super::super::status::{Failure, Outcome};
use super::super::super::{Call, Server, decode};
use super::super::chain::{States, internal};
use super::super::{limits, review::Wish};
use super::judge::{Seen, name};
use super::sight::{ALL, Evaluator, Given};
use super::{Mutation, Policy, is_exempt};
use crate::cel;
use crate::patch::{self, Stopped};
use crate::short::short;

/// Which mutations of a request were made, and which are due again.
#[derive(Debug, Default)]
pub(in super::super) struct Invoked {
    before: BTreeSet<Place>,
    again: BTreeSet<Place>,
    /// What the last round has left.
    last: Option<Value>,
}

/// A policy, a binding, and which of its parameters.
type Place = (usize, usize, usize);

impl Invoked {
    fn is_changed(&mut self) {
        self.again.append(&mut self.before);
    }
}

/// One invocation: its place, the policy, its version, the binding, and the parameters.
struct Due<'a> {
    place: Place,
    policy: &'a Policy,
    version: String,
    binding: &'a str,
    params: Option<Arc<Value>>,
}

fn told(policy: &Policy, binding: &str, why: &str) -> String {
    format!("policy '{}' with binding '{binding}' denied request: {why}", policy.name)
}

impl Due<'_> {
    fn told(&self, why: &str) -> String {
        told(self.policy, self.binding, why)
    }
}

/// Why a mutation was not made. The inner one is a failure of the policy, the outer one of the server.
type Fails<T> = Outcome<Result<T, String>>;

impl Server {
    /// Lets the policies change an object, and tells whether any has tried to.
    pub(in super::super) fn mutate_by_policies(
        &self,
        call: &Call<'_>,
        wish: &Wish,
        (object, old): (&mut Option<Value>, Option<&Value>),
        (round, invoked): (usize, &mut Invoked),
    ) -> Outcome<bool> {
        let policies = Arc::clone(&self.hooks.policies[1]);
        let is_late = round > 0 && self.slips(Slip::PoliciesComeOnce);
        if policies.is_empty() || is_late || is_exempt(call.resource()) {
            return Ok(false);
        }
        let mut wrong: Vec<(String, &'static str)> = Vec::new();
        let all = self.mutations_due(call, wish, &policies, (object.as_ref(), old), &mut wrong)?;
        let (asker, namespace) = (self.asker(call, wish), self.namespace_of(wish)?);
        if round > 0 && invoked.last != *object {
            invoked.is_changed();
        }
        let mut has_tried = false;
        for due in &all {
            let states = (object.as_ref(), old);
            let seen = Seen::new(call, wish, &due.version, states);
            let given = seen.given(&namespace, due.params.as_deref(), &asker);
            match due.policy.conditions.hold(Given { namespace: &Value::Null, ..given }) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(_) if due.policy.may_fail => continue,
                Err(why) => {
                    wrong.push((due.told(&why), "Invalid"));
                    continue;
                }
            }
            if round > 0 && !invoked.again.contains(&due.place) {
                continue;
            }
            let before = object.clone();
            for mutation in &due.policy.mutations {
                let Some(now) = object.as_ref() else { break };
                let seen = Seen::new(call, wish, &due.version, (Some(now), old));
                let given = seen.given(&namespace, due.params.as_deref(), &asker);
                match mutated(call, wish, due.policy, mutation, given, now)? {
                    Ok(after) => {
                        has_tried = true;
                        *object = Some(after);
                    }
                    Err(why) if !due.policy.may_fail => wrong.push((due.told(&why), "Invalid")),
                    Err(_) => {}
                }
            }
            if *object != before {
                invoked.is_changed();
            }
            if due.policy.comes_again {
                invoked.before.insert(due.place);
            }
        }
        if has_tried {
            invoked.is_changed();
        }
        invoked.last.clone_from(object);
        if wrong.is_empty() {
            return Ok(has_tried);
        }
        Err(denied(call, wish, (object.as_ref(), old), &wrong))
    }

    /// The invocations that a request asks for, before any is made.
    fn mutations_due<'a>(
        &self,
        call: &Call<'_>,
        wish: &Wish,
        policies: &'a [(Arc<Policy>, Vec<super::Binding>)],
        states: States<'_>,
        wrong: &mut Vec<(String, &'static str)>,
    ) -> Outcome<Vec<Due<'a>>> {
        let mut all = Vec::new();
        for (first, (policy, bindings)) in policies.iter().enumerate() {
            let Some(version) = self.covers(&policy.scope, call, wish, states)? else { continue };
            if let Some(why) = self.params_wrong(policy) {
                if !policy.may_fail {
                    let start = format!("policy {:?} denied request", policy.name);
                    wrong
                        .push((format!("{start}: failed to configure policy: {why}"), "Forbidden"));
                }
                continue;
            }
            for (second, binding) in bindings.iter().enumerate() {
                if let Some(scope) = &binding.scope
                    && self.covers(scope, call, wish, states)?.is_none()
                {
                    continue;
                }
                match self.params_of(policy, binding, &wish.namespace) {
                    Ok(params) => {
                        all.extend(params.into_iter().enumerate().map(|(third, params)| Due {
                            place: (first, second, third),
                            policy,
                            version: version.clone(),
                            binding: &binding.name,
                            params,
                        }));
                    }
                    Err(_) if policy.may_fail => {}
                    Err(why) => {
                        let why = format!("failed to configure binding: {why}");
                        wrong.push((told(policy, &binding.name, &why), "Forbidden"));
                    }
                }
            }
        }
        Ok(all)
    }
}

/// The object after one mutation.
fn mutated(
    call: &Call<'_>,
    wish: &Wish,
    policy: &Policy,
    mutation: &Mutation,
    given: Given<'_>,
    now: &Value,
) -> Fails<Value> {
    let evaluated = Evaluator::new(given, &policy.named, ALL)
        .and_then(|mut it| it.run(&mutation.text, &mutation.program)?);
    let value = match evaluated {
        Ok(value) => value,
        Err(why) => return Ok(Err(why)),
    };
    if mutation.is_patch {
        return operated(call, wish, &value, now);
    }
    let resource = call.resource();
    let mut wanted = match cel::patch::applied(&value) {
        Ok(wanted) => wanted,
        Err(why) => return Ok(Err(why)),
    };
    let failed = |why: String| Ok(Err(format!("error applying patch: {why}")));
    for field in ["kind", "apiVersion"] {
        wanted[field] = now[field].clone();
    }
    let start = "failed to convert patch object to typed object";
    if wish.kind[2] != resource.kind {
        let [group, version, kind] = &wish.kind;
        let slash = if group.is_empty() { "" } else { "/" };
        let of = format!("{group}{slash}{version}, Kind={kind}");
        return failed(format!("{start}: no corresponding type for {of}"));
    }
    match patch::lay_over(&resource.types, now, &wanted) {
        Ok(after) => read(call, wish, after),
        Err(patch::Refused::Form(why)) => failed(format!("{start}: {why}")),
        Err(patch::Refused::Atomic(paths)) => {
            let what = "may not mutate atomic arrays, maps or structs";
            failed(format!("invalid ApplyConfiguration: {what}: {}", paths.join(", ")))
        }
    }
}

/// The object after the operations of a patch. If one of its tests fails, it stays.
fn operated(call: &Call<'_>, wish: &Wish, value: &cel::Value<'_>, now: &Value) -> Fails<Value> {
    let operations = match cel::patch::operations(value) {
        Ok(operations) => operations,
        Err(why) => return Ok(Err(why)),
    };
    let after = match carried_out(now, &operations) {
        Ok(after) => after,
        Err(stopped) => {
            return Ok(match failed(now, &operations, stopped) {
                Some(why) => Err(format!("JSON Patch: {why}")),
                None => Ok(now.clone()),
            });
        }
    };
    let mut unknown = Vec::new();
    let resource = call.resource();
    if wish.kind[2] == resource.kind && !resource.is_custom {
        decode::shape(resource, after.clone(), &mut unknown).map_err(|why| internal(&why))?;
    }
    if !unknown.is_empty() {
        let unknown = unknown.iter().map(|it| format!("unknown field {it:?}"));
        let unknown: Vec<_> = unknown.collect();
        return Err(internal(&format!("strict decoding error: {}", unknown.join(", "))));
    }
    read(call, wish, after)
}

fn carried_out(now: &Value, operations: &[Value]) -> Result<Value, Stopped> {
    patch::performed(now, Value::from(operations).to_string().as_bytes())
}

/// Why the operations were not carried out; none if a test has failed.
fn failed(now: &Value, operations: &[Value], stopped: Stopped) -> Option<String> {
    let done = match stopped {
        Stopped::Body(error) => return Some(error.message),
        Stopped::At(_, Some(limit)) => return Some(limit.to_owned()),
        Stopped::At(done, None) => done,
    };
    let state = carried_out(now, &operations[..done]).unwrap_or_default();
    let part = |field: &str| operations.get(done).and_then(|it| it[field].as_str()).unwrap_or("");
    let (op, path, from) = (part("op"), short(part("path")), part("from"));
    let split =
        |path: &str| path.rsplit_once('/').map(|(place, key)| (place.to_owned(), key.to_owned()));
    let has_place = |path: &str| {
        let place = split(path).and_then(|it| state.pointer(&it.0).cloned());
        place.is_some_and(|it| it.is_object() || it.is_array())
    };
    let key = split(&path).unwrap_or_default().1;
    let missing = "missing value";
    Some(match op {
        "test" if has_place(&path) => return None,
        "test" => format!("test operation does not apply: is missing path: {path}: {missing}"),
        "replace" => {
            let what = if has_place(&path) { "key" } else { "path" };
            format!("replace operation does not apply: doc is missing {what}: {path}: {missing}")
        }
        "remove" if has_place(&path) => format!(
            "error in remove for path: '{path}': Unable to remove nonexistent key: {key}: {missing}"
        ),
        "add" if has_place(&path) => format!(
            "error in add for path: '{path}': Unable to access invalid index: {key}: invalid index referenced"
        ),
        "add" | "remove" => {
            format!("{op} operation does not apply: doc is missing path: {path:?}: {missing}")
        }
        "move" | "copy" if state.pointer(from).is_none() => {
            let from = short(from);
            format!("{op} operation does not apply: doc is missing from path: {from}: {missing}")
        }
        "move" | "copy" => {
            format!(
                "{op} operation does not apply: doc is missing destination path: {path}: {missing}"
            )
        }
        other => format!("Unexpected kind: {}", short(other)),
    })
}

/// A changed object, with its defaults.
fn read(call: &Call<'_>, wish: &Wish, after: Value) -> Fails<Value> {
    let resource = call.resource();
    if !after["metadata"].is_object() {
        return Err(internal("the patch leaves no object"));
    }
    if wish.kind[2] != resource.kind {
        return Ok(Ok(after));
    }
    Ok(Ok(decode::shape(resource, after, &mut Vec::new()).map_err(|why| internal(&why))?))
}

fn denied(
    call: &Call<'_>,
    wish: &Wish,
    states: States<'_>,
    wrong: &[(String, &'static str)],
) -> Box<Failure> {
    let mut failure = limits::forbidden(call.resource(), &name(wish, states), "");
    let causes: Vec<Value> = wrong.iter().map(|(why, _)| json!({"message": why})).collect();
    if let Some((why, reason)) = wrong.first() {
        failure.message.clone_from(why);
        failure.reason = Some(reason);
    }
    if let Some(details) = &mut failure.details {
        details["causes"] = causes.into();
    }
    failure
}
