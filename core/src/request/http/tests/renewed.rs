//! Certificates that are renewed while a client runs, names of servers, impersonation.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use zeroize::Zeroizing;

use super::server::{Authority, Server, Terms, Valid};
use super::{Folder, client, echo, kind, send};
use crate::request::TransportKind;
use crate::request::http::links::Links;
use crate::request::http::{ConfigError, HttpConfig, Impersonation};
use crate::runtime::System;

#[tokio::test]
async fn a_certificate_that_is_refused_is_read_again() {
    let (folder, known) = (Folder::new("client-certificate"), Authority::new());
    let terms = Terms { clients: Some(&known), ..Terms::default() };
    let server = Server::on(terms, echo).await;
    let write = |authority: &Authority| {
        let (certificate, key) = authority.certify("client", Valid::Now);
        (folder.write("crt", certificate), folder.write("key", key))
    };
    let (certificate, key) = write(&Authority::new());
    let client = client(&server.config().identity_files(certificate, key));
    assert_eq!(kind(send(&client).await), TransportKind::Untrusted);
    write(&known);
    send(&client).await.unwrap();
    send(&client).await.unwrap();
    assert_eq!(server.connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_authority_is_read_again() {
    let folder = Folder::new("authority");
    let server = Server::start(echo).await;
    let path = folder.write("ca.crt", Authority::new().pem());
    let client = client(&server.config().authorities_file(path));
    assert_eq!(kind(send(&client).await), TransportKind::Untrusted);
    folder.write("ca.crt", server.authority.pem());
    send(&client).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn only_files_that_change_need_new_connections() {
    let (folder, authority) = (Folder::new("links"), Authority::new());
    let path = folder.write("ca.crt", authority.pem());
    let links = Links::new(&HttpConfig::new("h").unwrap().authorities_file(path)).unwrap();
    let pool = || links.pool(None).unwrap();
    let first = pool();
    let is_first = || Arc::ptr_eq(&first, &pool());
    tokio::time::advance(Duration::from_secs(11)).await;
    assert!(is_first(), "it is the same");
    folder.write("ca.crt", "-----BEGIN CERT");
    tokio::time::advance(Duration::from_secs(11)).await;
    assert!(is_first(), "it is written at this moment");
    folder.write("ca.crt", Authority::new().pem());
    assert!(is_first(), "it is not read for every request");
    tokio::time::advance(Duration::from_secs(11)).await;
    assert!(!is_first());
}

#[test]
fn what_a_plugin_issues_is_used_with_the_authorities_that_could_be_read() {
    let (folder, authority) = (Folder::new("issued"), Authority::new());
    let path = folder.write("ca.crt", authority.pem());
    let links = Links::new(&HttpConfig::new("h").unwrap().authorities_file(&path)).unwrap();
    let issued = || {
        let bytes = |pem: String| Arc::new(Zeroizing::new(pem.into_bytes()));
        let (certificate, key) = authority.certify("client", Valid::Now);
        (bytes(certificate), bytes(key))
    };
    folder.write("ca.crt", "-----BEGIN CERT");
    assert!(links.pool(Some(issued())).is_ok(), "it is written at this moment");
    std::fs::remove_file(path).unwrap();
    assert!(links.pool(Some(issued())).is_ok(), "it is replaced");
    let (certificate, _) = issued();
    assert!(links.pool(Some((certificate, issued().1))).is_err(), "the key is another one's");
}

#[tokio::test]
async fn a_server_may_have_the_name_that_it_is_given() {
    let terms = Terms { name: "elsewhere", ..Terms::default() };
    let server = Server::on(terms, echo).await;
    assert_eq!(kind(send(&client(&server.config())).await), TransportKind::Untrusted);
    send(&client(&server.config().tls_server_name("elsewhere"))).await.unwrap();
    let wrong = server.config().tls_server_name("no name").client(&System::new());
    assert!(matches!(wrong, Err(ConfigError::ServerName)));
}

#[tokio::test]
async fn everyone_is_trusted_by_who_wants_it_so() {
    let terms = Terms { name: "elsewhere", valid: Valid::NoMore, ..Terms::default() };
    let server = Server::on(terms, echo).await;
    send(&client(&server.config().insecure_skip_tls_verify())).await.unwrap();
}

#[tokio::test]
async fn who_is_impersonated_stands_in_every_request() {
    let server = Server::start(echo).await;
    let mut who = Impersonation::new("jane");
    who.groups = vec!["a".to_owned(), "b c".to_owned()];
    who.uid = Some("7".to_owned());
    who.extra.insert("acme.com/scope%".to_owned(), vec!["x".to_owned(), "y".to_owned()]);
    let client = client(&server.config().impersonate(who));
    for _ in 0..2 {
        let head: String = send(&client).await.unwrap().json().unwrap();
        for line in [
            "impersonate-user: jane",
            "impersonate-group: a",
            "impersonate-group: b c",
            "impersonate-uid: 7",
            "impersonate-extra-acme.com%2fscope%25: x",
            "impersonate-extra-acme.com%2fscope%25: y",
        ] {
            assert!(head.contains(&format!("\r\n{line}\r\n")), "{line}: {head}");
        }
    }
    let bad = server.config().impersonate(Impersonation::new("a\nb")).client(&System::new());
    assert!(matches!(bad, Err(ConfigError::Header(_))));
}

#[tokio::test]
async fn a_password_that_is_echoed_is_struck_out() {
    let server = Server::start(|_, mut stream| async move {
        let head = super::head(&mut stream).await.unwrap();
        assert!(head.contains("authorization: Basic bWU6b3BlbnNlc2FtZQ==\r\n"), "{head}");
        let text = format!("opensesame? {head}");
        super::say(&mut stream, super::whole("403 No", "Content-Type: text/plain\r\n", &text))
            .await;
    })
    .await;
    let config = server.config().basic_auth("me", "opensesame");
    let error = send(&client(&config)).await.unwrap_err();
    for told in [format!("{error:?}"), error.to_string(), format!("{config:?}")] {
        assert!(!told.contains("opensesame") && !told.contains("bWU6"), "{told}");
    }
    assert_eq!(format!("{error:?}").matches("(secret)").count(), 4, "{error:?}");
    let open = HttpConfig::new("http://h").unwrap().basic_auth("me", "opensesame");
    assert!(matches!(open.client(&System::new()), Err(ConfigError::Plain)));
}
