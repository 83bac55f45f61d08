//! Published leader elections and ours, under the same faults, on the simulated server.
//!
//! Every replica is a process with a way of its own to the server. The table says for each library
//! and fault for how long two replicas acted as leaders at once, and how long nobody else began to
//! after the fault. It fails if ours has two leaders, or no new one in time.
//!
//! `cargo run --manifest-path ci/elections/Cargo.toml` takes three minutes once it is built.

mod acts;
mod network;
mod replica;

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use network::Network;
use replica::LEASE;
use seatrial_sim::apiserver::{Options, Server};
use seatrial_sim::http::{Face, Listen};

type Failure = Box<dyn Error + Send + Sync>;

const OURS: &str = "seatrial-kube";
const LIBRARIES: [&str; 6] = [
    OURS,
    "kube-leader-election",
    "kube-lease-manager",
    "kube-coordinate",
    "kubert",
    "k8s-controller",
];

/// The longest that ours may be without a leader: the Lease, its pauses, requests on a slow network, and
/// what a busy machine takes.
const IN_TIME: Duration = Duration::from_secs(16);

/// What happens to the first leader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    Killed,
    CutOff,
    /// For two Leases; then it goes on.
    Stopped,
    /// Nothing; but the clocks of the others are ten seconds ahead of its own.
    Ahead,
    /// It is killed; two others wait, and every message takes 400 ms.
    Slow,
}

const FAULTS: [(Fault, &str); 5] = [
    (Fault::Killed, "killed"),
    (Fault::CutOff, "cut off"),
    (Fault::Stopped, "stopped for 12 s"),
    (Fault::Ahead, "clock 10 s behind the others'"),
    (Fault::Slow, "killed, two wait, 400 ms each way"),
];

/// A replica's process, its way to the server, and when it acted.
struct Replica {
    process: Child,
    network: Network,
    acts: Arc<Mutex<Vec<Instant>>>,
}

impl Replica {
    fn start(library: &str, number: usize, server: &Face, fault: Fault) -> Result<Self, Failure> {
        let delay = Duration::from_millis(if fault == Fault::Slow { 400 } else { 0 });
        let network = Network::to(server.address(), delay)?;
        let ahead = if fault == Fault::Ahead && number > 0 { "10" } else { "0" };
        let mut process = Command::new(std::env::current_exe()?)
            .args(["replica", library, &format!("replica-{number}")])
            .args([&format!("http://{}", network.address), ahead])
            .stdout(Stdio::piped())
            .spawn()?;
        let acts = Arc::new(Mutex::new(Vec::new()));
        let (out, log) = (process.stdout.take().ok_or("no output")?, Arc::clone(&acts));
        thread::spawn(move || {
            for _ in BufReader::new(out).lines().map_while(Result::ok) {
                log.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
            }
        });
        Ok(Self { process, network, acts })
    }

    fn acts(&self) -> Vec<Instant> {
        self.acts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn signal(&self, name: &str) -> Result<(), Failure> {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status()?;
        if sent.success() { Ok(()) } else { Err(format!("kill -{name}: {sent}").into()) }
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        // One that has ended already is as good as killed.
        let _killed = self.process.kill().and_then(|()| self.process.wait());
    }
}

/// The longest time with two leaders, and how long nobody else led after the fault.
type Figures = (Duration, Option<Duration>);

fn run(library: &str, fault: Fault) -> Result<Figures, Failure> {
    let server = Face::listen(Server::new(&Options::default()), &Listen::default())?;
    let mut replicas = vec![Replica::start(library, 0, &server, fault)?];
    let patience = Instant::now() + 4 * LEASE;
    while replicas[0].acts().is_empty() {
        if Instant::now() > patience {
            return Err("the first replica, alone, does not lead".into());
        }
        sleep(Duration::from_millis(10));
    }
    let others = if fault == Fault::Slow { 2 } else { 1 };
    for number in 1..=others {
        replicas.push(Replica::start(library, number, &server, fault)?);
    }
    sleep(if fault == Fault::Ahead { Duration::ZERO } else { LEASE + LEASE / 4 });
    let at = Instant::now();
    match fault {
        Fault::Killed | Fault::Slow => replicas[0].process.kill()?,
        Fault::CutOff => replicas[0].network.cut(),
        Fault::Stopped => {
            replicas[0].signal("STOP")?;
            sleep(2 * LEASE);
            replicas[0].signal("CONT")?;
        }
        Fault::Ahead => {}
    }
    sleep(4 * LEASE);
    let acts: Vec<_> = replicas.iter().map(Replica::acts).collect();
    Ok((acts::longest_overlap(&acts), acts::takeover(&acts, at)))
}

/// Tells whether ours is as good as it says.
fn table() -> Result<bool, Failure> {
    println!("A Lease is good for {} s.\n", LEASE.as_secs());
    println!("| the first leader is | library | two leaders for | another leads after |");
    println!("|---|---|---|---|");
    let mut is_good = true;
    for (fault, name) in FAULTS {
        let runs = LIBRARIES.map(|library| thread::spawn(move || run(library, fault)));
        for (library, run) in LIBRARIES.into_iter().zip(runs) {
            let (both, after) = match run.join().map_err(|_| "a panic")? {
                Ok(figures) => figures,
                Err(error) if library == OURS => return Err(error),
                Err(error) => {
                    println!("| {name} | {library} | {error} | |");
                    continue;
                }
            };
            let after_text =
                after.map_or_else(|| "-".to_owned(), |it| format!("{:.2} s", it.as_secs_f64()));
            println!("| {name} | {library} | {:.2} s | {after_text} |", both.as_secs_f64());
            if library == OURS {
                // Clocks that differ are no reason to change the leader.
                let in_time = after.is_some_and(|it| it <= IN_TIME);
                is_good &= both.is_zero() && (in_time != (fault == Fault::Ahead));
            }
        }
    }
    Ok(is_good)
}

fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["replica", library, identity, server, ahead] => {
            replica::run(library, identity, server, Duration::from_secs(ahead.parse()?))?;
        }
        [] => {
            if !table()? {
                eprintln!("ours has two leaders, or none in time");
                return Ok(ExitCode::FAILURE);
            }
        }
        _ => {
            eprintln!("usage: elections");
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}
