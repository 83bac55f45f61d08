//! The interface of the page, without a browser.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::answers::Page;
use super::http::{Answer, Request, Server, decoded};
use super::subject::find;
use crate::canary::Canary;
use crate::catalogue::Catalogue;
use crate::cli::replay::read;
use crate::engine::MAX_STEPS;
use crate::toy::ToyBugs;
use crate::trial::{
    Component, Invariant, MachineOf, NoMachine, Scenario, Witness, World, digest, subject,
};
use seatrial_core::runtime::{Ambient as _, Runtime as _};

/// Programs with decisions that the others lack.
struct Odd;

impl Component for Odd {
    type Machine = NoMachine;
    const NAME: &'static str = "odd";
    const SAYS: &'static str = "programs with rare decisions";

    fn machine() -> MachineOf<Self> {
        Box::new(NoMachine)
    }
    fn scenarios() -> Vec<Scenario<Self>> {
        let answers = |world: &World<Self>| {
            let runtime = world.runtime();
            world.note("answer", u64::from(runtime.choose(3)));
            runtime.sleep_until(runtime.now() + std::time::Duration::from_millis(5));
        };
        let spins = |world: &World<Self>| {
            let lock = world.runtime().mutex(());
            loop {
                drop(world.runtime().lock(&lock));
            }
        };
        vec![
            Scenario::new("answers", "it asks", answers, |_| true),
            Scenario::new("spins", "it never ends", spins, |_| true),
        ]
    }
    fn invariants() -> Vec<Invariant<Self>> {
        Vec::new()
    }
}

const CATALOGUE: Catalogue =
    Catalogue::new("seatrial", &[subject::<Canary>(), subject::<ToyBugs>(), subject::<Odd>()]);

/// A folder of its own, which goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("seatrial-explore-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0)); // nothing may have been saved
    }
}

fn page(what: &str, folder: &Folder) -> Page {
    let found = find(&CATALOGUE, what).unwrap_or_else(|failure| panic!("{}", failure.message));
    Page::new(found, &folder.0).unwrap_or_else(|failure| panic!("{}", failure.message))
}

fn get(page: &Page, choices: &str) -> Answer {
    let query = format!("choices={choices}");
    page.answer(&request("GET", "/run", &query, &page.token, b""))
}

fn request(method: &str, path: &str, query: &str, token: &str, body: &[u8]) -> Request {
    Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        token: token.to_owned(),
        body: body.to_vec(),
        host: String::new(),
    }
}

fn run(page: &Page, choices: &str) -> Value {
    let answer = get(page, choices);
    assert_eq!(answer.code, 200, "{choices}: {}", answer.body);
    serde_json::from_str(&answer.body).expect("JSON")
}

fn save(page: &Page, choices: &str, name: &str) -> Answer {
    let wish = json!({ "choices": choices, "name": name }).to_string();
    page.answer(&request("POST", "/save", "", &page.token, wish.as_bytes()))
}

/// The choices of the first steps, and another one.
fn branch(run: &Value, steps: usize, other: &str) -> String {
    let steps = run["steps"].as_array().expect("steps")[..steps].iter();
    steps.map(|step| step["taken"].as_str().expect("a choice")).chain([other]).collect()
}

/// Goes down every way that leaves an execution at one step, until one of them breaks a promise.
fn broken_branch(page: &Page, run_of: &Value) -> Option<Value> {
    let steps = run_of["steps"].as_array().expect("steps");
    steps.iter().enumerate().find_map(|(number, step)| {
        let options = step["options"].as_array().expect("options").iter();
        let other = options.filter(|option| **option != step["taken"]);
        let ends = other.map(|it| run(page, &branch(run_of, number, it.as_str().expect("text"))));
        { ends }.find(|end| !end["broken"].as_array().expect("a list").is_empty())
    })
}

#[test]
fn every_step_tells_who_can_move_what_is_held_and_what_it_reads() {
    let page = page("canary/lost_update", &Folder::new("steps"));
    let shown = run(&page, "");
    assert_eq!(shown["threads"], json!(["main", "other"]));
    assert_eq!(shown["broken"], json!([]));
    let steps = shown["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 5, "two reads, two writes, and the sum: {shown:#}");
    for step in steps {
        let options = step["options"].as_array().expect("options");
        assert!(options.contains(&step["taken"]), "{step}");
        assert_eq!(step["does"], "takes mutex 0");
    }
    assert_eq!(steps[0]["options"], json!(["a", "b"]));
    assert_eq!(steps[0]["follows"], Value::Null);
    assert_eq!(steps[3]["follows"], 2, "it reads what the step before left");
    let states: Vec<_> = shown["states"].as_array().expect("states").iter().collect();
    let texts: Vec<_> = states.iter().map(|state| state["text"].as_str().expect("text")).collect();
    let each = [0, 0, 1, 1, 2, 2].map(|number| format!("Counter({number})"));
    assert_eq!(texts, each, "the machine as it was made, and after each of its steps");
    assert_eq!(shown["end"], "finished");
    let waits = shown["steps"][2]["threads"].to_string();
    assert!(waits.contains("waits for the end of b `other`"), "{shown:#}");
}

#[test]
fn another_thread_leads_to_another_end_and_that_is_saved_and_replayed() {
    let folder = Folder::new("branch");
    let explored = page("canary/lost_update", &folder);
    let end = broken_branch(&explored, &run(&explored, "")).expect("a lost update");
    assert_eq!(end["broken"][0]["invariant"], "counts_every_increment");
    assert_eq!(end["broken"][0]["because"], "2 increments count as 1");
    let (promise, place) = (&end["promises"][0][0], &end["promises"][0][1]);
    assert_eq!(promise, "the counter ends at the number of increments");
    let text = place["text"].as_str().expect("a place");
    assert!(text.contains("canary") && text.contains("mod.rs:"), "{text}");
    let link = place["link"].as_str().expect("a link");
    assert!(link.starts_with("vscode://file/") && link.contains("/canary/mod.rs:"), "{link}");

    let schedule = end["schedule"].as_str().expect("text");
    let saved = save(&explored, schedule, "mine");
    assert_eq!(saved.code, 200, "{}", saved.body);
    let path = folder.0.join("canary/mine.txt");
    let said: Value = serde_json::from_str(&saved.body).expect("JSON");
    assert_eq!(said["text"], path.display().to_string());
    assert!(said["link"].as_str().is_some_and(|it| it.ends_with("/canary/mine.txt:3")), "{said}");
    let path = path.to_str().expect("text");
    let witness = read(path).unwrap_or_else(|failure| panic!("{}", failure.message));
    assert_eq!(Value::from(witness.to_string()), end["witness"]);
    replays(&witness, &["counts_every_increment"]);
    // It can be explored again, and begins where it was saved.
    assert_eq!(run(&page(path, &folder), schedule)["broken"], end["broken"]);
    assert_eq!(save(&explored, schedule, "mine").code, 200, "the same again");
    assert_eq!(save(&explored, "", "mine").code, 409, "another one is not lost");
}

/// Replays a witness as the command line does.
fn replays(witness: &Witness, breaks: &[&str]) {
    let subject = CATALOGUE.subject(&witness.component).expect("known");
    let replayed = subject.replay(&witness.scenario, None, witness.engine, &witness.route);
    let replayed = replayed.expect("the code follows it");
    assert_eq!(digest(&replayed.transcript), witness.history);
    let broken: Vec<_> = replayed.findings.iter().map(|finding| finding.invariant).collect();
    assert_eq!(broken, breaks);
}

#[test]
fn answers_and_jumps_of_the_clock_are_choices_too() {
    let folder = Folder::new("odd");
    let explored = page("odd/answers", &folder);
    let first = run(&explored, "");
    assert_eq!(
        (&first["steps"][0]["answers"], &first["steps"][0]["taken"]),
        (&json!(3), &json!("=0"))
    );
    assert_eq!(
        (&first["steps"][1]["options"], &first["steps"][1]["by"]),
        (&json!(["."]), &Value::Null)
    );
    let other = run(&explored, "=2");
    assert_eq!(other["lines"][0]["text"], "notes answer 2");
    assert_eq!(get(&explored, "=3").code, 400);
    assert_eq!(save(&explored, "=2", "third").code, 200);
    let path = folder.0.join("odd/third.txt");
    let witness = read(path.to_str().expect("text")).unwrap_or_else(|_| panic!("a witness"));
    replays(&witness, &[]);
}

#[test]
fn an_execution_without_an_end_is_cut_and_stays_small() {
    let folder = Folder::new("spins");
    let explored = page("odd/spins", &folder);
    let shown = get(&explored, "");
    assert!(shown.body.len() < 8 << 20, "{} bytes", shown.body.len());
    let shown: Value = serde_json::from_str(&shown.body).expect("JSON");
    assert_eq!(shown["steps"].as_array().map(Vec::len), Some(MAX_STEPS as usize));
    assert_eq!(shown["broken"][0]["invariant"], "terminates");
    let witness: Witness = shown["witness"].as_str().expect("text").parse().expect("a witness");
    replays(&witness, &["terminates"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::new("garbage");
    let page = page("canary/lost_update", &folder);
    for choices in ["%", "%zz", "zz%3f", "c", "=1", ".", "a99", "a1000001", "%ff"] {
        assert_eq!(get(&page, choices).code, 400, "{choices}");
    }
    assert!(get(&page, "abc").body.contains("decision 3"), "{:?}", get(&page, "abc"));
    for name in ["", "../out", "a/b", "a.txt", &"a".repeat(65), "\u{e4}"] {
        assert_eq!(save(&page, "", name).code, 400, "{name}");
    }
    assert_eq!(save(&page, "c", "fine").code, 400);
    let token = page.token.clone();
    let requests: [(u16, Request); 10] = [
        (405, request("POST", "/run", "", &token, b"")),
        (405, request("GET", "/save", "", &token, b"")),
        (405, request("OPTIONS", "/save", "", "", b"")),
        (404, request("GET", "/etc/passwd", "", "", b"")),
        (400, request("GET", "/run", "", &token, b"")),
        (403, request("GET", "/run", "choices=", "", b"")),
        (403, request("POST", "/save", "", "", br#"{"choices":"","name":"x"}"#)),
        (403, request("POST", "/save", "", "guessed", br#"{"choices":"","name":"x"}"#)),
        (400, request("POST", "/save", "", &token, b"\xff")),
        (400, request("POST", "/save", "", &token, br#"{"choices":"","name":"x","more":1}"#)),
    ];
    for (code, request) in requests {
        assert_eq!(page.answer(&request).code, code, "{request:?}");
    }
    assert!(!folder.0.exists(), "nothing was written");
    for what in
        ["canary", "canary/none", "none/lost_update", "canary/lost_update+none", "seatrial-0"]
    {
        assert!(find(&CATALOGUE, what).is_err(), "{what}");
    }
    assert_eq!(decoded("a%5B52%5d"), Some("a[52]".to_owned()));
}

/// Sends bytes, and returns all that comes back. A refusal may come, and the server go, before all
/// is read: then any of these three may fail.
fn sent(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    drop(stream.write_all(bytes));
    drop(stream.shutdown(std::net::Shutdown::Write));
    let mut text = String::new();
    drop(stream.read_to_string(&mut text));
    text
}

#[test]
fn the_page_is_served_to_this_machine_alone() {
    let page = page("canary/lost_update", &Folder::new("served"));
    let token = page.token.clone();
    let server = Server::bind(0).expect("a free port");
    let address = server.address();
    assert!(address.ip().is_loopback());
    // It serves until the process ends.
    std::thread::spawn(move || server.serve(Arc::new(move |request| page.answer(request))));
    let to = |host: &str| format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let shown = sent(address, to(&address.to_string()).as_bytes());
    assert!(shown.starts_with("HTTP/1.1 200 "), "{shown}");
    for part in ["Content-Security-Policy: default-src 'none';", "canary/lost_update", &token] {
        assert!(shown.contains(part), "{part}");
    }
    assert!(!shown.contains("http://") && !shown.contains("https://"), "nothing from a network");
    for placeholder in ["NONCE", "/*begins*/", "/*style*/", "/*script*/"] {
        assert!(!shown.contains(placeholder), "{placeholder}");
    }
    let name = format!("localhost:{}", address.port());
    assert!(sent(address, to(&name).as_bytes()).starts_with("HTTP/1.1 200 "));
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", ""] {
        assert!(sent(address, to(host).as_bytes()).starts_with("HTTP/1.1 403 "), "{host}");
    }
    let long = format!("GET /{} HTTP/1.1\r\n", "a".repeat(1 << 18));
    let body = format!("POST /save HTTP/1.1\r\nHost: {address}\r\nContent-Length: 9999999\r\n\r\n");
    let chunks =
        format!("POST /save HTTP/1.1\r\nHost: {address}\r\nTransfer-Encoding: chunked\r\n\r\n");
    let wrong = [
        ("400", "\0\0\0\0\r\n\r\n"),
        ("400", "GET / FTP\r\n\r\n"),
        ("400", "GET /\r\n\r\n"),
        ("400", "GET / HTTP/1.1\r\nno colon\r\n\r\n"),
        ("400", "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        ("400", ""),
        ("413", &body),
        ("400", &chunks),
    ];
    for (code, text) in wrong {
        let said = sent(address, text.as_bytes());
        assert!(said.starts_with(&format!("HTTP/1.1 {code} ")), "{text:?}: {said}");
    }
    assert!(!sent(address, long.as_bytes()).contains(" 200 "));
    assert!(sent(address, to(&name).as_bytes()).starts_with("HTTP/1.1 200 "), "it still serves");
}
