//! Lists whose items are told apart: sets, and maps by some fields of their items.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Structural;
use crate::apiserver::bounds::At;
use crate::apiserver::cause::{Cause, Causes};

impl Structural {
    /// Names what lists hold twice that are sets or maps.
    pub(crate) fn validate_lists(&self, value: &Value, path: &At<'_>, causes: &mut Causes) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    if let Some(schema) = self.property(key) {
                        schema.validate_lists(value, &At::Field(path, key), causes);
                    }
                }
            }
            Value::Array(items) => {
                self.find_twice(items, path, causes);
                for (index, item) in items.iter().enumerate() {
                    if let Some(schema) = &self.items {
                        schema.validate_lists(item, &At::Item(path, index), causes);
                    }
                }
            }
            _ => {}
        }
    }

    /// The items of an older list by their keys, the first with each; none if the list has no keys.
    pub(super) fn known_items<'a>(&self, old: &'a [Value]) -> Option<BTreeMap<String, &'a Value>> {
        (self.list_type == "map").then(|| {
            let mut known = BTreeMap::new();
            for item in old {
                known.entry(self.item_key(item)).or_insert(item);
            }
            known
        })
    }

    /// The value of an item of a set, or the keys of an item of a map, as text.
    pub(super) fn item_key(&self, item: &Value) -> String {
        if self.list_type != "map" {
            return item.to_string();
        }
        let keys = self.list_keys.iter();
        let keys = keys.filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
        Value::Object(keys.collect::<Map<_, _>>()).to_string()
    }

    /// Lists that are sets or maps hold no duplicates; a duplicate is named once even if it occurs
    /// three times.
    fn find_twice(&self, items: &[Value], path: &At<'_>, causes: &mut Causes) {
        if !matches!(self.list_type.as_str(), "set" | "map") {
            return;
        }
        let is_map = self.list_type == "map";
        let stranger = items.iter().position(|it| is_map && !it.is_object() && !it.is_null());
        if let Some(index) = stranger {
            let why = "must be an object for an array of list-type map";
            causes.push(Cause::invalid(At::Item(path, index), &items[index], why));
            return;
        }
        let mut seen = BTreeMap::<String, usize>::new();
        for (index, item) in items.iter().enumerate() {
            if causes.is_full() {
                return;
            }
            let key = self.item_key(item);
            match seen.get_mut(&key) {
                None => {
                    seen.insert(key, 1);
                }
                Some(count) => {
                    *count += 1;
                    if *count == 2 {
                        let message = format_args!("Duplicate value: {key}");
                        causes.push(Cause::new(
                            At::Item(path, index),
                            "FieldValueDuplicate",
                            message,
                        ));
                    }
                }
            }
        }
    }
}
