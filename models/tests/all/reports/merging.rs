//! Merging is a union.

use seatrial_models::report::{Fate, Picture, Report, Summary, merge};

use super::{canary, json};

fn report() -> Report {
    serde_json::from_value(json(canary())).expect("a report")
}

/// Two shards of one run: the rows of the canary, divided by engine.
fn shards() -> [Report; 2] {
    [1, 2].map(|index| {
        let mut shard = report();
        shard
            .rows
            .retain(|row| (row.engine <= seatrial_models::engine::Engine::Trace) == (index == 1));
        let part = &mut shard.parts[0];
        part.count = 2;
        let ran = part.shards.remove(&1).expect("the whole");
        part.shards.insert(index, ran);
        shard.partition.index = index;
        shard.partition.count = 2;
        shard.timing.insert("total_seconds".to_owned(), f64::from(index).into());
        shard.conclude();
        assert_eq!(shard.outcome, Summary::Holds);
        shard
    })
}

fn merged(reports: &[&Report]) -> Report {
    let reports = reports.iter().map(|report| (*report).clone());
    merge(reports).expect("one run").expect("some report")
}

#[test]
fn neither_order_nor_repetition_nor_grouping_matters() {
    let [one, two] = shards();
    let both = merged(&[&one, &two]);
    assert_eq!(both, merged(&[&two, &one]), "commutative");
    assert_eq!(both, merged(&[&one, &two, &two, &one]), "idempotent");
    assert_eq!(both, merged(&[&both, &one]), "what is in it already changes nothing");
    assert_eq!(merged(&[&both]), both);
    let grouped = merged(&[&merged(&[&one]), &merged(&[&two])]);
    assert_eq!(both, grouped, "associative");
}

#[test]
fn all_shards_together_are_the_run() {
    let [one, two] = shards();
    let (both, whole) = (merged(&[&one, &two]), merged(&[&report()]));
    assert_eq!(both.rows, whole.rows);
    assert_eq!(both.outcome, Summary::Holds);
    assert_eq!((both.partition.index, both.partition.count), (1, 1));
    assert_eq!(both.timing["total_seconds"], 2.0, "they ran side by side");
}

#[test]
fn a_missing_shard_concludes_nothing() {
    let [one, _] = shards();
    let alone = merged(&[&one]);
    assert_eq!(alone.outcome, Summary::Inconclusive);
    assert!(alone.lacks()[0].contains("--partition slice:2/2"), "{:?}", alone.lacks());
}

#[test]
fn a_violation_in_one_shard_is_one_of_the_run() {
    let [one, mut two] = shards();
    two.rows[0].expect = seatrial_models::trial::Expect::Holds;
    two.rows[0].verdict = seatrial_models::report::Verdict::Violated;
    two.conclude();
    assert_eq!(merged(&[&one, &two]).outcome, Summary::Violated);
    assert_eq!(merged(&[&two]).outcome, Summary::Violated, "although a shard is missing");
}

#[test]
fn reports_that_disagree_are_both_kept_and_the_worse_decides() {
    let good = report();
    let mut bad = report();
    let row = bad.rows.iter_mut().find(|row| row.witness.is_some()).expect("a conviction");
    row.verdict = seatrial_models::report::Verdict::Holds;
    bad.conclude();
    let both = merged(&[&good, &bad]);
    assert_eq!(both.rows.len(), good.rows.len() + 1);
    assert_eq!(both.outcome, Summary::Blind);
    assert_eq!(both, merged(&[&bad, &good]));
}

#[test]
fn a_shard_that_was_stopped_is_mended_by_its_repetition() {
    let whole = report();
    let mut stopped = report();
    let first = stopped.rows[0].clone();
    stopped.rows.retain(|row| row.engine == first.engine);
    stopped.parts[0].shards.get_mut(&1).expect("the whole").ran = 1;
    stopped.conclude();
    assert_eq!(stopped.outcome, Summary::Inconclusive);
    assert!(stopped.lacks()[0].contains("stopped after 1 of"), "{:?}", stopped.lacks());
    assert_eq!(merged(&[&stopped, &whole]).outcome, Summary::Holds);
    assert_eq!(merged(&[&whole, &stopped]).outcome, Summary::Holds);
}

#[test]
fn reports_of_different_runs_are_not_merged() {
    let one = report();
    let change: [fn(&mut Report); 4] = [
        |report| report.commit = "other".to_owned(),
        |report| report.seed = 7,
        |report| report.toolchain = "other".to_owned(),
        |report| report.program = "other".to_owned(),
    ];
    for change in change {
        let mut other = one.clone();
        change(&mut other);
        let error = merge([one.clone(), other]).expect_err("two runs").to_string();
        assert!(error.contains("merge reports of one run"), "{error}");
    }
}

#[test]
fn mutants_traces_and_pictures_of_every_shard_are_those_of_the_run() {
    let everything = super::made_up::everything();
    let [one, mut two] = shards();
    two.mutants = vec![everything.mutants[2].clone()];
    two.pictures = vec![Picture {
        component: "parts".to_owned(),
        title: "a picture".to_owned(),
        svg: "<svg/>".to_owned(),
    }];
    let both = merged(&[&one, &two]);
    assert_eq!(both.outcome, Summary::Blind, "a bug that survived in one shard did in the run");
    assert_eq!((&both.mutants, &both.pictures), (&two.mutants, &two.pictures));
    two.conformance = vec![everything.conformance[1].clone()];
    let both = merged(&[&one, &two]);
    assert_eq!((both.outcome, both.conformance.len()), (Summary::Violated, 1));
}

#[test]
fn mutants_that_disagree_are_both_kept_and_the_worse_decides() {
    let of = |outcome| {
        let mut report = Report::new(0);
        report.mutants = vec![super::made_up::mutant("one", "seeded", outcome)];
        report.conclude();
        report
    };
    let (killed, survived) = (of(Fate::Killed), of(Fate::Survived));
    for both in [merged(&[&killed, &survived]), merged(&[&survived, &killed])] {
        assert_eq!((both.mutants.len(), both.outcome), (2, Summary::Blind));
    }
    assert_eq!(merged(&[&killed, &killed]).mutants.len(), 1);
}

#[test]
fn a_shard_that_was_stopped_concludes_nothing_alone() {
    let [mut one, _] = shards();
    one.parts[0].shards.get_mut(&1).expect("it is there").ran -= 1;
    one.conclude();
    assert_eq!(one.outcome, Summary::Inconclusive);
}
