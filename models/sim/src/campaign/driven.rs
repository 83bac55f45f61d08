//! What was found in processes, in the form of everything else.

use std::collections::BTreeMap;

use seatrial::engine::Engine;
use seatrial::outcome::Expect;
use seatrial::report::{Coverage, Part, Report, Row, Shard, Verdict};
use seatrial::runner::Share;

use super::told::{lines, reason};
use crate::drive::{Finding, Report as Driven};
use crate::simulation::RULES;
use crate::simulation::operations::PROMISES;

/// The component of all rows.
const NAME: &str = "drive";
const SAYS: &str = "processes under the default plan of faults";

/// A report that `merge`, `report` and every format know. The case is named by the processes, and each share
/// of the plans is one of its own.
pub fn driven(driven: &Driven, processes: &str, seed: u64, budget: &str, share: Share) -> Report {
    let (index, count) = (share.partition.index, share.partition.count);
    let case = match count {
        1 => processes.to_owned(),
        _ => format!("{processes}.{index:02}of{count:02}"),
    };
    let mut report = Report::new(seed);
    report.partition = share.partition;
    let of_operations = PROMISES.iter().map(|it| (it.1, it.2));
    report.rows = match driven.survey {
        Some(_) => of_operations.filter_map(|it| row(driven, &case, it)).collect(),
        None => RULES.iter().filter_map(|it| row(driven, &case, *it)).collect(),
    };
    // Of a campaign that was stopped at once it is not known how many plans there are.
    let cases = driven.planned.max(driven.plans + u64::from(driven.is_stopped));
    let shards = BTreeMap::from([(index, Shard { cases, ran: driven.plans })]);
    let whole = Part::whole(NAME, cases);
    let (patterns, budget) = (vec![processes.to_owned()], budget.to_owned());
    report.parts = vec![Part { patterns, budget, dealing: share.dealing, count, shards, ..whole }];
    report.timing.insert("seconds".to_owned(), driven.elapsed.as_secs_f64().into());
    report.conclude();
    report
}

/// The verdict on one promise; none if nothing can be said about it.
fn row(driven: &Driven, case: &str, (invariant, says): (&str, &str)) -> Option<Row> {
    let mut broken = driven.found.iter().filter(|it| it.breaks(says));
    let mut doubted = driven.once.iter().filter(|it| it.breaks(says));
    let (verdict, finding) = match (broken.next(), doubted.next()) {
        (Some(finding), _) => (Verdict::Violated, Some(finding)),
        (None, Some(finding)) => (Verdict::Undecided, Some(finding)),
        (None, None) => (Verdict::Holds, None),
    };
    if finding.is_none() && (driven.plans == 0 || !is_about(driven, invariant)) {
        return None;
    }
    let because = finding.map(|it| accusation(driven, it, says, broken));
    Some(Row {
        component: NAME.to_owned(),
        scenario: case.to_owned(),
        invariant: invariant.to_owned(),
        says: finding.map(|_| says.to_owned()),
        scenario_says: finding.map(|_| SAYS.to_owned()),
        stated: None,
        rules: Vec::new(),
        engine: Engine::Cluster,
        exhibit: None,
        expect: Expect::Holds,
        verdict,
        coverage: Some(Coverage::Sampled),
        bounds: driven.left_out().into_iter().collect(),
        executions: Some(driven.plans.max(1)),
        states: None,
        traces: None,
        left: None,
        steps: None,
        preemptions: None,
        proved_minimum: None,
        witness: None,
        because,
        history: finding.map(|it| lines(&it.events)).unwrap_or_default(),
        at: None,
    })
}

/// Whether a campaign can say anything about a promise.
fn is_about(driven: &Driven, invariant: &str) -> bool {
    match invariant {
        "has_the_rights_that_it_needs" => driven.rights.is_some(),
        "keeps_the_rules_of_the_test" | "keeps_the_rules" => driven.rules > 0,
        // Nothing is asked of hard objects, and of fields without effect only what is missing is known.
        "survives_hard_objects" | "ignores_no_field" => false,
        "is_struck_by_the_plan" | "acts_on_what_it_observes" => false,
        _ => true,
    }
}

/// How a promise is broken, how often, and the command line that shows it again; then the other plans.
fn accusation<'a>(
    driven: &Driven,
    finding: &Finding,
    rule: &str,
    others: impl Iterator<Item = &'a Finding>,
) -> String {
    let violation = finding.violations.iter().find(|it| it.rule == rule);
    let mut text = reason(&finding.plan, violation.map_or(&[], |it| &it.text));
    if !finding.operations.is_empty() {
        let all: Vec<_> = finding.operations.iter().map(ToString::to_string).collect();
        text = format!("after {}: {text}", all.join(", "));
    }
    let (seen, runs) = finding.seen;
    text = format!("{text} ({seen} of {runs} runs); to see it again: {}", driven.again(finding));
    let also = finding.also.iter().map(ToString::to_string);
    for plan in also.chain(others.map(Finding::replayed)) {
        text.push_str(&format!("; it also fails under {plan}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use seatrial::report::{Format, Summary, merge, parse_report};

    use super::*;
    use crate::simulation::Violation;
    use crate::simulation::operations::{Intent, Operation};

    fn finding(plan: &str, rule: usize, seen: u32) -> Finding {
        let text = vec!["secrets default/a is missing".to_owned()];
        let violation = Violation { rule: RULES[rule].1, text, objects: Vec::new() };
        Finding {
            plan: plan.parse().expect("it is a plan"),
            violations: vec![violation],
            seen: (seen, 5),
            ..Finding::default()
        }
    }

    fn held(planned: u64, plans: u64) -> Driven {
        let again = "seatrial drive --replay '{plan}' -- it".to_owned();
        Driven { planned, plans, held: plans, again, ..Driven::default() }
    }

    fn told(report: &Driven, share: &str) -> Report {
        driven(report, "a+b", 1, "", share.parse().expect("it is a share"))
    }

    #[test]
    fn every_format_names_the_broken_promise_and_how_to_see_it_again() {
        let mut found = held(9, 9);
        found.found = vec![finding("crash(1)", 5, 4), finding("lost(2)", 5, 5)];
        found.once = vec![finding("cut(pods,1)", 1, 1)];
        let report = told(&found, "slice:1/1");
        assert_eq!(report.outcome, Summary::Violated);
        for format in [Format::Json, Format::Junit, Format::Sarif, Format::Html] {
            let text = format.render(&report);
            assert!(text.contains("comes_to_the_same_end"), "{text}");
            assert!(text.contains("secrets default/a is missing (4 of 5 runs)"), "{text}");
            assert!(text.contains("crash(1)") && text.contains("lost(2)"), "{text}");
            assert!(text.contains("seatrial drive --replay"), "{text}");
        }
        let again = parse_report(&Format::Json.render(&report)).expect("it is a report");
        assert_eq!(again, report);
    }

    #[test]
    fn the_reason_has_the_operations() {
        let text = |size: u32| {
            let patch = serde_json::json!({"spec": {"size": size}});
            vec![Operation { intent: Intent::Change, patch }]
        };
        let finding = |size| Finding { operations: text(size), ..finding("", 1, 2) };
        let again = accusation(&held(9, 9), &finding(3), RULES[1].1, [&finding(4)].into_iter());
        assert!(again.starts_with("after {\"change\":{\"spec\":{\"size\":3}}}: "), "{again}");
        assert!(again.ends_with("fails under [{\"change\":{\"spec\":{\"size\":4}}}]"), "{again}");
    }

    #[test]
    fn the_exit_code_is_that_of_the_campaign() {
        let (mut once, mut found, mut stopped, mut at_once) =
            (held(9, 9), held(9, 9), held(9, 5), held(0, 0));
        once.once = vec![finding("lost(2)", 5, 1)];
        found.found = vec![finding("lost(2)", 5, 5)];
        (stopped.is_stopped, at_once.is_stopped) = (true, true);
        for (report, code) in
            [(held(9, 9), 0), (held(0, 0), 4), (once, 5), (found, 100), (stopped, 5), (at_once, 5)]
        {
            let form = told(&report, "slice:1/1");
            assert_eq!(form.outcome.exit_code(), code, "{report}");
            assert_eq!(report.exit_code(), code, "{report}");
        }
    }

    #[test]
    fn rules_of_ones_own_and_plans_that_were_left_out_are_in_the_form() {
        let rows = |report: &Driven| told(report, "slice:1/1").rows;
        let is_own = |row: &Row| row.invariant == "keeps_the_rules_of_the_test";
        assert!(!rows(&held(9, 9)).iter().any(is_own));
        let rows = rows(&Driven { rules: 1, left_out: 7, ..held(9, 9) });
        assert!(rows.iter().any(is_own));
        assert!(rows.iter().all(|row| row.bounds["plans_left_out"] == 7));
    }

    #[test]
    fn shards_are_merged_and_one_that_is_missing_is_named() {
        let shard = |index: u32| told(&held(3, 3), &format!("hash:{index}/3"));
        assert_eq!(shard(2).outcome, Summary::Holds);
        let all = merge([shard(3), shard(1), shard(2)]).expect("they are of one run");
        assert_eq!(all.map(|it| it.outcome), Some(Summary::Holds));
        let some = merge([shard(3), shard(1)]).expect("they are of one run");
        let some = some.expect("there are two");
        assert_eq!(some.outcome, Summary::Inconclusive);
        assert!(some.lacks()[0].contains("hash:2/3"), "{:?}", some.lacks());
    }
}
