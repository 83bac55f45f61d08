//! Named expressions that others use as fields of `variables`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::eval::CANCELLED;
use super::value::Outcome;
use super::{Program, Value};

/// What one may cost, and how many parts of all may lie within each other: each is evaluated by those that use it.
const COST: u64 = 1_000_000;
const DEEPEST: usize = 250;

/// Each is evaluated when it is needed for the first time, and not again.
pub(crate) struct Lazy<'a> {
    /// The later one of two with one name counts.
    programs: BTreeMap<&'a str, &'a Program>,
    variables: Vec<(&'a str, Value<'a>)>,
    found: RefCell<BTreeMap<&'a str, Outcome<'a>>>,
    depth: Cell<usize>,
    /// What was spent since it was last asked, and what may still be spent.
    cost: Cell<u64>,
    left: Cell<u64>,
}

impl<'a> Lazy<'a> {
    pub(crate) fn new(
        programs: impl IntoIterator<Item = (&'a str, &'a Program)>,
        variables: Vec<(&'a str, Value<'a>)>,
        left: u64,
    ) -> std::rc::Rc<Self> {
        let programs = programs.into_iter().collect();
        std::rc::Rc::new(Self {
            programs,
            variables,
            found: RefCell::default(),
            depth: Cell::new(0),
            cost: Cell::new(0),
            left: Cell::new(left),
        })
    }

    /// What was spent since it was last asked.
    pub(crate) fn spent(&self) -> u64 {
        self.cost.take()
    }

    pub(super) fn get(self: &std::rc::Rc<Self>, name: &str) -> Outcome<'a> {
        let Some((name, program)) = self.programs.get_key_value(name) else {
            return Err(format!("no such key: {name}"));
        };
        if let Some(found) = self.found.borrow().get(name) {
            return found.clone();
        }
        let (before, own) = (self.depth.get(), program.root.height());
        let result = if before + own > DEEPEST {
            Err("it is too deep".to_owned())
        } else {
            self.depth.set(before + own);
            let limit = COST.min(self.left.get());
            let variables = self.variables.clone();
            let (result, cost) = program.run_with(variables, limit, Some(self.clone()));
            self.depth.set(before);
            self.cost.set(self.cost.get().saturating_add(cost));
            self.left.set(self.left.get().saturating_sub(cost));
            result
        };
        let result = match result {
            Err(why) if self.left.get() == 0 && why == CANCELLED => return Err(why),
            other => other
                .map_err(|why| format!("composited variable {name:?} fails to evaluate: {why}")),
        };
        self.found.borrow_mut().insert(name, result.clone());
        result
    }
}
