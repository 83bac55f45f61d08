//! From words to parts. Nothing here runs deeper than [`DEEPEST`].

use std::sync::OnceLock;

use super::ast::{Call, Loop, Made, Node, Part, Select, Way};
use super::functions;
use super::lex::{Token, Word, words};
use super::names::{self, plain};

/// How many parts may lie within each other, and how many characters there may be.
const DEEPEST: usize = 100;
const LONGEST: usize = 100_000;

type Parsed<T> = Result<T, (usize, String)>;

pub(super) fn parse(text: &str) -> Parsed<Node> {
    if text.chars().count() > LONGEST {
        return Err((0, format!("expression code point size exceeds limit: {LONGEST}")));
    }
    let mut parser = Parser { words: words(text)?, next: 0, depth: 0 };
    let node = parser.expression()?;
    match parser.peek() {
        Word::End => Ok(node),
        other => Err(unexpected(parser.at(), other)),
    }
}

struct Parser {
    words: Vec<Token>,
    next: usize,
    depth: usize,
}

fn unexpected(at: usize, word: &Word) -> (usize, String) {
    let shown = match word {
        Word::End => "<EOF>".to_owned(),
        Word::Sign(it) => (*it).to_owned(),
        Word::Name(it) => it.clone(),
        Word::Int(it) => it.to_string(),
        Word::Uint(it) => format!("{it}u"),
        Word::Double(it) => it.to_string(),
        Word::Text(it) => format!("{it:?}"),
        Word::Bytes(_) => "bytes".to_owned(),
    };
    let expected = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
    let kind = if shown == "<EOF>" { "mismatched" } else { "extraneous" };
    (at, format!("Syntax error: {kind} input '{shown}' expecting {expected}"))
}

/// The operators of two sides, by how tightly they bind, and the functions that they call.
const OPERATORS: &[&[(&str, &str)]] = &[
    &[
        ("==", "_==_"),
        ("!=", "_!=_"),
        ("<", "_<_"),
        ("<=", "_<=_"),
        (">", "_>_"),
        (">=", "_>=_"),
        ("in", "@in"),
    ],
    &[("+", "_+_"), ("-", "_-_")],
    &[("*", "_*_"), ("/", "_/_"), ("%", "_%_")],
];

impl Parser {
    fn peek(&self) -> &Word {
        self.words.get(self.next).map_or(&Word::End, |it| &it.word)
    }

    fn at(&self) -> usize {
        self.words.get(self.next).map_or(0, |it| it.at)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = match self.peek() {
            Word::Sign(it) => *it == sign,
            Word::Name(it) => sign == "in" && it == "in",
            _ => false,
        };
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Parsed<()> {
        if self.takes(sign) {
            return Ok(());
        }
        if sign == ")" && *self.peek() == Word::End {
            return Err((self.at(), "Syntax error: missing ')' at '<EOF>'".to_owned()));
        }
        Err(unexpected(self.at(), self.peek()))
    }

    fn name(&mut self) -> Parsed<String> {
        match self.peek().clone() {
            Word::Name(name) => {
                self.next += 1;
                Ok(name)
            }
            other => Err(unexpected(self.at(), &other)),
        }
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        let why = || (0, format!("expression recursion limit exceeded: {DEEPEST}"));
        (self.depth <= DEEPEST).then_some(()).ok_or_else(why)
    }

    fn expression(&mut self) -> Parsed<Node> {
        self.deeper()?;
        let condition = self.any(true)?;
        let at = self.at();
        let node = if self.takes("?") {
            let then = self.any(true)?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            Node::new(at, Part::If(Box::new([condition, then, otherwise])))?
        } else {
            condition
        };
        self.depth -= 1;
        Ok(node)
    }

    /// A chain of `||`, or of `&&`.
    fn any(&mut self, is_or: bool) -> Parsed<Node> {
        let mut parts = Vec::new();
        let mut at = self.at();
        loop {
            parts.push(if is_or { self.any(false)? } else { self.binary(0)? });
            let here = self.at();
            if !self.takes(if is_or { "||" } else { "&&" }) {
                break;
            }
            at = here;
        }
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        Node::new(at, if is_or { Part::Or(parts) } else { Part::And(parts) })
    }

    fn binary(&mut self, level: usize) -> Parsed<Node> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            let at = self.at();
            let Some((_, name)) = operators.iter().find(|(sign, _)| self.takes(sign)) else {
                return Ok(left);
            };
            let right = self.binary(level + 1)?;
            left = call(at, name, vec![left, right], false)?;
        }
    }

    fn unary(&mut self) -> Parsed<Node> {
        for (sign, name) in [("!", "!_"), ("-", "-_")] {
            let at = self.at();
            let mut count = 0;
            while self.takes(sign) {
                count += 1;
            }
            if count == 0 {
                continue;
            }
            if sign == "-" {
                let number = match self.peek() {
                    Word::Int(it) => Some(Part::Int(it.wrapping_neg())),
                    Word::Double(it) => Some(Part::Double(-it)),
                    _ => None,
                };
                if let (Some(part), 1) = (number, count) {
                    self.next += 1;
                    return self.members(Node::new(at, part)?);
                }
            }
            let operand = self.primary()?;
            return match count % 2 {
                0 => Ok(operand),
                _ => call(at, name, vec![operand], false),
            };
        }
        self.primary()
    }

    fn primary(&mut self) -> Parsed<Node> {
        let at = self.at();
        let word = self.peek().clone();
        self.next += 1;
        let part = match word {
            Word::Int(i64::MIN) => return Err((at, "invalid int literal".to_owned())),
            Word::Int(it) => Part::Int(it),
            Word::Uint(it) => Part::Uint(it),
            Word::Double(it) => Part::Double(it),
            Word::Text(it) => Part::Text(it),
            Word::Bytes(it) => Part::Bytes(it),
            Word::Sign("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                return self.members(inner);
            }
            Word::Sign("[") => Part::List(self.items("]", |parser| {
                let is_optional = parser.takes("?");
                Ok((parser.expression()?, is_optional))
            })?),
            Word::Sign("{") => Part::Map(self.items("}", |parser| {
                let is_optional = parser.takes("?");
                let key = parser.expression()?;
                parser.expect(":")?;
                Ok((key, parser.expression()?, is_optional))
            })?),
            Word::Sign(".") => Part::Name(self.name()?),
            Word::Name(name) => match name.as_str() {
                "true" => Part::Bool(true),
                "false" => Part::Bool(false),
                "null" => Part::Null,
                _ if *self.peek() == Word::Sign("(") => return self.function(name),
                "in" => return Err(unexpected(at, &Word::Name(name))),
                _ if names::is_reserved(&name) => {
                    return Err((at, format!("reserved identifier: {name}")));
                }
                _ => Part::Name(name),
            },
            other => return Err(unexpected(at, &other)),
        };
        self.members(Node::new(at, part)?)
    }

    fn items<T>(
        &mut self,
        end: &'static str,
        item: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.takes(end) {
            items.push(item(self)?);
            if !self.takes(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }

    fn function(&mut self, name: String) -> Parsed<Node> {
        let at = self.at();
        self.expect("(")?;
        let args = self.items(")", Self::expression)?;
        if name == "has" {
            return match <[Node; 1]>::try_from(args) {
                Ok([Node { part: Part::Select(mut select), .. }]) => {
                    select.is_test = true;
                    self.members(Node::new(at, Part::Select(select))?)
                }
                Ok([other]) => Err((other.at, "invalid argument to has() macro".to_owned())),
                Err(_) => Err((at, "invalid argument to has() macro".to_owned())),
            };
        }
        self.members(call(at, &name, args, false)?)
    }

    /// What follows a value: fields, calls, positions.
    fn members(&mut self, mut node: Node) -> Parsed<Node> {
        loop {
            let at = self.at();
            if self.takes(".") {
                let is_optional = self.takes("?");
                let field = self.name()?;
                let opens = self.at();
                if !is_optional && self.takes("(") {
                    let args = self.items(")", Self::expression)?;
                    node = member(opens, node, field, args)?;
                } else {
                    let plain = plain(&field);
                    let select = Select { of: node, field, plain, is_test: false, is_optional };
                    node = Node::new(at, Part::Select(Box::new(select)))?;
                }
            } else if self.takes("[") {
                let name = if self.takes("?") { "_[?_]" } else { "_[_]" };
                let index = self.expression()?;
                self.expect("]")?;
                node = call(at, name, vec![node, index], false)?;
            } else if *self.peek() == Word::Sign("{")
                && let Some(of) = node.qualified()
            {
                self.next += 1;
                let fields = self.items("}", |parser| {
                    let is_optional = parser.takes("?");
                    let field = parser.field()?;
                    let at = parser.at();
                    parser.expect(":")?;
                    Ok((field, parser.expression()?, is_optional, at))
                })?;
                let made = Made { of: of.into(), fields };
                node = Node::new(at, Part::Made(Box::new(made)))?;
            } else {
                return Ok(node);
            }
        }
    }

    /// The name of a field of an object that is made.
    fn field(&mut self) -> Parsed<String> {
        let at = self.at();
        self.name().map_err(|(_, why)| {
            let found = why.split('\'').nth(1).unwrap_or("");
            let expected = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}";
            (at, format!("Syntax error: mismatched input '{found}' expecting {expected}"))
        })
    }
}

fn call(at: usize, name: &str, args: Vec<Node>, is_member: bool) -> Parsed<Node> {
    let function = functions::find(name);
    let call = Call { name: name.to_owned(), function, args, is_member, pattern: OnceLock::new() };
    Node::new(at, Part::Call(Box::new(call)))
}

/// The ways to go through items: their names, variables and arguments.
const WAYS: &[(&str, Way, usize, usize)] = &[
    ("all", Way::All, 1, 1),
    ("exists", Way::Exists, 1, 1),
    ("exists_one", Way::ExistsOne, 1, 1),
    ("existsOne", Way::ExistsOne, 1, 1),
    ("filter", Way::Filter, 1, 1),
    ("map", Way::Map, 1, 1),
    ("map", Way::Map, 1, 2),
    ("sortBy", Way::SortBy, 1, 1),
    ("optMap", Way::OptMap, 1, 1),
    ("optFlatMap", Way::OptFlatMap, 1, 1),
    ("all", Way::All, 2, 1),
    ("exists", Way::Exists, 2, 1),
    ("existsOne", Way::ExistsOne, 2, 1),
    ("transformList", Way::TransformList, 2, 1),
    ("transformList", Way::TransformList, 2, 2),
    ("transformMap", Way::TransformMap, 2, 1),
    ("transformMap", Way::TransformMap, 2, 2),
    ("transformMapEntry", Way::TransformEntries, 2, 1),
    ("transformMapEntry", Way::TransformEntries, 2, 2),
];

fn member(at: usize, target: Node, name: String, mut args: Vec<Node>) -> Parsed<Node> {
    if let Part::Name(space) = &target.part {
        let qualified = format!("{space}.{name}");
        if functions::find(&qualified).is_some() {
            return call(at, &qualified, args, false);
        }
    }
    let mut ways = WAYS.iter().filter(|way| way.0 == name && way.2 + way.3 == args.len());
    let is_name = |node: &Node| matches!(node.part, Part::Name(_));
    // With three arguments, two names or a name and a filter come first.
    let way = ways.clone().find(|way| args.iter().take(way.2).all(is_name) && way.2 == 2);
    let Some((_, way, variables, parts)) = way.or_else(|| ways.next()) else {
        args.insert(0, target);
        return call(at, &name, args, true);
    };
    let mut names = Vec::new();
    for node in args.drain(..*variables) {
        match node.part {
            Part::Name(name) => names.push(name),
            _ => return Err((node.at, "argument must be a simple name".to_owned())),
        }
    }
    let body = args.pop();
    let filter = if *parts == 2 { args.pop() } else { None };
    let Some(body) = body else { return Err((at, "no argument".to_owned())) };
    let it = Loop { way: *way, range: target, names, filter, body };
    Node::new(at, Part::Loop(Box::new(it)))
}
