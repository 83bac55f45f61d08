//! `seatrial apiserver`, end to end, from the view of a client in any language.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::common::{code, command, folder, refused, seatrial, text};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A running server; if its test fails, it is killed at the end.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut command = command(&["apiserver"]);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("it prints its address");
        Self { child, address: line.trim().to_owned() }
    }

    /// Sends a request and returns the whole answer, up to the end of the connection.
    fn request(&self, method: &str, target: &str, body: &str) -> String {
        let (_, address) = self.address.split_once("://").expect("an address");
        let mut stream = TcpStream::connect(address).expect("it listens");
        let length = body.len();
        let request = format!(
            "{method} {target} HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        // A lost answer is a broken connection.
        drop(stream.read_to_end(&mut answer));
        text(&answer)
    }

    /// Stops the server as Ctrl-C does.
    fn stop(mut self) -> (ExitStatus, String) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().expect("kill is there");
        assert!(sent.success());
        let status = self.child.wait().expect("it ends");
        let mut said = String::new();
        let from = self.child.stderr.take();
        from.expect("a pipe").read_to_string(&mut said).expect("text");
        (status, said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
    }
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().expect("a path in UTF-8").to_owned()
}

#[test]
fn it_prints_its_address_answers_and_ends_at_ctrl_c() {
    let server = Running::start(&[]);
    assert!(server.address.starts_with("http://127.0.0.1:"), "{}", server.address);
    let created = server.request("POST", MAPS, r#"{"metadata":{"name":"a"}}"#);
    assert!(created.starts_with("HTTP/1.1 201 Created\r\n"), "{created}");
    assert!(server.request("GET", MAPS, "").contains(r#""name":"a""#));
    let (status, said) = server.stop();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn what_it_records_conformance_replays_and_a_change_in_it_is_noticed() {
    let folder = folder("apiserver_record");
    let trace = path(&folder, "mine.jsonl");
    let server = Running::start(&["--record", &trace]);
    let generated = server.request("POST", MAPS, r#"{"metadata":{"generateName":"a-"}}"#);
    let name = generated.split("\"name\":\"").nth(1).and_then(|rest| rest.split('"').next());
    let name = name.expect("a name was made up");
    let watch = format!("{MAPS}?watch=true&resourceVersion=0&timeoutSeconds=1");
    assert!(server.request("GET", &watch, "").contains("ADDED"));
    assert!(server.request("GET", &format!("{MAPS}?limit=1"), "").contains(name));
    assert!(server.request("PUT", &format!("{MAPS}/{name}"), "{nonsense").contains("400"));
    assert!(server.request("DELETE", &format!("{MAPS}/{name}"), "").contains("Success"));
    server.request("GET", "/apis", "");
    let (status, said) = server.stop();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));

    let written = std::fs::read_to_string(&trace).expect("the trace is there");
    assert!(written.contains("a-{gen-1}") && !written.contains(name), "{written}");
    let output = seatrial(&["conformance", &trace]);
    assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("1 of 1 traces"), "{}", text(&output.stdout));

    let changed = path(&folder, "changed.jsonl");
    let other = written.replace(r#""status":201"#, r#""status":200"#);
    assert_ne!(other, written);
    std::fs::write(&changed, other).expect("it is written");
    let output = seatrial(&["conformance", &trace, &changed]);
    assert_eq!(code(&output), 100, "{}", text(&output.stdout));
    let says = "step 0, /status (rules of `create`): recorded 200";
    assert!(text(&output.stdout).contains(says), "{}", text(&output.stdout));
    let output = seatrial(&["conformance", folder.to_str().expect("a path in UTF-8")]);
    assert_eq!(code(&output), 100, "a folder is read as its files are");
}

#[test]
fn faults_of_a_file_strike() {
    let folder = folder("apiserver_faults");
    let faults = path(&folder, "faults.json");
    let fault = r#"[{"at": {"method": "POST"}, "times": 1, "what": {"Refuse": {"status": 503}}},
                    {"at": {"method": "POST"}, "after": 1, "times": 1, "what": "LoseAnswer"}]"#;
    std::fs::write(&faults, fault).expect("it is written");
    let server = Running::start(&["--faults", &faults]);
    let create = || server.request("POST", MAPS, r#"{"metadata":{"name":"a"}}"#);
    assert!(create().starts_with("HTTP/1.1 503 "));
    assert_eq!(create(), "", "the answer is lost");
    assert!(create().starts_with("HTTP/1.1 409 "), "and yet it was carried out");
    assert_eq!(server.stop().0.code(), Some(0));
}

#[test]
fn a_kubeconfig_names_the_server_and_its_authority() {
    let folder = folder("apiserver_kubeconfig");
    let config = path(&folder, "config");
    let server = Running::start(&["--tls", "--kubeconfig", &config]);
    assert!(server.address.starts_with("https://127.0.0.1:"), "{}", server.address);
    let written = std::fs::read_to_string(&config).expect("the kubeconfig is there");
    assert!(written.contains(&format!("\"server\": \"{}\"", server.address)), "{written}");
    assert!(written.contains("\"certificate-authority-data\": \"LS0tLS1CRUdJTi"), "{written}");
    let plain = server.request("GET", MAPS, "");
    assert!(!plain.contains("HTTP/1.1 200"), "nothing is told without TLS: {plain}");
    assert_eq!(server.stop().0.code(), Some(0));
    // A kubeconfig of ours is replaced, one of another program is not.
    assert_eq!(Running::start(&["--kubeconfig", &config]).stop().0.code(), Some(0));
    std::fs::write(&config, "apiVersion: v1\n").expect("it is written");
    refused(&["apiserver", "--kubeconfig", &config], "is not ours and stays as it is");
    assert_eq!(std::fs::read_to_string(&config).expect("it is there"), "apiVersion: v1\n");
}

#[test]
fn controllers_work_beside_it() {
    let server = Running::start(&["--controllers"]);
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let spec = r#"{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
                  "spec":{"containers":[{"name":"c","image":"i"}]}}}"#;
    let body = format!(r#"{{"metadata":{{"name":"d"}},"spec":{spec}}}"#);
    assert!(server.request("POST", deployments, &body).starts_with("HTTP/1.1 201 "));
    // The watch ends by itself; a pod is ready after two seconds.
    let watch = format!("{deployments}?watch=true&resourceVersion=0&timeoutSeconds=5");
    let told = server.request("GET", &watch, "");
    assert!(told.contains(r#""availableReplicas":1"#), "{told}");
    assert_eq!(server.stop().0.code(), Some(0));
}

#[test]
fn connections_are_as_many_as_it_was_told() {
    let server = Running::start(&["--connections", "1"]);
    let (_, address) = server.address.split_once("://").expect("an address");
    let mut first = TcpStream::connect(address).expect("it listens");
    first.write_all(b"GET /version HTTP/1.1\r\n\r\n").expect("it reads");
    assert!(first.read(&mut [0; 16]).expect("an answer") > 0);
    let mut refusal = Vec::new();
    let mut second = TcpStream::connect(address).expect("it listens");
    second.read_to_end(&mut refusal).expect("it hangs up");
    assert!(text(&refusal).starts_with("HTTP/1.1 503 "), "{}", text(&refusal));
    assert_eq!(server.stop().0.code(), Some(0));
}

#[test]
fn what_cannot_be_is_refused_before_anything_listens() {
    let folder = folder("apiserver_refused");
    let bad = path(&folder, "bad.json");
    std::fs::write(&bad, r#"[{"at": {}, "time": 1, "what": "Repeat"}]"#).expect("it is written");
    let full = path(&folder, "full.jsonl");
    std::fs::write(&full, "precious").expect("it is written");
    for (arguments, says) in [
        (&["--listen", "0.0.0.0:0"][..], "say --beyond-loopback"),
        (&["--listen", "here"], "invalid socket address"),
        (&["--connections", "0"], "say 1 or more"),
        (&["--controllers", "--record", "x.jsonl"], "cannot be used with"),
        (&["--faults", "/nowhere/faults.json"], "cannot read /nowhere/faults.json"),
        (
            &["--faults", &bad],
            "fault 1: unknown field `time`, expected one of `at`, `after`, `times`, `what`",
        ),
        (&["--record", &full], "stays as it is"),
        (&["--record", "/nowhere/trace.jsonl"], "name a file in a folder that is there"),
        (&["--kubeconfig", "/nowhere/config"], "name a file in a folder that is there"),
    ] {
        let all: Vec<_> = ["apiserver"].iter().chain(arguments).copied().collect();
        refused(&all, says);
    }
    let taken = Running::start(&[]);
    let (_, address) = taken.address.split_once("://").expect("an address");
    refused(&["apiserver", "--listen", address], &format!("cannot listen on {address}"));
    assert_eq!(taken.stop().0.code(), Some(0));
}

#[test]
fn it_is_in_the_help() {
    assert!(text(&seatrial(&["--help"]).stdout).contains("apiserver"));
    let help = text(&seatrial(&["apiserver", "--help"]).stdout);
    for says in ["--listen", "--tls", "--kubeconfig", "--record", "--faults", "LoseAnswer"] {
        assert!(help.contains(says), "{says}: {help}");
    }
}

#[test]
fn assets_prints_the_folder_alone_and_its_programs_run() {
    let folder = folder("assets");
    let out = seatrial(&["assets", &path(&folder, "made")]);
    let made = text(&out.stdout);
    assert!(out.status.success() && made.lines().count() == 1, "{made}");
    for name in ["etcd", "kube-apiserver"] {
        let program = std::path::Path::new(made.trim_end()).join(name);
        let help = Command::new(program).arg("--help").output().expect("it starts");
        assert!(help.status.success() && text(&help.stdout).contains(&format!("  {name} [flags]")));
    }
    refused(&["assets", &folder.display().to_string()], "holds other files: name a new folder");
}
