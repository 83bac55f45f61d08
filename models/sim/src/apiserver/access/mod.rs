//! Who may do what: identities, and the roles and bindings that decide.
//!
//! It is off until [`Server::authorize`] turns it on. [`Policy`] decides as a pure function of what was
//! granted, the user and the request; everything else here asks it, or tells it of writes.

mod asked;
mod defaults;
mod escalation;
mod policy;
mod reviews;
mod rule;
mod tokens;
mod user;
mod valid;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

pub use asked::Attributes;
pub(crate) use defaults::cluster_role;
pub use policy::Decision;
pub(crate) use policy::{GROUP, Policy};
pub(super) use reviews::resources;
pub(crate) use rule::Rule;
pub(super) use tokens::Issued;
use user::Impersonated;
pub use user::User;
pub(super) use valid::{binding, complete_binding, role};

use super::http::Request;
use super::mistake::Slip;
use super::resource::Resource;
use super::status::{Failure, Outcome};
use super::store::Key;
use super::{Call, Server};

/// What a server knows that asks who may do what.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    pub(crate) policy: Policy,
    tokens: Tokens,
    /// Selectors of roles that are put together from others.
    aggregated: crate::map::Map<Key, Arc<Vec<super::Labels>>>,
    /// Nobody is refused: what would be is noted.
    notes: Option<Vec<Noted>>,
}

/// The users who were known from the start, by their tokens. No error and no log shows one.
#[derive(Clone, Default)]
struct Tokens(Arc<BTreeMap<String, Arc<User>>>);

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.0.len())
    }
}

/// A request that was decided over.
#[cfg_attr(not(feature = "ordered"), allow(dead_code, reason = "simulations ask"))]
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) asked: Attributes,
    pub(crate) decision: Decision,
}

impl Server {
    /// Asks from now on who may do what: by the roles and bindings in the server, to which those that
    /// every cluster begins with are added. A request is made by the user who it [`is by`](Request::by), by
    /// the user of its token, or by nobody. These tokens are known; others are issued for service accounts.
    pub fn authorize(&mut self, tokens: impl IntoIterator<Item = (String, User)>) {
        let tokens = tokens.into_iter().map(|(token, user)| (token, Arc::new(user)));
        let tokens = Tokens(Arc::new(tokens.collect()));
        self.access = None;
        // Faults are for those who come from outside.
        let (faults, lag) = (std::mem::take(&mut self.faults), self.lag.take());
        for (path, body) in defaults::objects() {
            self.handle(self.now, &Request::new("POST", path).json(&body));
        }
        (self.faults, self.lag) = (faults, lag);
        let mut access = Access { tokens, ..Access::default() };
        for plural in ["roles", "clusterroles", "rolebindings", "clusterrolebindings"] {
            for (key, stored) in self.store.objects(&format!("{plural}.{GROUP}")).iter() {
                access.take(plural, key, None, Some(&stored.object));
            }
        }
        self.access = Some(access);
        self.aggregate(None);
    }

    /// The decision over what a user asks for; everybody may do everything while nobody asks.
    pub fn decide(&self, user: &User, asked: &Attributes) -> Decision {
        match &self.access {
            Some(access) => access.policy.decide(user, asked, self.slip()),
            None => Decision { allowed: true, ..Decision::default() },
        }
    }

    /// Refuses nobody from now on, but notes what it is asked for, by a policy that is not stored.
    #[cfg_attr(not(feature = "ordered"), allow(dead_code, reason = "simulations ask"))]
    pub(crate) fn note_access(&mut self, mut policy: Policy) {
        for (path, body) in defaults::objects() {
            let plural = path.rsplit('/').next().unwrap_or("");
            let key = Key::new("", body["metadata"]["name"].as_str().unwrap_or(""));
            // The roles that are tried come first, also one of this name.
            if plural != "clusterroles" || !policy.has(&key) {
                policy.absorb(plural, &key, None, Some(&body));
            }
        }
        self.access = Some(Access { policy, notes: Some(Vec::new()), ..Access::default() });
    }

    /// What was noted since it was last asked.
    #[cfg_attr(not(feature = "ordered"), allow(dead_code, reason = "simulations ask"))]
    pub(crate) fn noted(&mut self) -> Vec<Noted> {
        let notes = self.access.as_mut().and_then(|it| it.notes.as_mut());
        notes.map(std::mem::take).unwrap_or_default()
    }

    /// Who makes a request. The error is the answer to somebody who may not make it.
    pub(super) fn admit(&mut self, request: &Request) -> Outcome<Option<Arc<User>>> {
        if self.access.is_none() {
            return Ok(request.by.clone());
        }
        let user = self.identify(request)?;
        let user = self.impersonated(request, user)?;
        self.check(&user, Attributes::of(request))?;
        Ok(Some(user))
    }

    fn identify(&self, request: &Request) -> Outcome<Arc<User>> {
        if let Some(user) = &request.by {
            return Ok(user.clone());
        }
        let words = request.header("Authorization").and_then(|it| it.trim().split_once(' '));
        let token = words.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        match token.map(|(_, token)| token.trim()).filter(|it| !it.is_empty()) {
            None => Ok(Arc::new(User::anonymous())),
            Some(token) => {
                let known = self.known(token, &[tokens::ISSUER]);
                known.map(|(user, _)| user).ok_or_else(unauthorized)
            }
        }
    }

    /// The user with a token that is good for one of the audiences, and for which. A token that was known
    /// from the start is for this server alone.
    fn known(&self, token: &str, audiences: &[&str]) -> Option<(Arc<User>, Vec<String>)> {
        let known = self.access.as_ref().and_then(|it| it.tokens.0.get(token).cloned());
        match known {
            Some(user) => {
                audiences.contains(&tokens::ISSUER).then(|| (user, vec![tokens::ISSUER.to_owned()]))
            }
            None => self.issued_to(token, audiences).map(|(user, shared)| (Arc::new(user), shared)),
        }
    }

    /// The user as whom a request is made, each part of whom must be allowed.
    fn impersonated(&mut self, request: &Request, user: Arc<User>) -> Outcome<Arc<User>> {
        let Some(wanted) = Impersonated::read(request) else { return Ok(user) };
        if wanted.is_nameless {
            let why = "Internal Server Error: a group, uid or extra is requested without impersonating a user";
            return Err(Failure::new(500, "InternalError", why));
        }
        let base = Attributes { verb: "impersonate".to_owned(), ..Attributes::default() };
        let of = |group: &str, resource: &str, name: &str| Attributes {
            group: group.to_owned(),
            resource: resource.to_owned(),
            name: name.to_owned(),
            ..base.clone()
        };
        let mut asked = vec![match wanted.account() {
            Some((namespace, name)) => {
                let namespace = namespace.to_owned();
                Attributes { namespace, ..of("", "serviceaccounts", name) }
            }
            None => of("", "users", &wanted.user.name),
        }];
        asked.extend(wanted.user.groups.iter().map(|group| of("", "groups", group)));
        let other = "authentication.k8s.io";
        for (key, values) in &wanted.user.extra {
            asked.extend(values.iter().map(|value| Attributes {
                subresource: key.clone(),
                ..of(other, "userextras", value)
            }));
        }
        if !wanted.user.uid.is_empty() {
            asked.push(of(other, "uids", &wanted.user.uid));
        }
        for asked in asked {
            if !self.slips(Slip::AnybodyIsAnybody) {
                self.check(&user, asked)?;
            }
        }
        Ok(Arc::new(wanted.complete()))
    }

    /// Refuses what a user may not do.
    pub(super) fn check(&mut self, user: &User, asked: Attributes) -> Outcome<()> {
        let decision = self.decide(user, &asked);
        let Some(access) = &mut self.access else { return Ok(()) };
        if let Some(notes) = &mut access.notes {
            if !user.is_master() {
                notes.push(Noted { asked, decision });
            }
            return Ok(());
        }
        if decision.allowed { Ok(()) } else { Err(asked.refusal(user, &decision.reason)) }
    }

    /// An update or an apply that makes a new object needs the right to create it as well.
    pub(super) fn check_creation(&mut self, call: &Call<'_>) -> Outcome<()> {
        if self.slips(Slip::ChangesCreate) {
            return Ok(());
        }
        let Some(user) = call.user.clone() else { return Ok(()) };
        let verb = "create".to_owned();
        self.check(&user, Attributes { verb, ..Attributes::of(call.request) })
    }

    /// Takes in a write, if it is one of a role or of a binding.
    pub(super) fn granted(
        &mut self,
        resource: &Resource,
        key: &Key,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        let Some(access) = self.access.as_mut().filter(|_| resource.group == GROUP) else { return };
        access.take(&resource.plural, key, old, new);
        if resource.plural == "clusterroles" {
            self.aggregate(Some([old, new]));
        }
    }
}

impl Access {
    fn take(&mut self, plural: &str, key: &Key, old: Option<&Value>, new: Option<&Value>) {
        self.policy.absorb(plural, key, old, new);
        if plural == "clusterroles" {
            match new.and_then(defaults::selectors) {
                Some(selectors) => self.aggregated.insert(key.clone(), Arc::new(selectors)),
                None => self.aggregated.remove(key),
            };
        }
    }
}

fn unauthorized() -> Box<Failure> {
    Failure::new(401, "Unauthorized", "Unauthorized")
}
