//! The types of built-in kinds from the table of fields that the binary form has, too.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::builtin::{META, TEXT};
use super::types::{Empty, Field, Type, omit};
use crate::protobuf::table::{self, Id, Special, Table};

/// The types that were made so far. They are never freed: there is one of each.
static MADE: Mutex<BTreeMap<Id, &'static Type>> = Mutex::new(BTreeMap::new());

/// The lists that are written even if nobody has made them.
const ALWAYS: [(&str, &str); 8] = [
    ("ClusterRole", "rules"),
    ("EndpointSlice", "endpoints"),
    ("EndpointSlice", "ports"),
    ("HorizontalPodAutoscalerStatus", "currentMetrics"),
    ("LimitRangeSpec", "limits"),
    ("PodSpec", "containers"),
    ("PolicyRule", "verbs"),
    ("Role", "rules"),
];

/// The type of a kind, with all of its fields.
pub(crate) fn kind(api_version: &str, kind: &str) -> &'static Type {
    let id = Table::get().kind(api_version, kind).expect("the table has all built-in kinds");
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    Maker { table: Table::get(), made: &mut made, around: Vec::new() }.message(id)
}

struct Maker<'a> {
    table: &'static Table,
    made: &'a mut BTreeMap<Id, &'static Type>,
    /// The messages that are being made.
    around: Vec<Id>,
}

impl Maker<'_> {
    fn message(&mut self, id: Id) -> &'static Type {
        if let Some(made) = self.made.get(&id) {
            return made;
        }
        if self.around.contains(&id) {
            return &Type::Any; // it holds itself
        }
        self.around.push(id);
        let message = self.table.message(id);
        let is_whole = self.around.len() == 1;
        let mut fields = Vec::new();
        if is_whole || message.name == "PersistentVolumeClaim" {
            fields.extend([omit("kind", &TEXT), omit("apiVersion", &TEXT)]);
        }
        self.fields(message, is_whole, &mut fields);
        self.around.pop();
        let made = &*Box::leak(Box::new(Type::Struct(&message.name, fields.leak())));
        self.made.insert(id, made);
        made
    }

    fn fields(&mut self, message: &'static table::Message, is_whole: bool, to: &mut Vec<Field>) {
        for field in &message.fields {
            match (field.name.as_deref(), &field.of) {
                (None, table::Type::Message(inner)) => {
                    self.fields(self.table.message(*inner), false, to);
                }
                (None, _) => {}
                (Some(name), of) => {
                    let is_meta = is_whole && name == "metadata";
                    let of = if is_meta { &META } else { self.of(of) };
                    let always = ALWAYS.contains(&(message.name.as_str(), name));
                    let empty = match (field.empty, of) {
                        _ if always => Empty::Write,
                        (table::Empty::Zero, _) => Empty::Write,
                        (table::Empty::Omitted, _) => Empty::Omit,
                        (_, Type::List(_) | Type::Map(_)) => Empty::Omit,
                        _ => Empty::Keep,
                    };
                    to.push(Field { name, of, empty });
                }
            }
        }
    }

    fn of(&mut self, of: &table::Type) -> &'static Type {
        match of {
            table::Type::Text => &Type::Text,
            table::Type::Bool => &Type::Bool,
            table::Type::Int32 => &Type::Int32,
            table::Type::Int64 => &Type::Int64,
            table::Type::Double => &Type::Double,
            table::Type::Bytes => &Type::Bytes,
            table::Type::Json => &Type::Any,
            table::Type::Special(special, _) => match special {
                Special::Time => &Type::Time,
                Special::MicroTime => &Type::MicroTime,
                Special::Quantity => &Type::Quantity,
                Special::IntOrString => &Type::IntOrText,
                Special::Strings => &super::builtin::LIST,
                _ => &Type::Any,
            },
            table::Type::Message(id) => self.message(*id),
            table::Type::List(of) => Box::leak(Box::new(Type::List(self.of(of)))),
            table::Type::Map(of) => Box::leak(Box::new(Type::Map(self.of(of)))),
        }
    }
}
