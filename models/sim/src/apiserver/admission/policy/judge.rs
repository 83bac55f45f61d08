//! What validating policies say of a request.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::super::access::User;
use super::super::super::metadata::text;
use super::super::super::mistake::Slip;
use super::super::super::status::{Failure, Outcome};
use super::super::super::store::Key;
use super::super::super::{Call, Server};
use super::super::chain::States;
use super::super::{limits, review::Wish};
use super::sight::{ALL, Asker, Evaluator, Given, OVER};
use super::{Policy, Validation, is_exempt};
use crate::cel::{self, Asked};

/// How long a computed message may be.
const LONGEST: usize = 5 * 1024;

/// Why something is refused: the text, the reason, and the code.
pub(super) type Refusal = (String, &'static str, u16);

fn invalid(why: String) -> Refusal {
    (why, "Invalid", 422)
}

impl Server {
    /// Asks the policies about what is to be written.
    pub(in super::super) fn judge(
        &self,
        call: &mut Call<'_>,
        wish: &Wish,
        states: States<'_>,
    ) -> Outcome<()> {
        let policies = Arc::clone(&self.hooks.policies[0]);
        if policies.is_empty() || is_exempt(call.resource()) {
            return Ok(());
        }
        let (mut warnings, mut denied) = (Vec::new(), None);
        let asker = self.asker(call, wish);
        for (policy, bindings) in policies.iter() {
            let Some(version) = self.covers(&policy.scope, call, wish, states)? else { continue };
            let of_policy = format!("ValidatingAdmissionPolicy '{}'", policy.name);
            if let Some(why) = self.params_wrong(policy) {
                if !policy.may_fail {
                    let why =
                        format!("{of_policy} denied request: failed to configure policy: {why}");
                    denied.get_or_insert(invalid(why));
                }
                continue;
            }
            let mut seen = None;
            for binding in bindings {
                if let Some(scope) = &binding.scope
                    && self.covers(scope, call, wish, states)?.is_none()
                {
                    continue;
                }
                let of_both = format!("{of_policy} with binding '{}'", binding.name);
                let mut deny = |(why, reason, code): Refusal| {
                    let why = format!("{of_both} denied request: {why}");
                    denied.get_or_insert((why, reason, code));
                };
                let params = match self.params_of(policy, binding, &wish.namespace) {
                    Ok(params) => params,
                    Err(_) if policy.may_fail => continue,
                    Err(why) => {
                        deny(invalid(format!("failed to configure binding: {why}")));
                        continue;
                    }
                };
                let namespace = self.namespace_of(wish)?;
                let seen = seen.get_or_insert_with(|| Seen::new(call, wish, &version, states));
                for params in params {
                    let given = seen.given(&namespace, params.as_deref(), &asker);
                    let (refusals, always) = decide(policy, given);
                    for refusal in refusals {
                        if binding.actions.iter().any(|it| it == "Warn") {
                            let why = &refusal.0;
                            let start = format!("Validation failed for {of_both}");
                            warnings.push(format!("{start}: {why}"));
                        }
                        if binding.actions.iter().any(|it| it == "Deny")
                            || self.slips(Slip::EveryActionDenies)
                        {
                            deny(refusal);
                        }
                    }
                    always.into_iter().for_each(|why| deny(invalid(why)));
                }
            }
        }
        drop(asker);
        call.warnings.extend(warnings);
        denied.map_or(Ok(()), |refusal| Err(refused(call, wish, states, refusal)))
    }

    /// Who asks what they may do.
    pub(in super::super) fn asker(&self, call: &Call<'_>, wish: &Wish) -> Asker<'_> {
        let resource = call.resource();
        let over = Asked {
            group: resource.group.clone(),
            resource: resource.plural.clone(),
            subresource: call.target.subresource.clone().unwrap_or_default(),
            namespace: wish.namespace.clone(),
            name: wish.name.clone(),
            ..Asked::default()
        };
        let user = call.user.clone().unwrap_or_else(|| Arc::new(User::admin()));
        Asker { server: self, user, over }
    }

    /// The namespace in which a request is; null if in none, also for a namespace itself.
    pub(super) fn namespace_of(&self, wish: &Wish) -> Outcome<Arc<Value>> {
        let is_one = wish.kind[2] == "Namespace" && wish.kind[0].is_empty();
        let namespaces = self.registry.get("", "v1", "namespaces");
        let Some(namespaces) = namespaces.filter(|_| !is_one && !wish.namespace.is_empty()) else {
            return Ok(Arc::default());
        };
        let stored = self.stored(namespaces, &Key::new("", &wish.namespace));
        let missing = || Failure::not_found(namespaces, &wish.namespace);
        Ok(stored.ok_or_else(missing)?.object.clone())
    }
}

/// What a request shows in one version of its resource.
pub(in super::super) struct Seen {
    request: Value,
    object: Value,
    old: Value,
}

impl Seen {
    pub(in super::super) fn new(
        call: &Call<'_>,
        wish: &Wish,
        version: &str,
        (object, old): States<'_>,
    ) -> Self {
        let mut request = wish.review(call, version, object, old);
        let mut take = |field: &str| request.as_object_mut().and_then(|it| it.remove(field));
        let [object, old] = ["object", "oldObject"].map(|it| take(it).unwrap_or_default());
        Self { request, object, old }
    }

    pub(in super::super) fn given<'a>(
        &'a self,
        namespace: &'a Value,
        params: Option<&'a Value>,
        asker: &'a Asker<'a>,
    ) -> Given<'a> {
        let Self { request, object, old } = self;
        Given { object, old, request, namespace, params, authority: Some(asker) }
    }
}

/// What a policy says: what its bindings decide about, and what is refused in any case.
fn decide(policy: &Policy, given: Given<'_>) -> (Vec<Refusal>, Vec<String>) {
    let failed = |why: String| match policy.may_fail {
        true => Vec::new(),
        false => vec![invalid(why)],
    };
    // Conditions do not see the namespace.
    match policy.conditions.hold(Given { namespace: &Value::Null, ..given }) {
        Ok(true) => {}
        Ok(false) => return (Vec::new(), Vec::new()),
        Err(why) => return (failed(why), Vec::new()),
    }
    let refusals = match validate(policy, given) {
        Ok(refusals) => refusals,
        Err(why) => return (failed(why), Vec::new()),
    };
    match annotate(policy, given) {
        Ok(always) => (refusals, always),
        Err(why) => (failed(why), Vec::new()),
    }
}

fn validate(policy: &Policy, given: Given<'_>) -> Result<Vec<Refusal>, String> {
    let mut evaluator = Evaluator::new(given, &policy.named, ALL)?;
    let mut found = Vec::new();
    for it in &policy.validations {
        found.push((it, evaluator.run(&it.text, &it.program)?));
    }
    // Messages tell nobody what others may do.
    let without = Given { authority: None, ..given };
    let mut messages = Evaluator::new(without, &policy.named, evaluator.left())?;
    let (mut refusals, mut is_over) = (Vec::new(), false);
    for (it, result) in found {
        match result {
            Ok(cel::Value::Bool(true)) if !is_over => {}
            Err(why) if !policy.may_fail => refusals.push(invalid(why)),
            Err(_) => {}
            Ok(_) => match message(it, &mut messages) {
                Ok(why) if !is_over => refusals.push((why, it.reason, it.code)),
                _ if policy.may_fail => is_over = true,
                _ => {
                    is_over = true;
                    refusals.push(invalid(format!("failed messageExpression: {OVER}")));
                }
            },
        }
    }
    Ok(refusals)
}

/// The message of a validation that does not hold.
fn message<'a>(it: &'a Validation, evaluator: &mut Evaluator<'a>) -> Result<String, String> {
    if let Some((text, program)) = &it.computed
        && let Ok(cel::Value::Text(own)) = evaluator.run(text, program)?
    {
        let own = own.trim();
        if !own.is_empty() && own.len() <= LONGEST && !own.contains('\n') {
            return Ok(own.to_owned());
        }
    }
    Ok(it.message.clone())
}

/// Annotations are for a log that nobody keeps here; that one cannot be told refuses the request.
fn annotate(policy: &Policy, given: Given<'_>) -> Result<Vec<String>, String> {
    if policy.annotations.is_empty() {
        return Ok(Vec::new());
    }
    let without = Given { authority: None, ..given };
    let mut evaluator = Evaluator::new(without, &policy.named, ALL)?;
    let mut wrong = Vec::new();
    for (text, program) in &policy.annotations {
        if let Err(why) = evaluator.run(text, program)?
            && !policy.may_fail
        {
            wrong.push(why);
        }
    }
    Ok(wrong)
}

/// The name of the object that is refused.
pub(super) fn name(wish: &Wish, (object, _): States<'_>) -> String {
    let of = |field: &str| object.map_or("", |it| text(it, field)).to_owned();
    let names = [wish.name.clone(), of("name"), of("generateName")];
    names.into_iter().find(|it| !it.is_empty()).unwrap_or_else(|| "Unknown".to_owned())
}

fn refused(call: &Call<'_>, wish: &Wish, states: States<'_>, refusal: Refusal) -> Box<Failure> {
    let (why, reason, code) = refusal;
    let mut failure = limits::forbidden(call.resource(), &name(wish, states), &why);
    failure.status = code;
    failure.reason = Some(reason);
    if let Some(details) = &mut failure.details {
        details["causes"] = json!([{"message": why}]);
    }
    failure
}
