//! Campaigns of plans against controllers on kube-rs as cases: budgets, shards, reports, witnesses.

mod on_kube;

use std::sync::atomic::{AtomicU32, Ordering};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use seatrial::catalogue::Catalogue;
use seatrial::engine::Engine;
use seatrial::report::{self, Colour, Detail, Report, Row, Summary, Verdict};
use seatrial::runner::{Request, Silent, run};
use seatrial::trial::{REACHES_ITS_CASE, Subject, Witness, digest};
use seatrial_sim::campaign::{Campaign, Controller, controller};

use on_kube::on_kube;

const END: &str = "comes_to_the_same_end";

async fn create(maps: &Api<ConfigMap>, name: &str) -> bool {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let map = ConfigMap { metadata, ..ConfigMap::default() };
    maps.create(&PostParams::default(), &map).await.is_ok()
}

async fn for_ever() {
    std::future::pending::<()>().await;
}

/// Creates five objects, each by itself.
async fn careful(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    for name in ["a", "b", "c", "d", "e"] {
        while !create(&maps, name).await && maps.get_opt(name).await.is_ok_and(|it| it.is_none()) {}
    }
    for_ever().await;
}

/// Creates the second only if it has created the first.
async fn hasty(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    if create(&maps, "a").await {
        while !create(&maps, "b").await {}
    }
    for_ever().await;
}

/// Asks for what depends on the runs before, when it has died once.
async fn forgetful(client: Client) {
    static LIVES: AtomicU32 = AtomicU32::new(0);
    let life = LIVES.fetch_add(1, Ordering::Relaxed);
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    if !create(&maps, "a").await {
        drop(maps.get_opt(&format!("map-{life}")).await);
    }
    for_ever().await;
}

macro_rules! controllers {
    ($($name:ident: $campaign:expr;)*) => {$(
        struct $name;

        impl Controller for $name {
            const NAME: &'static str = stringify!($name);
            const SAYS: &'static str = "an example";

            fn campaigns() -> Vec<Campaign> {
                vec![$campaign]
            }
        }
    )*};
}

controllers! {
    Careful: Campaign::new("five", "five objects", || on_kube(careful)).in_parts(3);
    Hasty: Campaign::new("two", "two objects", || on_kube(hasty)).in_parts(3);
    Forgetful: Campaign::new("one", "an object", || on_kube(forgetful)).in_parts(1);
    Idle: Campaign::new("none", "nothing", || on_kube(|_| for_ever()).may_be_idle()).in_parts(1);
}

const SUBJECTS: [&dyn Subject; 4] = [
    controller::<Careful>(),
    controller::<Hasty>(),
    controller::<Forgetful>(),
    controller::<Idle>(),
];
const CATALOGUE: Catalogue = Catalogue::new("check", &SUBJECTS);

fn ran(pattern: &str, budget: &str, share: &str) -> Report {
    let request = Request {
        patterns: vec![pattern.to_owned()],
        engines: Engine::ALL.to_vec(),
        budget: budget.parse().expect("a budget"),
        share: share.parse().expect("a share"),
        ..Request::default()
    };
    run(&CATALOGUE, &request, &Silent)
}

fn merged(reports: impl IntoIterator<Item = Report>) -> Report {
    report::merge(reports).expect("they are of one run").expect("there are some")
}

fn of<'a>(report: &'a Report, invariant: &str) -> Vec<&'a Row> {
    report.rows.iter().filter(|row| row.invariant == invariant).collect()
}

#[test]
fn shards_together_are_the_whole() {
    for (pattern, outcome) in [("Careful", Summary::Holds), ("Hasty", Summary::Violated)] {
        let whole = merged([ran(pattern, "7", "slice:1/1")]);
        let shard = |index| ran(pattern, "7", &format!("slice:{index}/3"));
        let shards: Vec<_> = (1..=3).map(shard).collect();
        assert!(shards.iter().all(|shard| !shard.rows.is_empty()), "each has its part");
        let together = merged(shards);
        assert_eq!((whole.outcome, together.outcome), (outcome, outcome));
        assert_eq!(whole.rows, together.rows);
        assert_eq!(report::junit(&whole), report::junit(&together));
    }
}

#[test]
fn the_parts_try_every_plan_once_and_the_budget_decides_on_chance() {
    for (budget, by_chance) in [("7", 7), ("20", 20)] {
        let report = ran("Careful", budget, "slice:1/1");
        let executions: u64 = of(&report, END).iter().filter_map(|row| row.executions).sum();
        assert_eq!(executions, 3 + 5 + by_chance, "three runs without faults, five writes");
    }
}

#[test]
fn a_shard_that_is_left_out_is_noticed() {
    let shards = [1, 3].map(|index| ran("Careful", "7", &format!("slice:{index}/3")));
    let two = merged(shards);
    assert_eq!(two.outcome, Summary::Inconclusive);
    assert!(two.lacks().concat().contains("--partition slice:2/3"), "{:?}", two.lacks());
    assert!(report::junit(&two).contains("not all was run"));
}

#[test]
fn a_failing_plan_is_in_every_format_and_is_replayed_from_its_witness() {
    let report = ran("Hasty", "7", "slice:1/1");
    let rows = of(&report, END);
    let found: Vec<_> = rows.iter().filter(|row| row.verdict == Verdict::Violated).collect();
    let first = found.first().expect("a bug");
    let because = first.because.as_deref().expect("a reason");
    assert_eq!(because, "crash(1): - configmaps default/b is missing");
    assert!(
        first
            .history
            .iter()
            .any(|line| (line.name.as_str(), line.text.as_str()) == ("FAULT", "crash(1)"))
    );
    assert!(first.stated.as_ref().is_some_and(|place| place.file.ends_with("fleet.rs")));
    // Plans by chance lose the faults that they do not need.
    for row in &found {
        let (plan, _) = row.because.as_deref().and_then(|it| it.split_once(": ")).expect("a plan");
        assert!(!plan.contains(' '), "{plan} has a fault that it does not need");
    }

    let witness = first.witness.as_deref().expect("a witness");
    let formats = [
        report::junit(&report),
        report::html(&report),
        report::markdown(&report),
        report::sarif(&report).to_string(),
        report::github(&report),
        report::perfetto(&report).to_string(),
        report::report_text(&report, Detail::Brief, Colour(false)),
    ];
    for format in formats {
        assert!(format.contains("b is missing") || format.contains("FAULT"), "{format}");
    }
    let witness: Witness = witness.parse().expect("it is well-formed");
    for _ in 0..3 {
        let engine = witness.engine;
        let again = SUBJECTS[1].replay(&witness.scenario, None, engine, &witness.route);
        let again = again.expect("the plan is one");
        assert_eq!(digest(&again.transcript), witness.history, "it is the same history");
        assert_eq!(again.findings[0].violation.because, because);
        assert!(again.picture.is_some_and(|picture| picture.contains("FAULT crash(1)")));
    }
}

#[test]
fn a_plan_that_holds_is_replayed_as_well() {
    let route = seatrial::engine::Route::Run("crash(2)+lost(1)".into());
    let held = SUBJECTS[0].replay("five.01of03", None, Engine::Cluster, &route).expect("a plan");
    assert!(held.findings.is_empty() && held.transcript.contains("create configmaps default/e"));
    assert!(!held.lines.is_empty());
}

/// At the level `ordered` both runs of a plan count, and these hold.
#[cfg(feature = "exact")]
#[test]
fn runs_that_differ_have_a_verdict_of_their_own() {
    if !seatrial_sim::simulation::is_exact() {
        return;
    }
    let report = ran("Forgetful", "7", "slice:1/1");
    assert_eq!((report.outcome, report.outcome.exit_code()), (Summary::Inadmissible, 102));
    let rows = of(&report, END);
    assert_eq!(rows[0].verdict, Verdict::Inadmissible);
    let because = rows[0].because.as_deref().expect("a reason");
    assert!(because.contains("the controller: get configmaps default/map-"), "{because}");
    assert!(because.contains("crash(1): "), "{because}");
    let (junit, text) =
        (report::junit(&report), report::report_text(&report, Detail::Brief, Colour(false)));
    assert!(junit.contains("<error") && !junit.contains("<failure"), "{junit}");
    assert!(text.contains("INADMISSIBLE") && text.contains("inadmissible: the same"), "{text}");
    let problems = report.problems();
    assert_eq!((problems.len(), problems[0].rule.as_str()), (1, "inadmissible"));
    assert_eq!(merged([report]).outcome, Summary::Inadmissible);
}

#[test]
fn what_the_time_did_not_suffice_for_is_told() {
    let report = ran("Careful", "1e-6s", "slice:1/1");
    assert_eq!(report.outcome, Summary::Inconclusive);
    let because = of(&report, END)[0].because.as_deref().expect("a reason");
    assert!(because.starts_with("0 of 2 plans of a single fault were tried: give"), "{because}");
}

#[test]
fn a_controller_that_gives_no_cause_for_a_fault_is_not_tried() {
    let report = ran("Idle", "7", "slice:1/1");
    assert_eq!(report.outcome, Summary::Violated);
    assert_eq!(of(&report, REACHES_ITS_CASE)[0].verdict, Verdict::Violated);
}
