//! Keys of changes, and predicates.

use crate::informer::{Change, Labels, Object, ObjectChange, Owner, Predicate, keys, selected};
use crate::store::{Described, LastState, Metadata};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Pod {
    uid: &'static str,
    version: &'static str,
    generation: Option<i64>,
    labels: Labels,
    annotations: Labels,
    owners: Vec<(&'static str, &'static str, &'static str, bool)>,
    terminating: bool,
}

impl Described for Pod {
    fn metadata(&self) -> Option<Metadata<'_>> {
        let (uid, resource_version) = (self.uid, self.version);
        Some(Metadata { namespace: "ns", name: "pod", uid, resource_version })
    }
}

impl Object for Pod {
    fn generation(&self) -> Option<i64> {
        self.generation
    }

    fn labels(&self) -> Option<&Labels> {
        Some(&self.labels)
    }

    fn annotations(&self) -> Option<&Labels> {
        Some(&self.annotations)
    }

    fn owners(&self) -> Vec<Owner<'_>> {
        let owner = |&(api_version, kind, name, is_controller)| Owner {
            api_version,
            kind,
            name,
            uid: "",
            is_controller,
        };
        self.owners.iter().map(owner).collect()
    }

    fn is_terminating(&self) -> bool {
        self.terminating
    }
}

type PodChange = ObjectChange<Pod>;

fn one(name: &str, value: &str) -> Labels {
    [(name.to_owned(), value.to_owned())].into()
}

fn updated(old: &Pod, change: impl FnOnce(&mut Pod)) -> PodChange {
    let mut new = old.clone();
    change(&mut new);
    Change::Updated { old: old.clone(), new }
}

/// The changes that are not plain updates, with and without an object.
fn deletions() -> [PodChange; 3] {
    let pod = Pod::default();
    [
        Change::Deleted(LastState::Final(pod.clone())),
        Change::Deleted(LastState::unknown("ns/pod".to_owned(), Some(pod))),
        Change::Deleted(LastState::unknown("ns/pod".to_owned(), None)),
    ]
}

#[test]
fn a_change_names_its_object_also_where_only_the_key_is_known() {
    for gone in deletions() {
        assert_eq!(keys::own(&gone), ["ns/pod"]);
    }
    assert_eq!(keys::own(&updated(&Pod::default(), |_| ())), ["ns/pod"]);
}

#[test]
fn an_owner_is_found_by_group_and_kind_whatever_its_version() {
    let owners = vec![
        ("apps/v1", "ReplicaSet", "a", false),
        ("apps/v2", "ReplicaSet", "b", true),
        ("other/v1", "ReplicaSet", "c", true),
        ("apps/v1", "Deployment", "d", true),
        ("v1", "Node", "n", false),
    ];
    let added = Change::Added { object: Pod { owners, ..Pod::default() }, initial: false };
    assert_eq!(keys::of_owners("apps", "ReplicaSet")(&added), ["ns/a", "ns/b"]);
    assert_eq!(keys::of_controller("apps", "ReplicaSet")(&added), ["ns/b"]);
    assert_eq!(keys::of_cluster_owners("", "Node")(&added), ["n"]);
    assert!(keys::of_controller("", "Node")(&added).is_empty());
}

#[test]
fn who_lost_an_object_is_named_as_well_as_who_got_it() {
    let owned = |name| vec![("apps/v1", "ReplicaSet", name, true)];
    let old = Pod { owners: owned("old"), labels: one("app", "x"), ..Pod::default() };
    let moved = updated(&old, |pod| {
        pod.owners = owned("new");
        pod.labels = one("app", "y");
    });
    assert_eq!(keys::of_controller("apps", "ReplicaSet")(&moved), ["ns/new", "ns/old"]);
    assert_eq!(keys::of_label("app")(&moved), ["ns/x", "ns/y"]);
    let same = updated(&old, |_| ());
    assert_eq!(keys::of_label("app")(&same), ["ns/x"]);
    let emptied = updated(&old, |pod| pod.labels = one("app", ""));
    assert_eq!(keys::of_label("app")(&emptied), ["ns/x"], "not the key of nobody");
    let gone = Change::Deleted(LastState::unknown("ns/pod".to_owned(), Some(old)));
    assert_eq!(keys::of_controller("apps", "ReplicaSet")(&gone), ["ns/old"]);
}

fn all() -> [(&'static str, Predicate<Pod>); 4] {
    [
        ("generation", Predicate::generation()),
        ("labels", Predicate::labels()),
        ("annotations", Predicate::annotations()),
        ("version", Predicate::resource_version()),
    ]
}

fn wanted_by(change: &PodChange) -> Vec<&'static str> {
    all().iter().filter(|(_, it)| it.wants(change)).map(|(name, _)| *name).collect()
}

#[test]
fn each_predicate_sees_its_own_difference() {
    let old = Pod { uid: "u", version: "1", generation: Some(1), ..Pod::default() };
    assert!(wanted_by(&updated(&old, |_| ())).is_empty());
    assert_eq!(wanted_by(&updated(&old, |it| it.generation = Some(2))), ["generation"]);
    assert_eq!(wanted_by(&updated(&old, |it| it.labels = one("a", "b"))), ["labels"]);
    assert_eq!(wanted_by(&updated(&old, |it| it.annotations = one("a", "b"))), ["annotations"]);
    assert_eq!(wanted_by(&updated(&old, |it| it.version = "2")), ["version"]);
    let bare = Pod { uid: "u", generation: Some(1), ..Pod::default() };
    assert_eq!(wanted_by(&updated(&bare, |_| ())), ["version"], "it may have changed");
}

#[test]
fn an_object_whose_generation_nobody_counts_is_always_worth_a_look() {
    for generation in [None, Some(0)] {
        let old = Pod { generation, version: "1", ..Pod::default() };
        assert_eq!(wanted_by(&updated(&old, |_| ())), ["generation"]);
    }
}

#[test]
fn nothing_keeps_a_deletion_back_in_whatever_shape_it_comes() {
    let old = Pod { uid: "u", version: "1", generation: Some(1), ..Pod::default() };
    let another = updated(&old, |it| it.uid = "w");
    let asked_for = updated(&old, |it| it.terminating = true);
    let never = || Predicate::<Pod>::new(|_, _| false);
    let tricks = [
        never(),
        never().and(Predicate::labels()),
        Predicate::generation().negated().and(Predicate::generation()),
        never().or(never()),
    ];
    for change in deletions().into_iter().chain([another, asked_for]) {
        for (name, predicate) in all() {
            assert!(predicate.wants(&change), "{name} keeps {change:?} back");
        }
        assert!(tricks.iter().all(|it| it.wants(&change)), "{change:?}");
    }
    let ends = updated(&Pod { terminating: true, ..old }, |_| ());
    assert!(!never().wants(&ends), "it was told when the deletion was asked for");
}

#[test]
fn one_who_knows_only_some_objects_sees_them_come_and_go() {
    let selects = |pod: &Pod| pod.labels.contains_key("app");
    let inside = Pod { labels: one("app", "x"), ..Pod::default() };
    let comes = Change::Updated { old: Pod::default(), new: inside.clone() };
    let goes = Change::Updated { old: inside.clone(), new: Pod::default() };
    let added = Change::Added { object: inside.clone(), initial: false };
    assert_eq!(selected(comes, selects), Some(added));
    assert_eq!(selected(goes, selects), Some(Change::Deleted(LastState::Final(inside.clone()))));
    let stays = updated(&inside, |it| it.version = "2");
    assert_eq!(selected(stays.clone(), selects), Some(stays));
    assert_eq!(selected(updated(&Pod::default(), |_| ()), selects), None);
    let told: Vec<bool> =
        deletions().into_iter().map(|it| selected(it, selects).is_some()).collect();
    assert_eq!(told, [false, false, true]);
}
