//! What expressions see, and how they are evaluated within a budget.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::super::super::Server;
use super::super::super::access::{Attributes, User};
use crate::cel::{self, Asked, Authority, Decl, LAZY, Lazy, Program, Rights, Type};
use crate::names::{self, Naming};

/// What one expression may cost, all of a kind together, and all conditions.
const ONE: u64 = 1_000_000;
pub(in super::super) const ALL: u64 = 10_000_000;
pub(in super::super) const CONDITIONS: u64 = 2_500_000;
pub(in super::super) const OVER: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The variables of an expression.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Sight {
    pub(in super::super) params: bool,
    pub(in super::super) authorizer: bool,
    pub(in super::super) patches: bool,
    /// The named expressions so far, if there may be any.
    pub(in super::super) named: Option<Type>,
}

fn fields(name: &'static str, of: &[(&'static str, Type)]) -> Type {
    Decl::object(name, of.iter().cloned())
}

/// The types of `request` and of `namespaceObject`.
fn types() -> &'static [(&'static str, Type); 2] {
    static TYPES: OnceLock<[(&str, Type); 2]> = OnceLock::new();
    TYPES.get_or_init(|| {
        let texts = || Type::list(Type::Text);
        let map = |of: Type| Type::Map(Box::new(Type::Text), Box::new(of));
        let named = |name, last| {
            fields(name, &[("group", Type::Text), ("version", Type::Text), (last, Type::Text)])
        };
        let kind = named("kubernetes.GroupVersionKind", "kind");
        let resource = named("kubernetes.GroupVersionResource", "resource");
        let user = fields(
            "kubernetes.UserInfo",
            &[
                ("username", Type::Text),
                ("uid", Type::Text),
                ("groups", texts()),
                ("extra", map(texts())),
            ],
        );
        let mut request = vec![
            ("kind", kind.clone()),
            ("requestKind", kind),
            ("resource", resource.clone()),
            ("requestResource", resource),
            ("userInfo", user),
            ("dryRun", Type::Bool),
            ("options", Type::Dyn),
        ];
        for field in ["subResource", "requestSubResource", "name", "namespace", "operation"] {
            request.push((field, Type::Text));
        }
        let of_text = |names: &[&'static str]| -> Vec<(&'static str, Type)> {
            names.iter().map(|name| (*name, Type::Text)).collect()
        };
        let mut metadata =
            of_text(&["name", "generateName", "namespace", "UID", "resourceVersion"]);
        metadata.extend([
            ("labels", map(Type::Text)),
            ("annotations", map(Type::Text)),
            ("creationTimestamp", Type::Time),
            ("deletionTimestamp", Type::Time),
            ("deletionGracePeriodSeconds", Type::Int),
            ("generation", Type::Int),
            ("finalizers", texts()),
        ]);
        let mut condition = of_text(&["status", "type", "message", "reason"]);
        condition.push(("lastTransitionTime", Type::Time));
        let condition = fields("kubernetes.NamespaceCondition", &condition);
        let status = [("conditions", Type::list(condition)), ("phase", Type::Text)];
        let namespace = [
            ("metadata", fields("kubernetes.NamespaceMetadata", &metadata)),
            ("spec", fields("kubernetes.NamespaceSpec", &[("finalizers", texts())])),
            ("status", fields("kubernetes.NamespaceStatus", &status)),
        ];
        [
            ("request", fields("kubernetes.AdmissionRequest", &request)),
            ("namespaceObject", fields("kubernetes.Namespace", &namespace)),
        ]
    })
}

impl Sight {
    /// Compiles an expression that must have one of these types; any, if there is none. The error is the text
    /// of the real server.
    pub(in super::super) fn compile(&self, text: &str, wanted: &[Type]) -> Result<Program, String> {
        let mut variables = vec![("object", Type::Dyn), ("oldObject", Type::Dyn)];
        variables.extend(types().iter().cloned());
        if self.params {
            variables.push(("params", Type::Dyn));
        }
        if self.authorizer {
            variables.push(("authorizer", Type::named("authorizer")));
            variables.push(("authorizer.requestResource", Type::named("resource_check")));
        }
        if self.patches {
            variables.push(("Object", Type::Named("type(Object)")));
        }
        if let Some(named) = &self.named {
            variables.push((LAZY, named.clone()));
        }
        let program = Program::compile(text, &variables)
            .map_err(|why| format!("compilation failed: {why}"))?;
        if wanted.is_empty() || wanted.contains(&program.result) {
            return Ok(program);
        }
        let expected = match wanted {
            [one] => one.to_string(),
            _ => "one of [string null_type]".to_owned(),
        };
        Err(format!("must evaluate to {expected} but got {}", program.result))
    }

    /// Takes in a named expression, with the type as others see it.
    pub(super) fn name(&mut self, name: &str, of: Option<&Type>) {
        if let Some(Type::Object(decl)) = &mut self.named {
            Decl::put(decl, name, of.map_or(Type::Dyn, declared));
        }
    }

    /// From here on there may be named expressions.
    pub(super) fn open(&mut self) {
        let none = || Decl::object("kubernetes.variables", std::iter::empty::<(&str, Type)>());
        self.named.get_or_insert_with(none);
    }
}

/// Types of libraries are not known outside of the expression.
fn declared(of: &Type) -> Type {
    match of {
        Type::List(of) => Type::list(declared(of)),
        Type::Map(key, value) => Type::Map(Box::new(declared(key)), Box::new(declared(value))),
        Type::Object(_) | Type::Optional(_) | Type::Named(_) | Type::Made(_) | Type::Any(_) => {
            Type::Dyn
        }
        simple => simple.clone(),
    }
}

/// The values of the variables. What is not there is null.
#[derive(Clone, Copy)]
pub(in super::super) struct Given<'a> {
    pub(in super::super) object: &'a Value,
    pub(in super::super) old: &'a Value,
    pub(in super::super) request: &'a Value,
    pub(in super::super) namespace: &'a Value,
    pub(in super::super) params: Option<&'a Value>,
    pub(in super::super) authority: Option<&'a Asker<'a>>,
}

/// Somebody who asks what they may do.
#[derive(Debug)]
pub(in super::super) struct Asker<'a> {
    pub(in super::super) server: &'a Server,
    pub(in super::super) user: Arc<User>,
    /// The resource of the request.
    pub(in super::super) over: Asked,
}

impl Authority for Asker<'_> {
    fn decide(&self, account: Option<&(String, String)>, asked: &Asked) -> (bool, String) {
        let account = account.map(|(namespace, name)| User::service_account(namespace, name));
        let Asked { verb, group, resource, subresource, namespace, name, path } = asked.clone();
        let asked = Attributes { verb, group, resource, subresource, namespace, name, path };
        let decision = self.server.decide(account.as_ref().unwrap_or(&self.user), &asked);
        (decision.allowed, decision.reason)
    }

    fn check_account(&self, namespace: &str, name: &str) -> Result<(), String> {
        for (what, text, naming) in
            [("name", name, Naming::Subdomain), ("namespace", namespace, Naming::Label)]
        {
            if !names::name(text, naming, false).is_empty() {
                return Err(format!("Invalid service account {what}"));
            }
        }
        Ok(())
    }
}

/// An evaluation of several expressions over the same variables.
pub(in super::super) struct Evaluator<'a> {
    variables: Vec<(&'a str, cel::Value<'a>)>,
    lazy: Option<Rc<Lazy<'a>>>,
    left: u64,
}

impl<'a> Evaluator<'a> {
    pub(in super::super) fn new(
        given: Given<'a>,
        named: &'a [(String, Program)],
        left: u64,
    ) -> Result<Self, String> {
        static OPEN: OnceLock<Arc<Decl>> = OnceLock::new();
        let open = OPEN.get_or_init(Decl::open);
        let Given { object, old, request, namespace, params, authority } = given;
        let all = [
            ("object", object),
            ("oldObject", old),
            ("request", request),
            ("namespaceObject", namespace),
            ("params", params.unwrap_or(&Value::Null)),
        ];
        let mut variables = Vec::with_capacity(all.len() + 2);
        for (name, value) in all {
            variables.push((name, cel::Value::read(value, open)?));
        }
        if let Some(asker) = authority {
            variables.push(("authorizer", Rights::of(asker)));
            let own = Rights::over(asker, asker.over.clone());
            variables.push(("authorizer.requestResource", own));
        }
        let lazy = (!named.is_empty()).then(|| {
            let programs = named.iter().map(|(name, program)| (name.as_str(), program));
            Lazy::new(programs, variables.clone(), left)
        });
        Ok(Self { variables, lazy, left })
    }

    /// The value of an expression; the outer error means that nothing is left to spend.
    pub(in super::super) fn run(
        &mut self,
        text: &str,
        program: &'a Program,
    ) -> Result<Result<cel::Value<'a>, String>, String> {
        let (result, mut cost) = program.run_with(self.variables.clone(), ONE, self.lazy.clone());
        cost = cost.saturating_add(self.lazy.as_ref().map_or(0, |it| it.spent()));
        self.left = self.left.checked_sub(cost).ok_or_else(|| OVER.to_owned())?;
        Ok(result.map_err(|why| format!("expression '{text}' resulted in error: {why}")))
    }

    pub(super) fn left(&self) -> u64 {
        self.left
    }
}
