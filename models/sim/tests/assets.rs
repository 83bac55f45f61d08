//! The folder for envtest, used as envtest does. This program is a copy of what it tests: it runs as
//! `etcd` and as `kube-apiserver` under these names, so it has a `main` of its own.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use seatrial_sim::assets;

type Authority = CertifiedIssuer<'static, KeyPair>;
/// A certificate and its key, in PEM.
type Pair = (String, String);
/// A name, and what is done in a folder of its own.
type Test = (&'static str, fn(&Path));

/// Guards against hanging; no outcome depends on it.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    if let Some(code) = assets::run_as() {
        return code;
    }
    let tests: [Test; 3] = [
        ("a_folder_is_made_twice_and_another_stays_as_it_is", folders),
        ("help_names_flags_and_wrong_ones_end_it", help),
        ("a_suite_starts_writes_is_refused_and_stops", suite),
    ];
    // The options of the test harness that tools use: a list, parts of names, and parts to leave out.
    let (mut lists, mut parts, mut without) = (false, Vec::new(), Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--list" => lists = true,
            "--skip" => without.extend(words.next()),
            "--test-threads" | "--format" | "--color" | "--logfile" => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ => parts.push(word),
        }
    }
    let mut passed = 0;
    for (name, test) in tests {
        if lists {
            println!("{name}: test");
        } else if (parts.is_empty() || parts.iter().any(|part| name.contains(part)))
            && !without.iter().any(|part| name.contains(part))
        {
            let folder = Folder::new(name);
            test(&folder.0);
            println!("test {name} ... ok");
            passed += 1;
        }
    }
    if !lists {
        let out = tests.len() - passed;
        println!(
            "test result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; {out} filtered out"
        );
    }
    ExitCode::SUCCESS
}

/// A folder that goes with its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("seatrial-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn folders(folder: &Path) {
    let made = assets::make(Some(&folder.join("new"))).expect("a new folder");
    assert!(made.is_absolute());
    let names = || {
        let files = fs::read_dir(&made).expect("it is there").map(|it| it.expect("a file"));
        let mut names: Vec<_> = files.map(|it| it.file_name()).collect();
        names.retain(|name| name != "kubectl");
        names.sort();
        names
    };
    assert_eq!(names(), [".seatrial-assets", "etcd", "kube-apiserver"]);
    assert_eq!(assets::make(Some(&made)).expect("the same again"), made);
    assert_eq!(names(), [".seatrial-assets", "etcd", "kube-apiserver"]);
    fs::write(folder.join("etcd"), "theirs").expect("a file");
    let refused = assets::make(Some(folder)).expect_err("the folder of somebody else");
    assert!(refused.to_string().ends_with("holds other files: name a new folder"), "{refused}");
    assert_eq!(fs::read(folder.join("etcd")).expect("it is there"), b"theirs");
}

fn help(folder: &Path) {
    let made = assets::make(Some(&folder.join("new"))).expect("a new folder");
    for (name, flag) in [("etcd", "--unsafe-no-fsync"), ("kube-apiserver", "--secure-port")] {
        let run = |flag: &str| Command::new(made.join(name)).arg(flag).output().expect("it runs");
        let said = String::from_utf8(run("--help").stdout).expect("text");
        let has = |flag| said.lines().any(|line| line.trim_start().starts_with(flag));
        assert!(run("--help").status.success() && has(flag), "{said}");
        // A flag that is there is set by envtest.
        assert!(!has("--insecure-port"), "{said}");
    }
    for (name, flag) in [
        ("etcd", "--listen-client-urls=https://127.0.0.1:1"),
        ("etcd", "-listen-client-urls=nowhere"),
        ("kube-apiserver", "--secure-port=65536"),
        ("kube-apiserver", "--bind-address=localhost"),
        ("kube-apiserver", "--client-ca-file=/nowhere/at/all"),
    ] {
        let ended = Command::new(made.join(name)).arg(flag).output().expect("it runs");
        let said = String::from_utf8(ended.stderr).expect("text");
        assert_eq!(ended.status.code(), Some(1), "{flag}: {said}");
        assert_eq!(said.lines().count(), 1, "{flag}: {said}");
    }
}

/// An authority of that name until a year; all of envtest have the same.
fn authority(until: i32) -> Authority {
    let mut params = CertificateParams::new(vec![]).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "envtest-environment");
    params.not_after = rcgen::date_time_ymd(until, 1, 1);
    let key = KeyPair::generate().expect("a key");
    CertifiedIssuer::self_signed(params, key).expect("a certificate")
}

/// A certificate whose key could sign others, but it is no authority.
fn leaf(authority: &Authority, names: &[&str], usage: ExtendedKeyUsagePurpose) -> Authority {
    let names: Vec<String> = names.iter().map(|&it| it.to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("names");
    params.distinguished_name.push(DnType::CommonName, "admin");
    params.distinguished_name.push(DnType::OrganizationName, "system:masters");
    params.extended_key_usages = vec![usage];
    let key = KeyPair::generate().expect("a key");
    CertifiedIssuer::signed_by(params, key, authority).expect("a certificate")
}

fn pair(of: &Authority) -> Pair {
    (of.pem(), of.key().serialize_pem())
}

/// A program of the folder, which ends with this.
struct Running(Child);

impl Running {
    fn start(made: &Path, name: &str, flags: &[String]) -> Self {
        let mut command = Command::new(made.join(name));
        Self(command.args(flags).stderr(Stdio::piped()).spawn().expect("it starts"))
    }

    /// Asks until there is an answer.
    fn await_answer(&mut self, ask: impl Fn() -> Option<String>) -> String {
        let start = Instant::now();
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            assert!(self.0.try_wait().expect("it can be asked").is_none(), "it has ended");
            assert!(start.elapsed() < PATIENCE, "there is no answer");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it as envtest does; tells what it said.
    fn stop(mut self) -> String {
        let signal = Command::new("kill").arg(self.0.id().to_string()).status();
        assert!(signal.expect("there is kill").success());
        let mut said = String::new();
        let mut pipe = self.0.stderr.take().expect("it is piped");
        pipe.read_to_string(&mut said).expect("text");
        assert_eq!(self.0.wait().expect("it ends").code(), Some(0), "{said}");
        said
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Ports that were free a moment ago, as envtest finds them.
fn ports() -> [u16; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind(("127.0.0.1", 0)).expect("a port"));
    listeners.map(|it| it.local_addr().expect("an address").port())
}

/// A client that trusts an authority, with a certificate or without.
#[derive(Clone, Copy)]
struct Client<'a> {
    port: u16,
    trusts: &'a Authority,
    certificate: Option<&'a Pair>,
    /// More lines of the head.
    head: &'a str,
}

impl Client<'_> {
    /// The answer; none if nobody listens.
    fn ask(&self, line: &str, body: &str) -> Option<String> {
        let socket = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let mut roots = RootCertStore::empty();
        roots.add(self.trusts.der().clone()).expect("a certificate");
        let config = ClientConfig::builder().with_root_certificates(roots);
        let config = match self.certificate {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = CertificateDer::from_pem_slice(certificate.as_bytes()).expect("PEM");
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("PEM");
                config.with_client_auth_cert(vec![chain], key).expect("a pair")
            }
        };
        let name = ServerName::try_from("127.0.0.1").expect("a name");
        let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
        let mut stream = StreamOwned::new(connection, socket);
        let (head, length) = (self.head, body.len());
        let end = format!("Connection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        let request = format!("{line} HTTP/1.1\r\n{head}{end}");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        Some(answer)
    }

    fn status(&self, line: &str, body: &str) -> String {
        let answer = self.ask(line, body).expect("it listens");
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    }
}

fn health(port: u16) -> Option<String> {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).ok()?;
    socket.write_all(b"GET /health HTTP/1.1\r\nHost: etcd\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("an answer");
    Some(answer)
}

/// The flags that envtest gives, one that is not known, and tokens.
fn flags(folder: &Path, port: u16, store: u16) -> Vec<String> {
    let at = |name: &str| folder.join(name).display().to_string();
    vec![
        "--allow-privileged=true".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--cert-dir={}", folder.display()),
        format!("--client-ca-file={}", at("client-cert-auth-ca.crt")),
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        format!("--etcd-servers=http://127.0.0.1:{store}"),
        "--feature-gates=SomeGate=true".to_owned(),
        format!("--secure-port={port}"),
        format!("--service-account-issuer=https://127.0.0.1:{port}/"),
        format!("--service-account-key-file={}", at("sa-signer.crt")),
        format!("--service-account-signing-key-file={}", at("sa-signer.key")),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        format!("--token-auth-file={}", at("tokens.csv")),
    ]
}

fn suite(folder: &Path) {
    let made = assets::make(Some(&folder.join("new"))).expect("a new folder");
    let [port, store] = ports();
    let mut etcd = Running::start(
        &made,
        "etcd",
        &[
            format!("--advertise-client-urls=http://127.0.0.1:{store}"),
            format!("--listen-client-urls=http://127.0.0.1:{store}"),
            "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
            format!("--data-dir={}", folder.display()),
            "--unsafe-no-fsync=true".to_owned(),
        ],
    );
    let healthy = etcd.await_answer(|| health(store));
    assert!(healthy.starts_with("HTTP/1.1 200 OK") && healthy.contains(r#""health":"true""#));

    let [servers, clients, others, past] = [4096, 4096, 4096, 2020].map(authority);
    let own = leaf(&servers, &["localhost", "127.0.0.1"], ExtendedKeyUsagePurpose::ServerAuth);
    let client = |signer| leaf(signer, &[], ExtendedKeyUsagePurpose::ClientAuth);
    let (named, server) =
        (client(&others), leaf(&others, &[], ExtendedKeyUsagePurpose::ServerAuth));
    let known = [&clients, &named, &server, &past].map(|it| it.pem()).concat();
    let (own, admin, named_one) = (pair(&own), pair(&client(&clients)), pair(&named));
    // A certificate among the authorities is trusted if it is for clients, but neither the one that has signed it
    // nor one that it has signed.
    let strangers = [client(&others), client(&named), client(&past), server].map(|it| pair(&it));
    for (name, text) in [
        ("apiserver.crt", &own.0),
        ("apiserver.key", &own.1),
        ("client-cert-auth-ca.crt", &known),
        ("tokens.csv", &"a-token,robot,1,\"system:masters\"\n".to_owned()),
    ] {
        fs::write(folder.join(name), text).expect("a file");
    }
    let mut server = Running::start(&made, "kube-apiserver", &flags(folder, port, store));
    let nobody = Client { port, trusts: &servers, certificate: None, head: "" };
    let ready = server.await_answer(|| nobody.ask("GET /healthz", ""));
    assert!(ready.starts_with("HTTP/1.1 200 OK") && ready.ends_with("\r\n\r\nok"), "{ready}");

    let (maps, map) = ("/api/v1/namespaces/default/configmaps", r#"{"metadata":{"name":"a"}}"#);
    let (post, get) = (format!("POST {maps}"), format!("GET {maps}/a"));
    let admin = Client { certificate: Some(&admin), ..nobody };
    for (nth, stranger) in strangers.iter().enumerate() {
        let stranger = Client { certificate: Some(stranger), ..nobody };
        assert_eq!(stranger.status(&post, map), "401", "stranger {nth}");
    }
    let other = Client { head: "Authorization: Bearer other\r\n", ..nobody };
    assert_eq!(other.status(&post, map), "401");
    assert_eq!(nobody.status(&post, map), "403");
    assert_eq!(admin.status(&get, ""), "404", "nothing was written");
    assert_eq!(Client { certificate: Some(&named_one), ..nobody }.status(&get, ""), "404");
    assert_eq!(admin.status(&post, map), "201");
    let robot = Client { head: "Authorization: Bearer a-token\r\n", ..nobody };
    assert_eq!(robot.status(&get, ""), "200");
    let both = Client { certificate: Some(&strangers[0]), ..robot };
    assert_eq!(both.status(&get, ""), "200", "the token counts where the certificate does not");

    let said = server.stop();
    let of = |word: &str| said.lines().filter(|line| line.contains(word)).count();
    assert_eq!((of("--feature-gates"), said.lines().count()), (1, 1), "{said}");
    assert_eq!(etcd.stop(), "");
}
