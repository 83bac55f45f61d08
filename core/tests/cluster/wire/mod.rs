//! Hundreds of watches and dozens of callers over HTTP/2, beside readers that are slow, connections that the
//! server ends, and strangers who stall or send nonsense. No call fails, and no watch is lost.
//!
//! Then the same over a [network] that resets connections, lets them stall and closes them by half. No call
//! hangs, for each ends with an answer or an error of the client, and no watch is lost.
//!
//! `SEATRIAL_WIRE_SECONDS` makes it long and large: 500 watches and 50 callers for that time. Then it also
//! looks at the memory. `SEATRIAL_WIRE_BESIDE` names a program that does the same with another client.

mod network;

use std::env;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::{Event, ListOptions, ListWatch as _, SourceKind, WatchOptions};
use seatrial_core::request::http::HttpConfig;
use seatrial_core::request::{Collection, Limits, Verb};
use seatrial_core::runtime::{Ambient as _, System};
use seatrial_sim::apiserver::Request;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::bed::{self, Cluster, Http};
use network::Network;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// How long a call may take; a watch that is silent is begun anew after as long.
const LIMIT: Duration = Duration::from_secs(60);

/// Guards against what never ends. No busy machine makes a call or a watch last as long: the client ends each by
/// itself, with an error at the latest.
const HUNG: Duration = Duration::from_secs(600);

/// When a connection that stalls is to be found out.
const DEAD: Duration = Duration::from_secs(10);

struct Load {
    /// The network breaks connections now and then.
    breaks: bool,
    watches: usize,
    /// The server ends a connection after this number of requests.
    goodbye: u64,
    callers: usize,
    /// How long it lasts; else each caller makes a few calls.
    time: Option<Duration>,
}

/// What all tasks share.
struct Shared {
    client: Arc<Http>,
    /// Calls may fail, since connections are broken.
    may_fail: bool,
    is_over: AtomicBool,
    calls: AtomicU64,
    failed: AtomicU64,
    /// Of a call with a limit of its own, and of the lists and the begins of watches, which have none but that on
    /// silence, for each try.
    longest: [AtomicU64; 2],
    watches: AtomicU64,
    /// A permit for each watch that has begun.
    begun: Semaphore,
}

impl Shared {
    /// Makes a call, which must end, by an answer or by the client's own error; well, unless connections are broken.
    /// Notes how long it took.
    async fn called<T, E: std::fmt::Debug>(
        &self,
        longest: &AtomicU64,
        call: impl Future<Output = Result<T, E>>,
    ) -> Option<T> {
        let began = Instant::now();
        let answer = timeout(HUNG, call).await.expect("the client ends each call");
        self.calls.fetch_add(1, Ordering::Relaxed);
        longest.fetch_max(began.elapsed().as_millis() as u64, Ordering::Relaxed);
        if let Err(why) = &answer {
            assert!(self.may_fail, "a call fails: {why:?}");
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        answer.ok()
    }

    async fn get(&self, name: &str) {
        let request = self.client.request(Verb::Get, "/api/v1").namespace("default");
        let request = request.resource("configmaps").name(name);
        let system = System::new();
        let token = CancelToken::with_deadline(&system, system.now() + LIMIT);
        self.called(&self.longest[0], self.client.send(&request, &token)).await;
    }

    /// Watches until the last object has come; a watch that ends goes on where it was.
    async fn watch(&self, is_slow: bool) {
        let request = self.client.request(Verb::Get, "/api/v1").namespace("default");
        let maps = Collection::new(&self.client, request.resource("configmaps"));
        let (mut version, mut is_first) = (None, true);
        loop {
            let at = match version.take() {
                Some(at) => at,
                None => {
                    let Some(page) =
                        self.called(&self.longest[1], maps.list(ListOptions::default())).await
                    else {
                        continue;
                    };
                    let items: Vec<Arc<Value>> = page.items;
                    if items.iter().any(|it| is_last(it)) {
                        return;
                    }
                    page.resource_version
                }
            };
            let mut options = WatchOptions::default();
            options.resource_version.clone_from(&at);
            options.allow_bookmarks = true;
            version = Some(at);
            let Some(mut stream) = self.called(&self.longest[1], maps.watch(options)).await else {
                continue;
            };
            self.watches.fetch_add(1, Ordering::Relaxed);
            self.begun.add_permits(usize::from(std::mem::take(&mut is_first)));
            while let Some(event) = timeout(HUNG, stream.next()).await.expect("a watch is lost") {
                match event {
                    Event::Added(it) | Event::Modified(it) if is_last(&it) => return,
                    Event::Added(it) | Event::Modified(it) | Event::Deleted(it) => {
                        version = it["metadata"]["resourceVersion"].as_str().map(str::to_owned);
                    }
                    Event::Bookmark { resource_version, .. } => version = Some(resource_version),
                    // Broken: it goes on where it was. Too old: it lists again.
                    Event::Error(why) if why.kind() == SourceKind::Expired => version = None,
                    _ => {}
                }
                if is_slow {
                    sleep(Duration::from_millis(20)).await;
                }
            }
        }
    }

    /// A stranger: it connects, says something that is no request, and stalls or leaves.
    async fn disturb(&self, port: u16, nth: usize) {
        const TLS: &[u8] = &[22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3];
        while !self.is_over.load(Ordering::Relaxed) {
            if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)).await {
                let says: &[u8] =
                    [TLS, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\0\0\0", b""][nth % 4];
                let _gone = stream.write_all(says).await;
                if nth.is_multiple_of(3) {
                    let _gone = stream.shutdown().await; // half of it is closed
                }
                sleep(Duration::from_millis(200)).await;
            }
        }
    }
}

impl Shared {
    /// Waits until each watch has begun once.
    async fn until_watched(&self, watches: usize) {
        let all = self.begun.acquire_many(watches as u32);
        drop(timeout(HUNG, all).await.expect("a watch does not begin"));
    }

    fn tell(&self, load: &Load, network: Option<&Network>) {
        let told = |it: &AtomicU64| it.load(Ordering::Relaxed);
        let [calls, failed, began] = [&self.calls, &self.failed, &self.watches].map(told);
        let [longest, begin] = [&self.longest[0], &self.longest[1]].map(told);
        let broken = network.map_or(0, |it| told(&it.broken));
        println!(
            "{} watches, begun {began} times; {calls} calls, of which {failed} failed, the longest {longest} ms; \
             the longest list or begin of a watch {begin} ms; {broken} connections were broken",
            load.watches
        );
    }

    /// Calls again and again, as each of the callers does.
    async fn call(&self, nth: usize, ends: Option<Instant>) {
        let (name, mut made) = (format!("map-{nth}"), 0);
        while ends.map_or(made < 20, |ends| Instant::now() < ends) {
            self.get(&name).await;
            made += 1;
        }
    }
}

fn is_last(object: &Value) -> bool {
    object["metadata"]["name"] == "last"
}

/// The memory of this process in bytes, where the system tells it.
fn memory() -> u64 {
    let told = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    told.split(' ').nth(1).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn write(cluster: &Cluster, name: &str, beat: u64) {
    let target = format!("{MAPS}/{name}?fieldManager=wire&force=true");
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": name }, "data": { "beat": beat.to_string() },
    });
    let request = Request::new("PATCH", &target);
    cluster.ask(&request.content("application/apply-patch+yaml", object.to_string()));
}

/// Writes ten times a second while something goes on; returns the memory halfway, if it took long.
fn beat(cluster: &Cluster, load: &Load, mut goes_on: impl FnMut() -> bool) -> Option<u64> {
    let (began, mut beat, mut halfway) = (Instant::now(), 0, None);
    while goes_on() {
        beat += 1;
        write(cluster, "beat", beat);
        std::thread::sleep(Duration::from_millis(100)); // the pace of the writes; nothing is judged by it
        if halfway.is_none() && load.time.is_some_and(|time| began.elapsed() > time / 2) {
            halfway = Some(memory());
        }
    }
    halfway
}

fn tried(load: &Load) {
    let cluster = Cluster::over(bed::tls().goaway_after(load.goodbye));
    let tokio = bed::tokio();
    let time = load.time.map_or(Duration::from_millis(200), |time| time / 20);
    let network = load.breaks.then(|| Network::to(cluster.address.port(), time, &tokio));
    let address = match &network {
        Some(network) => cluster.address.at_port(network.port),
        None => cluster.address.clone(),
    };
    let mut limits = Limits::default();
    limits.idle = if load.breaks { LIMIT } else { Duration::from_secs(30) };
    // A server that is busy answers late, which must not look like a network that is broken.
    let settings = |config: HttpConfig| if load.breaks { config.dead_after(DEAD) } else { config };
    let client = address.client_with(&tokio, settings);
    let shared = Arc::new(Shared {
        client: Arc::new(client.with_limits(limits)),
        may_fail: load.breaks,
        is_over: AtomicBool::new(false),
        calls: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        longest: [AtomicU64::new(0), AtomicU64::new(0)],
        watches: AtomicU64::new(0),
        begun: Semaphore::new(0),
    });
    for nth in 0..load.callers {
        write(&cluster, &format!("map-{nth}"), 0);
    }
    let spawn_watch = |nth: usize| {
        let shared = Arc::clone(&shared);
        tokio.spawn(async move { shared.watch(nth.is_multiple_of(10)).await })
    };
    let watches: Vec<_> = (0..load.watches).map(spawn_watch).collect();
    for nth in 0..12 {
        let (shared, port) = (Arc::clone(&shared), cluster.address.port());
        tokio.spawn(async move { shared.disturb(port, nth).await });
    }
    tokio.block_on(shared.until_watched(load.watches));
    let ends = load.time.map(|time| Instant::now() + time);
    let spawn_caller = |nth| {
        let shared = Arc::clone(&shared);
        tokio.spawn(async move { shared.call(nth, ends).await })
    };
    let callers: Vec<_> = (0..load.callers).map(spawn_caller).collect();
    let halfway = beat(&cluster, load, || callers.iter().any(|it| !it.is_finished()));
    let at_the_end = memory();
    for caller in callers {
        tokio.block_on(caller).expect("no caller fails");
    }
    if let Some(network) = &network {
        tokio.block_on(async {
            timeout(HUNG, network.until_broken()).await.expect("it breaks some");
        });
    }
    write(&cluster, "last", 0);
    for watch in watches {
        tokio.block_on(watch).expect("no watch is lost");
    }
    shared.is_over.store(true, Ordering::Relaxed);
    shared.tell(load, network.as_ref());
    if let Some(halfway) = halfway {
        println!("memory: {halfway} bytes halfway, {at_the_end} at the end");
        let most = halfway + halfway / 4 + (64 << 20);
        assert!(at_the_end <= most, "the memory grows");
    }
}

/// The same with another client, which is a program of its own and tells its own figures.
fn beside(program: &str, load: &Load) {
    let cluster = Cluster::over(bed::tls().goaway_after(load.goodbye));
    let (tokio, seconds) = (bed::tokio(), load.time.unwrap_or_default().as_secs());
    let network = Network::to(cluster.address.port(), Duration::from_secs(seconds) / 20, &tokio);
    for nth in 0..load.callers {
        write(&cluster, &format!("map-{nth}"), 0);
    }
    let address = cluster.address.at_port(network.port);
    let mut child = Command::new(program)
        .args([load.watches, load.callers, seconds as usize].map(|it| it.to_string()))
        .envs(address.environment())
        .spawn()
        .expect("the program begins");
    beat(&cluster, load, || child.try_wait().expect("it can be asked").is_none());
    let broken = network.broken.load(Ordering::Relaxed);
    println!("beside: {broken} connections were broken");
    assert!(child.wait().expect("it has ended").success(), "the other client has failed");
}

fn load(breaks: bool) -> Load {
    let seconds = env::var("SEATRIAL_WIRE_SECONDS").map(|it| it.parse().expect("a number"));
    match seconds {
        Ok(seconds) => Load {
            breaks,
            watches: 500,
            goodbye: 300,
            callers: 50,
            time: Some(Duration::from_secs(seconds)),
        },
        Err(_) => Load { breaks, watches: 150, goodbye: 40, callers: 10, time: None },
    }
}

#[test]
fn no_call_fails_and_no_watch_is_lost() {
    tried(&load(false));
}

#[test]
fn each_call_ends_by_an_answer_or_an_error_while_connections_break_and_no_watch_is_lost() {
    tried(&load(true));
}

#[test]
fn another_client_does_the_same_if_there_is_one() {
    let Ok(program) = env::var("SEATRIAL_WIRE_BESIDE") else { return };
    beside(&program, &load(true));
}
