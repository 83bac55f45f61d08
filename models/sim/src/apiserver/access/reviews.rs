//! Questions about who may do what. They are resources whose objects are answered and not stored.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::builtin::{ANY, META, OPEN_SPEC, TEXT, object, open};
use super::super::catalogue::resource;
use super::super::cause::{Cause, Causes};
use super::super::create::check_namespace;
use super::super::http::Response;
use super::super::metadata::strings;
use super::super::resource::Resource;
use super::super::status::{Failure, Outcome};
use super::super::types::{Type, omit, write};
use super::super::{Call, Server, clock, decode, metadata, negotiate};
use super::{Attributes, User};

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";
static QUESTION: Type = open!("Object");
static SELF: Type = object!("SelfSubjectReview", write("status", &ANY));

/// Hands out all of them.
pub(in super::super) fn resources(put: &mut dyn FnMut(Resource)) {
    for (group, kind, plural) in [
        (AUTHENTICATION, "TokenReview", "tokenreviews"),
        (AUTHORIZATION, "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
        (AUTHORIZATION, "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
        (AUTHORIZATION, "SubjectAccessReview", "subjectaccessreviews"),
    ] {
        put(Resource { is_namespaced: false, ..resource(group, kind, plural, &QUESTION) });
    }
    let own = resource(AUTHENTICATION, "SelfSubjectReview", "selfsubjectreviews", &SELF);
    put(Resource { is_namespaced: false, ..own });
    let (kind, plural) = ("LocalSubjectAccessReview", "localsubjectaccessreviews");
    put(resource(AUTHORIZATION, kind, plural, &QUESTION));
}

impl Resource {
    /// Whether its objects are questions, which can only be posted.
    pub(in super::super) fn is_question(&self) -> bool {
        !self.is_custom && matches!(self.group.as_str(), AUTHENTICATION | AUTHORIZATION)
    }
}

impl Server {
    /// Answers a question.
    pub(in super::super) fn ask(&self, call: &mut Call<'_>) -> Outcome<Response> {
        let resource = call.target.resource.clone();
        negotiate::require_known(call.request, &resource)?;
        let writing = Self::writing(call, "CreateOptions")?;
        let mut review =
            decode::body(&resource, call.request, writing.unknown, &mut call.warnings)?;
        check_namespace(&mut review, &call.target.namespace)?;
        let user = call.user.clone().unwrap_or_else(|| Arc::new(User::admin()));
        let spec = review["spec"].clone();
        review["status"] = match resource.kind.as_str() {
            "SelfSubjectReview" => json!({"userInfo": user.shown()}),
            "TokenReview" => self.review_token(&spec)?,
            "SelfSubjectRulesReview" => self.review_rules(&user, &spec)?,
            _ => {
                let causes = wrong(&resource, &spec, &call.target.namespace);
                if !causes.is_empty() {
                    return Err(Failure::invalid(&resource.group, &resource.kind, "", &causes));
                }
                let is_own = resource.kind == "SelfSubjectAccessReview";
                let of = if is_own { User::clone(&user) } else { User::of_review(&spec) };
                let decision = self.decide(&of, &Attributes::of_review(&spec));
                let mut status = json!({"allowed": decision.allowed});
                if !decision.reason.is_empty() {
                    status["reason"] = decision.reason.into();
                }
                status
            }
        };
        metadata::set(&mut review, "creationTimestamp", Value::Null);
        Ok(Response::of(201, Arc::new(review)))
    }

    fn review_rules(&self, user: &User, spec: &Value) -> Outcome<Value> {
        let namespace = spec["namespace"].as_str().unwrap_or("");
        if namespace.is_empty() {
            return Err(Failure::bad_request("no namespace on request"));
        }
        let (mut rules, mut paths, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(access) = &self.access {
            let (own, lost) = access.policy.rules(user, namespace);
            missing = lost;
            for rule in own {
                if rule.urls.is_empty() { &mut rules } else { &mut paths }.push(rule.shown());
            }
        }
        let all = self.access.is_none() || user.is_master();
        if all {
            rules = vec![json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]})];
            paths = vec![json!({"verbs": ["*"], "nonResourceURLs": ["*"]})];
        }
        let mut status =
            json!({"resourceRules": rules, "nonResourceRules": paths, "incomplete": false});
        if !missing.is_empty() {
            status["evaluationError"] = missing.join(", ").into();
            status["incomplete"] = true.into();
        }
        Ok(status)
    }

    fn review_token(&self, spec: &Value) -> Outcome<Value> {
        let token = spec["token"].as_str().unwrap_or("");
        if token.is_empty() {
            let why = "token is required for TokenReview in authentication";
            return Err(Failure::bad_request(why));
        }
        let mut audiences = strings(&spec["audiences"]);
        if audiences.is_empty() {
            audiences = vec![super::tokens::ISSUER];
        }
        Ok(match self.known(token, &audiences) {
            None => json!({"user": {}, "error": "invalid bearer token"}),
            Some((user, shared)) => {
                json!({"authenticated": true, "user": user.shown(), "audiences": shared})
            }
        })
    }

    /// Gives a service account a token.
    pub(in super::super) fn give_token(
        &mut self,
        call: &Call<'_>,
        mut body: Value,
    ) -> Outcome<Response> {
        let (status, name) = (self.issue(call, &mut body["spec"])?, call.name().to_owned());
        check_namespace(&mut body, &call.target.namespace)?;
        metadata::set(&mut body, "name", name);
        metadata::set(&mut body, "creationTimestamp", clock::stamp(self.now));
        body["status"] = status;
        body["kind"] = "TokenRequest".into();
        body["apiVersion"] = "authentication.k8s.io/v1".into();
        Ok(Response::of(201, Arc::new(body)))
    }
}

/// What is wrong with a question about access.
fn wrong(resource: &Resource, spec: &Value, namespace: &str) -> Causes {
    let mut causes = Causes::default();
    let (asked, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    match (asked.is_object(), path.is_object()) {
        (true, true) => {
            let why = "cannot be specified in combination with resourceAttributes";
            causes.push(Cause::invalid("spec.nonResourceAttributes", path, why));
        }
        (false, false) => {
            let why =
                "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            causes.push(Cause::invalid("spec.resourceAttributes", asked, why));
        }
        _ => {}
    }
    let is_nobody =
        spec["user"].as_str().unwrap_or("").is_empty() && strings(&spec["groups"]).is_empty();
    if resource.kind != "SelfSubjectAccessReview" && is_nobody {
        let why = "at least one of user or group must be specified";
        causes.push(Cause::invalid("spec.user", &"".into(), why));
    }
    if resource.is_namespaced {
        if asked["namespace"].as_str().unwrap_or("") != namespace {
            let field = "spec.resourceAttributes.namespace";
            causes.push(Cause::invalid(
                field,
                &asked["namespace"],
                "must match metadata.namespace",
            ));
        }
        if path.is_object() {
            let why = "disallowed on this kind of request";
            causes.push(Cause::invalid("spec.nonResourceAttributes", path, why));
        }
    }
    causes
}
