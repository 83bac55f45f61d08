//! A process and everything that it starts: begun in a group of its own, and ended as one.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::pod::environment;
use crate::http::webhooks::Services;

/// The variable that says to which life a process belongs; what it starts inherits it.
pub(super) const MARK: &str = "SEATRIAL_LIFE";
/// The most bytes of output that are kept. A process may write faster than they are read.
const LARGEST: u64 = 4 * 1024 * 1024;
/// How much of the end of the output is shown.
const TAIL: u64 = 2_000;
/// How long the end of a killed process is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How the place of a service begins in a command.
const SERVICE: &str = "{service:";

/// A process that runs.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    mark: String,
    output: File,
}

/// The memory of a process at its largest, in KiB, and the time that it has computed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    pub(super) memory: u64,
    pub(super) time: Duration,
}

impl Process {
    /// Starts a command with its output in a file, to which it is appended.
    pub(super) fn start(
        command: &[String],
        (kubeconfig, pod): (&Path, Option<SocketAddr>),
        output: &Path,
        mark: String,
    ) -> io::Result<Self> {
        let output = OpenOptions::new().create(true).append(true).read(true).open(output)?;
        let mut made = Command::new(command.first().map_or("", |it| it));
        made.args(&command[1..]).stdin(Stdio::null());
        made.stdout(output.try_clone()?).stderr(output.try_clone()?);
        made.env("KUBECONFIG", kubeconfig).env(MARK, &mark);
        // Inside a cluster a client would find that one.
        made.env_remove("KUBERNETES_SERVICE_HOST").env_remove("KUBERNETES_SERVICE_PORT");
        if let Some(server) = pod {
            // Clients take a kubeconfig first. It stays on the disk, for people.
            let home = kubeconfig.parent().unwrap_or(kubeconfig);
            made.env_remove("KUBECONFIG").envs(environment(server, home));
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut made, 0);
        Ok(Self { child: made.spawn()?, mark, output })
    }

    /// How it has ended, if it has. What it has started goes on.
    pub(super) fn ended(&mut self) -> Option<String> {
        self.limit();
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) if status.success() => Some(String::new()),
            Ok(Some(status)) => Some(status.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Keeps the output small: what was written before is dropped.
    fn limit(&mut self) {
        if self.output.metadata().is_ok_and(|it| it.len() > LARGEST) {
            drop(self.output.set_len(0));
            drop(writeln!(self.output, "(more was written before)"));
        }
    }

    /// Ends it, with its group and what has left the group. That may take a while, in which the run goes on.
    pub(super) fn end(self) -> JoinHandle<()> {
        std::thread::spawn(move || drop(self))
    }

    fn kill(&mut self) {
        kill_group(&self.child);
        drop(self.child.kill());
        let began = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(2)); // a kernel that is slow decides no verdict
        }
        sweep(&self.mark);
        self.limit();
    }

    /// What it has used so far; nothing where the system does not say.
    pub(super) fn used(&self) -> Used {
        let read = |name: &str| {
            std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).unwrap_or_default()
        };
        let status = read("status");
        let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
        let memory = line.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or(0);
        let stat = read("stat");
        // After the name, which may hold anything, `utime` and `stime` are the 12th and the 13th.
        let fields = stat.rsplit_once(')').map_or("", |it| it.1).split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum();
        Used { memory, time: Duration::from_millis(ticks * 10) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(unix)]
fn kill_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _all_may_have_ended = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: &Child) {}

/// Ends the processes that were started in this life and have left its group.
#[cfg(target_os = "linux")]
fn sweep(mark: &str) {
    use rustix::process::{Pid, Signal, kill_process};
    let wanted = format!("{MARK}={mark}");
    // One that forks all the time is ahead by one at most.
    for _ in 0..50 {
        let Ok(entries) = std::fs::read_dir("/proc") else { return };
        let pids = entries.flatten().filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
        let mut found = false;
        for pid in pids.filter_map(Pid::from_raw) {
            let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
            let Ok(environment) = std::fs::read(path) else { continue };
            if environment.split(|it| *it == 0).any(|it| it == wanted.as_bytes()) {
                found = true;
                let _it_may_have_ended = kill_process(pid, Signal::KILL);
            }
        }
        if !found {
            return;
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn sweep(_: &str) {}

/// The end of an output, as text.
pub(super) fn tail(output: &Path) -> String {
    let read = || {
        let mut file = File::open(output)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    read().unwrap_or_default()
}

/// The last line of an output that says something.
pub(super) fn last_line(output: &Path) -> String {
    let text = tail(output);
    let last = text.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or_default();
    last.chars().take(200).collect()
}

/// Fills in what may stand in a command: each `{port}` is another port that is free, and `{service:NAMESPACE/NAME}`
/// is the one at which the webhooks of a service are called.
pub(super) fn filled(
    command: &[String],
    places: &[(&str, &PathBuf)],
    ports: &Services,
) -> io::Result<Vec<String>> {
    let word = |word: &String| {
        let mut word = places
            .iter()
            .fold(word.clone(), |word, (place, path)| word.replace(place, &path.to_string_lossy()));
        for ((name, namespace), port) in ports {
            let place = format!("{SERVICE}{namespace}/{name}}}");
            word = word.replace(&place, &port.to_string());
        }
        while word.contains("{port}") {
            word = word.replacen("{port}", &free_port()?.to_string(), 1);
        }
        Ok(word)
    };
    command.iter().map(word).collect()
}

/// The names and namespaces of the services that a command is to be.
pub(super) fn services(command: &[String]) -> impl Iterator<Item = (String, String)> {
    let places = command.iter().flat_map(|it| it.split(SERVICE).skip(1));
    places.filter_map(|it| {
        let (namespace, name) = it.split_once('}')?.0.split_once('/')?;
        Some((name.to_owned(), namespace.to_owned()))
    })
}

/// A port that nobody has.
pub(super) fn free_port() -> io::Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The memory that is free, in KiB; none where the system does not say.
pub(super) fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|it| it.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A new folder that nobody else reads, as there are credentials in it: what an earlier run has left there is
/// gone.
pub(super) fn folder(path: PathBuf) -> io::Result<PathBuf> {
    if path.exists() {
        std::fs::remove_dir_all(&path)?;
    }
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above)?;
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&path)?;
    path.canonicalize()
}
