//! What the items of a list or a map become.

use super::ast::Way;
use super::functions::lists;
use super::value::{Outcome, Value};

/// What a loop has made so far.
#[derive(Default)]
pub(super) struct Gathered<'a> {
    pub(super) is_decided: bool,
    pub(super) wrong: Option<String>,
    pub(super) count: usize,
    pub(super) items: Vec<Value<'a>>,
    pub(super) entries: Vec<(Value<'a>, Value<'a>)>,
}

impl<'a> Gathered<'a> {
    pub(super) fn end(mut self, way: Way) -> Outcome<'a> {
        Ok(match way {
            Way::All | Way::Exists => match self.wrong {
                Some(why) if !self.is_decided => return Err(why),
                _ => Value::Bool(self.is_decided == (way == Way::Exists)),
            },
            Way::ExistsOne => Value::Bool(self.count == 1),
            Way::SortBy => {
                lists::put_in_order(&mut self.entries, |it| &it.0)?;
                Value::list(self.entries.into_iter().map(|it| it.1).collect())
            }
            Way::TransformMap | Way::TransformEntries => Value::map(self.entries),
            _ => Value::list(self.items),
        })
    }
}
