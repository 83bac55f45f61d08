//! Types: of the values of a schema, and of expressions.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Arc;

use serde_json::Value as Json;

use super::names::is_writable;
use super::value::Value;

/// A type. A letter stands for any type, the same wherever it is in a signature.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// Known at run time only.
    Dyn,
    /// Something is wrong, and was told.
    Wrong,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Time,
    Span,
    List(Box<Self>),
    Map(Box<Self>, Box<Self>),
    Object(Arc<Decl>),
    Optional(Box<Self>),
    /// The type of types, and those of the libraries.
    Named(&'static str),
    /// `JSONPatch`, `Object`, and what lies in it: any field of any type.
    Made(Arc<str>),
    Any(char),
}

const NAMED: &[(&str, &str)] = &[
    ("type", "type"),
    ("quantity", "kubernetes.Quantity"),
    ("url", "kubernetes.URL"),
    ("ip", "net.IP"),
    ("cidr", "net.CIDR"),
    ("named_format", "kubernetes.NamedFormat"),
    ("authorizer", "kubernetes.authorization.Authorizer"),
    ("path_check", "kubernetes.authorization.PathCheck"),
    ("group_check", "kubernetes.authorization.GroupCheck"),
    ("resource_check", "kubernetes.authorization.ResourceCheck"),
    ("decision", "kubernetes.authorization.Decision"),
];
const SIMPLE: &[(&str, Type)] = &[
    ("dyn", Type::Dyn),
    ("null_type", Type::Null),
    ("bool", Type::Bool),
    ("int", Type::Int),
    ("uint", Type::Uint),
    ("double", Type::Double),
    ("string", Type::Text),
    ("bytes", Type::Bytes),
    ("timestamp", Type::Time),
    ("duration", Type::Span),
];

impl Type {
    /// A type by its short name in signatures.
    pub(crate) fn named(text: &str) -> Self {
        Self::parse(text)
    }

    pub(crate) fn list(of: Self) -> Self {
        Self::List(Box::new(of))
    }

    /// A type as signatures write it.
    pub(super) fn parse(text: &str) -> Self {
        let inner = |name: &str| text.strip_prefix(name)?.strip_suffix(')');
        if let Some(of) = inner("list(") {
            return Self::list(Self::parse(of));
        }
        if let Some(of) = inner("optional(") {
            return Self::Optional(Box::new(Self::parse(of)));
        }
        if let Some((key, value)) = inner("map(").and_then(|it| it.split_once(',')) {
            return Self::Map(Box::new(Self::parse(key)), Box::new(Self::parse(value)));
        }
        let named = NAMED.iter().find(|(short, _)| *short == text);
        if let Some((_, name)) = named {
            return Self::Named(name);
        }
        let simple = SIMPLE.iter().find(|(name, _)| *name == text);
        simple.map_or_else(|| Self::Any(text.chars().next().unwrap_or('A')), |it| it.1.clone())
    }

    /// Whether a value of another type may stand here. Letters are bound on the way.
    pub(super) fn takes(&self, other: &Self, bound: &mut BTreeMap<char, Self>) -> bool {
        match (self, other) {
            (Self::Any(letter), _) => match bound.get(letter).cloned() {
                None => {
                    bound.insert(*letter, other.clone());
                    true
                }
                Some(before) if before.takes(other, &mut BTreeMap::new()) => true,
                Some(before) => {
                    let is_wider = other.takes(&before, &mut BTreeMap::new());
                    if is_wider {
                        bound.insert(*letter, other.clone());
                    }
                    is_wider
                }
            },
            (Self::Dyn | Self::Wrong, _) | (_, Self::Dyn | Self::Wrong) => true,
            (
                Self::Null
                | Self::Object(_)
                | Self::Time
                | Self::Span
                | Self::Optional(_)
                | Self::Made(_)
                | Self::Named(_),
                Self::Null,
            ) => true,
            (Self::List(one), Self::List(two)) | (Self::Optional(one), Self::Optional(two)) => {
                one.takes(two, bound)
            }
            (Self::Map(key, value), Self::Map(other_key, other_value)) => {
                key.takes(other_key, bound) && value.takes(other_value, bound)
            }
            (Self::Object(one), Self::Object(two)) => Arc::ptr_eq(one, two) || one == two,
            _ => self == other,
        }
    }

    /// The type with what is bound to its letters.
    pub(super) fn filled(&self, bound: &BTreeMap<char, Self>) -> Self {
        match self {
            Self::Any(letter) => bound.get(letter).cloned().unwrap_or(Self::Dyn),
            Self::List(of) => Self::list(of.filled(bound)),
            Self::Optional(of) => Self::Optional(Box::new(of.filled(bound))),
            Self::Map(key, value) => {
                Self::Map(Box::new(key.filled(bound)), Box::new(value.filled(bound)))
            }
            other => other.clone(),
        }
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong => f.write_str("!error!"),
            Self::List(of) => write!(f, "list({of})"),
            Self::Map(key, value) => write!(f, "map({key}, {value})"),
            Self::Object(decl) => f.write_str(decl.name.unwrap_or("object")),
            Self::Made(name) => f.write_str(name),
            Self::Optional(of) => write!(f, "optional_type({of})"),
            Self::Named(name) => f.write_str(name),
            Self::Any(letter) => write!(f, "{letter}"),
            Self::Null => f.write_str("null"),
            simple => {
                let named = SIMPLE.iter().find(|(_, it)| it == simple);
                f.write_str(named.map_or("dyn", |it| it.0))
            }
        }
    }
}

/// The type of the values of a schema, with what is needed to read them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decl {
    pub(super) shape: Shape,
    pub(super) is_nullable: bool,
    /// What messages call it, if it is no part of a schema.
    pub(super) name: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Whatever JSON there is; a whole number or a text, if the flag is set.
    Open(bool),
    Simple(Type),
    Date,
    List(Arc<Decl>, Ordering),
    Map(Arc<Decl>),
    Object(BTreeMap<String, Arc<Decl>>),
}

/// What makes two lists the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ordering {
    Items,
    Set,
    Keys(Vec<String>),
}

impl Ordering {
    /// What tells an item of a list apart.
    pub(super) fn key(&self, item: &Value<'_>) -> String {
        match (self, item) {
            (Self::Keys(keys), Value::Map(map)) => {
                let part = |key: &String| map.find(&Value::text(key.clone()));
                format!("{:?}", keys.iter().map(part).collect::<Vec<_>>())
            }
            (_, Value::List(list)) => format!("{:?}", list.items()),
            (_, other) => format!("{other:?}"),
        }
    }
}

impl Decl {
    fn shaped(shape: Shape, is_nullable: bool) -> Self {
        Self { shape, is_nullable, name: None }
    }

    /// An object with fields of these types.
    pub(crate) fn object<N: Into<String>>(
        name: &'static str,
        fields: impl IntoIterator<Item = (N, Type)>,
    ) -> Type {
        let simple = |of| match of {
            Type::Object(decl) => decl,
            of => Arc::new(Self::shaped(Shape::Simple(of), false)),
        };
        let fields = fields.into_iter().map(|(name, of)| (name.into(), simple(of))).collect();
        let shape = Shape::Object(fields);
        Type::Object(Arc::new(Self { shape, is_nullable: false, name: Some(name) }))
    }

    /// Adds a field to an object. Nothing is copied, unless somebody else has the type.
    pub(crate) fn put(this: &mut Arc<Self>, name: &str, of: Type) {
        let field = Arc::new(Self::shaped(Shape::Simple(of), false));
        if let Shape::Object(fields) = &mut Arc::make_mut(this).shape {
            fields.insert(name.to_owned(), field);
        }
    }

    /// Any JSON, without a schema.
    pub(crate) fn open() -> Arc<Self> {
        Arc::new(Self::shaped(Shape::Open(false), true))
    }

    /// The type of a schema; none if it has no type that expressions can use.
    pub(crate) fn of(schema: &Json, is_resource: bool) -> Option<Arc<Self>> {
        let is_set = |key: &str| schema[key] == true;
        let is_resource = is_resource || is_set("x-kubernetes-embedded-resource");
        let shape = if is_set("x-kubernetes-int-or-string") {
            Shape::Open(true)
        } else {
            match schema["type"].as_str()? {
                "boolean" => Shape::Simple(Type::Bool),
                "integer" => Shape::Simple(Type::Int),
                "number" => Shape::Simple(Type::Double),
                "string" => match schema["format"].as_str() {
                    Some("byte") => Shape::Simple(Type::Bytes),
                    Some("duration") => Shape::Simple(Type::Span),
                    Some("date-time") => Shape::Simple(Type::Time),
                    Some("date") => Shape::Date,
                    _ => Shape::Simple(Type::Text),
                },
                "array" => {
                    let keys =
                        schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
                    let keys = keys.filter_map(Json::as_str).map(str::to_owned);
                    let ordering = match schema["x-kubernetes-list-type"].as_str() {
                        Some("set") => Ordering::Set,
                        Some("map") => Ordering::Keys(keys.collect()),
                        _ => Ordering::Items,
                    };
                    Shape::List(Self::of(&schema["items"], false)?, ordering)
                }
                "object" if schema["additionalProperties"].is_object() => {
                    Shape::Map(Self::of(&schema["additionalProperties"], false)?)
                }
                "object" => Shape::Object(Self::fields(schema, is_resource)),
                _ => return None,
            }
        };
        Some(Arc::new(Self::shaped(shape, is_set("nullable"))))
    }

    fn fields(schema: &Json, is_resource: bool) -> BTreeMap<String, Arc<Self>> {
        let properties = schema["properties"].as_object().into_iter().flatten();
        let properties = properties.filter(|(name, _)| is_writable(name));
        let fields = properties.filter_map(|(name, it)| Some((name.clone(), Self::of(it, false)?)));
        let mut fields: BTreeMap<_, _> = fields.collect();
        if is_resource {
            let simple = |shape| Arc::new(Self::shaped(shape, false));
            let text = simple(Shape::Simple(Type::Text));
            let names = ["name", "generateName"].map(|name| (name.to_owned(), text.clone()));
            fields.insert("metadata".to_owned(), simple(Shape::Object(names.into())));
            fields.insert("kind".to_owned(), text.clone());
            fields.insert("apiVersion".to_owned(), text);
        }
        fields
    }

    pub(crate) fn as_type(self: &Arc<Self>) -> Type {
        match &self.shape {
            Shape::Open(_) => Type::Dyn,
            Shape::Simple(of) => of.clone(),
            Shape::Date => Type::Time,
            Shape::List(items, _) => Type::list(items.as_type()),
            Shape::Map(values) => Type::Map(Box::new(Type::Text), Box::new(values.as_type())),
            Shape::Object(_) => Type::Object(self.clone()),
        }
    }
}

/// The depth of a type, and how many parts it has.
pub(super) fn measured(of: &Type, count: &mut usize) -> usize {
    *count += 1;
    1 + match of {
        Type::List(of) | Type::Optional(of) => measured(of, count),
        Type::Map(key, value) => measured(key, count).max(measured(value, count)),
        _ => 0,
    }
}

/// Types with commas between them; those inside of brackets separate nothing.
pub(super) fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (index, it) in text.char_indices() {
        match it {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[from..index]);
                from = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts.retain(|it| !it.is_empty());
    parts
}

impl Value<'_> {
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::Text(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Time(_) => "google.protobuf.Timestamp",
            Self::Span(_) => "google.protobuf.Duration",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Url(_) => "kubernetes.URL",
            Self::Ip(_) => "net.IP",
            Self::Cidr(..) => "net.CIDR",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Made(..) => "Object",
            Self::Rights(it) => it.type_name(),
            Self::Decision(..) => "kubernetes.authorization.Decision",
        }
    }
}
