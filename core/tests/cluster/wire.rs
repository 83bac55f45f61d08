//! Hundreds of watches and dozens of callers over HTTP/2, beside readers that are slow, connections that the
//! server ends, and strangers who stall or send nonsense. No call fails, and no watch is lost.
//!
//! `SEATRIAL_WIRE_SECONDS` makes it long and large: 500 watches and 50 callers for that time. Then it also
//! looks at the memory.

use std::env;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use seatrial_core::cancel::CancelToken;
use seatrial_core::informer::{Event, ListOptions, ListWatch as _, WatchOptions};
use seatrial_core::request::{Collection, Limits, Verb};
use seatrial_core::runtime::System;
use seatrial_sim::apiserver::Request;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::bed::{self, Cluster, Http};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A call that is given up by then has hung: its own limit is far shorter.
const HUNG: Duration = Duration::from_secs(120);

struct Load {
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
    is_over: AtomicBool,
    calls: AtomicU64,
    longest: AtomicU64,
    watches: AtomicU64,
    /// A permit for each watch that has begun.
    begun: Semaphore,
}

impl Shared {
    /// Makes a call, which must end well and in time; notes how long it took.
    async fn called<T, E: std::fmt::Debug>(&self, call: impl Future<Output = Result<T, E>>) -> T {
        let began = Instant::now();
        let answer = timeout(HUNG, call).await.expect("a call hangs").expect("a call fails");
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.longest.fetch_max(began.elapsed().as_millis() as u64, Ordering::Relaxed);
        answer
    }

    async fn get(&self, name: &str) {
        let request = self.client.request(Verb::Get, "/api/v1").namespace("default");
        let request = request.resource("configmaps").name(name);
        let token = CancelToken::new(&System::new());
        self.called(self.client.send(&request, &token)).await;
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
                    let page = self.called(maps.list(ListOptions::default())).await;
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
            let mut stream = self.called(maps.watch(options)).await;
            self.watches.fetch_add(1, Ordering::Relaxed);
            self.begun.add_permits(usize::from(std::mem::take(&mut is_first)));
            version = Some(at);
            while let Some(event) = timeout(HUNG, stream.next()).await.expect("a watch is lost") {
                match event {
                    Event::Added(it) | Event::Modified(it) if is_last(&it) => return,
                    Event::Added(it) | Event::Modified(it) | Event::Deleted(it) => {
                        version = it["metadata"]["resourceVersion"].as_str().map(str::to_owned);
                    }
                    Event::Bookmark { resource_version, .. } => version = Some(resource_version),
                    // Too old, or broken: it lists again.
                    _ => version = None,
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

    fn tell(&self, watches: usize, beat: u64) {
        let [calls, began, longest] =
            [&self.calls, &self.watches, &self.longest].map(|it| it.load(Ordering::Relaxed));
        println!(
            "{watches} watches, begun {began} times; {calls} calls, the longest {longest} ms; {beat} changes"
        );
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

fn tried(load: &Load) {
    let cluster = Cluster::over(bed::tls().goaway_after(load.goodbye));
    let tokio = bed::tokio();
    let mut limits = Limits::default();
    limits.idle = Duration::from_secs(30);
    let shared = Arc::new(Shared {
        client: Arc::new(cluster.client().with_limits(limits)),
        is_over: AtomicBool::new(false),
        calls: AtomicU64::new(0),
        longest: AtomicU64::new(0),
        watches: AtomicU64::new(0),
        begun: Semaphore::new(0),
    });
    for nth in 0..load.callers {
        write(&cluster, &format!("map-{nth}"), 0);
    }
    let port = cluster.address.port();
    let task = |shared: &Arc<Shared>| Arc::clone(shared);
    let watches: Vec<_> = (0..load.watches)
        .map(|nth| {
            let shared = task(&shared);
            tokio.spawn(async move { shared.watch(nth % 10 == 0).await })
        })
        .collect();
    for nth in 0..12 {
        let shared = task(&shared);
        tokio.spawn(async move { shared.disturb(port, nth).await });
    }
    tokio.block_on(async { shared.until_watched(load.watches).await });
    let (callers, ends) = (load.callers, load.time.map(|time| Instant::now() + time));
    let callers: Vec<_> = (0..callers)
        .map(|nth| {
            let shared = task(&shared);
            tokio.spawn(async move {
                let name = format!("map-{nth}");
                let goes_on = |made| ends.map_or(made < 20, |ends| Instant::now() < ends);
                let mut made = 0;
                while goes_on(made) {
                    shared.get(&name).await;
                    made += 1;
                }
            })
        })
        .collect();
    let (mut beat, mut halfway) = (0, None);
    while callers.iter().any(|it| !it.is_finished()) {
        beat += 1;
        write(&cluster, "beat", beat);
        std::thread::sleep(Duration::from_millis(100));
        let is_half = |ends: Instant| Instant::now() + load.time.unwrap_or_default() / 2 > ends;
        if halfway.is_none() && ends.is_some_and(is_half) {
            halfway = Some(memory());
        }
    }
    let at_the_end = memory();
    for caller in callers {
        tokio.block_on(caller).expect("no caller fails");
    }
    write(&cluster, "last", beat);
    for watch in watches {
        tokio.block_on(watch).expect("no watch is lost");
    }
    shared.is_over.store(true, Ordering::Relaxed);
    shared.tell(load.watches, beat);
    if let Some(halfway) = halfway {
        println!("memory: {halfway} bytes halfway, {at_the_end} at the end");
        let most = halfway + halfway / 4 + (32 << 20);
        assert!(at_the_end <= most, "the memory grows");
    }
}

#[test]
fn no_call_fails_and_no_watch_is_lost() {
    let seconds = env::var("SEATRIAL_WIRE_SECONDS").map(|it| it.parse().expect("a number"));
    tried(&match seconds {
        Ok(seconds) => Load {
            watches: 500,
            goodbye: 300,
            callers: 50,
            time: Some(Duration::from_secs(seconds)),
        },
        Err(_) => Load { watches: 150, goodbye: 40, callers: 10, time: None },
    });
}
