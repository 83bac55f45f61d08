//! Jobs: pods until enough of them have succeeded, or too many have failed.

use serde_json::{Value, json};

use super::client::{Client, Place, is_terminating, text};
use super::pods;

fn place() -> Place {
    Place::new("/apis/batch/v1", "jobs", "Job")
}

pub(super) fn turn(client: &mut Client<'_>) {
    for job in client.list(&place(), "").unwrap_or_default() {
        let Some(pods) = pods::owned(client, &pods::place(), &job) else { continue };
        if is_terminating(&job) || pods::holds(&job, "Complete") || pods::holds(&job, "Failed") {
            continue;
        }
        let count = Count::of(&job, &pods);
        step(client, &job, &pods, &count);
        // Pods that were just made or deleted are counted as well.
        let Some(pods) = pods::owned(client, &pods::place(), &job) else { continue };
        let status = status(client, &job, &Count::of(&job, &pods));
        client.set_status(&place(), &job, &status);
    }
}

/// How many pods of a job are in which state, and how many are wanted.
#[derive(Clone, Copy)]
struct Count {
    active: usize,
    ready: usize,
    succeeded: usize,
    failed: usize,
    completions: usize,
    has_failed: bool,
    is_suspended: bool,
}

impl Count {
    fn of(job: &Value, pods: &[Value]) -> Self {
        let count = |is: &dyn Fn(&Value) -> bool| pods.iter().filter(|pod| is(pod)).count();
        let number = |field: &str, default: u64| {
            let number = job["spec"][field].as_u64().unwrap_or(default);
            usize::try_from(number).unwrap_or(usize::MAX)
        };
        let restarts = pods.iter().map(restarts).fold(0, u64::saturating_add);
        let failed = count(&|pod| pods::phase(pod) == "Failed");
        let restarts = usize::try_from(restarts).unwrap_or(usize::MAX);
        let tries = failed.saturating_add(restarts);
        Self {
            active: count(&pods::is_active),
            ready: count(&|pod| pods::is_active(pod) && pods::is_ready(pod)),
            succeeded: count(&|pod| pods::phase(pod) == "Succeeded"),
            failed,
            completions: number("completions", 1),
            has_failed: tries > number("backoffLimit", 6),
            is_suspended: job["spec"]["suspend"] == true,
        }
    }

    fn is_complete(&self) -> bool {
        self.succeeded >= self.completions
    }
}

/// How often the containers of a pod were started again.
fn restarts(pod: &Value) -> u64 {
    let containers = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    containers.filter_map(|it| it["restartCount"].as_u64()).fold(0, u64::saturating_add)
}

fn step(client: &mut Client<'_>, job: &Value, pods: &[Value], count: &Count) {
    if count.has_failed || count.is_complete() || count.is_suspended {
        for pod in pods.iter().filter(|pod| pods::is_active(pod)) {
            client.delete(&pods::place(), pod, "Background");
        }
        return;
    }
    let at_once = job["spec"]["parallelism"].as_u64().unwrap_or(1);
    let at_once = usize::try_from(at_once).unwrap_or(usize::MAX);
    let wanted = at_once.min(count.completions - count.succeeded);
    for _ in 0..client.room.of(wanted.saturating_sub(count.active)) {
        let mut pod = pods::from_template(job);
        let name = text(job, "name");
        pod["metadata"]["generateName"] = format!("{name}-").into();
        let labels = &mut pod["metadata"]["labels"];
        for prefix in ["", "batch.kubernetes.io/"] {
            labels[format!("{prefix}job-name")] = name.into();
            labels[format!("{prefix}controller-uid")] = job["metadata"]["uid"].clone();
        }
        client.create(&pods::place().path(text(job, "namespace")), &pod);
    }
}

fn status(client: &Client<'_>, job: &Value, count: &Count) -> Value {
    let mut status = json!({"uncountedTerminatedPods": {}, "ready": count.ready});
    for (field, value) in
        [("active", count.active), ("succeeded", count.succeeded), ("failed", count.failed)]
    {
        if value > 0 {
            status[field] = value.into();
        }
    }
    let began = &job["status"]["startTime"];
    if !count.is_suspended {
        status["startTime"] = if began.is_null() { client.stamp().into() } else { began.clone() };
    }
    let ended = if count.has_failed {
        Some(("Failed", "BackoffLimitExceeded"))
    } else {
        count.is_complete().then_some(("Complete", "CompletionsReached"))
    };
    if let Some((kind, reason)) = ended {
        status["conditions"] = json!([pods::condition(client, job, kind, true, reason)]);
        if kind == "Complete" {
            status["completionTime"] = client.stamp().into();
        }
    }
    status
}
