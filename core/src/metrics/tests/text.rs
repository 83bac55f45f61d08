//! The text that a scrape reads, from both libraries.

use ::metrics::with_local_recorder;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use super::*;
use crate::metrics::facade::{BUCKETS, Facade};
use crate::metrics::prometheus::Prometheus;

/// Makes a queue report every metric, and looks while an item is in processing.
fn tell(provider: Arc<dyn Provider>) {
    let runtime = Manual::new();
    let metrics = Metrics::named("pods").told_to(provider);
    let queue = Arc::new(DelayingQueue::with_metrics(&runtime, Fifo::default(), &metrics));
    queue.add_all([1_u8, 2, 3, 4]);
    runtime.advance(ms(20));
    let (token, _) = queue.take().unwrap();
    runtime.advance(ms(2_000));
    queue.done(token);
    let _stuck = queue.take().unwrap();
    runtime.advance(ms(400));
    let _other = queue.take().unwrap();
    queue.add_after(5, ms(100_000));
    let updater = Updater::start(&runtime, &queue);
    assert!(runtime.until_waiting(1, PATIENCE));
    runtime.advance(EVERY);
    assert!(runtime.until_waiting(1, PATIENCE));
    queue.shut_down();
    updater.join();
}

/// Makes a priority queue report its depth: two keys of one priority, and one whose priority rose.
fn tell_priorities(provider: Arc<dyn Provider>) {
    let metrics = Metrics::named("nodes").told_to(provider);
    let limiter = Exponential::new(ms(1), ms(1));
    let queue = PriorityQueue::with_metrics(&Manual::new(), limiter, &metrics);
    let priority = |priority| AddOptions { priority, ..AddOptions::default() };
    queue.add_all([1_u8, 2, 3], priority(-100));
    queue.add(3);
}

const BY_PRIORITY: &[&str] = &[
    "workqueue_depth{name=\"nodes\",priority=\"-100\"} 2",
    "workqueue_depth{name=\"nodes\",priority=\"0\"} 1",
    "workqueue_adds_total{name=\"nodes\"} 3",
];

fn assert_lines(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|found| found == *line), "no line {line} in\n{text}");
    }
}

fn buckets_of_pods(text: &str) -> usize {
    let name = "workqueue_queue_duration_seconds_bucket";
    text.lines().filter(|line| line.starts_with(name) && line.contains("pods")).count()
}

const SAME: &[&str] = &[
    "workqueue_depth{name=\"pods\"} 1",
    "workqueue_adds_total{name=\"pods\"} 4",
    "workqueue_retries_total{name=\"pods\"} 1",
    "workqueue_unfinished_work_seconds{name=\"pods\"} 1.4",
    "workqueue_longest_running_processor_seconds{name=\"pods\"} 0.9",
    "workqueue_queue_duration_seconds_count{name=\"pods\"} 3",
    "workqueue_work_duration_seconds_count{name=\"pods\"} 1",
    "# TYPE workqueue_queue_duration_seconds histogram",
];

#[test]
fn a_registry_of_prometheus_client_reads_the_names_of_the_reference() {
    let mut registry = Registry::default();
    let provider = Arc::new(Prometheus::register(&mut registry));
    assert_eq!(format!("{provider:?}"), "Prometheus");
    tell(provider.clone());
    tell_priorities(provider);
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    assert_lines(&text, SAME);
    assert_lines(&text, BY_PRIORITY);
    let depths = text.lines().filter(|line| line.starts_with("workqueue_depth{name=\"nodes\""));
    assert_eq!(depths.count(), BY_PRIORITY.len() - 1, "PQ-37: no depth without a priority");
    assert_lines(
        &text,
        &[
            "workqueue_queue_duration_seconds_sum{name=\"pods\"} 4.46",
            "workqueue_queue_duration_seconds_bucket{le=\"0.01\",name=\"pods\"} 0",
            "workqueue_queue_duration_seconds_bucket{le=\"0.1\",name=\"pods\"} 1",
            "workqueue_work_duration_seconds_bucket{le=\"10.0\",name=\"pods\"} 1",
        ],
    );
    assert_eq!(buckets_of_pods(&text), 12 + 1, "MX-4");
}

#[test]
fn a_recorder_of_the_facade_reads_the_names_of_the_reference() {
    let seconds = Matcher::Suffix("_duration_seconds".to_owned());
    let recorder = PrometheusBuilder::new().set_buckets_for_metric(seconds, &BUCKETS);
    let recorder = recorder.unwrap().build_recorder();
    with_local_recorder(&recorder, || {
        tell(Arc::new(Facade));
        tell_priorities(Arc::new(Facade));
    });
    let text = recorder.handle().render();
    assert_lines(&text, SAME);
    assert_lines(&text, BY_PRIORITY);
    assert_eq!(buckets_of_pods(&text), 12 + 1, "MX-4");
}
