//! The comparison can fail: an answer that was never given is noticed.

use crate::common::{server, traces};
use proptest::prelude::*;
use seatrial_sim::conformance::{Step, Trace, replay};
use serde_json::Value;

/// Every place in a value that is compared strictly.
fn places(value: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Object(fields) => {
            let strict = |key: &str| !matches!(key, "message" | "content_type" | "warnings" | "i");
            for (_, value) in fields.iter_mut().filter(|(key, _)| strict(key)) {
                places(value, change);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| places(item, change)),
        other => change(other),
    }
}

fn flip(value: &mut Value) {
    *value = match &*value {
        Value::Null => "something".into(),
        Value::Bool(it) => (!it).into(),
        Value::Number(it) => (it.as_i64().unwrap_or(0) + 1).into(),
        Value::String(it) => format!("{it}~").into(),
        other => other.clone(),
    };
}

/// Changes one strict place of the recorded answers; none if there is none.
fn change_one(trace: &mut Trace, choice: usize) -> bool {
    let mut count = 0;
    let mut walk = |chosen: Option<usize>| {
        let mut index = 0;
        for step in &mut trace.steps {
            let answer = match step {
                Step::Call { response, .. } | Step::Open { response, .. } => response,
                Step::Read { events, .. } => events,
                Step::Close { .. } | Step::Compact => continue,
            };
            // A text is compared loosely.
            let is_text = answer["body"].is_string();
            places(if is_text { &mut answer["status"] } else { answer }, &mut |place| {
                if Some(index) == chosen {
                    flip(place);
                }
                index += 1;
            });
        }
        index
    };
    count += walk(None);
    count > 0 && walk(Some(choice % count)) > 0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_answer_is_noticed(file in 0..6_usize, which in 0..100_usize, choice in any::<usize>()) {
        thread_local! {
            static ALL: Vec<Vec<Trace>> = ["crud", "finalizers", "lease", "list", "patch", "watch"]
                .iter()
                .map(|file| traces(file))
                .collect();
            static FRESH: seatrial_sim::apiserver::Server = server(1);
        }
        let mut trace = ALL.with(|all| all[file][which].clone());
        prop_assume!(change_one(&mut trace, choice));
        let report = FRESH.with(|fresh| replay(&trace, fresh.clone()));
        prop_assert!(!report.departures.is_empty(), "{} is as before", trace.name);
    }
}
