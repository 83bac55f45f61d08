//! The webhooks of a request, one after the other or all at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::super::mistake::Slip;
use super::super::random::Random;
use super::super::status::{Failure, Outcome};
use super::super::store::Key;
use super::super::{Call, Server, decode};
use super::hook::Hook;
use super::policy::{Invoked, Seen};
use super::review::{Verdict, Wish, judge};
use super::scope::{Scope, Wanted};
use super::{GROUP, MUTATING, VALIDATING, WebhookCall, WebhookReply, limits};
use crate::patch;

/// The two states of an object that a webhook is asked about.
pub(super) type States<'a> = (Option<&'a Value>, Option<&'a Value>);

impl Server {
    /// An object as the server's own rules and the mutating webhooks want it.
    pub(in super::super) fn mutated(
        &mut self,
        call: &mut Call<'_>,
        wish: &Wish,
        object: Value,
        old: Option<&Value>,
    ) -> Outcome<Value> {
        let mut object = Some(object);
        self.mutate(call, wish, &mut object, old)?;
        Ok(object.unwrap_or_default())
    }

    /// Lets the server's own rules and the mutating webhooks change an object that is about to be written.
    pub(in super::super) fn mutate(
        &mut self,
        call: &mut Call<'_>,
        wish: &Wish,
        object: &mut Option<Value>,
        old: Option<&Value>,
    ) -> Outcome<()> {
        if wish.is_behind_a_scale(call) {
            return Ok(());
        }
        let hooks = Arc::clone(&self.hooks.mutating);
        let (mut invoked, mut again) = (BTreeSet::new(), BTreeSet::new());
        let (mut by_policies, mut left) = (Invoked::default(), None);
        for round in 0..2 {
            // The server's own rules come again with the rest: what is new gets its defaults too.
            if let Some(object) = object {
                self.limit(call, wish, object, true)?;
            }
            let place = (round, &mut by_policies);
            let mut is_changed = self.mutate_by_policies(call, wish, (&mut *object, old), place)?;
            // Policies have changed what the webhooks had left.
            if left.take().is_some_and(|left| left != *object) {
                again.append(&mut invoked);
            }
            for (index, hook) in hooks.iter().enumerate() {
                let is_due = round == 0 || again.contains(&index);
                let Some(version) = self.selects(hook, call, wish, (object.as_ref(), old))? else {
                    continue;
                };
                if !is_due {
                    continue;
                }
                let verdict = self.consult(hook, call, wish, &version, (object.as_ref(), old))?;
                let is_last = index + 1 == hooks.len() && self.slips(Slip::LastPatchIsLost);
                if let Some(patch) = self.obey(hook, call, verdict)?.filter(|_| !is_last)
                    && patched(hook, call, wish, &patch, object)?
                {
                    is_changed = true;
                    again.append(&mut invoked);
                }
                if hook.comes_again {
                    invoked.insert(index);
                }
            }
            if !is_changed {
                break;
            }
            left = Some(object.clone());
        }
        Ok(())
    }

    /// Asks the validating webhooks, all at once, and the server's own rules about what is to be written.
    pub(in super::super) fn approve(
        &mut self,
        call: &mut Call<'_>,
        wish: &Wish,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Outcome<()> {
        if wish.is_behind_a_scale(call) {
            return Ok(());
        }
        if let Some(object) = object {
            self.limit(call, wish, &mut object.clone(), false)?;
        }
        if let Some(object) = object {
            self.check_params(call, object, old)?;
        }
        self.judge(call, wish, (object, old))?;
        let hooks = Arc::clone(&self.hooks.validating);
        let mut first = Ok(());
        for hook in hooks.iter() {
            let Some(version) = self.selects(hook, call, wish, (object, old))? else { continue };
            let verdict = match self.consult(hook, call, wish, &version, (object, old)) {
                Ok(verdict) => self.obey(hook, call, verdict).map(drop),
                Err(failure) => Err(failure),
            };
            // The calls of those after it are needed as well.
            first = first.and(verdict);
        }
        first?;
        match object {
            Some(object) => self.count_in(call, wish, object, old),
            None => Ok(()),
        }
    }

    /// The version in which a webhook is asked about a request, if it is.
    fn selects(
        &self,
        hook: &Hook,
        call: &Call<'_>,
        wish: &Wish,
        states: States<'_>,
    ) -> Outcome<Option<String>> {
        let resource = call.resource();
        if resource.group == GROUP && matches!(resource.plural.as_str(), MUTATING | VALIDATING) {
            return Ok(None);
        }
        let Some(version) = self.covers(&hook.scope, call, wish, states)? else { return Ok(None) };
        if !hook.conditions.is_empty() {
            let old = states.1.filter(|_| !self.slips(Slip::OnlyTheNewIsSelected));
            let seen = Seen::new(call, wish, &version, (states.0, old));
            let asker = self.asker(call, wish);
            let is_met = match hook.conditions.hold(seen.given(&Value::Null, None, &asker)) {
                Ok(is_met) => is_met,
                Err(_) if hook.may_fail => false,
                Err(why) => return Err(limits::forbidden(resource, &wish.name, &why)),
            };
            if !is_met {
                return Ok(None);
            }
        }
        Ok(Some(version))
    }

    /// The version of the resource in which a request is within a scope; none if it is not.
    pub(super) fn covers(
        &self,
        scope: &Scope,
        call: &Call<'_>,
        wish: &Wish,
        (object, old): States<'_>,
    ) -> Outcome<Option<String>> {
        let resource = call.resource();
        let part = call.target.subresource.as_deref().unwrap_or("");
        let Wish { operation, namespace, name, .. } = wish;
        let wanted = Wanted { operation, resource, part, namespace, name };
        let others = self.registry.iter().filter(|it| {
            it.group == resource.group
                && it.plural == resource.plural
                && it.version != resource.version
        });
        let others: Vec<&str> = others.map(|it| it.version.as_str()).collect();
        let excludes = !self.slips(Slip::NothingIsExcluded);
        let Some(version) = scope.covers(&wanted, &others, excludes) else { return Ok(None) };
        let old = old.filter(|_| !self.slips(Slip::OnlyTheNewIsSelected));
        let is_selected = scope.objects.is_empty()
            || [object, old].into_iter().flatten().any(|it| scope.objects.matches(it));
        let is_in = is_selected && self.selects_namespace(scope, wish, resource, object)?;
        Ok(is_in.then(|| version.to_owned()))
    }

    fn selects_namespace(
        &self,
        scope: &Scope,
        wish: &Wish,
        resource: &super::Resource,
        object: Option<&Value>,
    ) -> Outcome<bool> {
        let is_one = resource.plural == "namespaces" && resource.group.is_empty();
        if scope.namespaces.is_empty() || wish.namespace.is_empty() && !is_one {
            return Ok(true);
        }
        if let Some(object) = object.filter(|_| is_one) {
            return Ok(scope.namespaces.matches(object));
        }
        let Some(namespaces) = self.registry.get("", "v1", "namespaces") else { return Ok(true) };
        let name = if is_one { &wish.name } else { &wish.namespace };
        let stored = self.stored(namespaces, &Key::new("", name));
        let stored = stored.ok_or_else(|| Failure::not_found(namespaces, name))?;
        Ok(scope.namespaces.matches(&stored.object))
    }

    /// What a webhook says. The error means that it must be asked first, or may not be.
    fn consult(
        &mut self,
        hook: &Hook,
        call: &Call<'_>,
        wish: &Wish,
        version: &str,
        (object, old): States<'_>,
    ) -> Outcome<Verdict> {
        if self.asking.as_ref().is_some_and(|it| it.is_exempt) {
            return Ok(Verdict::Allowed { patch: None, warnings: Vec::new() });
        }
        if wish.is_dry && hook.has_side_effects {
            let why = format!("admission webhook {:?} does not support dry run", hook.name);
            return Err(Failure::bad_request(why));
        }
        let mut question = WebhookCall {
            webhook: hook.name.clone(),
            configuration: hook.of.clone(),
            to: hook.to.clone(),
            authorities: hook.authorities.clone(),
            timeout: hook.timeout,
            review: serde_json::json!({
                "kind": "AdmissionReview", "apiVersion": format!("admission.k8s.io/{}", hook.version),
                "request": wish.review(call, version, object, old),
            }),
        };
        let Some(asking) = &mut self.asking else {
            let nobody = WebhookReply::Failed("nobody here calls webhooks".to_owned());
            return Ok(judge(hook, &question, &nobody));
        };
        if let Some((asked, reply)) = asking.replies.get(&question.key()) {
            return Ok(judge(hook, asked, reply));
        }
        question.review["request"]["uid"] = asking.chance.as_mut().map(Random::uid).into();
        asking.lacks.push(question);
        Err(Failure::internal("a webhook is to be called"))
    }

    /// Refuses what a webhook refuses, and hands out its patch.
    fn obey(&self, hook: &Hook, call: &mut Call<'_>, verdict: Verdict) -> Outcome<Option<Vec<u8>>> {
        match verdict {
            Verdict::Allowed { patch, warnings } => {
                call.warnings.extend(warnings);
                Ok(patch)
            }
            Verdict::Denied { failure, warnings } => {
                call.warnings.extend(warnings);
                Err(failure)
            }
            Verdict::Failed(_) if hook.may_fail && !self.slips(Slip::IgnoredFailuresRefuse) => {
                Ok(None)
            }
            Verdict::Failed(why) => {
                Err(internal(&format!("failed calling webhook {:?}: {why}", hook.name)))
            }
        }
    }
}

/// Applies the patch of a webhook, and fills in defaults; tells whether anything has changed.
fn patched(
    hook: &Hook,
    call: &Call<'_>,
    wish: &Wish,
    bytes: &[u8],
    object: &mut Option<Value>,
) -> Outcome<bool> {
    if bytes == b"[]" {
        return Ok(false);
    }
    let resource = call.resource();
    let Some(before) = object else {
        return Err(internal(&format!(
            "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
            hook.name
        )));
    };
    let after = patch::json(before, bytes).map_err(|error| internal(&error.message))?;
    let after = if wish.kind[2] == resource.kind {
        let (kind, version) = (&after["kind"], &after["apiVersion"]);
        if *kind != resource.kind || *version != resource.api_version() {
            let kind = crate::short::short(kind.as_str().unwrap_or(""));
            let why =
                format!("converting (v1.{kind}) to (core.{}): unknown conversion", resource.kind);
            return Err(Failure::internal(why));
        }
        decode::shape(resource, after, &mut Vec::new()).map_err(|why| internal(&why))?
    } else {
        after
    };
    if !after["metadata"].is_object() {
        return Err(internal("the patch leaves no object"));
    }
    let is_changed = after != *before;
    *before = after;
    Ok(is_changed)
}

/// A failure inside the server, as it tells clients of one.
pub(super) fn internal(why: &str) -> Box<Failure> {
    let message = format!("Internal error occurred: {why}");
    let mut failure = Failure::new(500, "InternalError", message);
    failure.details = Some(serde_json::json!({"causes": [{"message": why}]}));
    failure
}
