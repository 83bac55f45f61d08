//! Rules as expressions (CEL) over the objects of a cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use super::rules::{Over, Rule};
use super::state::State;
use crate::apiserver::Server;
use crate::cel::{CANCELLED, Decl, Program, Type, Value};

/// What a rule may cost each time at least: it is asked after each change.
const COST: u64 = 10_000_000;
/// What it may cost for each pair of objects. One that looks for each object among all others costs about 12.
const PAIR: u64 = 60;
/// What it may cost at most: that takes minutes.
const MOST: u64 = 5_000_000_000;
/// The objects of all resources, in a rule about one state.
const OBJECTS: &str = "objects";
/// The same before and after a change.
const CHANGE: [&str; 2] = ["before", "after"];

/// The resources that a rule may name: a plural alone, if it is that of one resource or of a built-in one,
/// and a plural with its group.
#[derive(Clone, Debug)]
pub(crate) struct Words(Arc<BTreeMap<String, String>>);

impl Words {
    /// Those of a server.
    pub(crate) fn of(server: &Server) -> Self {
        let mut words = BTreeMap::new();
        let mut all: Vec<_> = server.resources().collect();
        all.sort_by_key(|it| (it.is_custom, &it.group));
        for resource in all {
            let dot = if resource.group.is_empty() { "" } else { "." };
            let whole = format!("{}{dot}{}", resource.plural, resource.group);
            words.entry(resource.plural.clone()).or_insert_with(|| whole.clone());
            words.insert(whole.clone(), whole);
        }
        Self(Arc::new(words))
    }

    /// A rule about each state, or about the end.
    pub(crate) fn rule(&self, text: &str) -> Result<Box<Rule>, String> {
        let plural = |it: &&String| !it.contains('.');
        let mut variables: Vec<(&str, Type)> =
            self.0.keys().filter(plural).map(|it| (it.as_str(), list())).collect();
        variables.push((OBJECTS, map()));
        let (program, words, text) = (compile(text, &variables)?, self.clone(), text.to_owned());
        Ok(Box::new(move |state| {
            let values = program.uses.iter().map(|name| match name.as_str() {
                OBJECTS => (OBJECTS, Seen::All(state)),
                name => (name, Seen::One(words.0.get(name).map_or("", String::as_str), state)),
            });
            words.holds(&program, &text, values.collect())
        }))
    }

    /// A rule about each change.
    pub(crate) fn over(&self, text: &str) -> Result<Box<Over>, String> {
        let program = compile(text, &CHANGE.map(|it| (it, map())))?;
        let (words, text) = (self.clone(), text.to_owned());
        Ok(Box::new(move |before, after| {
            let values = CHANGE.into_iter().zip([before, after].map(Seen::All));
            words.holds(&program, &text, values.collect())
        }))
    }

    fn holds(
        &self,
        program: &Program,
        text: &str,
        seen: Vec<(&str, Seen<'_>)>,
    ) -> Result<(), String> {
        let open = Decl::open();
        let cost = seen.iter().map(|it| cost(it.1.state().len())).max().unwrap_or(COST);
        let value = |(name, seen)| Ok((name, self.value(seen, &open)?));
        let values = seen.into_iter().map(value).collect::<Result<Vec<_>, String>>();
        match values.and_then(|values| program.run(values, cost).0) {
            Ok(Value::Bool(true)) => Ok(()),
            Ok(Value::Bool(false)) => Err(format!("this is not so: {text}")),
            Ok(_) => Err(format!("neither true nor false: {text}")),
            Err(why) if why == CANCELLED => {
                Err(format!("it cannot be told whether {text}: it costs more than {cost}"))
            }
            Err(why) => Err(format!(
                "it cannot be told whether {text}: {why}; ask first for what may be missing, as in has(pod.status)"
            )),
        }
    }

    fn value<'a>(&'a self, seen: Seen<'a>, open: &'a Decl) -> Result<Value<'a>, String> {
        let state = match seen {
            Seen::One(resource, state) => return list_of(state.list(resource), open),
            Seen::All(state) => state,
        };
        let entry = |(word, resource): (&'a String, &'a String)| {
            Ok((Value::text(word.as_str()), list_of(state.list(resource), open)?))
        };
        Ok(Value::map(self.0.iter().map(entry).collect::<Result<_, String>>()?))
    }
}

/// What a variable shows.
enum Seen<'a> {
    One(&'a str, &'a State),
    All(&'a State),
}

impl<'a> Seen<'a> {
    fn state(&self) -> &'a State {
        match self {
            Self::One(_, state) | Self::All(state) => state,
        }
    }
}

/// What a rule may cost over this number of objects.
fn cost(objects: usize) -> u64 {
    let objects = objects as u64;
    objects.saturating_mul(objects).saturating_mul(PAIR).clamp(COST, MOST)
}

fn list() -> Type {
    Type::List(Box::new(Type::Dyn))
}

fn map() -> Type {
    Type::Map(Box::new(Type::Text), Box::new(list()))
}

fn list_of<'a>(
    objects: impl Iterator<Item = &'a Json>,
    open: &'a Decl,
) -> Result<Value<'a>, String> {
    Ok(Value::list(objects.map(|it| Value::read(it, open)).collect::<Result<_, String>>()?))
}

fn compile(text: &str, variables: &[(&str, Type)]) -> Result<Program, String> {
    let program = Program::compile(text, variables).map_err(|why| {
        format!("{why}\nresources have the names of their lists, such as pods; a custom one must be among the given objects")
    })?;
    match program.result {
        Type::Bool | Type::Dyn => Ok(program),
        _ => Err(format!("it is neither true nor false: {text}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::apiserver::{Options, Written};

    fn words() -> Words {
        Words::of(&Server::new(&Options::default()))
    }

    fn state(objects: &[(&str, Json)]) -> State {
        let mut state = State::default();
        for (resource, object) in objects {
            let key = object["metadata"]["name"].as_str().unwrap_or_default().into();
            let (resource, new) = (Arc::from(*resource), Some(Arc::new(object.clone())));
            state.take(&Written { revision: 1, resource, key, old: None, new });
        }
        state
    }

    fn pod(name: &str, phase: &str) -> (&'static str, Json) {
        ("pods", json!({"metadata": {"name": name}, "status": {"phase": phase}}))
    }

    #[test]
    fn a_rule_is_asked_of_the_resources_that_it_names() {
        let deployment =
            ("deployments.apps", json!({"metadata": {"name": "d"}, "spec": {"replicas": 2}}));
        let state = state(&[pod("a", "Running"), pod("b", "Pending"), deployment]);
        for (text, holds) in [
            ("pods.size() == 2", true),
            ("pods.all(p, p.status.phase == 'Running')", false),
            (
                "deployments.all(d, d.spec.replicas >= pods.filter(p, p.status.phase == 'Running').size())",
                true,
            ),
            ("objects['deployments.apps'][0].spec.replicas == 3", false),
            ("objects.pods.exists(p, p.metadata.name == 'b')", true),
            ("secrets.size() == 0", true),
        ] {
            let told = words().rule(text).expect(text)(&state);
            assert_eq!(told.is_ok(), holds, "{text}: {told:?}");
            assert!(told.is_ok() || told == Err(format!("this is not so: {text}")));
        }
    }

    #[test]
    fn a_rule_about_a_change_sees_both_states() {
        let text = "before.pods.all(b, after.pods.exists(a, a.metadata.name == b.metadata.name))";
        let (rule, [one, two]) = (words().over(text).expect(text), [&["a"][..], &["a", "b"]]);
        let of =
            |names: &[&str]| state(&names.iter().map(|it| pod(it, "Running")).collect::<Vec<_>>());
        assert_eq!(rule(&of(one), &of(two)), Ok(()));
        assert!(rule(&of(two), &of(one)).is_err());
    }

    #[test]
    fn what_is_no_rule_is_refused_and_what_cannot_be_told_is_no_success() {
        let refused = |text: &str| words().rule(text).map(drop).expect_err(text);
        assert!(refused("podz.size() == 1").contains("undeclared reference to 'podz'"));
        assert!(refused("pods.size()").contains("neither true nor false"));
        assert!(refused("pods.size( == 1").contains("Syntax error"));
        assert!(words().over("pods.size() == 1").is_err());
        let rule = words().rule("pods.all(p, p.status.ready)").expect("it compiles");
        let told = rule(&state(&[pod("a", "Running")])).expect_err("there is no such field");
        assert!(told.contains("no such key: ready") && told.contains("has("), "{told}");
    }

    #[test]
    fn a_rule_that_looks_for_each_object_among_all_can_be_told_of_many() {
        let text =
            "before.secrets.all(b, after.secrets.exists(a, a.metadata.name == b.metadata.name))";
        let name = |it| ("secrets", json!({"metadata": {"name": format!("secret-{it}")}}));
        let all = state(&(0..2_000).map(name).collect::<Vec<_>>());
        assert_eq!(words().over(text).expect(text)(&all, &all), Ok(()));
        assert_eq!([0, 400, 1_000_000].map(cost), [COST, COST, MOST]);
    }

    #[test]
    fn a_rule_that_would_run_for_ever_ends() {
        let many: Vec<_> = (0..400).map(|it| pod(&it.to_string(), "Running")).collect();
        let text = "pods.all(a, pods.all(b, pods.all(c, pods.all(d, a.metadata.name != 'x'))))";
        let told = words().rule(text).expect(text)(&state(&many)).expect_err("it costs too much");
        assert!(told.contains("it cannot be told"), "{told}");
    }
}
