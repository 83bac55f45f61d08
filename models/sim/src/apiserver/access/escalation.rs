//! Who writes a role or a binding grants nothing that they may not do themselves.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::metadata::{self, text};
use super::super::mistake::Slip;
use super::super::status::{Failure, Outcome};
use super::super::store::Key;
use super::super::{Call, Server};
use super::rule::{PARTS, compact, quoted};
use super::{Attributes, GROUP, Rule, User};

/// How many texts of rules may be compared with each other.
const COMPARED: usize = 50_000_000;
const MANY: &str = "the rules have more combinations than this server looks at";

impl Server {
    /// Checks a write of a role or of a binding.
    pub(in super::super) fn check_grant(
        &mut self,
        call: &Call<'_>,
        old: Option<&Value>,
        new: &Value,
    ) -> Outcome<()> {
        let (Some(user), Some(_)) = (call.user.clone(), &self.access) else { return Ok(()) };
        let resource = call.resource();
        if resource.group != GROUP || user.is_master() || self.slips(Slip::GrantsAnything) {
            return Ok(());
        }
        if old.is_some_and(|old| is_kept(old, new)) {
            return Ok(());
        }
        match resource.plural.as_str() {
            "roles" | "clusterroles" => self.check_role(call, &user, old, new),
            _ => self.check_binding(call, &user, new),
        }
    }

    fn check_role(
        &mut self,
        call: &Call<'_>,
        user: &Arc<User>,
        old: Option<&Value>,
        new: &Value,
    ) -> Outcome<()> {
        let asked = Attributes::of(call.request);
        let escalate = Attributes {
            verb: "escalate".to_owned(),
            subresource: String::new(),
            name: call.name().to_owned(),
            ..asked
        };
        if self.may(user, &escalate) {
            return Ok(());
        }
        let named = Attributes { name: text(new, "name").to_owned(), ..escalate.clone() };
        let gathers = |role: &Value| !role["aggregationRule"].is_null();
        if gathers(new) || old.is_some_and(gathers) {
            let all = json!({"rules": [
                {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
                {"nonResourceURLs": ["*"], "verbs": ["*"]},
            ]});
            if self.lacks(user, "", &Rule::all(&all)).is_some() {
                let why = "must have cluster-admin privileges to use the aggregationRule";
                return self.missing(escalate, named.forbidden(why));
            }
        }
        match self.lacks(user, &call.target.namespace, &Rule::all(new)) {
            Some(why) => self.missing(escalate, named.forbidden(&why)),
            None => Ok(()),
        }
    }

    fn check_binding(&mut self, call: &Call<'_>, user: &Arc<User>, new: &Value) -> Outcome<()> {
        let (role, namespace) = (&new["roleRef"], &call.target.namespace);
        let name = role["name"].as_str().unwrap_or("").to_owned();
        let is_own = role["kind"] == "Role";
        let plural = if is_own { "roles" } else { "clusterroles" };
        let bind = Attributes {
            verb: "bind".to_owned(),
            group: GROUP.to_owned(),
            resource: plural.to_owned(),
            namespace: namespace.clone(),
            name: name.clone(),
            ..Attributes::default()
        };
        if self.may(user, &bind) {
            return Ok(());
        }
        let key = Key::new(if is_own { namespace } else { "" }, &name);
        let Some(rules) = self.access.as_ref().and_then(|it| it.policy.role(&key)) else {
            let missing = self.registry.get(GROUP, "v1", plural);
            let missing = missing.map(|it| Failure::not_found(it, &name));
            return missing.map_or(Ok(()), |failure| self.missing(bind, failure));
        };
        let named = Attributes {
            name: text(new, "name").to_owned(),
            subresource: String::new(),
            ..Attributes::of(call.request)
        };
        match self.lacks(user, namespace, rules) {
            Some(why) => self.missing(bind, named.forbidden(&why)),
            None => Ok(()),
        }
    }

    /// Whether a right that lifts the check is there.
    fn may(&mut self, user: &User, asked: &Attributes) -> bool {
        let decision = self.decide(user, asked);
        let notes = self.access.as_mut().and_then(|it| it.notes.as_mut());
        if let (true, Some(notes)) = (decision.allowed, notes) {
            notes.push(super::Noted { asked: asked.clone(), decision: decision.clone() });
        }
        decision.allowed
    }

    /// Refuses a write, or notes the right that it would need.
    fn missing(&mut self, asked: Attributes, failure: Box<Failure>) -> Outcome<()> {
        let Some(notes) = self.access.as_mut().and_then(|it| it.notes.as_mut()) else {
            return Err(failure);
        };
        notes.push(super::Noted { asked, decision: super::Decision::default() });
        Ok(())
    }

    /// Why a user may not grant these rules, if they may not.
    fn lacks(&self, user: &User, namespace: &str, rules: &[Rule]) -> Option<String> {
        let (own, errors) = self.access.as_ref()?.policy.rules(user, namespace);
        let (mut lacking, mut looked) = (Vec::new(), 0);
        let all = |rules: &mut dyn Iterator<Item = &Rule>| rules.map(Rule::texts).sum::<usize>();
        if all(&mut own.iter().copied()).saturating_mul(all(&mut rules.iter())) > COMPARED {
            return Some(MANY.to_owned());
        }
        for rule in rules {
            // Mostly one rule covers all of another, which is found without taking it apart.
            if own.iter().any(|it| it.covers(rule)) {
                continue;
            }
            let Some(parts) = rule.parts() else {
                return Some(MANY.to_owned());
            };
            looked += parts.len();
            if looked > PARTS {
                return Some(MANY.to_owned());
            }
            lacking.extend(parts.into_iter().filter(|part| !own.iter().any(|it| it.covers(part))));
        }
        if lacking.is_empty() {
            return None;
        }
        let lines: BTreeSet<String> = compact(lacking).iter().map(Rule::line).collect();
        let lines: Vec<String> = lines.into_iter().take(crate::short::MOST).collect();
        let (name, groups) = (Value::from(user.name.as_str()), quoted(&user.groups));
        let mut why = format!(
            "user {name} (groups={groups}) is attempting to grant RBAC permissions not currently held:\n{}",
            lines.join("\n")
        );
        match errors[..] {
            [] => {}
            [one] => why.push_str(&format!("; resolution errors: [{one}]")),
            _ => why.push_str(&format!("; resolution errors: [{}]", errors.join(", "))),
        }
        Some(why)
    }
}

/// Whether a change is one that the garbage collector makes. A label may put a role into another one, so it
/// is none.
fn is_kept(old: &Value, new: &Value) -> bool {
    let [old, new] = [old, new].map(|it| {
        let mut it = it.clone();
        let fields = ["ownerReferences", "finalizers", "managedFields", "resourceVersion"];
        fields.into_iter().for_each(|field| metadata::set(&mut it, field, Value::Null));
        it
    });
    old == new
}
