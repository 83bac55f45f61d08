//! Webhooks over HTTPS, with a server that listens.

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::hook;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use seatrial_sim::apiserver::{Options, Server};
use seatrial_sim::http::{Face, Listen, Tls};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A webhook of somebody else, on a thread that ends with the test program: it labels what is made.
pub(crate) fn listen(tls: &Tls) -> SocketAddr {
    let (send, receive) = std::sync::mpsc::channel();
    let acceptor = TlsAcceptor::from(tls.config());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("it starts").block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
            send.send(listener.local_addr().expect("an address")).expect("somebody waits");
            while let Ok((socket, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // A client that does not trust it hangs up.
                    let Ok(stream) = acceptor.accept(socket).await else { return };
                    let service = hyper::service::service_fn(answer);
                    let builder = hyper::server::conn::http1::Builder::new();
                    drop(builder.serve_connection(TokioIo::new(stream), service).await);
                });
            }
        });
    });
    receive.recv().expect("it listens")
}

async fn answer(
    request: http::Request<Incoming>,
) -> Result<http::Response<Full<bytes::Bytes>>, Infallible> {
    let url = request.uri().to_string();
    assert!(request.headers().contains_key("content-length"), "some read no body without");
    let body = request.into_body().collect().await.expect("a body").to_bytes();
    let review: Value = serde_json::from_slice(&body).expect("JSON");
    if review["kind"] == "ConversionReview" {
        let answer = crate::conversion::hook::review("ok", &review);
        return Ok(http::Response::new(Full::new(answer.to_string().into())));
    }
    let patch = json!([{"op": "add", "path": "/metadata/labels", "value": {"by": "webhook"}}]);
    let response = json!({
        "uid": review["request"]["uid"], "allowed": true, "patchType": "JSONPatch",
        "patch": STANDARD.encode(patch.to_string()), "warnings": [format!("asked at {url}")],
    });
    let answer = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    // One that answers without end is cut off.
    let more = if url.starts_with("/endless") { " ".repeat(8 << 20) } else { String::new() };
    Ok(http::Response::new(Full::new(format!("{more}{answer}").into())))
}

pub(crate) fn post(face: &Face, path: &str, body: &Value) -> String {
    send(face, &format!("POST {path}"), &body.to_string())
}

/// Sends a request on a connection of its own, and reads to the end.
pub(crate) fn send(face: &Face, asked: &str, body: &str) -> String {
    let mut socket = TcpStream::connect(face.address()).expect("it listens");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
    let length = body.len();
    write!(socket, "{asked} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
        .expect("it reads");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("an answer");
    answer
}

/// A server with a webhook at a URL; it trusts this authority.
fn face(url: &str, authority: &str) -> Face {
    let face = Face::listen(Server::new(&Options::default()), &Listen::default()).expect("a port");
    let client = json!({"url": url, "caBundle": STANDARD.encode(authority)});
    let body = json!({"metadata": {"name": "m"}, "webhooks": [hook("m.x.io", json!({"clientConfig": client}))]});
    let path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    assert!(post(&face, path, &body).starts_with("HTTP/1.1 201"));
    face
}

#[test]
fn a_webhook_over_https_is_asked_if_its_certificate_is_trusted() {
    let tls = Tls::generate([127, 0, 0, 1].into()).expect("a certificate");
    let address = listen(&tls);
    let url = format!("https://{address}/label");
    let map = json!({"metadata": {"name": "a"}});
    let trusting = face(&url, tls.authority());
    let answer = post(&trusting, super::MAPS, &map);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert!(answer.contains("\"labels\":{\"by\":\"webhook\"}"), "{answer}");
    assert!(answer.contains("Warning: 299 - \"asked at /label?timeout=10s\""), "{answer}");

    let other = Tls::generate([127, 0, 0, 1].into()).expect("a certificate");
    for authority in [other.authority(), ""] {
        let answer = post(&face(&url, authority), super::MAPS, &map);
        assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
        assert!(answer.contains("x509: certificate signed by unknown authority"), "{answer}");
    }

    let endless = face(&format!("https://{address}/endless"), tls.authority());
    let answer = post(&endless, super::MAPS, &map);
    assert!(
        answer.contains("failed calling webhook \\\"m.x.io\\\": failed to call webhook"),
        "{answer}"
    );

    let nobody = TcpListenerOfNobody::new();
    let answer = post(&face(&format!("https://{}/x", nobody.0), ""), super::MAPS, &map);
    let text = format!("dial tcp {}: connect: connection refused", nobody.0);
    assert!(answer.contains(&text), "{answer}");
}

#[test]
fn a_certificate_that_is_its_own_authority_is_trusted_as_it_stands() {
    let fresh = || KeyPair::generate().expect("a key");
    let mut of_authority = CertificateParams::default();
    of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority =
        CertifiedIssuer::self_signed(of_authority.clone(), fresh()).expect("an authority");
    let params = |name: &str| CertificateParams::new(vec![name.to_owned()]).expect("a name");
    // As envtest does, and as operators do that sign for themselves.
    let signed = |params: &CertificateParams, key: &KeyPair| {
        params.signed_by(key, &authority).expect("a certificate").pem()
    };
    let own = |params: &CertificateParams, key: &KeyPair| {
        params.self_signed(key).expect("a certificate").pem()
    };
    let mut for_itself = params("127.0.0.1");
    for_itself.is_ca = of_authority.is_ca;
    let mut past = params("127.0.0.1");
    past.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let using = |usage| {
        let mut params = params("127.0.0.1");
        params.extended_key_usages = vec![usage];
        params
    };
    let map = json!({"metadata": {"name": "a"}});
    for (params, make, status) in [
        (params("127.0.0.1"), &signed as &dyn Fn(&_, &_) -> String, "201"),
        (params("127.0.0.1"), &own, "201"),
        (for_itself, &own, "201"),
        (params("127.0.0.2"), &signed, "500"),
        (past, &signed, "500"),
        (using(ExtendedKeyUsagePurpose::ServerAuth), &signed, "201"),
        (using(ExtendedKeyUsagePurpose::ClientAuth), &signed, "500"),
    ] {
        let key = fresh();
        let certificate = make(&params, &key);
        let tls = Tls::with_certificate(&certificate, &key.serialize_pem()).expect("a pair");
        // The path is joined anew; envtest has two slashes there.
        let url = format!("https://{}//./label/", listen(&tls));
        let answer = post(&face(&url, &certificate), super::MAPS, &map);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
        assert_eq!(answer.contains("asked at /label?timeout=10s"), status == "201", "{answer}");
        // Another one for the same name is no authority.
        let other = make(&params, &fresh());
        assert!(post(&face(&url, &other), super::MAPS, &map).starts_with("HTTP/1.1 500"));
    }
}

#[test]
fn only_an_authority_whose_time_is_not_over_vouches_for_others() {
    let fresh = || KeyPair::generate().expect("a key");
    let mut params = CertificateParams::default();
    let leaf = params.clone();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let mut past = params.clone();
    past.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let map = json!({"metadata": {"name": "a"}});
    for (params, status) in [(params, "201"), (leaf, "500"), (past, "500")] {
        let issuer = CertifiedIssuer::self_signed(params, fresh()).expect("a certificate");
        let own = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
        let key = fresh();
        let certificate = own.signed_by(&key, &issuer).expect("a certificate").pem();
        let tls = Tls::with_certificate(&certificate, &key.serialize_pem()).expect("a pair");
        let url = format!("https://{}/label", listen(&tls));
        let answer = post(&face(&url, &issuer.pem()), super::MAPS, &map);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
        let is_unknown = answer.contains("x509: certificate signed by unknown authority");
        assert_eq!(is_unknown, status == "500", "{answer}");
    }
}

/// An address at which nobody listens any more.
struct TcpListenerOfNobody(SocketAddr);

impl TcpListenerOfNobody {
    fn new() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        Self(listener.local_addr().expect("an address"))
    }
}
