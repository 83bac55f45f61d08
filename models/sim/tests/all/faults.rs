//! Faults strike the requests that they name, and leave the storage as it should be.

use std::time::Duration;

use seatrial_sim::apiserver::{Answer, Fault, Options, Point, Request, Server, Trouble, WatchId};
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

struct World {
    server: Server,
    now: Duration,
}

impl World {
    fn with(faults: impl IntoIterator<Item = Fault>) -> Self {
        let mut server = Server::new(&Options::default());
        for name in ["a", "b"] {
            server.handle(Duration::from_secs(1), &create(name));
        }
        faults.into_iter().for_each(|fault| server.inject(fault));
        Self { server, now: Duration::from_secs(1) }
    }

    fn handle(&mut self, request: &Request) -> Answer {
        self.server.handle(self.now, request)
    }

    /// The status; 0 if nothing arrives.
    fn status(&mut self, request: &Request) -> u16 {
        match self.handle(request) {
            Answer::Response(response) => response.status,
            Answer::Watch { head, .. } => head.status,
            Answer::Lost => 0,
        }
    }

    /// The status and the reason of a refusal, and the objects afterwards.
    fn refusal(&mut self, request: &Request) -> (u16, String, Vec<String>) {
        let Answer::Response(refused) = self.handle(request) else { panic!("no response") };
        let reason = refused.json().map(|it| it["reason"].clone()).unwrap_or_default();
        (refused.status, reason.as_str().unwrap_or("").to_owned(), self.names())
    }

    fn names(&mut self) -> Vec<String> {
        let Answer::Response(response) = self.handle(&Request::new("GET", MAPS)) else {
            return vec!["nothing".to_owned()];
        };
        let items = response.json().and_then(|it| it["items"].as_array().cloned());
        let names = items.into_iter().flatten().map(|it| it["metadata"]["name"].clone());
        names.map(|name| name.as_str().unwrap_or("").to_owned()).collect()
    }

    fn watch(&mut self) -> WatchId {
        let target = format!("{MAPS}?watch=1&resourceVersion={}", self.server.revision());
        match self.handle(&Request::new("GET", &target)) {
            Answer::Watch { id, .. } => id,
            other => panic!("no watch was opened: {other:?}"),
        }
    }
}

fn create(name: &str) -> Request {
    Request::new("POST", MAPS).json(&json!({"metadata": {"name": name}}))
}

fn fault(method: &str, after: u32, times: u32, what: Trouble) -> Fault {
    Fault { at: Point::of(method, "configmaps"), after, times, what }
}

#[test]
fn a_storm_strikes_as_often_as_it_says_and_what_it_names() {
    for status in [409, 429, 500, 503, 504] {
        let storm = Trouble::Refuse { status, retry_after: Some(7) };
        let mut world = World::with([fault("POST", 1, 2, storm)]);
        let secret = json!({"metadata": {"name": "s"}});
        let other = Request::new("POST", "/api/v1/namespaces/default/secrets").json(&secret);
        assert_eq!(world.status(&other), 201);
        assert_eq!(world.names(), ["a", "b"]);
        assert_eq!(world.status(&create("c")), 201);
        let Answer::Response(refused) = world.handle(&create("d")) else { panic!("no response") };
        assert_eq!((refused.status, refused.header("Retry-After")), (status, Some("7")));
        assert_eq!(refused.json().map(|it| it["code"].clone()), Some(json!(status)));
        assert_eq!(world.server.pending_faults(), 1);
        assert_eq!(world.status(&create("d")), status);
        assert_eq!(world.server.pending_faults(), 0);
        assert_eq!(world.status(&create("d")), 201);
        assert_eq!(world.names(), ["a", "b", "c", "d"]);
    }
}

#[test]
fn a_lost_request_changes_nothing_and_a_lost_answer_has_changed_everything() {
    let mut world = World::with([fault("POST", 0, 1, Trouble::LoseRequest)]);
    assert_eq!(world.status(&create("c")), 0);
    assert_eq!(world.names(), ["a", "b"]);
    let mut world = World::with([Fault::intermediate_state("configmaps", 1)]);
    assert_eq!(world.status(&create("c")), 201);
    assert_eq!(world.status(&create("d")), 0);
    assert_eq!(world.names(), ["a", "b", "c", "d"]);
    assert_eq!(world.status(&create("d")), 409);
}

#[test]
fn a_repeated_request_meets_its_own_effect() {
    let mut world = World::with([fault("POST", 0, 1, Trouble::Repeat)]);
    assert_eq!(world.status(&create("c")), 409);
    assert_eq!(world.names(), ["a", "b", "c"]);
}

#[test]
fn a_late_answer_says_how_late_it_is() {
    let delay = Duration::from_secs(9);
    let mut world = World::with([fault("READ", 0, 1, Trouble::Delay(delay))]);
    let request = Request::new("GET", MAPS);
    let mut after = || match world.handle(&request) {
        Answer::Response(response) => Some(response.after),
        _ => None,
    };
    assert_eq!((after(), after()), (Some(delay), Some(Duration::ZERO)));
}

#[test]
fn a_replica_that_lags_shows_the_past_once() {
    let mut world = World::with([Fault::stale_state("configmaps", 1)]);
    world.handle(&create("c"));
    assert_eq!(world.names(), ["a", "b"]);
    assert_eq!(world.names(), ["a", "b", "c"]);
    // Its watch begins in the past, and catches up.
    world.server.inject(Fault::stale_state("configmaps", 2));
    let target = format!("{MAPS}?watch=1&resourceVersion=0");
    let Answer::Watch { id, .. } = world.handle(&Request::new("GET", &target)) else {
        panic!("no watch was opened")
    };
    let names: Vec<Value> = world
        .server
        .events(id)
        .events
        .iter()
        .map(|it| it.object["metadata"]["name"].clone())
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    // A write is never behind.
    world.server.inject(fault("WRITE", 0, 1, Trouble::Stale(3)));
    assert_eq!(world.status(&create("c")), 409);
}

#[test]
fn watches_are_cut_silenced_and_left_behind() {
    let mut world = World::with([fault("POST", 1, 1, Trouble::CutWatches)]);
    let id = world.watch();
    world.handle(&create("c"));
    assert_eq!(world.server.events(id).events.len(), 1);
    world.handle(&create("d"));
    let rest = world.server.events(id);
    assert_eq!((rest.events.len(), rest.has_ended), (0, true));

    let mut world = World::with(Fault::unobserved_state("configmaps", Duration::from_secs(10)));
    let (id, from) = (world.watch(), world.server.revision());
    world.handle(&create("c"));
    assert_eq!(world.server.events(id), Default::default());
    world.handle(&Request::new("DELETE", &format!("{MAPS}/c")));
    world.now += Duration::from_secs(11);
    world.server.advance(world.now);
    assert_eq!(world.server.events(id).events.len(), 2);
    // A client that comes back with the old version has to start over, and never learns of the
    // object.
    let target = format!("{MAPS}?watch=1&resourceVersion={from}");
    let Answer::Watch { id, .. } = world.handle(&Request::new("GET", &target)) else {
        panic!("no watch was opened")
    };
    assert_eq!(world.server.events(id).events[0].object["reason"], "Expired");
    assert_eq!(world.names(), ["a", "b"]);

    let mut world = World::with([fault("GET", 1, 1, Trouble::Restart)]);
    let id = world.watch();
    assert_eq!(world.names(), ["a", "b"]);
    assert!(world.server.events(id).has_ended);
}

#[test]
fn faults_are_data() {
    let fault = fault("PUT", 2, 1, Trouble::Refuse { status: 503, retry_after: None });
    let text = serde_json::to_string(&fault).expect("it can be written");
    assert_eq!(serde_json::from_str::<Fault>(&text).expect("it can be read"), fault);
    let text = r#"{"at":{"resource":"pods"},"times":3,"what":"LoseAnswer"}"#;
    let read: Fault = serde_json::from_str(text).expect("it can be read");
    let at = Point { resource: Some("pods".to_owned()), ..Point::default() };
    assert_eq!(read, Fault { at, after: 0, times: 3, what: Trouble::LoseAnswer });
}

#[test]
fn a_refusal_says_why() {
    let reasons = [
        (403, "Forbidden"),
        (404, "NotFound"),
        (410, "Expired"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    ];
    for (status, reason) in reasons {
        let storm = Trouble::Refuse { status, retry_after: None };
        let mut world = World::with([fault("POST", 0, 1, storm)]);
        assert_eq!(world.refusal(&create("c")), (status, reason.to_owned(), world.names()));
    }
}

#[test]
fn admission_a_quota_and_a_full_storage_refuse_writes_alone() {
    let mut world = World::with([fault("WRITE", 0, 1, Trouble::Deny("too small".to_owned()))]);
    assert_eq!(world.names(), ["a", "b"]);
    let Answer::Response(denied) = world.handle(&create("c")) else { panic!("no response") };
    let message = denied.json().map(|it| it["message"].clone()).unwrap_or_default();
    assert!(message.as_str().is_some_and(|it| it.ends_with("denied the request: too small")));
    assert_eq!(world.status(&create("c")), 201);

    let everything = Fault { at: Point::default(), ..fault("", 0, 9, Trouble::ReadOnly) };
    let mut world = World::with([everything]);
    assert_eq!(world.status(&create("c")), 500);
    assert_eq!(world.status(&Request::new("DELETE", &format!("{MAPS}/a"))), 500);
    assert_eq!(world.names(), ["a", "b"]);

    let mut world = World::with([fault("POST", 0, 9, Trouble::Quota(3))]);
    assert_eq!(world.status(&create("c")), 201);
    assert_eq!(world.refusal(&create("d")).0, 403);
    // Other namespaces have quotas of their own, and deleted objects no longer count.
    let elsewhere = Request::new("POST", "/api/v1/namespaces/kube-system/configmaps");
    assert_eq!(world.status(&elsewhere.json(&json!({"metadata": {"name": "d"}}))), 201);
    assert_eq!(world.status(&Request::new("DELETE", &format!("{MAPS}/a"))), 200);
    assert_eq!(world.status(&create("d")), 201);
    assert_eq!(world.names(), ["b", "c", "d"]);
}

#[test]
fn a_replica_lags_for_a_time() {
    let lag = Trouble::Lag { by: 1, time: Duration::from_secs(10) };
    let mut world = World::with([fault("POST", 0, 1, lag)]);
    world.handle(&create("c"));
    assert_eq!(world.names(), ["a", "b"]);
    assert_eq!(world.names(), ["a", "b"]);
    assert_eq!(world.status(&create("c")), 409);
    world.now += Duration::from_secs(10);
    assert_eq!(world.names(), ["a", "b", "c"]);
}

#[test]
fn a_clock_that_is_ahead_stamps_what_is_written_and_no_watch_is_late() {
    let mut world = World::with([fault("POST", 0, 1, Trouble::Skew(3_600))]);
    world.handle(&create("c"));
    world.handle(&create("d"));
    let time = |world: &mut World, name: &str| match world
        .handle(&Request::new("GET", &format!("{MAPS}/{name}")))
    {
        Answer::Response(response) => {
            response.json().map(|it| it["metadata"]["creationTimestamp"].clone())
        }
        _ => None,
    };
    assert_eq!(time(&mut world, "a"), Some(json!("1970-01-01T00:00:01Z")));
    assert_eq!(time(&mut world, "d"), Some(json!("1970-01-01T01:00:01Z")));
    let target = format!("{MAPS}?watch=1&timeoutSeconds=5");
    let Answer::Watch { id, .. } = world.handle(&Request::new("GET", &target)) else {
        panic!("no watch was opened")
    };
    assert_eq!(world.server.due(id), Some(world.now + Duration::from_secs(5)));
}
