//! A process and everything that it starts: begun in a group of its own, and ended as one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::pod::environment;
use super::run::Program;
use crate::http::issue;
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
/// The place of the folder with certificates in a command.
pub(super) const CERTIFICATES: &str = "{certificates}";
/// A file in each folder that was made here. One without it is somebody else's.
const OURS: &str = ".seatrial";

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
    ports: &mut Ports,
) -> io::Result<Vec<String>> {
    let word = |word: &String| {
        let mut word = places
            .iter()
            .fold(word.clone(), |word, (place, path)| word.replace(place, &path.to_string_lossy()));
        for ((name, namespace), port) in &ports.services {
            let place = format!("{SERVICE}{namespace}/{name}}}");
            word = word.replace(&place, &port.to_string());
        }
        while word.contains("{port}") {
            word = word.replacen("{port}", &ports.take()?.to_string(), 1);
        }
        Ok(word)
    };
    command.iter().map(word).collect()
}

/// The names and namespaces of the services that the processes are to be.
pub(super) fn services(programs: &[Program]) -> Result<Vec<(String, String)>, String> {
    let mut owners = BTreeMap::new();
    for (process, command) in programs {
        for rest in command.iter().flat_map(|it| it.split(SERVICE).skip(1)) {
            let place = rest.split_once('}').and_then(|it| it.0.split_once('/'));
            let named = place.filter(|it| !it.0.is_empty() && !it.1.is_empty());
            let (namespace, name) = named.ok_or_else(|| {
                let place = rest.split('}').next().unwrap_or_default();
                format!("{SERVICE}{place}}} is no {SERVICE}NAMESPACE/NAME}}")
            })?;
            let owner = owners.entry((name.to_owned(), namespace.to_owned())).or_insert(process);
            if *owner != process {
                return Err(format!("{owner} and {process} are the service {namespace}/{name}"));
            }
        }
    }
    Ok(owners.into_keys().collect())
}

/// A folder with a certificate for services, and the authority that has signed it; nothing if no command asks for it.
pub(super) fn certificates(
    at: PathBuf,
    programs: &[Program],
    services: &[(String, String)],
) -> io::Result<(PathBuf, String)> {
    let mut words = programs.iter().flat_map(|it| &it.1);
    if services.is_empty() && !words.any(|it| it.contains(CERTIFICATES)) {
        return Ok(Default::default());
    }
    let at = folder(at)?;
    let hosts = services.iter().map(|(name, namespace)| format!("{name}.{namespace}.svc"));
    let issued = issue(hosts.chain([Ipv4Addr::LOCALHOST.to_string()]))?;
    for (name, text) in ["ca.crt", "tls.crt", "tls.key"].into_iter().zip(&issued) {
        std::fs::write(at.join(name), text)?;
    }
    let [authority, ..] = issued;
    Ok((at, authority))
}

/// The ports that were handed out: nobody may listen there yet, so the system hands them out again.
fn handed_out() -> MutexGuard<'static, BTreeSet<u16>> {
    static HANDED_OUT: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    HANDED_OUT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The ports of a run. Until it ends no other run has them.
#[derive(Debug, Default)]
pub(super) struct Ports {
    pub(super) services: Services,
    taken: Vec<u16>,
}

impl Ports {
    /// A port for each service.
    pub(super) fn of(services: &[(String, String)]) -> io::Result<Self> {
        let mut ports = Self::default();
        for service in services {
            let port = ports.take()?;
            ports.services.insert(service.clone(), port);
        }
        Ok(ports)
    }

    fn take(&mut self) -> io::Result<u16> {
        let listener = listener()?;
        let port = listener.local_addr()?.port();
        handed_out().insert(port);
        self.taken.push(port);
        Ok(port)
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        let mut all = handed_out();
        for port in &self.taken {
            all.remove(port);
        }
    }
}

/// Listens at a port that nobody has and that was not handed out.
pub(super) fn listener() -> io::Result<TcpListener> {
    let mut others = Vec::new(); // they are held, so that each is tried once
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        if !handed_out().contains(&listener.local_addr()?.port()) {
            return Ok(listener);
        }
        others.push(listener);
    }
}

/// The memory that is free, in KiB; none where the system does not say.
pub(super) fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|it| it.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A new folder that nobody else reads, as there are credentials in it: what an earlier run has left there is
/// gone. What was not made here stays, and is an error.
pub(super) fn folder(path: PathBuf) -> io::Result<PathBuf> {
    if path.exists() {
        if !path.join(OURS).is_file() {
            let path = path.display();
            let why = format!("{path} is in the way: it is of no campaign; name another folder");
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        std::fs::remove_dir_all(&path)?;
    }
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above)?;
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&path)?;
    std::fs::write(path.join(OURS), "")?;
    path.canonicalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_somebody_else_stays_and_one_of_an_earlier_run_goes() {
        let name = format!("seatrial-folder-{}", std::process::id());
        let above = std::env::temp_dir().join(name);
        let (theirs, ours) = (above.join("theirs"), above.join("ours"));
        std::fs::create_dir_all(&theirs).expect("it is made");
        std::fs::write(theirs.join("thesis"), "x").expect("it is written");
        let refused = folder(theirs.clone()).map_err(|it| it.kind());
        let is_kept = theirs.join("thesis").is_file();
        let made = folder(ours.clone()).expect("there is none");
        std::fs::write(made.join("old"), "x").expect("it is written");
        let is_old = folder(ours).expect("it is ours").join("old").exists();
        drop(std::fs::remove_dir_all(above));
        assert_eq!((refused, is_kept), (Err(io::ErrorKind::AlreadyExists), true));
        assert!(!is_old);
    }

    #[test]
    fn certificates_are_made_for_who_asks() {
        let at = std::env::temp_dir().join(format!("seatrial-certified-{}", std::process::id()));
        let made = |word: &str| {
            let programs = [("a".to_owned(), vec![word.to_owned()])];
            let services = services(&programs).expect("they are services");
            let made = certificates(at.clone(), &programs, &services).expect("they are made");
            let is_there = made.0.join("tls.key").is_file() && !made.1.is_empty();
            drop(std::fs::remove_dir_all(&at));
            is_there
        };
        let all = ["it", "--at={certificates}", "{service:a/b}"].map(made);
        assert_eq!(all, [false, true, true]);
    }

    #[test]
    fn a_service_is_one_process_and_has_a_namespace() {
        let services = |words: [&str; 2]| {
            let [a, b] = words.map(|it| vec![it.to_owned(), it.to_owned()]);
            services(&[("a".to_owned(), a), ("b".to_owned(), b)])
        };
        let pair = |namespace: &str, name: &str| (name.to_owned(), namespace.to_owned());
        let told = services(["-p={service:x/one}", "{service:y/one}:{service:y/two}"]);
        assert_eq!(told, Ok(vec![pair("x", "one"), pair("y", "one"), pair("y", "two")]));
        for bad in ["{service:one}", "{service:/one}", "{service:x/}", "{service:x/one"] {
            assert!(services([bad, ""]).is_err(), "{bad}");
        }
        let told = services(["{service:x/one}", "{service:x/one}"]);
        assert_eq!(told, Err("a and b are the service x/one".to_owned()));
    }

    #[test]
    fn no_port_is_handed_out_twice_before_its_run_ends() {
        let (mut one, mut other) = (Ports::default(), Ports::default());
        for _ in 0..500 {
            one.take().and(other.take()).expect("there are ports");
        }
        let all: BTreeSet<_> = one.taken.iter().chain(&other.taken).collect();
        assert_eq!(all.len(), 1_000);
        let ports = one.taken.clone();
        drop(one);
        assert!(other.taken.iter().all(|it| handed_out().contains(it)));
        assert!(!ports.iter().all(|it| handed_out().contains(it)), "they are free again");
    }
}
