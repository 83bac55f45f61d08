//! The webhooks of a request, one after the other or all at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::super::mistake::Slip;
use super::super::random::Random;
use super::super::status::{Failure, Outcome};
use super::super::store::Key;
use super::super::{Call, Server, decode};
use super::hook::{Hook, Wanted};
use super::review::{Verdict, Wish, judge};
use super::{GROUP, MUTATING, VALIDATING, WebhookCall, WebhookReply, limits};
use crate::patch;

/// The two states of an object that a webhook is asked about.
type States<'a> = (Option<&'a Value>, Option<&'a Value>);

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
        if let Some(object) = object {
            self.limit(call, wish, object, true)?;
        }
        let hooks = Arc::clone(&self.hooks.mutating);
        let (mut invoked, mut again) = (BTreeSet::new(), BTreeSet::new());
        for round in 0..2 {
            let mut is_changed = false;
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
        (object, old): States<'_>,
    ) -> Outcome<Option<String>> {
        let resource = call.resource();
        let part = call.target.subresource.as_deref().unwrap_or("");
        if resource.group == GROUP && matches!(resource.plural.as_str(), MUTATING | VALIDATING) {
            return Ok(None);
        }
        let (operation, namespace) = (wish.operation, wish.namespace.as_str());
        let wanted = Wanted { operation, resource, part, namespace };
        let others = self.registry.iter().filter(|it| {
            it.group == resource.group
                && it.plural == resource.plural
                && it.version != resource.version
        });
        let others: Vec<&str> = others.map(|it| it.version.as_str()).collect();
        let Some(version) = hook.covers(&wanted, &others) else { return Ok(None) };
        let old = old.filter(|_| !self.slips(Slip::OnlyTheNewIsSelected));
        let states = [object, old];
        let is_selected = hook.objects.is_empty()
            || states.into_iter().flatten().any(|it| hook.objects.matches(it));
        if !is_selected || !self.selects_namespace(hook, wish, resource, object)? {
            return Ok(None);
        }
        if !hook.conditions.is_empty() {
            let review = wish.review(call, version, object, states[1]);
            let is_met = match hook.conditions.hold(&review) {
                Ok(is_met) => is_met,
                Err(_) if hook.may_fail => false,
                Err(why) => return Err(limits::forbidden(resource, &wish.name, &why)),
            };
            if !is_met {
                return Ok(None);
            }
        }
        Ok(Some(version.to_owned()))
    }

    fn selects_namespace(
        &self,
        hook: &Hook,
        wish: &Wish,
        resource: &super::Resource,
        object: Option<&Value>,
    ) -> Outcome<bool> {
        let is_one = resource.plural == "namespaces" && resource.group.is_empty();
        if hook.namespaces.is_empty() || wish.namespace.is_empty() && !is_one {
            return Ok(true);
        }
        if let Some(object) = object.filter(|_| is_one) {
            return Ok(hook.namespaces.matches(object));
        }
        let Some(namespaces) = self.registry.get("", "v1", "namespaces") else { return Ok(true) };
        let name = if is_one { &wish.name } else { &wish.namespace };
        let stored = self.stored(namespaces, &Key::new("", name));
        let stored = stored.ok_or_else(|| Failure::not_found(namespaces, name))?;
        Ok(hook.namespaces.matches(&stored.object))
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
fn internal(why: &str) -> Box<Failure> {
    let message = format!("Internal error occurred: {why}");
    let mut failure = Failure::new(500, "InternalError", message);
    failure.details = Some(serde_json::json!({"causes": [{"message": why}]}));
    failure
}
