//! Several processes in one simulation: whose life, time and faults are whose.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::watcher::{self, watcher};
use kube::{Client, Error, ResourceExt as _};
use seatrial_sim::simulation::{Connection, Simulation, State};
use serde_json::json;
use tokio::time::sleep;

use crate::{config_map, failure};

fn maps(connection: Connection) -> Api<ConfigMap> {
    Api::default_namespaced(Client::new(connection, "default"))
}

/// Creates a map unless it is there, whatever it takes.
async fn make(maps: &Api<ConfigMap>, name: &str) {
    loop {
        match maps.create(&PostParams::default(), &config_map(name)).await {
            Ok(_) => return,
            Err(Error::Api(status)) if status.code == 409 => return,
            Err(_) => sleep(Duration::from_secs(1)).await,
        }
    }
}

/// Makes these, a second after each other, and then rests.
async fn makes(connection: Connection, names: [&'static str; 3]) {
    let maps = maps(connection);
    for name in names {
        make(&maps, name).await;
        sleep(Duration::from_secs(1)).await;
    }
    std::future::pending::<()>().await;
}

/// The seconds that each life of a process has counted.
type Lives = Arc<Mutex<Vec<Arc<AtomicU32>>>>;

/// Two processes, of which each makes three maps and a task that counts seconds.
fn counted() -> (Simulation, [Lives; 2]) {
    let counts: [Lives; 2] = Default::default();
    let counting = |index: usize, names: [&'static str; 3]| {
        let lives = counts[index].clone();
        move |connection| {
            let count = Arc::new(AtomicU32::new(0));
            lives.lock().expect("no panic").push(count.clone());
            async move {
                tokio::spawn(async move {
                    loop {
                        sleep(Duration::from_secs(1)).await;
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                });
                makes(connection, names).await;
            }
        }
    };
    let simulation = Simulation::system()
        .process("a", counting(0, ["a-1", "a-2", "a-3"]))
        .process("b", counting(1, ["b-1", "b-2", "b-3"]));
    (simulation, counts)
}

#[test]
fn a_crash_ends_all_tasks_of_one_process_and_of_no_other() {
    let (simulation, counts) = counted();
    let picture = simulation.draw("crash(a,2)");
    let count = |index: usize| -> Vec<u32> {
        let lives = counts[index].lock().expect("no panic");
        lives.iter().map(|it| it.load(Ordering::Relaxed)).collect()
    };
    let (a, b) = (count(0), count(1));
    assert_eq!((a.len(), b.len()), (2, 1), "{picture}");
    assert!(a[0] <= 1, "its task dies with it: {a:?}");
    assert!(a[1] > 300 && b[0] > a[1], "{a:?} {b:?}");
    assert!(picture.contains("FAULT crash(a,2)"), "{picture}");
    assert_eq!(picture.matches("-- dies --").count(), 1, "{picture}");
    // A column each, in which its requests are, and writes are told with who has made them.
    let head = picture.lines().next().expect("a line of heads");
    let [a, b] = ["  a ", "  b"].map(|it| head.find(it).expect("a column"));
    assert!(a < b, "{picture}");
    let death = picture.lines().find_map(|it| it.find("-- dies --"));
    assert_eq!(death, Some(a + 2), "{picture}");
    assert!(picture.contains(": a: create configmaps default/a-1"), "{picture}");
}

#[test]
fn the_default_plan_has_each_write_of_each_process_and_pairs() {
    let campaign = counted().0.random(4, 1).campaign().expect("it holds");
    let plans: Vec<String> = campaign.plans().map(|it| it.to_string()).collect();
    for write in 1..=3 {
        for process in ["a", "b"] {
            assert!(plans.contains(&format!("crash({process},{write})")), "{plans:?}");
        }
        assert!(plans.contains(&format!("crash(a,1) crash(b,{write})")), "{plans:?}");
    }
    assert_eq!(plans.len() as u64, campaign.planned());
    assert_eq!((campaign.alone(), campaign.planned()), (6 + 9, 6 + 9 + 4));
    counted().0.check();
}

/// Tells what its watch tells, in a map of its own.
async fn tells(connection: Connection, name: &'static str) {
    let maps = maps(connection);
    make(&maps, name).await;
    let config = watcher::Config::default().fields("metadata.name=news");
    let mut events = watcher(maps.clone(), config).boxed();
    while let Some(event) = events.next().await {
        if let Ok(watcher::Event::Apply(map) | watcher::Event::InitApply(map)) = event {
            let seen = Patch::Merge(json!({"data": {"seen": map.name_any()}}));
            drop(maps.patch(name, &PatchParams::default(), &seen).await);
        }
    }
}

#[test]
fn watches_of_one_process_are_silent_and_those_of_another_are_not() {
    let simulation = || {
        Simulation::system()
            .process("a", |it| tells(it, "of-a"))
            .process("b", |it| tells(it, "of-b"))
            .create(&config_map("news"))
    };
    let seconds = |plan: &str| {
        let campaign = simulation().campaign().expect("it holds");
        let held = campaign.attempt(&plan.parse().expect("a plan")).expect("it holds");
        let events = held.events();
        ["a", "b"].map(|process| {
            let is_write = |text: &str| text.contains("patch configmaps");
            let write = events.iter().find(|it| it.process == process && is_write(&it.text));
            write.expect("it tells").at.as_secs()
        })
    };
    assert_eq!(seconds(""), [30, 30]);
    assert_eq!(seconds("silent(b,configmaps,3,20)"), [30, 50]);
    assert_eq!(seconds("silent(a,configmaps,3,20)"), [50, 30]);
}

#[test]
fn each_has_its_own_time_and_all_happens_in_its_order() {
    // Sleeps that are not multiples of each other, for minutes.
    let beats = |connection: Connection, name: &'static str, every: u64| async move {
        let maps = maps(connection);
        for number in 0..5 {
            sleep(Duration::from_millis(every)).await;
            make(&maps, &format!("{name}-{number}")).await;
        }
        std::future::pending::<()>().await;
    };
    let simulation = Simulation::system()
        .process("a", move |it| beats(it, "a", 7_013))
        .process("b", move |it| beats(it, "b", 11_002));
    let held = simulation.campaign().expect("it rests").attempt(&Default::default());
    let events = held.expect("it holds").events();
    let at: Vec<_> = events.iter().map(|it| it.at).collect();
    assert!(at.is_sorted(), "{events:?}");
    for (name, every) in [("a", 7_013), ("b", 11_002)] {
        let own = events.iter().filter(|it| {
            it.process == name
                && it.text.contains("create")
                && it.column == seatrial_sim::simulation::Column::Controller
        });
        assert_eq!(own.clone().count(), 5, "{events:?}");
        // Each request travels for a millisecond, and so does the next sleep begin later.
        for (number, event) in (1..).zip(own) {
            let expected = number * every + number;
            assert!(
                event.at.as_millis().abs_diff(expected) <= u128::from(number as u32),
                "{event:?}"
            );
        }
    }
}

/// Makes a token; and a pod-like map of it once, by the word of the token alone.
async fn issues(connection: Connection, is_repaired: bool) {
    let maps = maps(connection);
    let is_there = async |name| maps.get_opt(name).await.ok().flatten().is_some();
    if !is_there("issued").await {
        if !is_repaired || !is_there("used").await {
            make(&maps, "token").await;
            sleep(Duration::from_secs(2)).await;
        }
        make(&maps, "issued").await;
    }
    std::future::pending::<()>().await;
}

/// Takes the token, and counts how often.
async fn uses(connection: Connection) {
    let maps = maps(connection);
    let config = watcher::Config::default().fields("metadata.name=token");
    let mut events = watcher(maps.clone(), config).boxed();
    while let Some(event) = events.next().await {
        if let Ok(watcher::Event::Apply(_) | watcher::Event::InitApply(_)) = event {
            let used = maps.get_opt("used").await.ok().flatten();
            let count = used.and_then(|it| it.data?.get("count")?.parse::<u32>().ok());
            make(&maps, "used").await;
            let more = json!({"data": {"count": (count.unwrap_or(0) + 1).to_string()}});
            drop(maps.patch("used", &PatchParams::default(), &Patch::Merge(more)).await);
            drop(maps.delete("token", &DeleteParams::default()).await);
        }
    }
}

fn issued(is_repaired: bool) -> Simulation {
    Simulation::system()
        .process("issuer", move |it| issues(it, is_repaired))
        .process("user", uses)
        .random(0, 1)
}

#[test]
fn one_dies_while_another_works_and_the_plan_can_be_replayed() {
    let failed = failure(issued(false));
    assert_eq!(failed.plan.to_string(), "crash(issuer,1)");
    assert!(failed.violations[0].text[0].contains("default/used"), "{failed}");
    assert!(failed.to_string().contains("SEATRIAL_REPLAY='crash(issuer,1)'"), "{failed}");
    let again = failure(issued(false).replay(&failed.plan.to_string()));
    assert_eq!(again.violations, failed.violations);
    issued(true).replay("crash(issuer,1)").check();
    // The same fault of the other, or of none of them, is another plan.
    issued(false).replay("crash(user,3)").check();
    let nobody = failure(issued(false).replay("crash(1)"));
    assert_eq!(nobody.violations[0].rule, "the replayed plan strikes");
}

/// Looks at a map every second and a half: 40 times a minute.
async fn looks(connection: Connection) {
    let maps = maps(connection);
    make(&maps, "seen").await;
    loop {
        drop(maps.get_opt("seen").await);
        sleep(Duration::from_millis(1_499)).await;
    }
}

#[test]
fn the_requests_of_all_are_too_many_though_those_of_each_are_not() {
    Simulation::of(looks).random(0, 1).check();
    let both = Simulation::system().process("a", looks).process("b", looks).random(0, 1);
    let failed = failure(both);
    assert_eq!(failed.violations[0].rule, "few requests are sent while nothing happens");
    let text = &failed.violations[0].text;
    assert_eq!(text[..3], ["80 requests a minute, and at most 60 are fine", "  a: 40", "  b: 40"]);
}

/// Each replica does its part, and one whose number is wrong does the other's.
async fn does_its_part(connection: Connection, is_wrong: bool) {
    let is_first = is_wrong || connection.identity().starts_with("part-0-");
    make(&maps(connection), if is_first { "done-0" } else { "done-1" }).await;
    std::future::pending::<()>().await;
}

#[test]
fn both_work_or_none_does() {
    let parts = |is_wrong| {
        let both = |state: &State| match state.list("configmaps").count() {
            0 | 2 => Ok(()),
            _ => Err("one part is done, and the other is not".to_owned()),
        };
        let run = move |it| does_its_part(it, is_wrong);
        Simulation::system().replicas("part", 2, run).at_end(both).may_be_idle()
    };
    parts(false).check();
    let failed = failure(parts(true));
    assert_eq!(failed.violations[0].text, ["one part is done, and the other is not"]);
}

#[test]
fn an_identity_is_that_of_one_life() {
    let all = Arc::new(Mutex::new(Vec::new()));
    let seen = all.clone();
    let run = move |connection: Connection| {
        seen.lock().expect("no panic").push(connection.identity());
        does_its_part(connection, false)
    };
    drop(Simulation::system().replicas("part", 2, run).draw("crash(part-1,1)"));
    let all = all.lock().expect("no panic").clone();
    let distinct: BTreeSet<_> = all.iter().map(String::as_str).collect();
    assert_eq!(distinct.into_iter().collect::<Vec<_>>(), ["part-0-1", "part-1-1", "part-1-2"]);
}

#[test]
#[should_panic(expected = "\"a,b\" is no name of a process")]
fn a_name_can_be_read_in_a_plan() {
    drop(Simulation::system().process("a,b", looks));
}
