//! The rules of listers, one behaviour a test.

use super::*;
use crate::store::{Cause, metadata_key};

/// An object without a name has no metadata.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Pod {
    namespace: &'static str,
    name: &'static str,
    labels: &'static [(&'static str, &'static str)],
}

impl Described for Pod {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let metadata =
            Metadata { namespace: self.namespace, name: self.name, ..Metadata::default() };
        (!self.name.is_empty()).then_some(metadata)
    }

    fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| *label == name).map(|(_, value)| *value)
    }
}

type Pods = Lister<String, Arc<Pod>>;

fn key_of(pod: &Arc<Pod>) -> Result<String, Cause> {
    if pod.name.is_empty() { Ok("nameless".to_owned()) } else { metadata_key(pod) }
}

fn pods(with_index: bool) -> Pods {
    let store = IndexedStore::new(&System::new(), key_of);
    if with_index {
        store.add_indexers([(NAMESPACE_INDEX, by_namespace())]).unwrap();
    }
    for (namespace, name, labels) in [
        ("prod", "web", [("app", "web")].as_slice()),
        ("prod", "db", &[("app", "db"), ("tier", "back")]),
        ("test", "web", &[("app", "web")]),
        ("", "node", &[]),
    ] {
        store.add(Arc::new(Pod { namespace, name, labels })).unwrap();
    }
    Lister::new(Arc::new(store), "pods")
}

/// Adds an object without metadata, which only a store without an index accepts.
fn with_nameless(pods: Pods) -> Pods {
    pods.store.add(Arc::new(Pod { namespace: "", name: "", labels: &[] })).unwrap();
    pods
}

fn names(found: Result<Vec<Arc<Pod>>, NoMetadata>) -> Vec<String> {
    let mut names: Vec<_> =
        found.unwrap().iter().map(|pod| format!("{}/{}", pod.namespace, pod.name)).collect();
    names.sort();
    names
}

fn labels(requirement: Requirement) -> Selector {
    Selector::Labels(vec![requirement])
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn a_selector_selects_by_labels() {
    let pods = pods(true);
    let list = |requirement| names(pods.list(&labels(requirement)));
    assert_eq!(names(pods.list(&Selector::label("app", "web"))), ["prod/web", "test/web"]);
    let either = Requirement::In(text("app"), vec![text("web"), text("db")]);
    assert_eq!(list(either), ["prod/db", "prod/web", "test/web"]);
    let not_web = Requirement::NotIn(text("app"), vec![text("web")]);
    assert_eq!(list(not_web), ["/node", "prod/db"], "also one without the label");
    let neither = Requirement::NotIn(text("app"), vec![text("web"), text("db")]);
    assert_eq!(list(neither), ["/node"]);
    assert_eq!(list(Requirement::Exists(text("tier"))), ["prod/db"]);
    assert_eq!(list(Requirement::Missing(text("app"))), ["/node"]);
    let both = vec![Requirement::Exists(text("app")), Requirement::Missing(text("tier"))];
    assert_eq!(names(pods.list(&Selector::Labels(both))), ["prod/web", "test/web"]);
}

#[test]
fn a_selector_of_everything_or_nothing_looks_at_no_label() {
    let pod = Pod { namespace: "prod", name: "web", labels: &[("app", "web")] };
    assert_eq!(Selector::Everything.selects(&pod), Ok(true));
    assert_eq!(Selector::Nothing.selects(&pod), Ok(false));
}

#[test]
fn a_lister_shows_what_it_lists() {
    let pods = pods(true);
    assert_eq!(format!("{pods:?}"), r#"Lister("pods")"#);
    assert_eq!(format!("{:?}", pods.namespace("prod")), r#"NamespaceLister("prod")"#);
}

#[test]
fn only_a_selector_of_labels_needs_metadata() {
    let pods = with_nameless(pods(false));
    assert_eq!(pods.list(&Selector::Everything).unwrap().len(), 5);
    assert_eq!(pods.list(&Selector::Labels(vec![])).unwrap().len(), 5, "LI-1: it reads no label");
    assert_eq!(pods.list(&Selector::Nothing), Ok(vec![]));
    assert_eq!(pods.list(&Selector::label("app", "web")), Err(NoMetadata));
}

#[test]
fn a_namespace_is_listed_with_and_without_its_index() {
    for with_index in [true, false] {
        let pods = pods(with_index);
        let prod = pods.namespace("prod");
        assert_eq!(names(prod.list(&Selector::Everything)), ["prod/db", "prod/web"]);
        assert_eq!(names(prod.list(&Selector::label("app", "web"))), ["prod/web"]);
        assert_eq!(names(prod.list(&Selector::Nothing)), [""; 0]);
        assert_eq!(names(pods.namespace("none").list(&Selector::Everything)), [""; 0]);
        assert_eq!(pods.namespace("").list(&Selector::Everything).unwrap().len(), 4, "all");
    }
    let scanned = with_nameless(pods(false));
    assert_eq!(scanned.namespace("prod").list(&Selector::Everything), Err(NoMetadata));
    assert_eq!(scanned.namespace("prod").list(&Selector::Nothing), Ok(vec![]), "none is looked at");
}

#[test]
fn the_index_by_namespace_refuses_what_has_no_metadata() {
    let pods = pods(true);
    assert!(pods.store.add(Arc::new(Pod { namespace: "", name: "", labels: &[] })).is_err());
}

#[test]
fn an_object_is_found_by_name() {
    let pods = pods(true);
    assert_eq!(pods.get("node").unwrap().name, "node");
    assert_eq!(pods.namespace("test").get("web").unwrap().namespace, "test");
    let missing = pods.namespace("test").get("db").unwrap_err();
    assert_eq!(missing.to_string(), r#"pods "db" not found"#);
    assert_eq!((&*missing.resource, &*missing.name), ("pods", "db"));
    assert!(pods.get("web").is_err(), "it is in a namespace");
    assert!(pods.namespace("test").get("prod/web").is_err(), "a name is no key");
}
