//! The fields of all messages, read from `fields.txt`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A message, by its place in the table.
pub(crate) type Id = usize;

/// The type of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Text,
    Bool,
    Int32,
    Int64,
    Double,
    /// Base64 in JSON.
    Bytes,
    /// Any JSON, as its text.
    Json,
    /// A message whose JSON is no object with its fields.
    Special(Special, Id),
    Message(Id),
    List(Box<Type>),
    Map(Box<Type>),
}

/// The types that JSON has another form for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    Raw,
    Strings,
    SchemaOrBool,
    SchemaOrList,
    SchemaOrStrings,
}

/// What JSON says of a field that nobody has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    /// It is left out; the wire knows it from zero.
    Absent,
    /// It is left out, and so is zero.
    Omitted,
    /// It is zero.
    Zero,
}

/// A field.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    /// As JSON has it; none if the fields of the message are fields of the message around it.
    pub(crate) name: Option<String>,
    pub(crate) of: Type,
    pub(crate) empty: Empty,
}

/// A message.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) name: String,
    /// In the order of their numbers.
    pub(crate) fields: Vec<Field>,
}

impl Message {
    pub(crate) fn field(&self, number: u32) -> Option<&Field> {
        let place = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        self.fields.get(place)
    }
}

/// All messages.
#[derive(Debug, Default)]
pub(crate) struct Table {
    messages: Vec<Message>,
    /// By package and name.
    names: BTreeMap<(String, String), Id>,
    /// The package of a group in a version, such as `apps/v1`.
    packages: BTreeMap<String, String>,
}

const SPECIAL: [(&str, Special); 9] = [
    ("time", Special::Time),
    ("microtime", Special::MicroTime),
    ("quantity", Special::Quantity),
    ("int-or-string", Special::IntOrString),
    ("raw", Special::Raw),
    ("strings", Special::Strings),
    ("schema-or-bool", Special::SchemaOrBool),
    ("schema-or-list", Special::SchemaOrList),
    ("schema-or-strings", Special::SchemaOrStrings),
];

/// The package of the kinds that every group has.
const META: &str = "meta/v1";

impl Table {
    /// The table, read once.
    pub(crate) fn get() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| Self::read(include_str!("fields.txt")))
    }

    /// How many messages there are.
    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(crate) fn message(&self, id: Id) -> &Message {
        &self.messages[id]
    }

    /// The message of a kind, if it has one.
    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<Id> {
        let own = self.packages.get(api_version).map_or(META, String::as_str);
        self.named(own, kind).or_else(|| self.named(META, kind))
    }

    pub(crate) fn named(&self, package: &str, name: &str) -> Option<Id> {
        self.names.get(&(package.to_owned(), name.to_owned())).copied()
    }

    /// The packages, with the group and version of each.
    #[cfg(test)]
    pub(crate) fn packages(&self) -> impl Iterator<Item = (&str, &str)> {
        self.packages.iter().map(|(api_version, package)| (api_version.as_str(), package.as_str()))
    }

    /// The messages of a package.
    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.keys().map(|(package, name)| (package.as_str(), name.as_str()))
    }

    fn read(text: &str) -> Self {
        let mut table = Self::default();
        let lines = || text.lines().filter(|line| !line.starts_with('#'));
        // A field may name a message that comes later.
        let mut package = "";
        for line in lines() {
            let (first, second) = words(line);
            match line.len() - line.trim_start().len() {
                0 => {
                    package = first;
                    table.packages.insert(second.to_owned(), package.to_owned());
                }
                1 => {
                    table
                        .names
                        .insert((package.to_owned(), first.to_owned()), table.messages.len());
                    table.messages.push(Message { name: first.to_owned(), fields: Vec::new() });
                }
                _ => {}
            }
        }
        let mut place = 0;
        for line in lines() {
            match line.len() - line.trim_start().len() {
                0 => package = words(line).0,
                1 => place += 1,
                _ => {
                    let field = table.field(line, package);
                    table.messages[place - 1].fields.push(field);
                }
            }
        }
        table
    }

    /// A line such as `2 spec! PodSpec`.
    fn field(&self, line: &str, package: &str) -> Field {
        let (number, rest) = words(line);
        let (name, of) = words(rest);
        let marked = |mark: char| name.strip_suffix(mark);
        let (name, empty) = match (marked('!'), marked('=')) {
            (Some(name), _) => (name, Empty::Zero),
            (_, Some(name)) => (name, Empty::Omitted),
            _ => (name, Empty::Absent),
        };
        let name = Some(name.to_owned()).filter(|name| name != "*");
        let number = number.parse().expect("each line of the table begins with a number");
        Field { number, name, of: self.of(of, package), empty }
    }

    fn of(&self, text: &str, package: &str) -> Type {
        let inside = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close);
        if let Some(items) = inside('[', ']') {
            return Type::List(Box::new(self.of(items, package)));
        }
        if let Some(values) = inside('{', '}') {
            return Type::Map(Box::new(self.of(values, package)));
        }
        match text {
            "string" => return Type::Text,
            "bool" => return Type::Bool,
            "int32" => return Type::Int32,
            "int64" => return Type::Int64,
            "float64" => return Type::Double,
            "bytes" => return Type::Bytes,
            "json" => return Type::Json,
            _ => {}
        }
        if let Some((name, special)) = SPECIAL.iter().find(|(name, _)| *name == text) {
            return Type::Special(*special, self.named("special", name).expect("it has a message"));
        }
        let (package, name) = text.rsplit_once('.').unwrap_or((package, text));
        Type::Message(self.named(package, name).expect("the table has what it names"))
    }
}

/// The first word, and the rest.
fn words(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_once(' ').unwrap_or((line, ""))
}
