//! Published leader elections and ours, under the same faults, on the simulated server; or ours alone on
//! a real one.
//!
//! Every replica is a process with a way of its own to the server. The table says for each library
//! and fault for how long two replicas acted as leaders at once, and how long nobody else began to
//! after the fault. It fails if ours has two leaders, or no new one in time.
//!
//! `cargo run --manifest-path ci/elections/Cargo.toml` takes three minutes once it is built; with `real`
//! behind it, ours runs on the server of `KUBECONFIG`, which must be on loopback.

mod acts;
mod network;
mod replica;

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, ToSocketAddrs as _};
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

/// Where they compete.
enum Place {
    /// On a simulated server, which no other run uses.
    Ours(Face),
    /// On a real one, for a Lease that no other run uses.
    Theirs(SocketAddr),
}

impl Place {
    fn ours() -> Result<Self, Failure> {
        Ok(Self::Ours(Face::listen(Server::new(&Options::default()), &Listen::default())?))
    }

    fn address(&self) -> SocketAddr {
        match self {
            Self::Ours(face) => face.address(),
            Self::Theirs(address) => *address,
        }
    }

    fn scheme(&self) -> &'static str {
        if matches!(self, Self::Ours(_)) { "http" } else { "https" }
    }
}

/// A replica's process, its way to the server, and when it acted.
struct Replica {
    process: Child,
    network: Network,
    acts: Arc<Mutex<Vec<Instant>>>,
}

impl Replica {
    fn start(library: &str, number: usize, place: &Place, fault: Fault) -> Result<Self, Failure> {
        let delay = Duration::from_millis(if fault == Fault::Slow { 400 } else { 0 });
        let network = Network::to(place.address(), delay)?;
        let ahead = if fault == Fault::Ahead && number > 0 { "10" } else { "0" };
        let mut process = Command::new(std::env::current_exe()?)
            .args(["replica", library, &format!("replica-{number}")])
            .args([&format!("{}://{}", place.scheme(), network.address), ahead])
            .arg(format!("election-{}", fault as u8))
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

fn run(library: &str, fault: Fault, place: &Place) -> Result<Figures, Failure> {
    let mut replicas = vec![Replica::start(library, 0, place, fault)?];
    let patience = Instant::now() + 4 * LEASE;
    while replicas[0].acts().is_empty() {
        if Instant::now() > patience {
            return Err("the first replica, alone, does not lead".into());
        }
        sleep(Duration::from_millis(10));
    }
    let others = if fault == Fault::Slow { 2 } else { 1 };
    for number in 1..=others {
        replicas.push(Replica::start(library, number, place, fault)?);
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

fn heading() {
    println!("A Lease is good for {} s.\n", LEASE.as_secs());
    println!("| the first leader is | library | two leaders for | another leads after |");
    println!("|---|---|---|---|");
}

/// A line of the table, and whether it is as ours says of itself.
fn line(library: &str, fault: Fault, name: &str, (both, after): Figures) -> bool {
    let after_text =
        after.map_or_else(|| "-".to_owned(), |it| format!("{:.2} s", it.as_secs_f64()));
    println!("| {name} | {library} | {:.2} s | {after_text} |", both.as_secs_f64());
    // Clocks that differ are no reason to change the leader.
    let in_time = after.is_some_and(|it| it <= IN_TIME);
    both.is_zero() && (in_time != (fault == Fault::Ahead))
}

/// Tells whether ours is as good as it says, on the server of `KUBECONFIG`.
fn real() -> Result<bool, Failure> {
    let options = kube::config::KubeConfigOptions::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = runtime.block_on(kube::Config::from_kubeconfig(&options))?.cluster_url;
    let (host, port) = (server.host().ok_or("no host")?, server.port_u16().ok_or("no port")?);
    let address = (host, port).to_socket_addrs()?.next().ok_or("no address")?;
    if !address.ip().is_loopback() {
        return Err(format!("{address} is not on loopback: start a server for this alone").into());
    }
    heading();
    let runs =
        FAULTS.map(|(fault, _)| thread::spawn(move || run(OURS, fault, &Place::Theirs(address))));
    let mut is_good = true;
    for ((fault, name), run) in FAULTS.into_iter().zip(runs) {
        is_good &= line(OURS, fault, name, run.join().map_err(|_| "a panic")??);
    }
    Ok(is_good)
}

/// Tells whether ours is as good as it says, beside the others.
fn table() -> Result<bool, Failure> {
    heading();
    let mut is_good = true;
    for (fault, name) in FAULTS {
        let runs =
            LIBRARIES.map(|library| thread::spawn(move || run(library, fault, &Place::ours()?)));
        for (library, run) in LIBRARIES.into_iter().zip(runs) {
            match run.join().map_err(|_| "a panic")? {
                Ok(figures) => {
                    let as_said = line(library, fault, name, figures);
                    is_good &= as_said || library != OURS;
                }
                Err(error) if library == OURS => return Err(error),
                Err(error) => println!("| {name} | {library} | {error} | |"),
            }
        }
    }
    Ok(is_good)
}

fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["replica", library, identity, server, ahead, lease] => {
            replica::run(library, identity, server, Duration::from_secs(ahead.parse()?), lease)?;
            Ok(ExitCode::SUCCESS)
        }
        [] => Ok(verdict(table()?)),
        ["real"] => Ok(verdict(real()?)),
        _ => {
            eprintln!("usage: elections [real]");
            Ok(ExitCode::from(2))
        }
    }
}

fn verdict(is_good: bool) -> ExitCode {
    if is_good {
        return ExitCode::SUCCESS;
    }
    eprintln!("ours has two leaders, or none in time");
    ExitCode::FAILURE
}
