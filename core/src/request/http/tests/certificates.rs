//! Trust in both directions: the certificate of a server, and that of a client.

use std::sync::atomic::Ordering;

use super::broken::h2;
use super::server::{Authority, Server, Stream, Terms, Valid, head, say, whole};
use super::{client, send};
use crate::request::http::{ConfigError, HttpConfig};
use crate::request::{RequestError, TransportKind};
use crate::runtime::System;

async fn serve(_: usize, mut stream: Stream) {
    while head(&mut stream).await.is_some() {
        say(&mut stream, whole("200 OK", "", "{}")).await;
    }
}

/// Returns why a call fails for lack of trust.
async fn untrusted(config: &HttpConfig) -> String {
    let error = send(&client(config)).await.unwrap_err();
    let RequestError::Transport { last, .. } = &error else { panic!("{error:?}") };
    assert_eq!(last.kind(), TransportKind::Untrusted, "{error}");
    error.to_string()
}

#[tokio::test]
async fn a_server_that_cannot_be_trusted_gets_no_request_and_the_error_says_why() {
    let stranger = Server::start(serve).await;
    let config = stranger.config().authorities(Authority::new().pem());
    let said = untrusted(&config).await;
    assert!(said.contains("BadSignature") || said.contains("UnknownIssuer"), "{said}");
    let terms = [
        (Terms { valid: Valid::NoMore, ..Terms::default() }, "expired"),
        (Terms { valid: Valid::NotYet, ..Terms::default() }, "not valid yet"),
        (Terms { name: "elsewhere", ..Terms::default() }, "not valid for name \"localhost\""),
    ];
    for (terms, why) in terms {
        let unserved = |_, _: Stream| async { panic!("it speaks to nobody") };
        let server = Server::on(terms, unserved).await;
        let said = untrusted(&server.config()).await;
        assert!(said.contains(why), "{said}");
        assert_eq!(server.connections.load(Ordering::SeqCst), 1, "nobody asks it again");
    }
}

#[tokio::test]
async fn over_http2_a_client_that_is_not_known_is_told_why() {
    let known = Authority::new();
    let server = Server::on(Terms { clients: Some(&known), ..h2() }, |_, stream| async move {
        drop(stream); // it serves nobody
    });
    let server = server.await;
    let (certificate, key) = known.certify("client", Valid::NoMore);
    for (config, why) in [
        (server.config(), "CertificateRequired"),
        (server.config().identity(certificate, key), "CertificateExpired"),
    ] {
        let said = untrusted(&config).await;
        assert!(said.contains(why), "{said}");
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 2, "each is told once");
}

#[tokio::test]
async fn a_client_that_is_known_is_served_and_others_are_told_why_not() {
    let known = Authority::new();
    let terms = Terms { clients: Some(&known), ..Terms::default() };
    let server = Server::on(terms, serve).await;
    let as_client = |authority: &Authority, valid| {
        let (certificate, key) = authority.certify("client", valid);
        server.config().identity(certificate, key)
    };
    let config = as_client(&known, Valid::Now);
    let client = client(&config);
    for _ in 0..2 {
        assert_eq!(send(&client).await.unwrap().body, b"{}");
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
    let strange = Authority::new();
    for (config, why) in [
        (server.config(), "CertificateRequired"),
        (as_client(&known, Valid::NoMore), "CertificateExpired"),
        (as_client(&strange, Valid::Now), "received fatal alert"),
    ] {
        let said = untrusted(&config).await;
        assert!(said.contains(why), "{said}");
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 4, "each is told once");
}

#[tokio::test]
async fn a_server_that_asks_for_no_certificate_is_shown_none() {
    let server = Server::start(|_, mut stream: Stream| async move {
        drop(head(&mut stream).await);
        let shown = stream.get_ref().1.peer_certificates().is_some();
        say(&mut stream, whole("200 OK", "", &format!("{shown}"))).await;
    })
    .await;
    let (certificate, key) = Authority::new().certify("client", Valid::Now);
    let config = server.config().identity(certificate, key);
    assert!(!send(&client(&config)).await.unwrap().json::<bool>().unwrap());
}

#[test]
fn a_key_of_another_certificate_is_noticed_before_any_call() {
    let authority = Authority::new();
    let [(certificate, _), (_, key)] = [0, 1].map(|_| authority.certify("client", Valid::Now));
    let config = HttpConfig::new("h").unwrap().identity(certificate.clone(), key);
    let error = config.client(&System::new()).unwrap_err();
    assert!(matches!(error, ConfigError::Certificate("client certificate", _)), "{error}");
    let config = HttpConfig::new("h").unwrap().identity("", authority.certify("c", Valid::Now).1);
    assert!(config.client(&System::new()).is_err(), "a key without a certificate");
}

#[test]
fn authorities_without_a_certificate_are_noticed_before_any_call() {
    let authority = Authority::new();
    let (pem, key) = (authority.pem(), authority.certify("c", Valid::Now).1);
    let base64: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let (half, cut) = (&base64[..base64.len() / 2], &pem[..pem.len() / 2]);
    let broken = "-----BEGIN CERTIFICATE-----\n?\n";
    for bad in ["", "\n", &key, half, &base64, cut, broken, "nonsense"] {
        let config = HttpConfig::new("h").unwrap().authorities(bad);
        let error = config.client(&System::new()).unwrap_err();
        assert!(matches!(error, ConfigError::Certificate("authority", _)), "{bad}: {error}");
        assert!(!error.to_string().contains(half), "{error}");
    }
    let both = HttpConfig::new("h").unwrap().authorities(key + &pem);
    assert!(both.client(&System::new()).is_ok(), "a key beside it does no harm");
}
