//! Laws for every program: versions grow, the pages of a list make up the whole list, and a list
//! together with the later events of a watch is the later list.

use proptest::prelude::*;
use seatrial_sim::apiserver::{Answer, Request, Server, WatchId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::common::{MAPS, SECOND, ask, empty};

const SELECTORS: [&str; 5] = ["", "app", "!app", "app=x", "app in (x,y)"];

#[derive(Clone, Debug)]
enum Step {
    Put { name: usize, app: Option<&'static str>, data: u8 },
    Label { name: usize, app: Option<&'static str> },
    Delete { name: usize },
    Other,
    Watch { selector: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let app = || prop::option::of(prop::sample::select(vec!["x", "y", "z"]));
    prop_oneof![
        4 => (0..6_usize, app(), 0..3_u8).prop_map(|(name, app, data)| Step::Put { name, app, data }),
        2 => (0..6_usize, app()).prop_map(|(name, app)| Step::Label { name, app }),
        2 => (0..6_usize).prop_map(|name| Step::Delete { name }),
        1 => Just(Step::Other),
        2 => (0..SELECTORS.len()).prop_map(|selector| Step::Watch { selector }),
    ]
}

fn object(name: usize, app: Option<&str>, data: u8) -> Value {
    let labels = app.map_or_else(|| json!({}), |app| json!({"app": app}));
    json!({"metadata": {"name": format!("n{name}"), "labels": labels}, "data": {"a": data.to_string()}})
}

fn perform(server: &mut Server, step: &Step) {
    let request = match step {
        Step::Put { name, app, data } => {
            let object = object(*name, *app, *data);
            ask(server, &Request::new("POST", MAPS).json(&object));
            Request::new("PUT", &format!("{MAPS}/n{name}")).json(&object)
        }
        Step::Label { name, app } => {
            let body = json!({"metadata": {"labels": {"app": app}}}).to_string();
            let request = Request::new("PATCH", &format!("{MAPS}/n{name}"));
            request.content("application/merge-patch+json", body)
        }
        Step::Delete { name } => Request::new("DELETE", &format!("{MAPS}/n{name}")),
        Step::Other => {
            let body = json!({"metadata": {"generateName": "s-"}});
            Request::new("POST", "/api/v1/namespaces/default/secrets").json(&body)
        }
        Step::Watch { .. } => return,
    };
    ask(server, &request);
}

type State = BTreeMap<String, Value>;

/// An object without what lists leave out.
fn bare(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    object
}

fn list(server: &mut Server, query: &[(&str, &str)]) -> (State, String) {
    let mut request = Request::new("GET", MAPS);
    request.query = query.iter().map(|(key, it)| ((*key).to_owned(), (*it).to_owned())).collect();
    let list = ask(server, &request).1;
    let items = list["items"].as_array().into_iter().flatten();
    let name = |it: &Value| it["metadata"]["name"].as_str().unwrap_or("").to_owned();
    let version = list["metadata"]["resourceVersion"].as_str().unwrap_or("").to_owned();
    (items.map(|it| (name(it), it.clone())).collect(), version)
}

struct Watched {
    id: WatchId,
    selector: &'static str,
    state: State,
    version: u64,
}

fn watch(server: &mut Server, selector: &'static str) -> Watched {
    let (state, version) = list(server, &[("labelSelector", selector)]);
    let mut request = Request::new("GET", MAPS);
    for (key, value) in [("watch", "1"), ("labelSelector", selector), ("resourceVersion", &version)]
    {
        request.query.push((key.to_owned(), value.to_owned()));
    }
    let Answer::Watch { id, .. } = server.handle(SECOND, &request) else {
        panic!("no watch was opened")
    };
    Watched { id, selector, state, version: version.parse().unwrap_or(0) }
}

/// Takes in what a watch tells, and checks that it can be.
fn take_in(server: &mut Server, watched: &mut Watched) -> Result<(), TestCaseError> {
    for event in server.events(watched.id).events {
        let name = event.object["metadata"]["name"].as_str().unwrap_or("").to_owned();
        let version = event.object["metadata"]["resourceVersion"].as_str().unwrap_or("");
        let version: u64 = version.parse().unwrap_or(0);
        prop_assert!(version > watched.version, "{version} after {}", watched.version);
        watched.version = version;
        match event.kind {
            "ADDED" => prop_assert!(watched.state.insert(name, bare(&event.object)).is_none()),
            "MODIFIED" => prop_assert!(watched.state.insert(name, bare(&event.object)).is_some()),
            "DELETED" => prop_assert!(watched.state.remove(&name).is_some()),
            other => prop_assert!(false, "{other}"),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_list_and_its_watch_are_the_list_of_later(
        steps in prop::collection::vec(step(), 1..60),
        reads in prop::collection::vec(any::<bool>(), 60),
        limit in 1..4_usize,
    ) {
        let mut server = empty();
        let (mut watches, mut history) = (Vec::new(), Vec::new());
        for (step, reads) in steps.iter().zip(reads) {
            let before = server.revision();
            if let Step::Watch { selector } = step {
                watches.push(watch(&mut server, SELECTORS[*selector]));
            }
            perform(&mut server, step);
            prop_assert!(server.revision() >= before && server.revision() <= before + 2);
            for watched in watches.iter_mut().filter(|_| reads) {
                take_in(&mut server, watched)?;
            }
            history.push((server.revision(), list(&mut server, &[]).0));
        }
        for watched in &mut watches {
            take_in(&mut server, watched)?;
            let (state, _) = list(&mut server, &[("labelSelector", watched.selector)]);
            prop_assert_eq!(&watched.state, &state, "{}", watched.selector);
        }
        // Every state of the past is still there, as a whole and in pages.
        for (revision, state) in history {
            let revision = revision.to_string();
            let exact = [("resourceVersion", revision.as_str()), ("resourceVersionMatch", "Exact")];
            prop_assert_eq!(&list(&mut server, &exact).0, &state);
            prop_assert_eq!(&pages(&mut server, &exact, limit), &state);
        }
    }
}

/// A list page by page.
fn pages(server: &mut Server, query: &[(&str, &str)], limit: usize) -> State {
    let limit = limit.to_string();
    let (mut all, mut token) = (State::new(), String::new());
    loop {
        let mut request = Request::new("GET", MAPS);
        request.query.push(("limit".to_owned(), limit.clone()));
        if token.is_empty() {
            let query = query.iter().map(|(key, it)| ((*key).to_owned(), (*it).to_owned()));
            request.query.extend(query);
        } else {
            request.query.push(("continue".to_owned(), token));
        }
        let page = ask(server, &request).1;
        for item in page["items"].as_array().into_iter().flatten() {
            let name = item["metadata"]["name"].as_str().unwrap_or("").to_owned();
            all.insert(name, item.clone());
        }
        token = page["metadata"]["continue"].as_str().unwrap_or("").to_owned();
        if token.is_empty() {
            return all;
        }
    }
}
