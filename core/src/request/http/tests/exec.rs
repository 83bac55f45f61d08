//! Programs that issue credentials: shell scripts, against a server on loopback.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::server::{Authority, Server, Terms, Valid, head, say, whole};
use super::{Folder, Http, client, echo, send};
use crate::request::RequestError;
use crate::request::http::{HttpConfig, Kubeconfig};

const VERSION: &str = "client.authentication.k8s.io/v1";

/// A folder with a kubeconfig whose user is a script.
struct Script {
    folder: Folder,
    exec: Value,
    cluster: Value,
}

impl Script {
    fn new(name: &str, server: &Server, script: &str) -> Self {
        let folder = Folder::new(name);
        let path = folder.write("plugin.sh", format!("cd '{}'\n{script}", folder.0.display()));
        let exec = json!({
            "apiVersion": VERSION, "interactiveMode": "IfAvailable",
            "command": "sh", "args": [path],
        });
        folder.write("ca.crt", server.authority.pem());
        let cluster = json!({
            "server": format!("https://localhost:{}", server.address.port()),
            "certificate-authority": "ca.crt",
        });
        Self { folder, exec, cluster }
    }

    fn config(&self) -> HttpConfig {
        let text = json!({
            "current-context": "c",
            "contexts": [{ "name": "c", "context": { "cluster": "k", "user": "u" } }],
            "clusters": [{ "name": "k", "cluster": self.cluster }],
            "users": [{ "name": "u", "user": { "exec": self.exec } }],
        });
        let path = self.folder.write("config", text.to_string());
        Kubeconfig::read(path).unwrap().config().unwrap()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.0.join(name)).unwrap_or_default()
    }

    /// How often the script has run.
    fn runs(&self) -> usize {
        self.read("runs").lines().count()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.0.join(name)
    }
}

/// Issues a token that counts the runs.
fn counting(status: &str) -> String {
    format!(
        "echo run >>runs
        token=t-$(grep -c run runs)
        echo '{{\"kind\": \"ExecCredential\", \"apiVersion\": \"{VERSION}\", \"status\": {{{status}
            \"token\": \"'$token'\"}}}}'"
    )
}

/// Makes calls at the same time.
async fn at_once(client: &Arc<Http>, count: usize) -> Vec<Result<String, RequestError>> {
    let calls = (0..count).map(|_| {
        let client = Arc::clone(client);
        tokio::spawn(async move { send(&client).await?.json() })
    });
    let mut told = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        told.push(call.await.unwrap());
    }
    told
}

/// Knows one token, and echoes.
async fn knows(token: &'static str) -> Server {
    Server::start(move |_, mut stream| async move {
        while let Some(head) = head(&mut stream).await {
            let is_known = head.contains(&format!("authorization: Bearer {token}\r\n"));
            let status = if is_known { "200 OK" } else { "401 Unauthorized" };
            say(&mut stream, whole(status, "", &json!(head).to_string())).await;
        }
    })
    .await
}

#[tokio::test]
async fn a_program_runs_once_for_many_calls_and_again_when_its_token_is_refused() {
    let server = knows("t-2").await;
    let script = Script::new("exec-once", &server, &counting(""));
    let client = Arc::new(client(&script.config()));
    for told in at_once(&client, 10).await {
        let error = told.unwrap_err();
        assert_eq!(error.status().unwrap().code, 401);
        assert!(!format!("{error:?}").contains("t-1"), "it is a secret: {error:?}");
    }
    assert_eq!(script.runs(), 1);
    for told in at_once(&client, 10).await {
        told.unwrap();
    }
    assert_eq!(script.runs(), 2);
}

#[tokio::test]
async fn a_credential_is_used_until_it_expires() {
    let server = Server::start(echo).await;
    for (expiry, runs) in [("2001-01-01T00:00:00Z", 3), ("4001-01-01T00:00:00+01:00", 1)] {
        let expires = format!("\"expirationTimestamp\": \"{expiry}\",");
        let script = Script::new("exec-expires", &server, &counting(&expires));
        let client = client(&script.config());
        for _ in 0..3 {
            let head: String = send(&client).await.unwrap().json().unwrap();
            let wanted = format!("authorization: Bearer t-{}\r\n", script.runs());
            assert!(head.contains(&wanted), "{head}");
        }
        assert_eq!(script.runs(), runs);
    }
}

#[tokio::test]
async fn a_program_is_told_what_it_may_know() {
    let server = Server::start(echo).await;
    let told =
        format!("printf %s \"$KUBERNETES_EXEC_INFO\" >told; echo $MINE >mine\n{}", counting(""));
    let mut script = Script::new("exec-told", &server, &told);
    script.exec["env"] = json!([{ "name": "MINE", "value": "my own" }]);
    send(&client(&script.config())).await.unwrap();
    let info = || serde_json::from_str::<Value>(&script.read("told")).unwrap();
    let spec = json!({ "interactive": false });
    assert_eq!(info(), json!({ "kind": "ExecCredential", "apiVersion": VERSION, "spec": spec }));
    assert_eq!(script.read("mine"), "my own\n");
    let info = info()["spec"].clone();
    assert!(info.get("cluster").is_none());
    script.exec["provideClusterInfo"] = json!(true);
    script.cluster["tls-server-name"] = json!("localhost");
    script.cluster["disable-compression"] = json!(true);
    script.cluster["extensions"] = json!([
        { "name": "other", "extension": 1 },
        { "name": "client.authentication.k8s.io/exec", "extension": { "audience": "x" } },
    ]);
    send(&client(&script.config())).await.unwrap();
    let info: Value = serde_json::from_str(&script.read("told")).unwrap();
    let pem = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, server.authority.pem());
    let wanted = json!({
        "server": script.cluster["server"], "certificate-authority-data": pem,
        "tls-server-name": "localhost", "disable-compression": true, "config": { "audience": "x" },
    });
    assert_eq!(info["spec"]["cluster"], wanted);
}

#[tokio::test]
async fn a_certificate_that_a_program_issues_is_shown_and_renewed() {
    let known = Authority::new();
    let terms = Terms { clients: Some(&known), ..Terms::default() };
    let server = Server::on(terms, echo).await;
    let script = Script::new("exec-certificate", &server, "echo run >>runs; cat credential");
    let issue = |authority: &Authority, valid, expires: &str| {
        let (certificate, key) = authority.certify("client", valid);
        let status = json!({
            "clientCertificateData": certificate, "clientKeyData": key,
            "expirationTimestamp": expires,
        });
        let told = json!({ "kind": "ExecCredential", "apiVersion": VERSION, "status": status });
        script.folder.write("credential", told.to_string());
    };
    issue(&known, Valid::NoMore, "4001-01-01T00:00:00Z");
    let client = client(&script.config());
    assert_eq!(super::kind(send(&client).await), crate::request::TransportKind::Untrusted);
    issue(&known, Valid::Now, "2001-01-01T00:00:00Z");
    send(&client).await.unwrap();
    send(&client).await.unwrap();
    assert_eq!((script.runs(), server.connections.load(Ordering::SeqCst)), (3, 2));
    issue(&known, Valid::Now, "4001-01-01T00:00:00Z");
    send(&client).await.unwrap();
    send(&client).await.unwrap();
    assert_eq!((script.runs(), server.connections.load(Ordering::SeqCst)), (4, 3));
}

#[tokio::test]
async fn what_a_program_says_is_in_no_error() {
    let server = Server::start(echo).await;
    let say = |kind: &str, version: &str, rest: &str| {
        format!("echo '{{\"kind\": \"{kind}\", \"apiVersion\": \"{version}\", {rest}}}'")
    };
    let status =
        |fields: &str| say("ExecCredential", VERSION, &format!("\"status\": {{{fields}}}"));
    let no_version = "it does not say the version that it was asked for";
    for (script, wanted) in [
        ("echo s3cret; exit 3".to_owned(), "ended with exit status: 3"),
        ("kill -9 $$".to_owned(), "ended with signal: 9"),
        ("echo s3cret".to_owned(), "is no ExecCredential"),
        (String::new(), "is no ExecCredential"),
        ("head -c 1000000 /dev/zero".to_owned(), "says more than 262144 bytes"),
        (say("Status", VERSION, "\"status\": {\"token\": \"s3cret\"}"), "is no ExecCredential"),
        (say("ExecCredential", "client.authentication.k8s.io/v1beta1", "\"a\": 1"), no_version),
        (say("ExecCredential", VERSION, "\"spec\": {}"), "the status is missing"),
        (status(""), "neither a token nor a certificate"),
        (status("\"token\": \"s3cret\", \"clientKeyData\": \"s3cret\""), "without the other"),
        (status("\"token\": \"s3cret\", \"expirationTimestamp\": \"s3cret\""), "is no time"),
        (status("\"token\": [\"s3cret\"]"), "is no ExecCredential"),
        (status("\"token\": \"s3cret\\u0001\""), "letters that no header takes"),
        (
            status("\"clientCertificateData\": \"s3cret\", \"clientKeyData\": \"s3cret\""),
            "the client key cannot be used",
        ),
    ] {
        let script = Script::new("exec-bad", &server, &script);
        let error = send(&client(&script.config())).await.unwrap_err();
        assert!(error.to_string().contains(wanted), "{wanted}: {error}");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
    let mut missing = Script::new("exec-missing", &server, "");
    missing.exec["command"] = json!("./no-such-plugin");
    missing.exec["installHint"] = json!("apt install it\n");
    let error = send(&client(&missing.config())).await.unwrap_err().to_string();
    let config = missing.path("config").display().to_string();
    assert!(error.starts_with(&format!("{config}: context \"c\", user \"u\": exec: ")), "{error}");
    assert!(error.contains(&missing.path("./no-such-plugin").display().to_string()), "{error}");
    assert!(error.ends_with("cannot be started: entity not found: apt install it"), "{error}");
}

#[tokio::test]
async fn calls_that_wait_for_a_program_that_fails_fail_with_it() {
    let server = Server::start(echo).await;
    let script = Script::new("exec-fails", &server, "echo run >>runs; exit 1");
    let client = Arc::new(client(&script.config()));
    assert!(at_once(&client, 10).await.iter().all(Result::is_err));
    assert_eq!(script.runs(), 1);
    send(&client).await.unwrap_err();
    assert_eq!(script.runs(), 2);
}

#[tokio::test]
async fn a_program_runs_to_its_end_although_its_caller_gives_up() {
    let server = Server::start(echo).await;
    let slow = format!("until [ -e gate ]; do sleep 0.02; done\n{}", counting(""));
    let script = Script::new("exec-slow", &server, &slow);
    let client = Arc::new(client(&script.config()));
    let first = tokio::spawn({
        let client = Arc::clone(&client);
        async move { send(&client).await }
    });
    tokio::task::yield_now().await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    script.folder.write("gate", "");
    send(&client).await.unwrap();
    assert_eq!(script.runs(), 1);
}

#[tokio::test]
async fn a_program_that_does_not_end_is_ended() {
    let server = Server::start(echo).await;
    let script = Script::new("exec-hangs", &server, "exec sleep 1000");
    let mut config = script.config();
    config.plugin = config.plugin.map(|it| it.within(std::time::Duration::from_millis(50)));
    let error = send(&client(&config)).await.unwrap_err();
    assert!(error.to_string().contains("was not ready within 50ms"), "{error}");
}
