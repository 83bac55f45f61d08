//! The paths with which custom resources declare the content of their columns.
//!
//! A real server accepts all of its clients' JSONPath there. Ours accepts the forms that columns
//! use: `.field`, `['field']`, `[index]`, `[*]`, and `[?(@.field=="text")]`. It refuses the rest
//! when a definition is written, so that no column stays empty without a message.

use serde_json::Value;

/// A way from an object to its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    /// The index of an item; a negative one is counted from the end.
    Index(i64),
    All,
    /// The items in which a field is, or is not, so.
    Where(Path, bool, Value),
}

const KNOWN: &str =
    "columns are read by .field, ['field'], [index], [*] and [?(@.field==\"text\")]";

impl Path {
    /// Reads a path that begins with a dot, or with a bracket inside of one.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (mut steps, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let (step, left) = match rest.strip_prefix('[') {
                Some(inner) => bracket(inner),
                None => rest.strip_prefix('.').and_then(field),
            }
            .ok_or_else(|| format!("{rest:?} is not understood: {KNOWN}"))?;
            steps.extend(step);
            rest = left;
        }
        Ok(Self(steps))
    }

    /// The first part that the path leads to.
    pub(crate) fn first<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        let mut found = vec![object];
        for step in &self.0 {
            found = found.into_iter().flat_map(|it| step.of(it)).collect();
        }
        found.into_iter().next()
    }
}

impl Step {
    fn of<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        match (self, value) {
            (Self::Field(name), _) => value.get(name).into_iter().collect(),
            (Self::Index(index), Value::Array(items)) => {
                let from_end = index.unsigned_abs() as usize;
                let at =
                    if *index < 0 { items.len().checked_sub(from_end) } else { Some(from_end) };
                at.and_then(|at| items.get(at)).into_iter().collect()
            }
            (Self::All, Value::Array(items)) => items.iter().collect(),
            (Self::All, Value::Object(fields)) => fields.values().collect(),
            (Self::Where(path, equal, wanted), Value::Array(items)) => {
                let fits =
                    |it: &&Value| path.first(it).is_some_and(|found| (found == wanted) == *equal);
                items.iter().filter(fits).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A step and the rest of the path; the step is none if the dot means the object itself.
type Read<'a> = Option<(Option<Step>, &'a str)>;

/// Reads the part after a dot. `\\.` is a dot of the name.
fn field(text: &str) -> Read<'_> {
    if text.is_empty() || text.starts_with('[') {
        return Some((None, text));
    }
    let (mut name, mut end) = (String::new(), text.len());
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '.' | '[' => {
                end = at;
                break;
            }
            '\\' => name.push(letters.next()?.1),
            ' ' | '{' | '}' | '(' | ')' | '"' | '\'' | '?' | '@' | ',' | ']' => return None,
            other => name.push(other),
        }
    }
    let step = if name == "*" { Step::All } else { Step::Field(name) };
    (end > 0).then_some((Some(step), &text[end..]))
}

/// Reads the part after an opening bracket.
fn bracket(text: &str) -> Read<'_> {
    if let Some(filter) = text.strip_prefix("?(@") {
        return condition(filter);
    }
    if text.starts_with(['\'', '"']) {
        let (name, rest) = quoted(text)?;
        return Some((Some(Step::Field(name)), rest.strip_prefix(']')?));
    }
    let (inner, rest) = text.split_once(']')?;
    let step = if inner == "*" { Step::All } else { Step::Index(inner.parse().ok()?) };
    Some((Some(step), rest))
}

/// A condition on the items of a list, after its `?(@`.
fn condition(text: &str) -> Read<'_> {
    let operator = text.find(['=', '!', '<', '>'])?;
    let (path, rest) = text.split_at(operator);
    let path = Path::parse(path.trim()).ok()?;
    let equal = rest.starts_with("==");
    let rest = rest.strip_prefix("==").or_else(|| rest.strip_prefix("!="))?.trim_start();
    let (wanted, rest) = if rest.starts_with(['\'', '"']) {
        let (text, rest) = quoted(rest)?;
        (Value::from(text), rest)
    } else {
        let end = rest.find(')')?;
        (serde_json::from_str(rest[..end].trim()).ok()?, &rest[end..])
    };
    let rest = rest.trim_start().strip_prefix(")]")?;
    Some((Some(Step::Where(path, equal, wanted)), rest))
}

/// A text in quotes, and the rest of the path.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next()?;
    let (inner, rest) = text[1..].split_once(quote)?;
    (!inner.contains('\\')).then(|| (inner.to_owned(), rest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_to_the_first_of_its_parts() {
        let object = json!({
            "metadata": {"labels": {"a.io/b": "label"}},
            "spec": {"ports": [{"port": 1}, {"port": 2}], "*": "star"},
            "status": {"conditions": [
                {"type": "Ready", "status": "False", "n": 1}, {"type": "Done", "status": "True", "n": 2},
            ]},
        });
        for (path, found) in [
            (".spec.ports[0].port", json!(1)),
            (".spec.ports[-1].port", json!(2)),
            (".spec.ports[*].port", json!(1)),
            (".spec.ports[?(@.port!=1)].port", json!(2)),
            (".metadata.labels.a\\.io/b", json!("label")),
            (".metadata.labels['a.io/b']", json!("label")),
            (r#".status.conditions[?(@.type=="Ready")].status"#, json!("False")),
            (".status.conditions[?(@.type == 'Done')].n", json!(2)),
            (".status.conditions[?(@.n==2)]['type']", json!("Done")),
        ] {
            let read = Path::parse(path).expect(path);
            assert_eq!(read.first(&object), Some(&found), "{path}");
        }
        assert_eq!(Path::parse(".").expect("the object").first(&object), Some(&object));
        for path in [".none", ".spec.ports[7]", ".spec.ports[-3]", ".spec[0]", ".status[?(@.a==1)]"]
        {
            assert_eq!(Path::parse(path).expect(path).first(&object), None, "{path}");
        }
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for path in [
            "spec",
            ".spec..a",
            ".a[0:2]",
            ".a[0,1]",
            ".a[",
            ".a[?(@.b)]",
            ".a[?(@.b<1)]",
            "..a",
            ".a[x]",
            "{.a}",
            ".a['b]",
            ".a[?(@.b==)]",
        ] {
            let why = Path::parse(path).expect_err(path);
            assert!(why.contains("columns are read by"), "{why}");
        }
    }
}
