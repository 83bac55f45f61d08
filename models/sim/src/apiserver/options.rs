//! The options of writes, from the query or the body.

use serde_json::{Value, json};

use super::cause::{Cause, Causes};
use super::http::Request;
use super::negotiate;
use super::status::{Failure, Outcome};
use super::types::{self, Type, keep, omit};
use crate::protobuf;

/// The treatment of unknown fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    Ignore,
    Warn,
    Refuse,
}

/// The options of a create, an update or a patch.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    pub(crate) is_dry: bool,
    pub(crate) unknown: Unknown,
    /// The field manager.
    pub(crate) manager: String,
    pub(crate) force: bool,
}

impl Writing {
    /// `kind` is the kind of the options, which failures name.
    pub(crate) fn parse(request: &Request, kind: &str, is_apply: bool) -> Outcome<Self> {
        let force = request.parameter("force").map(boolean).unwrap_or(false);
        let mut causes = Causes::default();
        let manager = request.parameter("fieldManager").unwrap_or("");
        if is_apply && manager.is_empty() {
            causes.push(Cause::required("fieldManager", "is required for apply patch"));
        } else if !is_apply && kind == "PatchOptions" && request.parameter("force").is_some() {
            causes.push(Cause::forbidden("force", "may not be specified for non-apply patch"));
        }
        if manager.len() > 128 {
            let message = "Too long: may not be more than 128 bytes".to_owned();
            causes.push(Cause::new("fieldManager", "FieldValueTooLong", message));
        }
        if manager.chars().any(char::is_control) {
            let why = "should only contain printable characters";
            causes.push(Cause::invalid("fieldManager", &manager.into(), why));
        }
        let dry: Vec<_> = request.query.iter().filter(|(key, _)| key == "dryRun").collect();
        let dry: Vec<&str> = dry.iter().map(|(_, value)| value.as_str()).collect();
        check_dry_run(&dry, &mut causes);
        let unknown = match request.parameter("fieldValidation").unwrap_or("") {
            "" | "Warn" => Unknown::Warn,
            "Ignore" => Unknown::Ignore,
            "Strict" => Unknown::Refuse,
            other => {
                let known = ["", "Ignore", "Strict", "Warn"];
                causes.push(Cause::unsupported("fieldValidation", &other.into(), &known));
                Unknown::Warn
            }
        };
        if !causes.is_empty() {
            return Err(Failure::bad_options(kind, &causes));
        }
        let agent = || request.header("User-Agent").unwrap_or("unknown").split('/').next();
        let manager = if manager.is_empty() { agent().unwrap_or("") } else { manager };
        let manager = manager.chars().take(128).collect();
        Ok(Self { is_dry: !dry.is_empty(), unknown, manager, force })
    }
}

fn check_dry_run(dry: &[&str], causes: &mut Causes) {
    if dry.iter().any(|it| *it != "All") {
        causes.push(Cause::unsupported("dryRun", &json!(dry), &["All"]));
    }
}

/// Anything but `false`, in any case, and `0` is true.
pub(crate) fn boolean(text: &str) -> bool {
    !(text.eq_ignore_ascii_case("false") || text == "0")
}

/// Reads a number as the real server does, which takes no sign.
pub(crate) fn version(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

/// The treatment of the objects that a deleted object owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    Background,
    Foreground,
    Orphan,
}

/// The options of a deletion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deleting {
    pub(crate) is_dry: bool,
    pub(crate) policy: Option<Policy>,
    /// The old way to give the policy.
    pub(crate) orphan: Option<bool>,
    pub(crate) uid: Option<String>,
    pub(crate) version: Option<String>,
    grace: Option<i64>,
}

static OPTIONS: Type = Type::Struct(
    "DeleteOptions",
    &[
        omit("kind", &Type::Text),
        omit("apiVersion", &Type::Text),
        keep("gracePeriodSeconds", &Type::Int64),
        keep(
            "preconditions",
            &Type::Struct(
                "Preconditions",
                &[keep("uid", &Type::Text), keep("resourceVersion", &Type::Text)],
            ),
        ),
        keep("orphanDependents", &Type::Bool),
        keep("propagationPolicy", &Type::Text),
        omit("dryRun", &Type::List(&Type::Text)),
        keep("ignoreStoreReadErrorWithClusterBreakingPotential", &Type::Bool),
    ],
);

impl Deleting {
    /// The options as others are told of them.
    pub(crate) fn shown(&self) -> Value {
        let mut shown = json!({});
        let policy = self.policy.map(|it| format!("{it:?}").into());
        let named = |value: &Option<String>| value.as_deref().map(Value::from);
        for (field, value) in [
            ("propagationPolicy", policy),
            ("orphanDependents", self.orphan.map(Value::from)),
            ("gracePeriodSeconds", self.grace.map(Value::from)),
        ] {
            if let Some(value) = value {
                shown[field] = value;
            }
        }
        for (field, value) in [("uid", named(&self.uid)), ("resourceVersion", named(&self.version))]
        {
            if let Some(value) = value {
                shown["preconditions"][field] = value;
            }
        }
        shown
    }

    pub(crate) fn parse(request: &Request) -> Outcome<Self> {
        let options = if request.body.is_empty() { of_query(request) } else { of_body(request)? };
        let mut causes = Causes::default();
        let orphan = options["orphanDependents"].as_bool();
        if let (Some(_), Some(policy)) = (orphan, options["propagationPolicy"].as_str()) {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            causes.push(Cause::invalid("propagationPolicy", &policy.into(), why));
        }
        let policy = match options["propagationPolicy"].as_str() {
            None => None,
            Some("Background") => Some(Policy::Background),
            Some("Foreground") => Some(Policy::Foreground),
            Some("Orphan") => Some(Policy::Orphan),
            Some(other) => {
                let known = ["Foreground", "Background", "Orphan", "nil"];
                causes.push(Cause::unsupported("propagationPolicy", &other.into(), &known));
                None
            }
        };
        let dry = super::metadata::strings(&options["dryRun"]);
        check_dry_run(&dry, &mut causes);
        if !causes.is_empty() {
            return Err(Failure::bad_options("DeleteOptions", &causes));
        }
        let precondition = |part: &str| options["preconditions"][part].as_str().map(str::to_owned);
        Ok(Self {
            is_dry: !dry.is_empty(),
            policy,
            orphan,
            uid: precondition("uid"),
            version: precondition("resourceVersion"),
            grace: options["gracePeriodSeconds"].as_i64(),
        })
    }
}

fn of_query(request: &Request) -> Value {
    let mut options = json!({});
    for (key, value) in &request.query {
        match key.as_str() {
            "propagationPolicy" => options[key] = value.as_str().into(),
            "uid" | "resourceVersion" if !value.is_empty() => {
                options["preconditions"][key] = value.as_str().into();
            }
            "orphanDependents" => options[key] = boolean(value).into(),
            "dryRun" => {
                if options[key].is_null() {
                    options[key] = json!([]);
                }
                if let Some(list) = options[key].as_array_mut() {
                    list.push(value.as_str().into());
                }
            }
            _ => {}
        }
    }
    options
}

fn of_body(request: &Request) -> Outcome<Value> {
    let body = if negotiate::is_protobuf(request) {
        let default = Some(("meta.k8s.io/v1", "DeleteOptions"));
        let options = protobuf::decode_as(&request.body, default);
        options.map_err(|error| Failure::bad_request(error.to_string()))?
    } else {
        let (body, _) = crate::json::parse(&request.body).map_err(|error| {
            Failure::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
        })?;
        body
    };
    let cannot = |why: &str| {
        Failure::bad_request(format!(
            "DeleteOptions in version \"v1\" cannot be handled as a DeleteOptions: {why}"
        ))
    };
    if !body.is_object() {
        return Err(cannot("json: cannot unmarshal into Go value of type v1.DeleteOptions"));
    }
    match body["kind"].as_str() {
        Some("DeleteOptions" | "") | None => {}
        Some(other) => return Err(cannot(&format!("no kind \"{other}\" is registered"))),
    }
    types::read(body, &OPTIONS, &mut Vec::new()).map_err(|why| cannot(&why))
}
