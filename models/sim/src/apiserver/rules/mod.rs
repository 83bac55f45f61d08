//! The defaults and the checks of built-in kinds: data in `rules.txt`, and one engine.
//!
//! A rule belongs to a message of the table of fields, such as `Container`, so it holds in every kind that
//! has one. What cannot be told in a line is a function with a name, in `named`.

mod line;
mod named;
mod names;
mod pods;
mod services;
mod storage;

use std::sync::OnceLock;

use serde_json::Value;

use super::bounds::At;
use super::cause::Causes;
use crate::protobuf::table::{Id, Message, Table, Type};
use line::Line;
pub(crate) use pods::{prepare as prepare_pod, prepare_job};
pub(crate) use services::prepare as prepare_service;

/// What holds for a message, and which of its fields hold more.
#[derive(Debug, Default)]
struct Node {
    defaults: Vec<Line>,
    checks: Vec<Line>,
    children: Vec<(&'static str, Id)>,
}

/// The rules of a kind, and which of them a server follows: a wrong one leaves some out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) message: Id,
    pub(crate) completes: bool,
    pub(crate) checks: bool,
    pub(crate) compares: bool,
}

/// The values that the fields with a name may have, where those are listed.
pub(crate) fn enumerated(field: &str) -> Vec<&'static str> {
    let mut values: Vec<&str> = nodes()
        .iter()
        .flat_map(|node| &node.checks)
        .filter(|line| line.field() == field)
        .flat_map(Line::values)
        .collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// All rules, read once, by message.
fn nodes() -> &'static [Node] {
    static NODES: OnceLock<Vec<Node>> = OnceLock::new();
    NODES.get_or_init(|| read(include_str!("rules.txt")))
}

fn read(text: &'static str) -> Vec<Node> {
    let table = Table::get();
    let mut own: Vec<Vec<&'static str>> = vec![Vec::new(); table.len()];
    let (mut package, mut message) = ("", None);
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        match line.len() - line.trim_start().len() {
            0 => package = line.trim(),
            1 => message = table.named(package, line.trim()),
            _ => own[message.expect("a rule follows a message of the table")].push(line.trim()),
        }
    }
    let mut nodes: Vec<Node> = Vec::new();
    for id in 0..table.len() {
        let mut node = Node::default();
        gather(table, table.message(id), id, &own, &mut node);
        nodes.push(node);
    }
    prune(&mut nodes);
    nodes
}

/// The rules of a message, and those of the messages that are part of it without a name.
fn gather(
    table: &'static Table,
    message: &'static Message,
    id: Id,
    own: &[Vec<&'static str>],
    node: &mut Node,
) {
    for line in own[id].iter().map(|line| Line::parse(line)) {
        if line.is_default() { &mut node.defaults } else { &mut node.checks }.push(line);
    }
    for field in &message.fields {
        let of = match &field.of {
            Type::List(of) => of,
            of => of,
        };
        match (&field.name, of) {
            (None, Type::Message(inner)) => {
                gather(table, table.message(*inner), *inner, own, node);
            }
            (Some(name), Type::Message(inner)) => node.children.push((name, *inner)),
            _ => {}
        }
    }
}

/// Forgets the fields below which nothing holds, so that nobody looks there.
fn prune(nodes: &mut [Node]) {
    let mut is_of_use: Vec<bool> =
        nodes.iter().map(|it| !it.defaults.is_empty() || !it.checks.is_empty()).collect();
    loop {
        let found: Vec<Id> = (0..nodes.len())
            .filter(|id| !is_of_use[*id] && nodes[*id].children.iter().any(|it| is_of_use[it.1]))
            .collect();
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|id| is_of_use[id] = true);
    }
    for node in nodes {
        node.children.retain(|(_, child)| is_of_use[*child]);
    }
}

impl Rules {
    /// Those of a kind; none if nothing holds for it.
    pub(super) fn of(api_version: &str, kind: &str) -> Option<Self> {
        let id = Table::get().kind(api_version, kind)?;
        let node = &nodes()[id];
        // The metadata of an object are checked by themselves.
        let has_more = node.children.iter().any(|(name, _)| *name != "metadata");
        let holds = has_more || !node.defaults.is_empty() || !node.checks.is_empty();
        holds.then_some(Self { message: id, completes: true, checks: true, compares: true })
    }

    /// Fills in what a client may leave out.
    pub(super) fn complete(self, object: &mut Value) {
        if self.completes {
            complete(self.message, object);
        }
    }

    /// Names what is wrong with an object, and with the change of an older one.
    pub(super) fn check(self, object: &Value, old: Option<&Value>) -> Causes {
        let mut causes = Causes::default();
        if self.checks {
            let old = old.filter(|_| self.compares);
            check(self.message, object, (old, old.is_some()), &At::Root, &mut causes);
        }
        causes
    }
}

fn complete(id: Id, value: &mut Value) {
    let node = &nodes()[id];
    if !value.is_object() {
        return;
    }
    for line in &node.defaults {
        line.complete(value);
    }
    for (name, child) in &node.children {
        match value.get_mut(name) {
            Some(Value::Array(items)) => items.iter_mut().for_each(|item| complete(*child, item)),
            Some(inner) => complete(*child, inner),
            None => {}
        }
    }
}

/// The older value of an item of a list is not known, but there may be one.
type Old<'a> = (Option<&'a Value>, bool);

fn check(id: Id, value: &Value, old: Old<'_>, at: &At<'_>, causes: &mut Causes) {
    let node = &nodes()[id];
    if !value.is_object() || causes.is_full() {
        return;
    }
    for line in &node.checks {
        line.check(value, old, at, causes);
    }
    for (name, child) in &node.children {
        if matches!(at, At::Root) && *name == "metadata" {
            continue;
        }
        let at = At::Field(at, name);
        match &value[*name] {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    check(*child, item, (None, old.1), &At::Item(&at, index), causes);
                }
            }
            inner => {
                let before = old.0.map(|old| &old[*name]);
                check(*child, inner, (before, old.1), &at, causes);
            }
        }
    }
}
