//! A manager: the order in which the parts of an operator begin and end, and what is told of them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::small::{create, maps};
use crate::common::switch::Switch;
use crate::common::{client, serve, soon};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use seatrial_kube::cache::Cache;
use seatrial_kube::controller::{Action, Controller};
use seatrial_kube::election::LeaderElection;
use seatrial_kube::manager::{Manager, ManagerError, Stop};
use seatrial_kube::watcher::Config;
use seatrial_sim::apiserver::{Fault, Point, Trouble};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::sleep;

const SECOND: Duration = Duration::from_secs(1);

/// What happened, in its order.
type Log = Arc<Mutex<Vec<String>>>;

type Run = Pin<Box<dyn Future<Output = Result<(), Infallible>> + Send>>;

/// A part that notes its beginning and its end, which takes a while.
fn noting(
    log: &Log,
    name: &'static str,
    takes: Duration,
) -> impl FnOnce(Stop) -> Run + Send + 'static + use<> {
    let log = Arc::clone(log);
    move |stop: Stop| -> Run {
        log.lock().unwrap().push(format!("{name} begins"));
        Box::pin(async move {
            stop.await;
            sleep(takes).await;
            log.lock().unwrap().push(format!("{name} ends"));
            Ok(())
        })
    }
}

fn taken(log: &Log) -> Vec<String> {
    std::mem::take(&mut log.lock().unwrap())
}

fn election(server: &Switch) -> LeaderElection {
    LeaderElection::new(server.client(), "default", "operator")
}

async fn holder(server: &Switch) -> String {
    let leases = Api::<Lease>::default_namespaced(server.client());
    let lease = leases.get("operator").await.expect("there is one");
    lease.spec.and_then(|it| it.holder_identity).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn parts_begin_in_order_and_end_in_reverse() {
    let server = Switch::new();
    create(&server.client(), "a", &[]).await;
    let cache = Cache::new(maps(&server.client()), Config::default());
    let (log, store) = (Log::default(), cache.store());
    let (stop, stopped) = oneshot::channel::<()>();
    let seen = Arc::clone(&log);
    let manager = Manager::new()
        .election(election(&server))
        .cache(&cache)
        .controller("first", noting(&log, "first", 3 * SECOND))
        .controller("second", noting(&log, "second", SECOND))
        .always("web", noting(&log, "web", SECOND))
        .always("look", move |stop: Stop| {
            seen.lock().unwrap().push(format!("{} in the cache", store.len()));
            async move {
                stop.await;
                Ok::<_, Infallible>(())
            }
        })
        .graceful_shutdown_on(async move { drop(stopped.await) });
    let task = tokio::spawn(manager.run());
    sleep(10 * SECOND).await;
    let begun = ["web begins", "1 in the cache", "first begins", "second begins"];
    assert_eq!(taken(&log), begun);
    assert_ne!(holder(&server).await, "");
    drop(stop);
    sleep(2 * SECOND).await;
    assert_eq!(taken(&log), ["second ends"]);
    assert_ne!(holder(&server).await, "", "it leads while its parts end");
    task.await.expect("no panic").expect("it was asked to end");
    assert_eq!(taken(&log), ["first ends", "web ends"]);
    assert_eq!(holder(&server).await, "", "the next one leads at once");
}

#[tokio::test(start_paused = true)]
async fn only_one_of_two_replicas_runs_the_controllers_and_the_other_takes_over() {
    let server = Switch::new();
    let log = Log::default();
    let mut replicas = Vec::new();
    for name in ["one", "two"] {
        let (stop, stopped) = oneshot::channel::<()>();
        let manager = Manager::new()
            .election(election(&server))
            .controller("it", noting(&log, name, SECOND))
            .graceful_shutdown_on(async move { drop(stopped.await) });
        replicas.push((stop, tokio::spawn(manager.run())));
        sleep(10 * SECOND).await;
    }
    assert_eq!(taken(&log), ["one begins"]);
    let (stop, first) = replicas.remove(0);
    drop(stop);
    first.await.expect("no panic").expect("it was asked to end");
    sleep(10 * SECOND).await;
    assert_eq!(taken(&log), ["one ends", "two begins"]);
    // A replica that does not lead ends at once; one that loses its Lease fails.
    let (_stop, second) = replicas.remove(0);
    let at = Point { resource: Some("leases".to_owned()), ..Point::default() };
    let what = Trouble::LoseRequest;
    server.with(|server| server.inject(Fault { at, after: 0, times: 1_000, what }));
    let ended = second.await.expect("no panic");
    assert!(matches!(ended, Err(ManagerError::LostLeadership)), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn a_part_that_fails_or_panics_ends_the_others_in_order() {
    for panics in [false, true] {
        let (server, log) = (Switch::new(), Log::default());
        let fails = move |_: Stop| async move {
            sleep(SECOND).await;
            if panics { panic!("broken") } else { Err("broken") }
        };
        let manager = Manager::new()
            .election(election(&server))
            .controller("good", noting(&log, "good", SECOND))
            .controller("bad", fails)
            .always("web", noting(&log, "web", SECOND));
        match manager.run().await {
            Err(ManagerError::Part { name, cause }) => {
                assert_eq!((name.as_str(), cause.to_string().ends_with("broken")), ("bad", true));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(taken(&log), ["web begins", "good begins", "good ends", "web ends"]);
        assert_eq!(holder(&server).await, "");
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_of_every_replica_that_fails_ends_the_controllers_first() {
    let (server, log) = (Switch::new(), Log::default());
    let fails = |_: Stop| async {
        sleep(SECOND).await;
        Err("broken")
    };
    let manager = Manager::new()
        .election(election(&server))
        .controller("it", noting(&log, "it", 3 * SECOND))
        .always("web", noting(&log, "web", SECOND))
        .always("bad", fails);
    match manager.run().await {
        Err(ManagerError::Part { name, .. }) => assert_eq!(name, "bad"),
        other => panic!("{other:?}"),
    }
    assert_eq!(taken(&log), ["web begins", "it begins", "it ends", "web ends"]);
    assert_eq!(holder(&server).await, "");
}

#[tokio::test(start_paused = true)]
async fn a_part_that_panics_before_it_begins_ends_the_others() {
    let begins =
        |_: Stop| -> std::future::Ready<Result<(), Infallible>> { panic!("it is not configured") };
    let log = Log::default();
    let manager =
        Manager::new().controller("bad", begins).always("web", noting(&log, "web", SECOND));
    match manager.run().await {
        Err(ManagerError::Part { name, .. }) => assert_eq!(name, "bad"),
        other => panic!("{other:?}"),
    }
    assert_eq!(taken(&log), ["web begins", "web ends"]);
}

#[tokio::test(start_paused = true)]
async fn a_part_that_does_not_end_is_aborted_and_named() {
    let (stop, stopped) = oneshot::channel::<()>();
    let manager = Manager::new()
        .controller("stubborn", |_: Stop| std::future::pending::<Result<(), Infallible>>())
        .controller("good", noting(&Log::default(), "good", SECOND))
        .grace(5 * SECOND)
        .graceful_shutdown_on(async move { drop(stopped.await) });
    drop(stop);
    let began = tokio::time::Instant::now();
    match manager.run().await {
        Err(ManagerError::StillRan { parts }) => assert_eq!(parts, "stubborn"),
        other => panic!("{other:?}"),
    }
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_cannot_be_listed_ends_it_before_anything_begins() {
    let server = Switch::new();
    let at = Point::of("GET", "configmaps");
    let what = Trouble::Refuse { status: 403, retry_after: None };
    server.with(|server| server.inject(Fault { at, after: 0, times: 10_000, what }));
    let log = Log::default();
    let manager = Manager::new()
        .cache(&Cache::new(maps(&server.client()), Config::default()))
        .controller("it", noting(&log, "it", SECOND))
        .sync_timeout(10 * SECOND);
    match manager.run().await {
        Err(ManagerError::NotSynced(error)) => assert_eq!(error.kind, "ConfigMap"),
        other => panic!("{other:?}"),
    }
    assert_eq!(taken(&log), Vec::<String>::new());
}

/// Asks the address for a page.
async fn page(address: std::net::SocketAddr, path: &str) -> String {
    answer(ask(address, path).await).await
}

async fn ask(address: std::net::SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    stream
}

async fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer
}

#[tokio::test]
async fn probes_that_come_at_once_are_all_answered() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("an address");
    let mut probes = Vec::new();
    for _ in 0..40 {
        probes.push(ask(address, "/healthz").await);
    }
    let parts = noting(&Log::default(), "web", Duration::ZERO);
    let manager = tokio::spawn(Manager::new().serve(listener).always("web", parts).run());
    for probe in probes {
        assert!(answer(probe).await.starts_with("HTTP/1.1 200"));
    }
    manager.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn probes_and_metrics_are_told_over_http() {
    let face = serve();
    let client = client(face.address());
    create(&client, "a", &[]).await;
    let cache = Cache::new(maps(&client), Config::default());
    let log = Log::default();
    let (controller, notes) = (Controller::of(&cache), Arc::clone(&log));
    let reconcile = move |map: Arc<ConfigMap>, _| {
        notes.lock().unwrap().push(map.metadata.name.clone().unwrap_or_default());
        async { Ok::<_, kube::Error>(Action::Done) }
    };
    let is_well = Arc::new(Mutex::new(Ok(())));
    let check = Arc::clone(&is_well);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    let manager = Manager::new()
        .serve(listener)
        .metrics(|| "depth 7\n".to_owned())
        .check("disk", move || *check.lock().unwrap())
        .election(LeaderElection::new(client.clone(), "default", "operator"))
        .cache(&cache)
        .controller("it", move |stop| {
            controller.graceful_shutdown_on(stop).run(
                reconcile,
                |_, _, _| Action::Requeue,
                Arc::new(()),
            )
        })
        .graceful_shutdown_on(async move { drop(stopped.await) });
    let task = tokio::spawn(manager.run());
    soon("it is ready", async || page(address, "/readyz").await.starts_with("HTTP/1.1 200")).await;
    soon("it reconciles", async || *log.lock().unwrap() == ["a"]).await;
    let well = page(address, "/healthz").await;
    assert!(well.contains("[+]disk ok\n[+]leader election ok\nok\n"), "{well}");
    assert!(page(address, "/metrics").await.ends_with("\r\ndepth 7\n"));
    assert!(page(address, "/secrets").await.starts_with("HTTP/1.1 404"));
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(TcpStream::connect(address).await.expect("it listens"));
    }
    let probe = tokio::time::timeout(30 * SECOND, page(address, "/healthz")).await;
    assert!(probe.expect("others are silent for a minute").starts_with("HTTP/1.1 200"));
    *is_well.lock().unwrap() = Err("it is full");
    let ill = page(address, "/livez").await;
    assert!(ill.starts_with("HTTP/1.1 500") && ill.contains("[-]disk: it is full\n"), "{ill}");
    drop(stop);
    task.await.expect("no panic").expect("it was asked to end");
    assert!(TcpStream::connect(address).await.is_err(), "the address is silent");
}
