//! The types of an expression, and what does not fit.

use std::collections::BTreeMap;

use super::ast::{Call, Loop, Made, Node, Part, Select, Way};
use super::functions::time;
use super::kind::{Shape, Type, measured, split};
use super::pattern;

/// Finds the type of an expression, with the variables that it may use.
pub(super) struct Checker<'a> {
    pub(super) variables: Vec<(&'a str, Type)>,
    pub(super) mistakes: Vec<(usize, String)>,
    /// The names of the variables, outside of loops, that are used.
    pub(super) used: Vec<String>,
    /// How many parts all types had so far.
    pub(super) work: usize,
    /// The parts of the expression so far, and the states of the regular expressions in it.
    pub(super) weight: u64,
}

/// The types of the objects that patches are made of.
const OBJECT: &str = "Object";
const PATCH: &str = "JSONPatch";

/// How many parts a type may have, how deep it may be, and how many parts all types of an expression may have:
/// each part of an expression may double its type.
const LARGEST: usize = 10_000;
const DEEPEST: usize = 150;
const MOST: usize = 5_000_000;
/// How many parts an expression may have, and states its regular expressions together.
const HEAVIEST: u64 = 100_000;
/// How many mistakes are kept.
const MISTAKES: usize = 100;

impl<'a> Checker<'a> {
    fn wrong(&mut self, at: usize, why: String) -> Type {
        if self.mistakes.len() < MISTAKES {
            self.mistakes.push((at, why));
        }
        Type::Wrong
    }

    pub(super) fn check(&mut self, node: &'a Node) -> Type {
        if self.work > MOST {
            return Type::Wrong;
        }
        self.weight += 1;
        let found = self.kind(node);
        let mut count = 0;
        let depth = measured(&found, &mut count);
        self.work += count;
        if count > LARGEST || depth > DEEPEST || self.work > MOST {
            return self.wrong(node.at, "the type of this expression is too large".to_owned());
        }
        found
    }

    fn kind(&mut self, node: &'a Node) -> Type {
        match &node.part {
            Part::Null => Type::Null,
            Part::Bool(_) => Type::Bool,
            Part::Int(_) => Type::Int,
            Part::Uint(_) => Type::Uint,
            Part::Double(_) => Type::Double,
            Part::Text(_) => Type::Text,
            Part::Bytes(_) => Type::Bytes,
            Part::Name(name) => self.name(node.at, name),
            Part::Select(select) => self.select(node.at, select),
            Part::And(parts) | Part::Or(parts) => self.chain(parts),
            Part::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                let types = [condition, then, otherwise].map(|it| self.check(it));
                self.resolve(node.at, "_?_:_", &["bool,A,A A"], &types, false)
            }
            Part::List(items) => {
                let mut of = None;
                for (item, is_optional) in items {
                    let found = self.check(item);
                    let found = self.unwrapped(item.at, found, *is_optional);
                    of = Some(self.joined(item.at, of, found));
                }
                Type::list(of.unwrap_or(Type::Dyn))
            }
            Part::Map(items) => {
                let (mut keys, mut values) = (None, None);
                for (key, value, is_optional) in items {
                    let found = self.check(key);
                    keys = Some(self.joined(key.at, keys, found));
                    let found = self.check(value);
                    let found = self.unwrapped(value.at, found, *is_optional);
                    values = Some(self.joined(value.at, values, found));
                }
                let known = |it: Option<Type>| Box::new(it.unwrap_or(Type::Dyn));
                Type::Map(known(keys), known(values))
            }
            Part::Made(made) => self.made(node.at, made),
            Part::Call(call) => self.call(node.at, call),
            Part::Loop(it) => self.walk(node.at, it),
        }
    }

    fn name(&mut self, at: usize, name: &str) -> Type {
        if let Some(index) = self.variables.iter().rposition(|(known, _)| *known == name) {
            self.used.push(name.to_owned());
            return self.variables[index].1.clone();
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
        if TYPES.contains(&name) {
            return Type::Named("type");
        }
        self.undeclared(at, name)
    }

    /// Whether patches may be made here: a variable says so.
    fn knows_patches(&self) -> bool {
        self.variables.iter().any(|(name, _)| *name == OBJECT)
    }

    fn made(&mut self, at: usize, made: &'a Made) -> Type {
        let name = &*made.of;
        let is_patch = name == PATCH;
        let is_known = is_patch || name == OBJECT || name.starts_with("Object.");
        if !is_known || !self.knows_patches() {
            return self.undeclared(at, name);
        }
        for (field, value, is_optional, place) in &made.fields {
            let found = self.check(value);
            let found = self.unwrapped(value.at, found, *is_optional);
            let of = match field.as_str() {
                "op" | "path" | "from" if is_patch => Type::Text,
                "value" => Type::Dyn,
                _ if !is_patch => Type::Dyn,
                _ => Type::Null,
            };
            if of == Type::Null || !of.takes(&found, &mut BTreeMap::new()) {
                let of = if of == Type::Null { String::new() } else { of.to_string() };
                let why = format!(
                    "expected type of field '{field}' is '{of}' but provided type is '{found}'"
                );
                self.wrong(*place, why);
            }
        }
        Type::Made(made.of.clone())
    }

    fn undeclared(&mut self, at: usize, name: &str) -> Type {
        self.wrong(at, format!("undeclared reference to '{name}' (in container '')"))
    }

    /// Both sides of `&&` and `||` are true or false.
    fn chain(&mut self, parts: &'a [Node]) -> Type {
        for part in parts {
            let found = self.check(part);
            self.boolean(part.at, &found);
        }
        Type::Bool
    }

    fn boolean(&mut self, at: usize, found: &Type) -> Type {
        if !Type::Bool.takes(found, &mut BTreeMap::new()) {
            self.wrong(at, format!("expected type 'bool' but found '{found}'"));
        }
        Type::Bool
    }

    /// An optional item is one of an optional.
    fn unwrapped(&mut self, at: usize, found: Type, is_optional: bool) -> Type {
        match found {
            Type::Optional(of) if is_optional => *of,
            Type::Dyn | Type::Wrong => found,
            other if is_optional => {
                let why = format!("expected type 'optional_type({other})' but found '{other}'");
                self.wrong(at, why)
            }
            other => other,
        }
    }

    /// Items of one collection have one type.
    fn joined(&mut self, at: usize, before: Option<Type>, found: Type) -> Type {
        let Some(before) = before else { return found };
        if before.takes(&found, &mut BTreeMap::new()) {
            return before;
        }
        if found.takes(&before, &mut BTreeMap::new()) {
            return found;
        }
        self.wrong(at, format!("expected type '{before}' but found '{found}'"))
    }

    fn select(&mut self, at: usize, select: &'a Select) -> Type {
        if let Some(name) = select.as_variable()
            && self.variables.iter().any(|(known, _)| *known == name)
        {
            return self.name(at, name);
        }
        let of = self.check(&select.of);
        let (of, was_optional) = match of {
            Type::Optional(inner) => (*inner, true),
            other => (other, false),
        };
        let found = match &of {
            Type::Dyn => Type::Dyn,
            Type::Wrong => return Type::Wrong,
            Type::Map(_, value) => (**value).clone(),
            Type::Object(decl) => match &decl.shape {
                Shape::Object(fields) if fields.contains_key(&select.plain) => {
                    fields[&select.plain].as_type()
                }
                _ => return self.wrong(at, format!("undefined field '{}'", select.field)),
            },
            Type::Made(name) if **name == *PATCH && select.plain != "value" => Type::Text,
            Type::Made(_) => Type::Dyn,
            Type::Named(name) if name.starts_with("kubernetes.authorization.") => {
                return self.wrong(at, format!("unexpected failed resolution of '{name}'"));
            }
            other => {
                return self.wrong(at, format!("type '{other}' does not support field selection"));
            }
        };
        match select {
            Select { is_test: true, .. } => Type::Bool,
            _ if select.is_optional || was_optional => match found {
                Type::Optional(_) => found,
                other => Type::Optional(Box::new(other)),
            },
            _ => found,
        }
    }

    fn call(&mut self, at: usize, call: &'a Call) -> Type {
        let types = call.args.iter().map(|it| match &it.part {
            // What a text is made of may be of any kind.
            Part::List(items) if call.name == "format" => {
                items.iter().for_each(|(item, _)| drop(self.check(item)));
                Type::list(Type::Dyn)
            }
            _ => self.check(it),
        });
        let types: Vec<_> = types.collect();
        let Some(function) = call.function else {
            return self.undeclared(at, &call.name);
        };
        if let Some(name) = call.name.strip_prefix("jsonpatch.").filter(|_| !self.knows_patches()) {
            self.undeclared(at.saturating_sub(call.name.len()), "jsonpatch");
            return self.undeclared(at, name);
        }
        // Each is compiled when it is needed, so a large one counts before.
        self.weight += call.written().map_or(0, |it| pattern::weight(it).unwrap_or(0));
        if self.weight > HEAVIEST {
            return self.wrong(at, "the regular expressions are too large together".to_owned());
        }
        self.literals(call);
        self.resolve(at, &call.name, function.overloads, &types, call.is_member)
    }

    /// Expressions, times and spans that are written in place must be such.
    fn literals(&mut self, call: &Call) {
        let Some(Node { at, part: Part::Text(text), .. }) = call.args.last() else { return };
        let is_right = match call.name.as_str() {
            "matches" => call.pattern().is_some() || call.args.len() != 2,
            "timestamp" => time::parse(text).is_some(),
            "duration" => time::parse_span(text).is_some(),
            _ => true,
        };
        if !is_right {
            self.wrong(*at, format!("invalid {} argument", call.name));
        }
    }

    /// The result of the overloads that take the arguments.
    fn resolve(
        &mut self,
        at: usize,
        name: &str,
        overloads: &[&str],
        types: &[Type],
        is_member: bool,
    ) -> Type {
        if types.contains(&Type::Wrong) {
            return Type::Wrong;
        }
        let mut result: Option<Type> = None;
        for overload in overloads {
            let (member, rest) = match overload.strip_prefix('.') {
                Some(rest) => (true, rest),
                None => (false, *overload),
            };
            let Some((args, returns)) = rest.rsplit_once(' ') else { continue };
            let args = split(args);
            if member != is_member || args.len() != types.len() {
                continue;
            }
            let mut bound = BTreeMap::new();
            let fits =
                args.iter().zip(types).all(|(arg, it)| Type::parse(arg).takes(it, &mut bound));
            if fits {
                let found = Type::parse(returns).filled(&bound);
                result = Some(match result {
                    Some(before) if before != found => Type::Dyn,
                    _ => found,
                });
            }
        }
        result.unwrap_or_else(|| {
            let shown: Vec<_> = types.iter().map(ToString::to_string).collect();
            let applied = match &shown[..] {
                [target, rest @ ..] if is_member => format!("{target}.({})", rest.join(", ")),
                all => format!("({})", all.join(", ")),
            };
            let why = format!("found no matching overload for '{name}' applied to '{applied}'");
            self.wrong(at, why)
        })
    }

    fn walk(&mut self, at: usize, it: &'a Loop) -> Type {
        let range = self.check(&it.range);
        let is_optional = matches!(it.way, Way::OptMap | Way::OptFlatMap);
        let types = match &range {
            Type::Dyn => vec![Type::Dyn, Type::Dyn],
            Type::Wrong => vec![Type::Wrong, Type::Wrong],
            Type::Optional(of) if is_optional => vec![(**of).clone()],
            Type::List(of) if !is_optional && it.names.len() == 2 => {
                vec![Type::Int, (**of).clone()]
            }
            Type::List(of) if !is_optional => vec![(**of).clone()],
            Type::Map(key, value) if !is_optional => vec![(**key).clone(), (**value).clone()],
            other => {
                let why = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.wrong(it.range.at, why);
                vec![Type::Wrong, Type::Wrong]
            }
        };
        let before = self.variables.len();
        self.variables.extend(it.names.iter().map(String::as_str).zip(types));
        if let Some(filter) = &it.filter {
            let found = self.check(filter);
            self.resolve(filter.at, "_?_:_", &["bool bool"], &[found], false);
        }
        let body = self.check(&it.body);
        self.variables.truncate(before);
        let keys = |range: &Type| match range {
            Type::Map(key, _) => (**key).clone(),
            Type::List(_) => Type::Int,
            _ => Type::Dyn,
        };
        match it.way {
            Way::All | Way::Exists | Way::ExistsOne => self.boolean(it.body.at, &body),
            Way::Filter => {
                let condition = self.resolve(at, "_?_:_", &["bool bool"], &[body], false);
                match range {
                    _ if condition == Type::Wrong => Type::Wrong,
                    Type::Map(key, _) => Type::List(key),
                    other => other,
                }
            }
            Way::Map | Way::TransformList => Type::list(body),
            Way::SortBy => range,
            Way::TransformMap => Type::Map(Box::new(keys(&range)), Box::new(body)),
            Way::TransformEntries => body,
            Way::OptMap => Type::Optional(Box::new(body)),
            Way::OptFlatMap => body,
        }
    }
}
