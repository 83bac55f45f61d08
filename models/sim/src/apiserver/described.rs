//! The types of built-in objects as the schemas that custom resources have, for those who draw objects.
#![cfg(feature = "ordered")]

use serde_json::{Map, Value, json};

use super::resource::{Resource, Shape};
use super::types::Type;

impl Resource {
    /// The schema of a built-in kind. That of a custom one is in its definition.
    pub(crate) fn built_in_schema(&self) -> Option<Value> {
        match &self.shape {
            Shape::Struct(of) => Some(schema(of)),
            Shape::Structural(_) => None,
        }
    }
}

/// It does not say which fields are required, and of what is kept as it is it says nothing.
fn schema(of: &Type) -> Value {
    match of {
        Type::Text => json!({"type": "string"}),
        Type::Int32 => json!({"type": "integer", "format": "int32"}),
        Type::Int64 => json!({"type": "integer", "format": "int64"}),
        Type::Double => json!({"type": "number"}),
        Type::IntOrText | Type::Quantity => json!({"x-kubernetes-int-or-string": true}),
        Type::Bool => json!({"type": "boolean"}),
        Type::Time | Type::MicroTime => json!({"type": "string", "format": "date-time"}),
        Type::Bytes => json!({"type": "string", "format": "byte"}),
        Type::Map(of) => json!({"type": "object", "additionalProperties": schema(of)}),
        Type::List(of) => json!({"type": "array", "items": schema(of)}),
        Type::Struct(_, fields) => {
            let fields = fields.iter().map(|it| (it.name.to_owned(), schema(it.of)));
            json!({"type": "object", "properties": fields.collect::<Map<_, _>>()})
        }
        _ => json!({}),
    }
}
