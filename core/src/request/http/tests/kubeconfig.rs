//! Files that people have, and files that they should not have.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::server::{Authority, Server, Terms, Valid};
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

#[test]
fn errors_name_file_context_and_field_but_no_secret() {
    let folder = Folder::new("bad-kubeconfig");
    let https = || json!({ "server": "https://h", "insecure-skip-tls-verify": true });
    let key = Authority::new().certify("c", Valid::Now).1;
    let exec = |field: &str, value: Value| {
        let mut exec = json!({
            "apiVersion": "client.authentication.k8s.io/v1", "command": "x",
            "interactiveMode": "Never",
        });
        exec[field] = value;
        json!({ "exec": exec })
    };
    let cluster = "context \"c\", cluster \"k\": ";
    let user = "context \"c\", user \"u\": ";
    for (text, part, field) in [
        (of(json!({}), json!({})), cluster, "server: it is not set"),
        (of(json!({ "server": "https://a@b" }), json!({})), cluster, "server: "),
        (of(json!({ "server": "http://h" }), json!({ "token": SECRET })), user, "server: a token"),
        (
            of(json!({ "server": "h", "certificate-authority-data": "?" }), json!({})),
            cluster,
            "certificate-authority-data: it is no base64",
        ),
        (
            of(json!({ "server": "h", "certificate-authority-data": encoded(SECRET) }), json!({})),
            user,
            "certificate-authority: ",
        ),
        (
            of(json!({ "server": "h", "certificate-authority": "missing" }), json!({})),
            cluster,
            "certificate-authority: cannot read ",
        ),
        (
            of(json!({ "server": "h", "proxy-url": format!("ftp://me:{SECRET}@p") }), json!({})),
            cluster,
            "proxy-url: the proxy cannot be used",
        ),
        (of(https(), json!({ "tokenFile": "missing" })), user, "tokenFile: cannot read "),
        (of(https(), json!({ "client-key-data": encoded(&key) })), user, "client-certificate: "),
        (
            of(https(), json!({ "client-certificate-data": "" , "client-key-data": SECRET })),
            user,
            "client-key-data: it is no base64",
        ),
        (
            of(https(), json!({ "client-certificate-data": encoded("x") })),
            user,
            "client-key: it is",
        ),
        (
            of(
                https(),
                json!({ "client-certificate-data": "eA==", "client-key-data": encoded(SECRET) }),
            ),
            user,
            "client-key: the client key cannot be used",
        ),
        (of(https(), json!({ "password": SECRET })), user, "username: it is not set"),
        (of(https(), json!({ "as-groups": ["a"] })), user, "as: it is not set"),
        (of(https(), json!({ "as": "a\nb" })), user, "as: the impersonated user"),
        (of(https(), json!({ "auth-provider": { "name": "gcp" } })), user, "auth-provider: "),
        (of(https(), exec("command", json!(null))), user, "exec.command: it is not set"),
        (of(https(), exec("apiVersion", json!("v1alpha1"))), user, "exec.apiVersion: only"),
        (
            of(https(), exec("interactiveMode", json!(null))),
            user,
            "exec.interactiveMode: it is not",
        ),
        (of(https(), exec("interactiveMode", json!("Always"))), user, "exec.interactiveMode: the"),
        (of(https(), exec("env", json!([{ "name": "a=b" }]))), user, "exec.env: "),
        ("{contexts: []}".to_owned(), "", "current-context: it is not set"),
        ("{current-context: x}".to_owned(), "", "context \"x\": there is none of this name"),
    ] {
        let path = folder.write("config", text);
        let told = refused(&Kubeconfig::read(&path).unwrap());
        assert_eq!(told.file(), path);
        let wanted = format!("{}: {part}{field}", path.display());
        assert!(told.to_string().starts_with(&wanted), "{told}\n{wanted}");
        for told in [format!("{told:?}"), told.to_string()] {
            assert!(!told.contains(SECRET) && !told.contains(&encoded(SECRET)), "{told}");
        }
    }
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
