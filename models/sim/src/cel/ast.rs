//! The parts of an expression.

use std::sync::{Arc, OnceLock};

use regex::Regex;

use super::functions::Function;
use super::functions::text::FINDERS;
use super::pattern;

/// A part and the character at which it is reported.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) at: usize,
    /// How many parts lie within each other below it, and itself.
    height: usize,
    pub(super) part: Part,
}

/// How many parts may lie within each other: whatever walks them does so by recursion.
const HIGHEST: usize = 150;

impl Node {
    pub(super) fn new(at: usize, part: Part) -> Result<Self, (usize, String)> {
        let height = 1 + part.inner().map(|it| it.height).max().unwrap_or(0);
        if height > HIGHEST {
            return Err((at, format!("expression recursion limit exceeded: {HIGHEST}")));
        }
        Ok(Self { at, height, part })
    }

    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// The names with dots between them, if it is nothing else.
    pub(super) fn qualified(&self) -> Option<String> {
        match &self.part {
            Part::Name(name) => Some(name.clone()),
            Part::Select(it) if !it.is_optional && !it.is_test => {
                Some(format!("{}.{}", it.of.qualified()?, it.field))
            }
            _ => None,
        }
    }
}

impl Part {
    fn inner(&self) -> Box<dyn Iterator<Item = &Node> + '_> {
        match self {
            Self::Select(it) => Box::new(std::iter::once(&it.of)),
            Self::And(parts) | Self::Or(parts) => Box::new(parts.iter()),
            Self::If(parts) => Box::new(parts.iter()),
            Self::List(items) => Box::new(items.iter().map(|it| &it.0)),
            Self::Map(items) => Box::new(items.iter().flat_map(|it| [&it.0, &it.1])),
            Self::Made(made) => Box::new(made.fields.iter().map(|it| &it.1)),
            Self::Call(call) => Box::new(call.args.iter()),
            Self::Loop(it) => Box::new([&it.range, &it.body].into_iter().chain(it.filter.as_ref())),
            _ => Box::new(std::iter::empty()),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
    Name(String),
    Select(Box<Select>),
    /// Both are strict only as far as one side does not decide.
    And(Vec<Node>),
    Or(Vec<Node>),
    If(Box<[Node; 3]>),
    /// Each item, and whether it is an optional one.
    List(Vec<(Node, bool)>),
    Map(Vec<(Node, Node, bool)>),
    /// `Object.spec{...}`.
    Made(Box<Made>),
    Call(Box<Call>),
    Loop(Box<Loop>),
}

#[derive(Clone, Debug)]
pub(super) struct Select {
    pub(super) of: Node,
    /// The field as a map has it, and as an object has it.
    pub(super) field: String,
    pub(super) plain: String,
    /// `has(of.field)`.
    pub(super) is_test: bool,
    /// `of.?field`.
    pub(super) is_optional: bool,
}

/// The one variable whose name has a dot in it.
pub(super) const OWN_CHECK: &str = "authorizer.requestResource";

impl Select {
    /// The name of a variable that looks like a field of another.
    pub(super) fn as_variable(&self) -> Option<&'static str> {
        let is_one = self.field == "requestResource"
            && matches!(&self.of.part, Part::Name(name) if name == "authorizer");
        is_one.then_some(OWN_CHECK)
    }

    /// It is a field of the named expressions of a policy.
    pub(super) fn is_of_lazy(&self) -> bool {
        matches!(&self.of.part, Part::Name(name) if name == LAZY)
    }
}

/// The variable whose fields are evaluated when they are needed.
pub(crate) const LAZY: &str = "variables";

/// An object of a named type.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) of: Arc<str>,
    /// Each with its value, whether that is an optional one, and where the field is reported.
    pub(super) fields: Vec<(String, Node, bool, usize)>,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) function: Option<&'static Function>,
    /// The target of a call as a member, and the arguments.
    pub(super) args: Vec<Node>,
    pub(super) is_member: bool,
    /// The regular expression that is written in place, once it was needed.
    pub(super) pattern: OnceLock<Option<Regex>>,
}

impl Call {
    /// The text of the regular expression that is looked for, if it is written in place.
    pub(super) fn written(&self) -> Option<&str> {
        match self.args.get(1).map(|it| &it.part) {
            Some(Part::Text(text)) if FINDERS.contains(&self.name.as_str()) => Some(text),
            _ => None,
        }
    }

    /// The same, compiled.
    pub(super) fn pattern(&self) -> Option<&Regex> {
        let text = self.written()?;
        self.pattern.get_or_init(|| pattern::compile(text).ok()).as_ref()
    }
}

/// What is made of the items of a list or a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
    TransformList,
    TransformMap,
    TransformEntries,
    SortBy,
    OptMap,
    OptFlatMap,
}

#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) way: Way,
    pub(super) range: Node,
    pub(super) names: Vec<String>,
    /// A filter before the body of `map` and its like.
    pub(super) filter: Option<Node>,
    pub(super) body: Node,
}
