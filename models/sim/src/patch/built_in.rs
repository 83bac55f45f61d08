//! The kinds that the server always has, read from `built_in.txt`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::set::FieldSet;
use super::types::{Field, Id, Kind, ListKind, Scalar, Strategy};

/// The kind of a value of which nothing is known.
pub(crate) const ANY: Id = 0;
/// The kinds that need no definition, by their place.
pub(crate) const SCALARS: [(&str, Id, Scalar); 4] = [
    ("s", 1, Scalar::String),
    ("n", 2, Scalar::Number),
    ("b", 3, Scalar::Boolean),
    ("u", 4, Scalar::Any),
];

/// All built-in kinds.
#[derive(Debug)]
pub(crate) struct BuiltIn {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) names: BTreeMap<String, Id>,
}

/// The built-in kinds, read once.
pub(crate) fn built_in() -> &'static BuiltIn {
    static BUILT_IN: OnceLock<BuiltIn> = OnceLock::new();
    BUILT_IN.get_or_init(|| read(include_str!("built_in.txt")))
}

/// By subresource, the fields that a write there cannot change.
pub(crate) fn reset(kind: &str) -> BTreeMap<String, FieldSet> {
    let spec: &[&str] = &["spec"];
    let status = match kind {
        "ConfigMap" | "Secret" | "Event" | "ServiceAccount" | "Lease" => return BTreeMap::new(),
        "Pod" => FieldSet::of(&[
            spec,
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ]),
        "Deployment" => FieldSet::of(&[spec, &["metadata", "labels"]]),
        _ => FieldSet::of(&[spec]),
    };
    let mut reset = BTreeMap::from([(String::new(), FieldSet::of(&[&["status"]]))]);
    if kind == "CertificateSigningRequest" {
        reset.insert("approval".to_owned(), status.clone());
    }
    reset.insert("status".to_owned(), status);
    reset
}

fn read(text: &str) -> BuiltIn {
    let lines = || text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut kinds = vec![Kind::Any];
    kinds.extend(SCALARS.map(|(_, _, scalar)| Kind::Scalar(scalar)));
    let mut names = BTreeMap::new();
    for line in lines().filter(|line| !line.starts_with(' ')) {
        let (name, flag) = line.split_once(' ').unwrap_or((line, ""));
        names.insert(name.to_owned(), kinds.len());
        kinds.push(Kind::Map { fields: BTreeMap::new(), rest: None, atomic: flag == "atomic" });
    }
    let mut owner = ANY;
    for line in lines() {
        let mut words = line.split_whitespace();
        let (Some(name), kind) = (words.next(), words.next()) else { continue };
        if !line.starts_with(' ') {
            owner = names[name];
            continue;
        }
        let flags = words.collect::<Vec<_>>();
        let field = field(kind.unwrap_or("*"), &flags, &names, &mut kinds);
        if let Kind::Map { fields, .. } = &mut kinds[owner] {
            fields.insert(name.to_owned(), field);
        }
    }
    BuiltIn { kinds, names }
}

fn field(text: &str, flags: &[&str], names: &BTreeMap<String, Id>, kinds: &mut Vec<Kind>) -> Field {
    let value = |name: &str| flags.iter().find_map(|flag| flag.strip_prefix(name));
    let has = |name: &str| flags.contains(&name);
    let kind = match kind(text, names, kinds) {
        id if has("atomic") => atomic(id, kinds),
        id => id,
    };
    if let Kind::List { how, .. } = &mut kinds[kind] {
        *how = match value("keys=") {
            Some(keys) => ListKind::Map(keys.split(',').map(str::to_owned).collect()),
            None if has("set") => ListKind::Set,
            None => ListKind::Atomic,
        };
    }
    let merge = match value("merge=") {
        Some(key) => Some(Some(key.to_owned())),
        None => has("merge").then_some(None),
    };
    Field { kind, default: value("default=").map(Into::into), strategy: Strategy { merge } }
}

/// The same kind, but owned as a whole.
fn atomic(id: Id, kinds: &mut Vec<Kind>) -> Id {
    let mut kind = kinds[id].clone();
    if let Kind::Map { atomic, .. } = &mut kind {
        *atomic = true;
    }
    kinds.push(kind);
    kinds.len() - 1
}

fn kind(text: &str, names: &BTreeMap<String, Id>, kinds: &mut Vec<Kind>) -> Id {
    let inside = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close);
    if let Some(items) = inside('[', ']') {
        let items = kind(items, names, kinds);
        kinds.push(Kind::List { items, how: ListKind::Atomic });
    } else if let Some(rest) = inside('{', '}') {
        let rest = Some(kind(rest, names, kinds));
        kinds.push(Kind::Map { fields: BTreeMap::new(), rest, atomic: false });
    } else if let Some((_, id, _)) = SCALARS.iter().find(|(name, ..)| *name == text) {
        return *id;
    } else {
        return names.get(text).copied().unwrap_or(ANY);
    }
    kinds.len() - 1
}
