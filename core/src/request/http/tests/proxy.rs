//! Proxies on loopback, and those of an environment.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use super::server::Server;
use super::{client, echo, send};
use crate::request::http::{ConfigError, HttpConfig};

/// Opens tunnels, unless it answers with this; returns its address, and what it was told.
async fn proxy(answer: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let target = head.split(' ').nth(1).unwrap().to_owned();
            heard.lock().push(head);
            drop(stream.write_all(answer.as_bytes()).await);
            if answer.contains(" 200 ") {
                let mut server = TcpStream::connect(target).await.unwrap();
                tokio::spawn(async move { copy_bidirectional(&mut stream, &mut server).await });
            }
        }
    });
    (address, told)
}

#[tokio::test]
async fn a_proxy_opens_a_tunnel_and_sees_only_where_it_leads() {
    let server = Server::start(echo).await;
    let (address, told) = proxy("HTTP/1.1 200 OK\r\n\r\n").await;
    let url = format!("http://me:s3cret@{address}");
    let config = server.config().proxy(&url).unwrap().basic_auth("admin", "pass");
    assert!(!format!("{config:?}").contains("s3cret"));
    let client = client(&config);
    for _ in 0..2 {
        let head: String = send(&client).await.unwrap().json().unwrap();
        assert!(head.contains("authorization: Basic YWRtaW46cGFzcw==\r\n"), "{head}");
        assert!(!head.contains("proxy"), "{head}");
    }
    let told = told.lock();
    let [told] = told.as_slice() else { panic!("one tunnel: {told:?}") };
    assert!(told.starts_with(&format!("CONNECT localhost:{} ", server.address.port())), "{told}");
    assert!(told.contains("Proxy-Authorization: Basic bWU6czNjcmV0\r\n"), "{told}");
    assert!(!told.contains("YWRtaW46cGFzcw"), "{told}");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_an_error_without_its_password() {
    let server = Server::start(echo).await;
    for answer in ["HTTP/1.1 407 No\r\n\r\n", "HTTP/1.1 503 No\r\n\r\n", "what?\r\n\r\n", ""] {
        let (address, _) = proxy(answer).await;
        let config = server.config().proxy(&format!("http://me:s3cret@{address}")).unwrap();
        let error = format!("{:?}", send(&client(&config)).await.unwrap_err());
        assert!(error.contains("tunnel") || error.contains("Tunnel"), "{error}");
        assert!(!error.contains("s3cret") && !error.contains("bWU6"), "{error}");
    }
    for url in ["", "ftp://proxy", "socks4://proxy:1", "http://", "https://proxy", "a b"] {
        let error = server.config().proxy(url).unwrap_err();
        assert!(matches!(error, ConfigError::Proxy(_)), "{error}");
    }
}

#[tokio::test]
async fn a_tunnel_leads_to_the_port_of_the_server() {
    for (host, wanted) in [
        ("http://server", "CONNECT server:80 "),
        ("https://server", "CONNECT server:443 "),
        ("http://[::1]", "CONNECT [::1]:80 "),
        ("http://server:8080", "CONNECT server:8080 "),
    ] {
        let (address, told) = proxy("HTTP/1.1 503 No\r\n\r\n").await;
        let config = HttpConfig::new(host).unwrap().proxy(&address).unwrap();
        send(&client(&config)).await.unwrap_err();
        assert!(told.lock()[0].starts_with(wanted), "{told:?}");
    }
}

/// Expects these bytes, and answers.
async fn expect(stream: &mut TcpStream, wanted: &[u8], answer: &[u8]) {
    let mut told = vec![0; wanted.len()];
    stream.read_exact(&mut told).await.unwrap();
    assert_eq!(told, wanted);
    stream.write_all(answer).await.unwrap();
}

#[tokio::test]
async fn a_proxy_may_speak_socks() {
    let server = Server::start(echo).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, port) = (listener.local_addr().unwrap(), server.address.port());
    let proxy = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        expect(&mut stream, &[5, 1, 2], &[5, 2]).await;
        expect(&mut stream, b"\x01\x02me\x06s3cret", &[1, 0]).await;
        let target = [b"\x05\x01\x00\x03\x09localhost", &port.to_be_bytes()[..]].concat();
        expect(&mut stream, &target, &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await;
        let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        drop(copy_bidirectional(&mut stream, &mut server).await);
    });
    let config = server.config().proxy(&format!("socks5://me:s3cret@{address}")).unwrap();
    send(&client(&config)).await.unwrap();
    let error = send(&client(&config)).await.unwrap_err();
    assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    proxy.await.unwrap();
}

#[test]
fn the_environment_names_a_proxy_for_some_servers() {
    let proxied = |host: &str, variables: &[(&str, &str)]| {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        let config = HttpConfig::new(host).unwrap().proxy_from(find).unwrap();
        config.proxy.map(|proxy| proxy.0.uri().to_string())
    };
    let both = [("HTTPS_PROXY", "secure:1"), ("http_proxy", "http://open:2")];
    assert_eq!(proxied("https://a.b", &both).as_deref(), Some("http://secure:1/"));
    assert_eq!(proxied("http://a.b", &both).as_deref(), Some("http://open:2/"));
    assert_eq!(proxied("https://localhost:6443", &both), None, "this machine");
    assert_eq!(proxied("https://127.0.0.2:6443", &both), None, "this machine");
    assert_eq!(proxied("https://[::1]:6443", &both), None, "this machine");
    let all = [("ALL_PROXY", "http://all:3"), ("no_proxy", "b.c, 10.0.0.0/8,.d")];
    assert_eq!(proxied("https://a.b", &all).as_deref(), Some("http://all:3/"));
    for host in ["https://b.c", "https://a.b.c:6443", "https://10.1.2.3", "https://x.d"] {
        assert_eq!(proxied(host, &all), None, "{host}");
    }
    let none = [("HTTPS_PROXY", ""), ("https_proxy", "")];
    assert_eq!(proxied("https://a.b", &none), None);
    let small =
        [("HTTPS_PROXY", ""), ("https_proxy", "small:4"), ("no_proxy", "a:6443,[fd00::1]:443")];
    for host in ["https://a:6443", "https://x.a:6443", "https://[fd00::1]"] {
        assert_eq!(proxied(host, &small), None, "{host}");
    }
    for host in ["https://a", "https://[fd00::1]:6443"] {
        assert_eq!(proxied(host, &small).as_deref(), Some("http://small:4/"), "{host}");
    }
    let everything = [("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", "*")];
    assert_eq!(proxied("https://a.b", &everything), None);
}

#[test]
fn a_proxy_of_the_environment_that_cannot_be_read_is_an_error() {
    let read = |host: &str| {
        let find = |name: &str| match name {
            "HTTPS_PROXY" => Some("http://pro xy:1".to_owned()),
            "ALL_PROXY" => Some("http://all:3".to_owned()),
            "NO_PROXY" => Some("b".to_owned()),
            _ => None,
        };
        HttpConfig::new(host).unwrap().proxy_from(find)
    };
    assert!(matches!(read("https://a"), Err(ConfigError::Proxy(_))));
    assert!(read("https://b").unwrap().proxy.is_none(), "it needs none");
    assert!(read("http://a").unwrap().proxy.is_some(), "it has another one");
}
