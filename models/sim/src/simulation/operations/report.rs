//! What a survey of operations tells.

use std::fmt;
use std::time::Duration;

use super::operation::{Operation, written};
use crate::simulation::check::command_with;

/// What a controller promises about changes of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// Without any operation everything is fine.
    Alone,
    /// The rules of the test hold.
    Own,
    /// It does not panic.
    NoPanic,
    /// It comes to rest, and is quiet then.
    Rests,
    /// The end does not depend on the way there.
    Path,
    /// If the first specification comes back, so does the first end.
    Rollback,
    /// While an object makes no sense, others are looked after.
    Others,
    /// A change of a field has an effect.
    Effect,
    /// It survives an object that is hard to handle.
    Hard,
}

impl Promise {
    /// Whether both are about the way to an end: the way back is one of all ways.
    pub(super) fn is_like(self, other: Self) -> bool {
        let is_way = |it| matches!(it, Self::Path | Self::Rollback);
        self == other || is_way(self) && is_way(other)
    }
}

/// Every promise: a name, and as a finding says it.
pub(crate) const PROMISES: [(Promise, &str, &str); 9] = [
    (Promise::Alone, "is_fine_without_operations", "without any operation everything is fine"),
    (Promise::Own, "keeps_the_rules", "the rules of this test hold"),
    (Promise::NoPanic, "does_not_panic", "the controller does not panic"),
    (Promise::Rests, "comes_to_rest", "the controller comes to rest, and is quiet then"),
    (
        Promise::Path,
        "depends_on_no_path",
        "the end is that of a fresh object (-), not another one (+)",
    ),
    (
        Promise::Rollback,
        "goes_back",
        "going back leads to the first end (-), not to another one (+)",
    ),
    (
        Promise::Others,
        "looks_after_others",
        "another object comes to its end (-) while this one makes no sense (+)",
    ),
    (Promise::Effect, "ignores_no_field", "a change of a field has an effect"),
    (
        Promise::Hard,
        "survives_hard_objects",
        "the end is as without what makes it hard (-), not another one (+)",
    ),
];

impl Promise {
    /// As a finding says it.
    pub(crate) fn says(self) -> &'static str {
        PROMISES.iter().find(|it| it.0 == self).map_or("", |it| it.2)
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.says())
    }
}

/// A promise that seems to be broken.
#[derive(Clone, Debug)]
pub(super) struct Suspicion {
    pub(super) promise: Promise,
    pub(super) text: Vec<String>,
    pub(super) objects: Vec<String>,
    /// The number of operations that are done.
    pub(super) after: usize,
}

/// A broken promise, and the fewest operations that break it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The promise.
    pub promise: Promise,
    /// The operations, in their order, after the object was created.
    pub operations: Vec<Operation>,
    /// The case of a hard object, if it is one.
    pub hard: Option<&'static str>,
    /// How it is broken, in lines.
    pub text: Vec<String>,
    /// The objects that it is about, such as `pods default/a`.
    pub objects: Vec<String>,
    /// How many other sequences break it in the same way, as far as they were looked at.
    pub also: u64,
    /// The run: server, watch, controller, time downwards.
    pub picture: String,
}

impl Finding {
    /// One that has been seen once, of no hard object.
    pub(super) fn of(promise: Promise, operations: Vec<Operation>, text: Vec<String>) -> Self {
        let (objects, picture) = (Vec::new(), String::new());
        Self { promise, operations, hard: None, text, objects, also: 0, picture }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken: {}", self.promise)?;
        match (self.hard, self.operations.len()) {
            (Some(hard), _) => write!(f, "\n  the object: {hard}")?,
            (None, 0) => {}
            (None, 1) => write!(f, "\n  by 1 operation after its creation:")?,
            (None, count) => write!(f, "\n  by {count} operations after its creation:")?,
        }
        for operation in &self.operations {
            write!(f, "\n    {operation}")?;
        }
        self.text.iter().try_for_each(|line| write!(f, "\n  {line}"))?;
        match self.also {
            0 => Ok(()),
            also => write!(f, "\n  {also} more sequences do it as well"),
        }
    }
}

/// The counts of a survey.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// How many sequences of operations were tried.
    pub sequences: u64,
    /// How many operations the server accepted in them.
    pub operations: u64,
    /// How many of these were misuse: the controller survived them.
    pub misused: u64,
    /// How many operations the server refused.
    pub refused: u64,
    /// How many sequences were not compared, as the server refused a step in the run.
    pub unjudged: u64,
    /// How many cases of hard objects were tried.
    pub hard: u64,
    /// How many runs that took.
    pub runs: u64,
    /// The fields that were changed.
    pub changed: Vec<String>,
    /// The fields of the schema that were not changed.
    pub unchanged: Vec<String>,
    /// The fields whose changes had no effect on any other object or on the status.
    pub ignored: Vec<String>,
    /// What is not compared, and what is compared in another way, in lines.
    pub treated: Vec<String>,
    /// How long that took.
    pub elapsed: Duration,
}

/// How many names a line shows.
const NAMES: usize = 12;

fn names(names: &[String]) -> String {
    let shown = names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}

impl fmt::Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sequences, operations, misused, refused, runs, .. } = self;
        let seconds = self.elapsed.as_secs_f64();
        let speed = *operations as f64 / seconds.max(1e-9);
        write!(
            f,
            "{sequences} sequences with {operations} operations ({misused} of them misuse), {refused} more refused by the server; {runs} runs in {seconds:.2} s, {speed:.0} operations/s"
        )?;
        if self.unjudged > 0 {
            let count = self.unjudged;
            write!(f, "\n  {count} sequences not compared: the server refused a step of the run")?;
        }
        if self.hard > 0 {
            write!(f, "\n  {} hard objects", self.hard)?;
        }
        let all = self.changed.len() + self.unchanged.len();
        write!(f, "\n  {} of {all} fields of the schema changed", self.changed.len())?;
        if !self.unchanged.is_empty() {
            write!(f, "; not {}", names(&self.unchanged))?;
        }
        if !self.ignored.is_empty() {
            write!(f, "\n  no other object and no status depends on {}", names(&self.ignored))?;
        }
        self.treated.iter().try_for_each(|line| write!(f, "\n  ({line})"))
    }
}

/// A survey that has found something.
#[derive(Clone, Debug)]
pub struct Misbehaviour {
    /// The broken promises, each with the fewest operations that break it.
    pub findings: Vec<Finding>,
    /// The counts.
    pub survey: Survey,
}

impl std::error::Error for Misbehaviour {}

impl fmt::Display for Misbehaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
            // One run of a field without effect proves nothing: it needs all sequences.
            let is_replayed = finding.hard.is_none() && finding.promise != Promise::Effect;
            if is_replayed && !finding.operations.is_empty() {
                let again = command_with(super::REPLAY, written(&finding.operations));
                writeln!(f, "  to see it again: {again}")?;
            }
        }
        if let Some(first) = self.findings.first().filter(|it| !it.picture.is_empty()) {
            writeln!(f, "\nthe first of them:\n{}", first.picture)?;
        }
        write!(f, "{}", self.survey)
    }
}
