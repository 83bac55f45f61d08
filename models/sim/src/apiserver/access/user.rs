//! Who makes a request.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::http::{Request, decode};

/// Members may do everything.
pub(crate) const MASTERS: &str = "system:masters";
const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";
const ACCOUNT: &str = "system:serviceaccount:";

/// Somebody who makes requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name, such as `system:serviceaccount:default:operator`.
    pub name: String,
    /// An identifier that outlives the name; empty for most.
    pub uid: String,
    /// The groups.
    pub groups: Vec<String>,
    /// What else is known.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Somebody who has shown who they are.
    pub fn new(name: impl Into<String>, groups: impl IntoIterator<Item = String>) -> Self {
        let mut groups: Vec<String> = groups.into_iter().collect();
        if !groups.iter().any(|it| it == AUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        Self { name: name.into(), groups, ..Self::default() }
    }

    /// Somebody who may do everything.
    pub fn admin() -> Self {
        Self::new("seatrial:admin", [MASTERS.to_owned()])
    }

    /// Somebody who has not shown who they are.
    pub fn anonymous() -> Self {
        let groups = vec![UNAUTHENTICATED.to_owned()];
        Self { name: ANONYMOUS.to_owned(), groups, ..Self::default() }
    }

    /// The service account of this namespace and name.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        let groups = ["system:serviceaccounts", &format!("system:serviceaccounts:{namespace}")];
        Self::new(account(namespace, name), groups.map(str::to_owned))
    }

    pub(crate) fn is_master(&self) -> bool {
        self.groups.iter().any(|it| it == MASTERS)
    }

    /// The user as reviews show them.
    pub(crate) fn shown(&self) -> Value {
        let mut shown = json!({"username": self.name, "groups": self.groups});
        if !self.uid.is_empty() {
            shown["uid"] = self.uid.as_str().into();
        }
        if !self.extra.is_empty() {
            shown["extra"] = json!(self.extra);
        }
        shown
    }

    /// The user whom the spec of a review names.
    pub(crate) fn of_review(spec: &Value) -> Self {
        let texts = |value: &Value| -> Vec<String> {
            super::super::metadata::strings(value).into_iter().map(str::to_owned).collect()
        };
        let extra = spec["extra"].as_object().into_iter().flatten();
        Self {
            name: spec["user"].as_str().unwrap_or("").to_owned(),
            uid: spec["uid"].as_str().unwrap_or("").to_owned(),
            groups: texts(&spec["groups"]),
            extra: extra.map(|(key, values)| (key.to_lowercase(), texts(values))).collect(),
        }
    }
}

/// The name of the user who a service account is.
pub(crate) fn account(namespace: &str, name: &str) -> String {
    format!("{ACCOUNT}{namespace}:{name}")
}

/// Somebody else, as whom a request is to be made.
#[derive(Debug, Default)]
pub(super) struct Impersonated {
    /// The user, with the groups as they are sent.
    pub(super) user: User,
    /// No user is named, but something else is.
    pub(super) is_nameless: bool,
}

impl Impersonated {
    /// Reads the headers of a request; none if it is made in one's own name.
    pub(super) fn read(request: &Request) -> Option<Self> {
        let mut found = Self::default();
        let mut is_any = false;
        for (header, value) in &request.headers {
            let header = header.to_ascii_lowercase();
            let Some(what) = header.strip_prefix("impersonate-") else { continue };
            let value = value.clone();
            match what {
                "user" if found.user.name.is_empty() => found.user.name = value,
                "uid" if found.user.uid.is_empty() => found.user.uid = value,
                "group" => found.user.groups.push(value),
                _ => match what.strip_prefix("extra-") {
                    Some(key) => {
                        let key = decode(key).into_owned();
                        found.user.extra.entry(key).or_default().push(value);
                    }
                    None => continue,
                },
            }
            is_any = true;
        }
        found.is_nameless = found.user.name.is_empty();
        let User { name, uid, groups, extra } = &found.user;
        let is_empty = name.is_empty() && uid.is_empty() && groups.is_empty() && extra.is_empty();
        (is_any && !is_empty).then_some(found)
    }

    /// The namespace and the name, if the user is a service account.
    pub(super) fn account(&self) -> Option<(&str, &str)> {
        let (namespace, name) = self.user.name.strip_prefix(ACCOUNT)?.split_once(':')?;
        (!namespace.is_empty() && !name.is_empty() && !name.contains(':'))
            .then_some((namespace, name))
    }

    /// The user with the groups that each has who is one of them.
    pub(super) fn complete(self) -> User {
        let mut user = self.user.clone();
        if let (Some((namespace, name)), true) = (self.account(), user.groups.is_empty()) {
            user.groups = User::service_account(namespace, name).groups;
        }
        let own = if user.name == ANONYMOUS { UNAUTHENTICATED } else { AUTHENTICATED };
        let is_known = |it: &String| it == own || it == UNAUTHENTICATED;
        if !user.groups.iter().any(is_known) {
            user.groups.push(own.to_owned());
        }
        user
    }
}
