//! The value of an expression. What it costs is counted, and ends it beyond its limit.

use std::borrow::Cow;
use std::rc::Rc;

use super::ast::{Call, LAZY, Loop, Made, Node, OWN_CHECK, Part, Select, Way};
use super::functions::text;
use super::gathered::Gathered;
use super::lazy::Lazy;
use super::pattern;
use super::value::{Map, NO_OVERLOAD, Outcome, Value};

/// An evaluation on its way.
pub(super) struct Evaluation<'a> {
    pub(super) variables: Vec<(&'a str, Value<'a>)>,
    pub(super) cost: u64,
    pub(super) limit: u64,
    /// The expressions behind the fields of `variables`.
    pub(super) lazy: Option<Rc<Lazy<'a>>>,
}

/// How an evaluation that costs too much ends.
pub(crate) const CANCELLED: &str = "operation cancelled: actual cost limit exceeded";

/// What a part costs that makes a list, and one that makes a map.
const LIST: u64 = 10;
const MAP: u64 = 30;
const OBJECT: u64 = 40;

/// How many made values may lie within each other.
const DEEPEST: usize = 150;

impl<'a> Evaluation<'a> {
    pub(super) fn pay(&mut self, cost: u64) -> Result<(), String> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit { Err(CANCELLED.to_owned()) } else { Ok(()) }
    }

    pub(super) fn run(&mut self, node: &'a Node) -> Outcome<'a> {
        let value = self.value(node);
        // Bytes are read from a text each time, a text that was made is copied, and a mistake may quote one.
        self.pay(value.as_ref().map_or_else(|why| why.len() as u64 / 100, Value::copied))?;
        let value = value?;
        // Whatever walks a value, and also its end, does so by recursion.
        if value.depth() > DEEPEST {
            return Err("the value is too deep".to_owned());
        }
        Ok(value)
    }

    fn value(&mut self, node: &'a Node) -> Outcome<'a> {
        Ok(match &node.part {
            Part::Null => Value::Null,
            Part::Bool(it) => Value::Bool(*it),
            Part::Int(it) => Value::Int(*it),
            Part::Uint(it) => Value::Uint(*it),
            Part::Double(it) => Value::Double(*it),
            Part::Text(it) => Value::text(it.as_str()),
            Part::Bytes(it) => {
                self.pay(it.len() as u64 / 10)?;
                Value::Bytes(it.as_slice().into())
            }
            Part::Name(name) => return self.name(name),
            Part::Select(select) => return self.select(select),
            Part::And(parts) => return self.chain(parts, false),
            Part::Or(parts) => return self.chain(parts, true),
            Part::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                return match self.run(condition)? {
                    Value::Bool(true) => self.run(then),
                    Value::Bool(false) => self.run(otherwise),
                    _ => Err(NO_OVERLOAD.to_owned()),
                };
            }
            Part::List(_) | Part::Map(_) => return self.made(&node.part),
            Part::Made(made) => return self.object(made),
            Part::Call(call) => return self.call(call),
            Part::Loop(it) => return self.walk(it),
        })
    }

    fn name(&mut self, name: &str) -> Outcome<'a> {
        self.pay(1)?;
        let found = self.variables.iter().rev().find(|(known, _)| *known == name);
        if let Some((_, value)) = found {
            let value = value.clone();
            // A text that was made is copied.
            if let Value::Text(Cow::Owned(text)) = &value {
                self.pay(text.len() as u64 / 10)?;
            }
            return Ok(value);
        }
        const TYPES: &[&str] = &[
            "bool",
            "int",
            "uint",
            "double",
            "string",
            "bytes",
            "list",
            "map",
            "null_type",
            "type",
        ];
        let known = TYPES.iter().find(|it| **it == name);
        known.map(|it| Value::Type(it)).ok_or_else(|| format!("no such attribute(s): {name}"))
    }

    fn select(&mut self, select: &'a Select) -> Outcome<'a> {
        if select.as_variable().is_some() {
            return self.name(OWN_CHECK);
        }
        if let Some(lazy) = self.lazy.clone().filter(|_| self.is_lazy(select)) {
            self.pay(1)?;
            let found = lazy.get(&select.plain)?;
            if select.is_test {
                return Ok(Value::Bool(true));
            }
            return Ok(if select.is_optional { Value::some(found) } else { found });
        }
        let of = self.run(&select.of)?;
        if !select.is_test {
            self.pay(1)?;
        }
        let (of, was_optional) = match of {
            Value::Optional(None) if select.is_test => return Ok(Value::Bool(false)),
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(inner)) => (Value::clone(&inner), true),
            other => (other, false),
        };
        let map = match of {
            Value::Map(map) | Value::Made(_, map) => map,
            Value::Null if !select.is_test => {
                return Err(format!("no such key: {}", select.field));
            }
            _ => return Err(NO_OVERLOAD.to_owned()),
        };
        if let Map::Made(entries, _) = &map {
            self.pay(entries.len() as u64 / 16)?; // they are searched one after another
        }
        let name = if map.is_object() { &select.plain } else { &select.field };
        let found = map.field(name);
        if select.is_test {
            let found = found.ok().flatten();
            return Ok(Value::Bool(found.is_some_and(|it| !matches!(it, Value::Null))));
        }
        match found? {
            Some(found @ Value::Optional(_)) => Ok(found),
            Some(found) if select.is_optional || was_optional => Ok(Value::some(found)),
            Some(found) => Ok(found),
            None if select.is_optional || was_optional => Ok(Value::Optional(None)),
            None => Err(format!("no such key: {}", select.field)),
        }
    }

    /// No variable of a loop hides the named expressions.
    fn is_lazy(&self, select: &Select) -> bool {
        select.is_of_lazy() && self.variables.iter().all(|(name, _)| *name != LAZY)
    }

    fn object(&mut self, made: &'a Made) -> Outcome<'a> {
        let mut fields = Vec::with_capacity(made.fields.len());
        for (field, value, is_optional, _) in &made.fields {
            let value = match self.run(value)? {
                Value::Optional(it) if *is_optional => it.map(|it| Value::clone(&it)),
                other => Some(other),
            };
            fields.extend(value.map(|it| (Value::text(field.as_str()), it)));
        }
        self.pay(OBJECT.max(fields.len() as u64))?;
        Ok(Value::made(&made.of, fields))
    }

    /// `&&` and `||`: one side that decides makes up for a mistake of the other.
    fn chain(&mut self, parts: &'a [Node], deciding: bool) -> Outcome<'a> {
        let mut wrong = None;
        for part in parts {
            match self.run(part) {
                Ok(Value::Bool(it)) if it == deciding => return Ok(Value::Bool(deciding)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => wrong = wrong.or_else(|| Some(NO_OVERLOAD.to_owned())),
                Err(why) if why == CANCELLED => return Err(why),
                Err(why) => wrong = wrong.or(Some(why)),
            }
        }
        wrong.map_or(Ok(Value::Bool(!deciding)), Err)
    }

    fn made(&mut self, part: &'a Part) -> Outcome<'a> {
        let unwrapped = |value: Value<'a>, is_optional: bool| match value {
            Value::Optional(it) if is_optional => it.map(|it| Value::clone(&it)),
            other => Some(other),
        };
        if let Part::List(items) = part {
            let mut made = Vec::with_capacity(items.len());
            for (item, is_optional) in items {
                made.extend(unwrapped(self.run(item)?, *is_optional));
            }
            self.pay(LIST.max(made.len() as u64 / 2))?;
            return Ok(Value::list(made));
        }
        let mut made = Vec::new();
        if let Part::Map(items) = part {
            for (key, value, is_optional) in items {
                let (key, value) = (self.run(key)?, self.run(value)?);
                if let Some(value) = unwrapped(value, *is_optional) {
                    made.push((key, value));
                }
            }
        }
        self.pay(MAP.max(made.len() as u64))?;
        Ok(Value::map(made))
    }

    fn call(&mut self, call: &'a Call) -> Outcome<'a> {
        let Some(function) = call.function else { return Err(NO_OVERLOAD.to_owned()) };
        // Most calls have one or two arguments.
        let args = match &call.args[..] {
            [one] => vec![self.run(one)?],
            [one, two] => {
                let one = self.run(one)?;
                // Alternatives of an optional are looked at only if they are needed.
                if matches!(call.name.as_str(), "or" | "orValue") {
                    return match one {
                        Value::Optional(Some(it)) if call.name == "orValue" => {
                            Ok(Value::clone(&it))
                        }
                        Value::Optional(Some(_)) => Ok(one),
                        _ => self.run(two),
                    };
                }
                vec![one, self.run(two)?]
            }
            args => args.iter().map(|it| self.run(it)).collect::<Result<Vec<_>, _>>()?,
        };
        self.pay((function.cost)(&args))?;
        if let [Value::Text(of), Value::Text(pattern), rest @ ..] = &args[..]
            && text::FINDERS.contains(&call.name.as_str())
        {
            return self.find(call, of, pattern, rest);
        }
        (function.run)(&call.name, &args)
    }

    /// A real server does not count what is found, but each piece takes room.
    fn find(
        &mut self,
        call: &'a Call,
        of: &str,
        pattern: &str,
        limit: &[Value<'a>],
    ) -> Outcome<'a> {
        let made;
        let pattern = match call.pattern() {
            Some(it) => it,
            None => {
                self.pay(pattern::weight(pattern).unwrap_or(0))?; // it is compiled now
                made = text::compiled(&call.name, pattern)?;
                &made
            }
        };
        let left = self.limit.saturating_sub(self.cost);
        let found = text::found(&call.name, pattern, of, limit, left)?;
        if call.name == "findAll" {
            self.pay(found.size())?;
        }
        Ok(found)
    }

    fn with(&mut self, names: &'a [String], values: [Value<'a>; 2], node: &'a Node) -> Outcome<'a> {
        let before = self.variables.len();
        self.variables.extend(names.iter().map(String::as_str).zip(values));
        let result = self.run(node);
        self.variables.truncate(before);
        result
    }

    fn walk(&mut self, it: &'a Loop) -> Outcome<'a> {
        let range = self.run(&it.range)?;
        if let Value::Optional(inner) = range {
            let Some(inner) = inner else { return Ok(Value::Optional(None)) };
            let body = self.with(&it.names, [Value::clone(&inner), Value::Null], &it.body)?;
            return Ok(if it.way == Way::OptMap { Value::some(body) } else { body });
        }
        let is_pair = it.names.len() == 2;
        let mut gathered = Gathered::default();
        match &range {
            Value::List(list) => {
                for index in 0..list.len() {
                    let item = list.get(index)?;
                    let pair = if is_pair {
                        [Value::Int(index as i64), item]
                    } else {
                        [item, Value::Null]
                    };
                    if !self.step(it, pair, &mut gathered)? {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                for (key, value) in map.entries() {
                    let wrong =
                        value.as_ref().map_or_else(|why| why.len() as u64 / 100, Value::copied);
                    self.pay(wrong)?;
                    let pair = [key, if is_pair { value? } else { Value::Null }];
                    if !self.step(it, pair, &mut gathered)? {
                        break;
                    }
                }
            }
            _ => return Err(NO_OVERLOAD.to_owned()),
        }
        gathered.end(it.way)
    }

    /// One item. Tells whether the next one counts.
    fn step(
        &mut self,
        it: &'a Loop,
        values: [Value<'a>; 2],
        so_far: &mut Gathered<'a>,
    ) -> Result<bool, String> {
        let key = values[0].clone();
        self.pay(values.iter().map(Value::copied).sum())?;
        if let Some(filter) = &it.filter {
            self.pay(1)?;
            match self.with(&it.names, values.clone(), filter)? {
                Value::Bool(true) => {}
                Value::Bool(false) => return Ok(true),
                _ => return Err(NO_OVERLOAD.to_owned()),
            }
        }
        let result = self.with(&it.names, values, &it.body);
        match it.way {
            Way::All | Way::Exists => {
                self.pay(if it.way == Way::All { 3 } else { 4 })?;
                let deciding = it.way == Way::Exists;
                match result {
                    Ok(Value::Bool(found)) if found == deciding => {
                        so_far.is_decided = true;
                        return Ok(false);
                    }
                    Ok(Value::Bool(_)) => {}
                    Err(why) if why == CANCELLED => return Err(why),
                    Err(why) => so_far.wrong = so_far.wrong.take().or(Some(why)),
                    Ok(_) => return Err(NO_OVERLOAD.to_owned()),
                }
            }
            Way::ExistsOne => {
                self.pay(2)?;
                so_far.count += usize::from(matches!(result?, Value::Bool(true)));
            }
            Way::Filter => {
                let is_in = matches!(result?, Value::Bool(true));
                self.pay(if is_in { 13 } else { 1 })?;
                if is_in {
                    so_far.items.push(key);
                }
            }
            Way::SortBy => {
                let by = result?;
                self.pay(LIST + 2 + by.size() / 10)?; // it is compared again and again
                so_far.entries.push((by, key));
            }
            Way::TransformMap => {
                self.pay(MAP)?;
                so_far.entries.push((key, result?));
            }
            Way::TransformEntries => {
                self.pay(MAP)?;
                let Value::Map(map) = result? else { return Err(NO_OVERLOAD.to_owned()) };
                self.pay((map.most() as u64).saturating_sub(1))?;
                for (key, value) in map.entries() {
                    so_far.entries.push((key, value?));
                }
            }
            Way::Map | Way::TransformList | Way::OptMap | Way::OptFlatMap => {
                self.pay(LIST + 2)?;
                so_far.items.push(result?);
            }
        }
        Ok(true)
    }
}
