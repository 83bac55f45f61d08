//! The memory that a server takes: with many objects and watches, copied, and empty.
//!
//! `cargo bench -p seatrial-sim` measures the whole figure: 100,000 objects and 1,000 watches.

use std::time::{Duration, Instant};

use cap::Cap;
use seatrial_sim::apiserver::{Answer, Options, Request, Server};
use serde_json::json;

#[global_allocator]
static MEMORY: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn allocated_by<T>(action: impl FnOnce() -> T) -> (T, usize) {
    let before = MEMORY.total_allocated();
    let result = action();
    (result, MEMORY.total_allocated() - before)
}

fn create(server: &mut Server, name: &str) -> Answer {
    let labels = json!({"app": "x"});
    let body = json!({"metadata": {"name": name, "labels": labels}, "data": {"key": "value"}});
    server.handle(Duration::ZERO, &Request::new("POST", MAPS).json(&body))
}

/// One test, since others in this process would count.
#[test]
fn many_objects_fit_and_copies_cost_nothing() {
    // The tables that all servers share are made by the first.
    drop(Server::new(&Options::default()));
    let begin = MEMORY.allocated();
    let (mut server, made) = allocated_by(|| Server::new(&Options::default()));
    assert!(made < 512 * 1024, "a fresh server took {made} bytes");
    let timed = || {
        let begin = Instant::now();
        drop(Server::new(&Options::default()));
        begin.elapsed()
    };
    // Others may have the processor; not every time, though.
    let quickest = (0..200).map(|_| timed()).min().unwrap_or_default();
    assert!(quickest < Duration::from_millis(1), "a fresh server took {quickest:?}");

    let (objects, watches) = (20_000, 1_000);
    for index in 0..objects {
        create(&mut server, &format!("object-{index}"));
    }
    let held = (MEMORY.allocated() - begin) / objects;
    let target = format!("{MAPS}?watch=true&resourceVersion={}", server.revision());
    let watch = Request::new("GET", &target);
    let before = MEMORY.allocated();
    for _ in 0..watches {
        assert!(matches!(server.handle(Duration::ZERO, &watch), Answer::Watch { .. }));
    }
    let each = (MEMORY.allocated() - before) / watches;
    let whole = held * 100_000 + each * 1_000;
    println!("{held} bytes an object, {each} bytes a watch: {} MiB in all", whole >> 20);
    assert!(whole < 1 << 30, "100,000 objects and 1,000 watches would take {whole} bytes");

    let (mut copy, copied) = allocated_by(|| server.clone());
    assert!(copied < 4 * 1024, "a copy took {copied} bytes");
    // A write copies the paths to what it changes, and nothing else.
    let (answer, written) = allocated_by(|| create(&mut copy, "another"));
    assert!(matches!(answer, Answer::Response(it) if it.status == 201));
    assert!(written < 64 * 1024, "a write to a copy took {written} bytes");
    assert_eq!(server.contents().len() + 1, copy.contents().len());
}
