//! Tokens of service accounts. They look like those of a real server, with its claims, but their
//! signature is made up: a server knows the tokens that it has issued, and no others.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::super::cause::Cause;
use super::super::metadata::{strings, text};
use super::super::status::{Failure, Outcome};
use super::super::store::{Key, Stored};
use super::super::{Call, Server, clock};
use super::User;
use crate::map::Map;
use crate::short::short;

/// Who issues tokens, and for whom they are good without another audience.
pub(super) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
/// How many tokens are remembered; the oldest are forgotten first.
const MOST: u64 = 10_000;
const LEAST_SECONDS: i64 = 600;
const MOST_SECONDS: i64 = 1 << 32;

/// The tokens that were issued. No error and no log shows one.
#[derive(Clone, Default)]
pub(crate) struct Issued {
    tokens: Map<String, Token>,
    /// By when they were issued.
    order: Map<u64, String>,
    count: u64,
}

impl std::fmt::Debug for Issued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} tokens", self.count)
    }
}

#[derive(Clone)]
struct Token {
    user: User,
    account: Key,
    audiences: Vec<String>,
    expires: Duration,
    /// The resource, the key and the uid of an object with which it ends.
    bound: Option<(&'static str, Key, String)>,
}

impl Issued {
    fn put(&mut self, text: String, token: Token) {
        self.count += 1;
        self.order.insert(self.count, text.clone());
        self.tokens.insert(text, token);
        if self.count > MOST
            && let Some(oldest) = self.order.remove(&(self.count - MOST))
        {
            self.tokens.remove(&oldest);
        }
    }
}

impl Server {
    /// The user to whom a token was issued, if it is still good for one of the audiences, and for which.
    pub(super) fn issued_to(&self, token: &str, audiences: &[&str]) -> Option<(User, Vec<String>)> {
        let token = self.issued.tokens.get(token)?;
        let shared = token.audiences.iter().filter(|it| audiences.contains(&it.as_str()));
        let shared: Vec<String> = shared.cloned().collect();
        let newest = self.newest.as_ref().unwrap_or(&self.store);
        let lives = |table: &str, key: &Key, uid: &str| {
            newest.get(table, key).is_some_and(|it| text(&it.object, "uid") == uid)
        };
        let is_there = lives("serviceaccounts", &token.account, &token.user.uid)
            && token.bound.as_ref().is_none_or(|(table, key, uid)| lives(table, key, uid));
        let is_good = !shared.is_empty() && is_there && self.now < token.expires;
        is_good.then(|| (token.user.clone(), shared))
    }

    /// Issues a token for the account that a call names; the status of the answer.
    pub(super) fn issue(&mut self, call: &Call<'_>, spec: &mut Value) -> Outcome<Value> {
        let (resource, key) = (call.resource(), call.key());
        let account = self.stored(resource, &key);
        let account = account.ok_or_else(|| Failure::not_found(resource, call.name()))?;
        let uid = text(&account.object, "uid").to_owned();
        if !spec.is_object() {
            *spec = json!({});
        }
        let seconds = seconds(spec)?;
        if strings(&spec["audiences"]).is_empty() {
            spec["audiences"] = json!([ISSUER]);
        }
        let audiences: Vec<String> =
            strings(&spec["audiences"]).into_iter().map(str::to_owned).collect();
        let bound = self.bound_to(call, &spec["boundObjectRef"])?;
        let (now, expires) = (self.now, self.now + Duration::from_secs(seconds));
        let (namespace, name) = (&call.target.namespace, call.name());
        let id = self.random.uid();
        let mut claims = json!({
            "aud": audiences, "exp": expires.as_secs(), "iat": now.as_secs(),
            "iss": ISSUER, "jti": id, "nbf": now.as_secs(),
            "sub": super::user::account(namespace, name),
            "kubernetes.io": {
                "namespace": namespace, "serviceaccount": {"name": name, "uid": uid},
            },
        });
        let mut user = User { uid, ..User::service_account(namespace, name) };
        let extra = |key: &str| format!("authentication.kubernetes.io/{key}");
        user.extra.insert(extra("credential-id"), vec![format!("JTI={id}")]);
        if let Some((table, key, uid)) = &bound {
            let (kind, name) =
                (table.trim_end_matches('s'), key.0.rsplit('/').next().unwrap_or(""));
            claims["kubernetes.io"][kind] = json!({"name": name, "uid": uid});
            if kind == "pod" {
                user.extra.insert(extra("pod-name"), vec![name.to_owned()]);
                user.extra.insert(extra("pod-uid"), vec![uid.clone()]);
            }
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signature: String = (0..4).map(|_| self.random.uid()).collect();
        let head = json!({"alg": "RS256", "kid": "seatrial"});
        let token =
            format!("{}.{}.{}", part(&head), part(&claims), URL_SAFE_NO_PAD.encode(signature));
        let issued = Token { user, account: key, audiences, expires, bound };
        self.issued.put(token.clone(), issued);
        Ok(json!({"token": token, "expirationTimestamp": clock::stamp(expires)}))
    }

    /// The object with which a token ends.
    fn bound_to(
        &self,
        call: &Call<'_>,
        wanted: &Value,
    ) -> Outcome<Option<(&'static str, Key, String)>> {
        if !wanted.is_object() {
            return Ok(None);
        }
        let part = |field: &str| wanted[field].as_str().unwrap_or("");
        let table = match (part("apiVersion"), part("kind")) {
            ("v1", "Pod") => "pods",
            ("v1", "Secret") => "secrets",
            (version, kind) => {
                let why = format!("cannot bind token to object of type {version}, Kind={kind}");
                return Err(Failure::bad_request(why));
            }
        };
        let key = Key::new(&call.target.namespace, part("name"));
        let missing = || match self.registry.get("", "v1", table) {
            Some(resource) => Failure::not_found(resource, part("name")),
            None => Failure::no_resource(),
        };
        let Stored { object, .. } = self.store.get(table, &key).ok_or_else(missing)?;
        let account = object["spec"]["serviceAccountName"].as_str().unwrap_or("");
        if table == "pods" && account != call.name() {
            let name = Value::from(short(call.name()));
            let why = format!(
                "cannot bind token for serviceaccount {name} to pod running with different serviceaccount name."
            );
            return Err(Failure::bad_request(why));
        }
        let uid = text(object, "uid");
        if !part("uid").is_empty() && part("uid") != uid {
            let why = format!(
                "the UID in the bound object reference ({}) does not match the UID in record. The object might have been deleted and then recreated",
                part("uid")
            );
            return Err(Failure::conflict(call.resource(), call.name(), &why));
        }
        Ok(Some((table, key, uid.to_owned())))
    }
}

/// How long a token is to be good, an hour unless it is told.
fn seconds(spec: &mut Value) -> Outcome<u64> {
    let wanted = &spec["expirationSeconds"];
    let seconds = wanted.as_i64().unwrap_or(3600);
    let why = match seconds {
        ..LEAST_SECONDS => "may not specify a duration less than 10 minutes",
        LEAST_SECONDS..=MOST_SECONDS => {
            spec["expirationSeconds"] = seconds.into();
            return Ok(seconds.unsigned_abs());
        }
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let cause = Cause::invalid("spec.expirationSeconds", wanted, why);
    Err(Failure::invalid("authentication.k8s.io", "TokenRequest", "", &[cause]))
}
