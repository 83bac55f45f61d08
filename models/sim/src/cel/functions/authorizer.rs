//! Questions about what somebody may do.

use std::fmt::Debug;
use std::rc::Rc;

use super::{Function, none, one};
use crate::cel::value::{Outcome, Value};

/// What is asked for: a verb on a resource, or on a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) verb: String,
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) path: String,
}

/// Decides who may do what.
pub(crate) trait Authority: Debug {
    /// Whether the user of the request, or a service account, may do something, and why.
    fn decide(&self, account: Option<&(String, String)>, asked: &Asked) -> (bool, String);
    /// Whether a service account may have this namespace and this name.
    fn check_account(&self, namespace: &str, name: &str) -> Result<(), String>;
}

/// What was said of a question so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Who,
    Path,
    Group,
    Resource,
}

/// Somebody's rights, or a part of a question about them.
#[derive(Clone, Debug)]
pub(crate) struct Rights<'a> {
    authority: &'a dyn Authority,
    account: Option<(String, String)>,
    asked: Asked,
    stage: Stage,
}

impl<'a> Rights<'a> {
    /// Those of the user of a request.
    pub(crate) fn of(authority: &'a dyn Authority) -> Value<'a> {
        Self { authority, account: None, asked: Asked::default(), stage: Stage::Who }.value()
    }

    /// The same over the resource of the request.
    pub(crate) fn over(authority: &'a dyn Authority, asked: Asked) -> Value<'a> {
        Self { authority, account: None, asked, stage: Stage::Resource }.value()
    }

    fn value(self) -> Value<'a> {
        Value::Rights(Rc::new(self))
    }

    pub(in crate::cel) fn type_name(&self) -> &'static str {
        match self.stage {
            Stage::Who => "kubernetes.authorization.Authorizer",
            Stage::Path => "kubernetes.authorization.PathCheck",
            Stage::Group => "kubernetes.authorization.GroupCheck",
            Stage::Resource => "kubernetes.authorization.ResourceCheck",
        }
    }
}

const fn part(name: &'static str, overloads: &'static [&'static str]) -> Function {
    Function { name, overloads, cost: one, run }
}

const OF_RESOURCE: &[&str] = &[".resource_check,string resource_check"];
const TEXT: &[&str] = &[".decision string"];
const BOOL: &[&str] = &[".decision bool"];

pub(super) const TABLE: &[Function] = &[
    part("path", &[".authorizer,string path_check"]),
    part("group", &[".authorizer,string group_check"]),
    part("serviceAccount", &[".authorizer,string,string authorizer"]),
    part("resource", &[".group_check,string resource_check"]),
    part("subresource", OF_RESOURCE),
    part("namespace", OF_RESOURCE),
    part("name", OF_RESOURCE),
    part("fieldSelector", OF_RESOURCE),
    part("labelSelector", OF_RESOURCE),
    Function {
        name: "check",
        overloads: &[".path_check,string decision", ".resource_check,string decision"],
        // Somebody far away may be asked.
        cost: |_| 350_000,
        run,
    },
    part("errored", BOOL),
    part("allowed", BOOL),
    part("error", TEXT),
    part("reason", TEXT),
];

fn run<'a>(name: &str, args: &[Value<'a>]) -> Outcome<'a> {
    let (rights, texts) = match args {
        [Value::Decision(is_allowed, why)] => {
            return match name {
                "allowed" => Ok(Value::Bool(*is_allowed)),
                "errored" => Ok(Value::Bool(false)),
                "error" => Ok(Value::text("")),
                "reason" => Ok(Value::text(why.to_string())),
                _ => none(),
            };
        }
        [Value::Rights(rights), texts @ ..] => (rights, texts),
        _ => return none(),
    };
    let mut new = Rights::clone(rights);
    let (text, second) = match texts {
        [Value::Text(it)] => (it.to_string(), None),
        [Value::Text(one), Value::Text(two)] => (one.to_string(), Some(two.to_string())),
        _ => return none(),
    };
    let must_be = |what: &str| match text.trim() {
        "" => Err(format!("{what} must not be empty")),
        _ => Ok(text.clone()),
    };
    match (rights.stage, name, second) {
        (Stage::Who, "path", None) => {
            new.asked.path = must_be("path")?;
            new.stage = Stage::Path;
        }
        (Stage::Who, "group", None) => {
            (new.asked.group, new.stage) = (text, Stage::Group);
        }
        (Stage::Who, "serviceAccount", Some(account)) => {
            rights.authority.check_account(&text, &account)?;
            new.account = Some((text, account));
        }
        (Stage::Group, "resource", None) => {
            new.asked.resource = must_be("resource")?;
            new.stage = Stage::Resource;
        }
        (Stage::Resource, "subresource", None) => new.asked.subresource = text,
        (Stage::Resource, "namespace", None) => new.asked.namespace = text,
        (Stage::Resource, "name", None) => new.asked.name = text,
        // No role looks at selectors.
        (Stage::Resource, "fieldSelector" | "labelSelector", None) => {}
        (Stage::Resource | Stage::Path, "check", None) => {
            new.asked.verb = text;
            let (is_allowed, why) = rights.authority.decide(rights.account.as_ref(), &new.asked);
            return Ok(Value::Decision(is_allowed, why.into()));
        }
        _ => return none(),
    }
    Ok(new.value())
}
