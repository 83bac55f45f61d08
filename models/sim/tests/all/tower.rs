//! The server as a tower service, under an unchanged client of kube-rs.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Event as CoreEvent};
use kube::api::{
    Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, WatchEvent,
    WatchParams,
};
use kube::runtime::events::{Event, EventType, Recorder};
use kube::{Client, Error, Resource as _, ResourceExt as _};
use seatrial_sim::apiserver::{Answer, Fault, Options, Point, Request, Server, Trouble, WatchId};
use seatrial_sim::tower::{Backend, Face, Told};
use tokio::time::{Instant, sleep, timeout};

/// Runs a test on one thread, on a clock that jumps.
fn on_paused_time<F: Future<Output = ()>>(test: impl FnOnce(Face, Api<ConfigMap>) -> F) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("it starts");
    runtime.block_on(async {
        let face = Face::new(Server::new(&Options::default()));
        let client = Client::new(face.service(), "default");
        test(face, Api::default_namespaced(client)).await;
    });
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        data: Some(BTreeMap::from([("key".to_owned(), value.to_owned())])),
        ..ConfigMap::default()
    }
}

fn value(map: &ConfigMap) -> &str {
    map.data.as_ref().map_or("", |data| data["key"].as_str())
}

#[test]
fn a_client_creates_reads_lists_changes_and_deletes() {
    on_paused_time(|_, maps| async move {
        let made = maps.create(&PostParams::default(), &config_map("a", "1")).await.expect("new");
        assert!(made.uid().is_some(), "the server gives it a uid");
        assert_eq!(value(&maps.get("a").await.expect("it is there")), "1");
        let mut changed = made.clone();
        changed.data = config_map("a", "2").data;
        let changed = maps.replace("a", &PostParams::default(), &changed).await.expect("changed");
        assert_ne!(changed.resource_version(), made.resource_version());
        let patch = serde_json::json!({"data": {"key": "3"}});
        let patch = maps.patch("a", &PatchParams::default(), &Patch::Merge(patch)).await;
        assert_eq!(value(&patch.expect("patched")), "3");
        let applied = Patch::Apply(ConfigMap {
            data: Some(BTreeMap::from([("key".to_owned(), "4".to_owned())])),
            ..config_map("a", "")
        });
        let ours = PatchParams::apply("ours").force();
        assert_eq!(value(&maps.patch("a", &ours, &applied).await.expect("applied")), "4");
        let list = maps.list(&ListParams::default()).await.expect("a list");
        assert_eq!(list.items.iter().map(value).collect::<Vec<_>>(), ["4"]);
        let stale = maps.replace("a", &PostParams::default(), &made).await;
        assert!(matches!(stale, Err(Error::Api(status)) if status.code == 409));
        maps.delete("a", &DeleteParams::default()).await.expect("deleted");
        assert!(maps.get_opt("a").await.expect("an answer").is_none());
    });
}

#[test]
fn a_watch_tells_what_is_written_and_ends_when_its_time_is_over() {
    on_paused_time(|_, maps| async move {
        let params = WatchParams { timeout: Some(120), ..WatchParams::default() };
        let began = Instant::now();
        let mut events = maps.watch(&params, "0").await.expect("it opens").boxed();
        let writer = {
            let maps = maps.clone();
            tokio::spawn(async move {
                sleep(Duration::from_secs(1)).await;
                maps.create(&PostParams::default(), &config_map("a", "1")).await.expect("new");
                sleep(Duration::from_secs(1)).await;
                maps.delete("a", &DeleteParams::default()).await.expect("deleted");
            })
        };
        let mark = events.try_next().await.expect("no error").expect("an event");
        assert!(matches!(mark, WatchEvent::Bookmark(_)), "there is nothing yet");
        let first = events.try_next().await.expect("no error").expect("an event");
        assert!(matches!(first, WatchEvent::Added(map) if map.name_any() == "a"));
        assert_eq!(began.elapsed(), Duration::from_secs(1));
        let second = events.try_next().await.expect("no error").expect("an event");
        assert!(matches!(second, WatchEvent::Deleted(map) if map.name_any() == "a"));
        writer.await.expect("it wrote");
        let mut bookmarks = 0;
        while let Some(event) = events.try_next().await.expect("no error") {
            assert!(matches!(event, WatchEvent::Bookmark(_)));
            bookmarks += 1;
        }
        assert_eq!((bookmarks, began.elapsed()), (2, Duration::from_secs(120)));
    });
}

#[test]
fn a_write_lands_though_its_client_has_stopped_waiting() {
    on_paused_time(|face, maps| async move {
        let slow = Trouble::Delay(Duration::from_secs(60));
        face.with(|server| {
            let at = Point::of("WRITE", "configmaps");
            server.inject(Fault { at, after: 0, times: 1, what: slow });
        });
        let (params, map) = (PostParams::default(), config_map("a", "1"));
        let write = timeout(Duration::from_secs(1), maps.create(&params, &map));
        assert!(write.await.is_err(), "the answer takes a minute");
        assert_eq!(value(&maps.get("a").await.expect("it is there")), "1");
    });
}

#[test]
fn a_broken_connection_is_an_error_and_a_cut_watch_is_an_end() {
    on_paused_time(|face, maps| async move {
        let mut events = maps.watch(&WatchParams::default(), "0").await.expect("open").boxed();
        let lose = |what| Fault { at: Point::of("GET", "configmaps"), after: 0, times: 1, what };
        face.with(|server| server.inject(lose(Trouble::LoseRequest)));
        assert!(matches!(maps.get("a").await, Err(Error::Service(_))));
        face.with(|server| server.inject(lose(Trouble::CutWatches)));
        assert!(maps.get_opt("a").await.expect("an answer").is_none());
        assert!(events.try_next().await.expect("no error").is_none());
    });
}

#[test]
fn a_body_that_is_dropped_closes_its_watch() {
    on_paused_time(|face, maps| async move {
        let events = maps.watch(&WatchParams::default(), "0").await.expect("it opens").boxed();
        assert_eq!(face.with(|server| server.open_watches()), 1);
        drop(events);
        assert_eq!(face.with(|server| server.open_watches()), 0);
    });
}

/// A server whose last write comes immediately after a watch was told that there is nothing.
struct Late {
    server: Server,
    travelling: Option<Request>,
    face: Arc<OnceLock<Face<Late>>>,
    is_written: bool,
}

impl Backend for Late {
    fn depart(&mut self, _: Duration, request: Request) -> Option<(Duration, u64)> {
        self.travelling = Some(request);
        Some((Duration::ZERO, 1))
    }

    fn arrive(&mut self, now: Duration, _: u64) -> Option<Answer> {
        Some(self.server.handle(now, &self.travelling.take()?))
    }

    fn tell(&mut self, _: Duration, _: WatchId) -> Told {
        if !std::mem::replace(&mut self.is_written, true) {
            self.face.get().expect("it is set").wake();
            return Told::default();
        }
        Told { has_ended: true, ..Told::default() }
    }

    fn close(&mut self, _: WatchId) {}
}

#[test]
fn what_is_written_while_a_watch_asks_is_told() {
    on_paused_time(|_, _| async move {
        let shared = Arc::new(OnceLock::new());
        let late = Late {
            server: Server::new(&Options::default()),
            travelling: None,
            face: Arc::clone(&shared),
            is_written: false,
        };
        let face = Face::over(Arc::new(Mutex::new(late)), Duration::ZERO);
        let maps: Api<ConfigMap> = Api::default_namespaced(Client::new(face.service(), "default"));
        assert!(shared.set(face).is_ok());
        let mut events = maps.watch(&WatchParams::default(), "0").await.expect("open").boxed();
        let began = Instant::now();
        let end = timeout(Duration::from_secs(10), events.try_next()).await;
        assert!(end.expect("it ends").expect("no error").is_none());
        // A time-out would ask once more before it gives up.
        assert_eq!(began.elapsed(), Duration::ZERO, "nobody has woken it");
    });
}

#[test]
fn the_recorder_of_kube_makes_one_event_and_counts_in_it() {
    on_paused_time(|face, maps| async move {
        let map = maps.create(&PostParams::default(), &config_map("a", "1")).await.expect("new");
        let client = Client::new(face.service(), "default");
        let recorder = Recorder::new(client.clone(), "reporter".into());
        let note = || Event {
            type_: EventType::Normal,
            reason: "Seen".to_owned(),
            note: Some("it was seen".to_owned()),
            action: "Looking".to_owned(),
            secondary: None,
        };
        for _ in 0..3 {
            recorder.publish(&note(), &map.object_ref(&())).await.expect("the server takes it");
        }
        let events: Api<CoreEvent> = Api::default_namespaced(client);
        let list = events.list(&ListParams::default().fields("involvedObject.name=a")).await;
        let [event] = &list.expect("a list").items[..] else { panic!("one event") };
        assert_eq!(event.message.as_deref(), Some("it was seen"));
        assert_eq!(event.reporting_component.as_deref(), Some("reporter"));
        assert_eq!(event.series.as_ref().and_then(|it| it.count), Some(3));
    });
}
