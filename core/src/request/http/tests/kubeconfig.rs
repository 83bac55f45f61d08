//! Files that people have, and files that they should not have.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::server::{Authority, Server, Terms, Valid, head, say, whole};
use super::{Folder, client, echo, send};
use crate::request::http::kubeconfig::{Kubeconfig, KubeconfigError};
use crate::request::http::{ConfigError, HttpConfig};

/// Occurs in every secret.
const SECRET: &str = "s3cret";

fn encoded(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

fn refused(kubeconfig: &Kubeconfig) -> KubeconfigError {
    match kubeconfig.config() {
        Err(ConfigError::Kubeconfig(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// The head of the request that a client with this configuration sends.
async fn head_of(config: &HttpConfig) -> String {
    send(&client(config)).await.unwrap().json().unwrap()
}

#[tokio::test]
async fn a_context_names_a_cluster_and_a_user() {
    let (folder, known) = (Folder::new("kubeconfig"), Authority::new());
    let terms = Terms { name: "elsewhere", clients: Some(&known), ..Terms::default() };
    let server = Server::on(terms, echo).await;
    let (certificate, key) = known.certify("client", Valid::Now);
    let (port, data) = (server.address.port(), encoded(&server.authority.pem()));
    folder.write("in/ca.crt", server.authority.pem());
    folder.write("in/me.key", key);
    folder.write("in/token", "from-file\n");
    let (lines, rest) = data.split_at(60);
    let text = format!(
        "
apiVersion: v1
kind: Config
preferences: {{}}
current-context: &one one
clusters:
- name: data
  cluster: {{server: 'https://localhost:{port}', tls-server-name: elsewhere, extensions: null,
    certificate-authority: not-read, certificate-authority-data: \"{lines}\\n{rest}\"}}
- name: file
  cluster: {{server: 'https://localhost:{port}/', tls-server-name: elsewhere,
    certificate-authority: in/ca.crt}}
- name: anyone
  cluster: {{server: 'https://localhost:{port}', insecure-skip-tls-verify: true}}
users:
- name: me
  user: {{client-certificate-data: {certificate}, client-key: in/me.key, token: 12345, as: jane,
    as-groups: [g], unknown: 1}}
- name: other
  user: {{client-certificate-data: {certificate}, client-key: in/me.key, tokenFile: in/token,
    token: fallback}}
- name: basic
  user: {{client-certificate-data: {certificate}, client-key: in/me.key, username: a, password: b}}
contexts:
- name: *one
  context: {{cluster: data, user: me, namespace: work}}
- name: two
  context: {{cluster: file, user: other}}
- name: three
  context: {{cluster: anyone, user: basic}}
",
        certificate = encoded(&certificate)
    );
    let path = folder.write("config", text);
    let kubeconfig = Kubeconfig::read(&path).unwrap();
    assert_eq!(kubeconfig.context(), Some("one"));
    assert_eq!(kubeconfig.contexts().collect::<Vec<_>>(), ["one", "three", "two"]);
    assert_eq!(kubeconfig.namespace(), "work");
    let head = head_of(&kubeconfig.config().unwrap()).await;
    assert!(head.contains("authorization: Bearer 12345\r\n"), "{head}");
    assert!(head.contains("impersonate-user: jane\r\n"), "{head}");
    let two = kubeconfig.with_context("two");
    assert_eq!(two.namespace(), "default");
    let head = head_of(&two.config().unwrap()).await;
    assert!(head.contains("authorization: Bearer from-file\r\n"), "{head}");
    folder.write("in/token", " ");
    let head = head_of(&two.config().unwrap()).await;
    assert!(head.contains("authorization: Bearer fallback\r\n"), "{head}");
    let head = head_of(&two.with_context("three").config().unwrap()).await;
    assert!(head.contains("authorization: Basic YTpi\r\n"), "{head}");
}

#[tokio::test]
async fn a_token_file_may_come_after_the_first_request() {
    let server = Server::start(|_, mut stream| async move {
        while let Some(head) = head(&mut stream).await {
            let is_new = head.contains("authorization: Bearer from-file\r\n");
            let status = if is_new { "200 OK" } else { "401 Unauthorized" };
            say(&mut stream, whole(status, "", "{}")).await;
        }
    })
    .await;
    let folder = Folder::new("late-token");
    let text = |user| {
        let authority = encoded(&server.authority.pem());
        let address = format!("https://localhost:{}", server.address.port());
        of(json!({ "server": address, "certificate-authority-data": authority }), user)
    };
    let path = folder.write("config", text(json!({ "tokenFile": "late", "token": SECRET })));
    let http = client(&Kubeconfig::read(path).unwrap().config().unwrap());
    for written in [None, Some(" \n")] {
        if let Some(text) = written {
            folder.write("late", text);
        }
        assert_eq!(send(&http).await.unwrap_err().status().unwrap().code, 401, "{written:?}");
    }
    folder.write("late", "from-file\n");
    send(&http).await.unwrap();
    std::fs::remove_file(folder.0.join("late")).unwrap();
    send(&http).await.unwrap(); // the token that was read last

    let path = folder.write("config", text(json!({ "tokenFile": "late" })));
    let kubeconfig = Kubeconfig::read(path).unwrap();
    assert!(kubeconfig.config().is_err(), "there is no token at all");
    folder.write("late", "from-file");
    send(&client(&kubeconfig.config().unwrap())).await.unwrap();
}

#[test]
fn the_first_file_that_has_an_entry_decides_it_as_a_whole() {
    let folder = Folder::new("merged");
    let first = folder.write(
        "one/config",
        "{current-context: '', users: [{name: red, user: {token: a}}],
          contexts: [{name: c, context: {cluster: k, user: red}}]}",
    );
    let second = folder.write(
        "two/config",
        "{current-context: c, users: [{name: red, user: {username: x, password: y}}],
          clusters: [{name: k, cluster: {server: 'https://two', certificate-authority: ca}}]}",
    );
    let third = folder.write(
        "three/config",
        "{current-context: d, contexts: [{name: c, context: {cluster: none}}, {name: d}],
          clusters: [{name: k, cluster: {server: 'https://three'}}]}",
    );
    folder.write("two/ca", Authority::new().pem());
    let empty = folder.write("empty", "# nothing\n");
    let files = [folder.0.join("missing"), empty, first, second, third];
    let kubeconfig = Kubeconfig::merged(&files).unwrap().unwrap();
    assert_eq!(kubeconfig.context(), Some("c"));
    let config = kubeconfig.config().unwrap();
    assert_eq!(config.base.to_string(), "https://two/");
    assert!(config.token.is_some() && config.password.is_none());
    assert_eq!(kubeconfig.contexts().collect::<Vec<_>>(), ["c", "d"]);
    assert!(Kubeconfig::merged(&files[..1]).unwrap().is_none());
    assert!(Kubeconfig::read(folder.0.join("missing")).is_err());
    let told = refused(&kubeconfig.with_context("d"));
    assert!(told.to_string().ends_with("context \"d\": cluster: it is not set"), "{told}");
    assert_eq!(told.file(), files[4]);
}

/// A kubeconfig with these fields of its cluster and its user.
fn of(cluster: Value, user: Value) -> String {
    json!({
        "current-context": "c",
        "contexts": [{ "name": "c", "context": { "cluster": "k", "user": "u" } }],
        "clusters": [{ "name": "k", "cluster": cluster }],
        "users": [{ "name": "u", "user": user }],
    })
    .to_string()
}

/// Checks that an error names a field of a cluster, of a user, or of neither, and no secret.
fn check_told(folder: &Folder, text: &str, wanted: &str) {
    let path = folder.write("config", text);
    let told = refused(&Kubeconfig::read(&path).unwrap());
    assert_eq!(told.file(), path);
    let wanted = format!("{}: {wanted}", path.display());
    assert!(told.to_string().starts_with(&wanted), "{told}\n{wanted}");
    for told in [format!("{told:?}"), told.to_string()] {
        assert!(!told.contains(SECRET) && !told.contains(&encoded(SECRET)), "{told}");
    }
}

#[test]
fn errors_name_file_context_and_field_of_a_cluster_but_no_secret() {
    let folder = Folder::new("bad-cluster");
    let proxy = format!("ftp://me:{SECRET}@p");
    for (cluster, wanted) in [
        (json!({}), "server: it is not set"),
        (json!({ "server": format!("https://a:{SECRET}@b") }), "server: "),
        (
            json!({ "server": "h", "certificate-authority-data": "?" }),
            "certificate-authority-data: it is no base64",
        ),
        (
            json!({ "server": "h", "certificate-authority-data": encoded(SECRET) }),
            "certificate-authority: the authority cannot be used",
        ),
        (
            json!({ "server": "h", "certificate-authority": "missing" }),
            "certificate-authority: cannot read ",
        ),
        (
            json!({
                "server": "h", "certificate-authority-data": "eA==",
                "insecure-skip-tls-verify": true,
            }),
            "insecure-skip-tls-verify: an authority is set as well",
        ),
        (
            json!({ "server": "h", "insecure-skip-tls-verify": true, "tls-server-name": "no name" }),
            "tls-server-name: ",
        ),
        (json!({ "server": "h", "proxy-url": proxy }), "proxy-url: the proxy cannot be used"),
    ] {
        let wanted = format!("context \"c\", cluster \"k\": {wanted}");
        check_told(&folder, &of(cluster, json!({})), &wanted);
    }
    check_told(&folder, "{contexts: []}", "current-context: it is not set");
    let none = "context \"x\": there is none of this name";
    check_told(&folder, "{current-context: x}", none);
    let context = "{current-context: x, contexts: [{name: x, context: {cluster: y}}]}";
    check_told(&folder, context, "context \"x\": cluster: there is no cluster \"y\"");
}

#[test]
fn errors_name_file_context_and_field_of_a_user_but_no_secret() {
    let folder = Folder::new("bad-user");
    let key = encoded(&Authority::new().certify("c", Valid::Now).1);
    let secret = encoded(SECRET);
    let exec = |field: &str, value: Value| {
        let mut exec = json!({
            "apiVersion": "client.authentication.k8s.io/v1", "command": "x",
            "interactiveMode": "Never",
        });
        exec[field] = value;
        json!({ "exec": exec })
    };
    for (user, wanted) in [
        (json!({ "tokenFile": "missing" }), "tokenFile: cannot read "),
        (json!({ "client-key-data": key }), "client-certificate: it is not set"),
        (json!({ "client-key-data": SECRET }), "client-key-data: it is no base64"),
        (json!({ "client-certificate-data": secret }), "client-key: it is not set"),
        (
            json!({ "client-certificate-data": secret, "client-key-data": secret }),
            "client-key: the client key cannot be used",
        ),
        (
            json!({ "client-certificate-data": secret, "client-key-data": key }),
            "client-certificate: the client certificate cannot be used",
        ),
        (json!({ "password": SECRET }), "username: it is not set"),
        (json!({ "token": SECRET, "username": "a", "password": SECRET }), "password: a token"),
        (json!({ "as-groups": ["a"] }), "as: it is not set"),
        (json!({ "as": "a\nb" }), "as: the impersonated user"),
        (json!({ "auth-provider": { "name": "gcp" } }), "auth-provider: "),
        (exec("command", json!(null)), "exec.command: it is not set"),
        (exec("apiVersion", json!("v1alpha1")), "exec.apiVersion: only"),
        (exec("interactiveMode", json!(null)), "exec.interactiveMode: it is not set"),
        (exec("interactiveMode", json!("Always")), "exec.interactiveMode: the program wants"),
        (exec("interactiveMode", json!("always")), "exec.interactiveMode: it is no such mode"),
        (exec("env", json!([{ "name": "a=b", "value": SECRET }])), "exec.env: "),
    ] {
        let wanted = format!("context \"c\", user \"u\": {wanted}");
        let cluster = json!({ "server": "https://h", "insecure-skip-tls-verify": true });
        check_told(&folder, &of(cluster, user), &wanted);
    }
}

#[test]
fn a_server_without_tls_is_shown_no_credentials() {
    let folder = Folder::new("open-cluster");
    let user = json!({ "token": SECRET, "tokenFile": "missing", "as": "a", "exec": {} });
    let path = folder.write("config", of(json!({ "server": "http://h" }), user));
    let config = Kubeconfig::read(path).unwrap().config().unwrap();
    assert!(!config.has_secrets());
    assert_eq!(config.impersonation.unwrap().user, "a");
}

#[test]
fn what_cannot_be_read_is_told_with_its_field_and_place_alone() {
    let folder = Folder::new("no-kubeconfig");
    for (text, wanted) in [
        (of(json!({}), json!({ "token": [SECRET] })), "users[0].user.token: it has another form"),
        (format!("users:\n- name: a\n  user: {SECRET}\n"), "users[0].user: it has another form"),
        (format!("users:\n  - name: a\n   {SECRET}: ["), "(line "),
        (SECRET.to_owned(), "it is not YAML"),
        (format!("- {SECRET}"), "it is not YAML"),
        (format!("a: *{SECRET}"), "(line "),
        (format!("users: [{{name: {SECRET}}}, {{name: {SECRET}}}]"), "users[1].name: an entry"),
        ("[".repeat(100_000), "it is not YAML"),
        (bomb(), ""),
    ] {
        let path = folder.write("config", &text);
        let told = Kubeconfig::read(&path).unwrap_err();
        assert!(told.to_string().contains(wanted), "{told}\n{wanted}");
        for told in [format!("{told:?}"), told.to_string()] {
            assert!(!told.contains(SECRET), "{told}");
        }
    }
    let path = folder.write("config", [0xff, 0xfe, 0]);
    assert!(Kubeconfig::read(&path).is_err());
    assert!(Kubeconfig::read(&folder.0).is_err(), "a folder");
}

/// A text whose aliases stand for a billion entries.
fn bomb() -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let uses = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{uses}]\n"));
    }
    text + "users: *a9\n"
}

#[test]
fn a_spoiled_kubeconfig_is_an_error_or_another_one() {
    let folder = Folder::new("spoiled");
    let user = json!({ "token": SECRET, "as": "a", "exec": { "env": [{ "name": "a" }] } });
    let text = of(json!({ "server": "https://h", "insecure-skip-tls-verify": true }), user);
    for at in 0..text.len() {
        for new in [None, Some("\n"), Some("{"), Some("'"), Some("&"), Some("\u{0}"), Some("9")] {
            let (before, after) = text.split_at(at);
            let spoiled = new.map_or(before.to_owned(), |new| [before, new, &after[1..]].concat());
            let path = folder.write("config", spoiled);
            let told = Kubeconfig::read(&path).map(|it| it.config().map(drop));
            assert!(!format!("{told:?}").contains(SECRET), "{told:?}");
        }
    }
}

/// Set for the process that the test below starts.
#[cfg(unix)]
const CHILD: &str = "SEATRIAL_INFERS";

#[cfg(unix)] // `HOME` is where the kubeconfig is
#[tokio::test]
async fn the_environment_names_the_kubeconfig_and_the_authorities_of_the_system() {
    if std::env::var_os(CHILD).is_some() {
        let head = head_of(&HttpConfig::infer().unwrap()).await;
        assert!(head.contains("authorization: Bearer mine\r\n"), "{head}");
        return;
    }
    let (folder, server) = (Folder::new("infers"), Server::start(echo).await);
    let authorities = folder.write("roots.pem", server.authority.pem());
    let address = format!("https://localhost:{}", server.address.port());
    let text = of(json!({ "server": address }), json!({ "token": "mine" }));
    let (path, home) = (folder.write("config", &text), folder.0.join("home"));
    folder.write("home/.kube/config", text);
    let list = std::env::join_paths([folder.0.join("missing"), path]).unwrap();
    let name = "the_environment_names_the_kubeconfig_and_the_authorities_of_the_system";
    for (variable, value) in [("KUBECONFIG", list.as_os_str()), ("HOME", home.as_os_str())] {
        let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
        child.arg(name).env(CHILD, "1").env_remove("KUBECONFIG").env_remove("SSL_CERT_DIR");
        child.env("SSL_CERT_FILE", &authorities).env("HTTPS_PROXY", "http://nowhere.invalid:1");
        let ended = child.env(variable, value).output().await.unwrap();
        let told = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && told.contains("1 passed"), "{told}");
    }
    assert_eq!(server.connections.load(std::sync::atomic::Ordering::SeqCst), 2);
}
