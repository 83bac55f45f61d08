//! Lists and watches, as an informer asks for them.

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::informer::{
    Event, ListOptions, ListWatch, Match, OpenWatch, Page, SourceError, SourceKind, WatchOptions,
};
use seatrial_core::request::http::HttpTransport;
use seatrial_core::request::{Collection, Verb};
use seatrial_core::runtime::{Runtime, System};
use seatrial_sim::apiserver::{Request, Trouble};
use serde_json::{Value, json};

use crate::bed::{Cluster, Http, tls};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

type Maps = Collection<System, HttpTransport>;

fn maps(client: &Arc<Http>) -> Maps {
    let request = client.request(Verb::Get, "/api/v1").namespace("default").resource("configmaps");
    Collection::new(client, request.param("labelSelector", "app=web").max_retries(0))
}

fn create(cluster: &Cluster, names: &[&str]) {
    for name in names {
        let metadata = json!({ "name": name, "labels": { "app": "web" } });
        cluster.post(MAPS, &json!({ "metadata": metadata }));
    }
}

fn list(maps: &Maps, options: ListOptions) -> Result<Page<Arc<Value>>, SourceError> {
    System::new().block_on(maps.list(options))
}

fn watch(
    maps: &Maps,
    options: WatchOptions,
) -> Result<Box<dyn OpenWatch<Arc<Value>>>, SourceError> {
    System::new().block_on(maps.watch(options))
}

fn at(version: impl ToString) -> ListOptions {
    let mut options = ListOptions::default();
    options.resource_version = version.to_string();
    options
}

fn from(version: impl ToString) -> WatchOptions {
    let mut options = WatchOptions::default();
    options.resource_version = version.to_string();
    options.timeout = Duration::from_secs(10);
    options.allow_bookmarks = true;
    options
}

fn next(stream: &mut Box<dyn OpenWatch<Arc<Value>>>) -> String {
    let event = System::new().block_on(stream.next());
    let name = |object: &Value| object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    match event {
        Some(Event::Added(object)) => format!("+{}", name(&object)),
        Some(Event::Modified(object)) => format!("~{}", name(&object)),
        Some(Event::Deleted(object)) => format!("-{}", name(&object)),
        Some(Event::Bookmark { ends_initial: true, .. }) => "all".to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_list_comes_in_pages() {
    let cluster = Cluster::start();
    create(&cluster, &["a", "b", "c", "d", "e"]);
    cluster.post(MAPS, &json!({ "metadata": { "name": "other" } }));
    let maps = maps(&Arc::new(cluster.client()));
    let (mut names, mut options, mut pages) = (Vec::new(), ListOptions::default(), 0);
    options.limit = 2;
    loop {
        let page = list(&maps, options.clone()).unwrap();
        assert_eq!(page.resource_version, cluster.revision().to_string());
        names.extend(
            page.items.iter().map(|it| it["metadata"]["name"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        if page.continue_token.is_empty() {
            break;
        }
        options.continue_token = page.continue_token;
    }
    assert_eq!((names.join(""), pages), ("abcde".to_owned(), 3), "the selector is in every page");
}

#[test]
fn a_watch_tells_changes_and_begins_with_what_is_there_if_it_is_asked_to() {
    let cluster = Cluster::start();
    create(&cluster, &["a"]);
    let maps = maps(&Arc::new(cluster.client()));
    let mut changes = watch(&maps, from(cluster.revision())).unwrap();
    let mut options = from("");
    options.resource_version_match = Some(Match::NotOlderThan);
    options.send_initial_events = true;
    let mut all = watch(&maps, options).unwrap();
    assert_eq!([next(&mut all), next(&mut all)], ["+a", "all"]);
    create(&cluster, &["b"]);
    let metadata = json!({ "labels": { "app": "web" }, "name": "b" });
    let body = json!({ "metadata": metadata, "data": { "key": "value" } });
    cluster.ask(&Request::new("PUT", &format!("{MAPS}/b")).json(&body));
    cluster.ask(&Request::new("DELETE", &format!("{MAPS}/a")));
    for stream in [&mut changes, &mut all] {
        assert_eq!([next(stream), next(stream), next(stream)], ["+b", "~b", "-a"]);
    }
}

#[test]
fn a_watch_ends_when_its_time_is_over() {
    let cluster = Cluster::start();
    let maps = maps(&Arc::new(cluster.client()));
    let mut options = from(cluster.revision());
    options.timeout = Duration::from_secs(1);
    options.allow_bookmarks = false;
    let mut stream = watch(&maps, options).unwrap();
    assert_eq!(next(&mut stream), "None");
}

#[test]
fn what_is_too_old_or_too_new_is_told_as_such() {
    let cluster = Cluster::start();
    create(&cluster, &["a", "b", "c"]);
    let maps = maps(&Arc::new(cluster.client()));
    let old = cluster.revision() - 2;
    let mut options = ListOptions::default();
    options.limit = 1;
    options.continue_token = list(&maps, options.clone()).unwrap().continue_token;
    create(&cluster, &["d"]);
    cluster.strike("GET", "configmaps", Trouble::Compact);
    let kind = |result: Result<Page<_>, SourceError>| result.map(drop).unwrap_err().kind();
    assert_eq!(kind(list(&maps, options)), SourceKind::Expired);
    let mut exact = at(old);
    exact.resource_version_match = Some(Match::Exact);
    assert_eq!(kind(list(&maps, exact)), SourceKind::Expired);
    let told = match watch(&maps, from(old)) {
        Err(error) => error.kind(),
        Ok(mut stream) => match System::new().block_on(stream.next()) {
            Some(Event::Error(error)) => error.kind(),
            other => panic!("{other:?}"),
        },
    };
    assert_eq!(told, SourceKind::Expired);
    let future = list(&maps, at(cluster.revision() + 1000)).unwrap_err();
    assert_eq!(
        (future.kind(), future.retry_after()),
        (SourceKind::TooLarge, Some(Duration::from_secs(1)))
    );
}

#[test]
fn refusals_keep_their_meaning_and_their_delay() {
    let cluster = Cluster::start();
    let maps = maps(&Arc::new(cluster.client()));
    let cases = [
        (429, Some(3), SourceKind::TooManyRequests),
        (500, None, SourceKind::Internal),
        (409, None, SourceKind::Other),
    ];
    for (status, retry_after, kind) in cases {
        cluster.strike("GET", "configmaps", Trouble::Refuse { status, retry_after });
        let error = list(&maps, at("0")).unwrap_err();
        let delay = retry_after.map(|seconds| Duration::from_secs(seconds.into()));
        assert_eq!((error.kind(), error.retry_after()), (kind, delay), "{error}");
        cluster.strike("GET", "configmaps", Trouble::Refuse { status, retry_after });
        let error = watch(&maps, from("0")).map(drop).unwrap_err();
        assert_eq!((error.kind(), error.retry_after()), (kind, delay), "{error}");
    }
    cluster.strike("GET", "configmaps", Trouble::LoseRequest);
    assert_eq!(list(&maps, at("0")).unwrap_err().kind(), SourceKind::Eof);
    let tokio = crate::bed::tokio();
    let nobody = cluster.address.at_port(1).client(&tokio);
    let error = list(&self::maps(&Arc::new(nobody)), at("0")).unwrap_err();
    assert_eq!(error.kind(), SourceKind::Refused, "{error}");
}

#[test]
fn a_stream_that_is_dropped_ends_its_watch() {
    // Over HTTP/2 the connection goes on.
    let cluster = Cluster::over(tls().without_http2());
    let maps = maps(&Arc::new(cluster.client()));
    let stream = watch(&maps, from(cluster.revision())).unwrap();
    assert_eq!(cluster.connections(), 1);
    drop(stream);
    assert!(cluster.wait_for_silence(), "the connection is still there");
}
