//! TLS on loopback, against a server that misbehaves.

mod broken;
mod certificates;
#[cfg(all(feature = "kubeconfig", unix))]
mod exec;
mod gzip;
mod hostile;
mod kept;
#[cfg(feature = "kubeconfig")]
mod kubeconfig;
mod proxy;
mod refused;
mod renewed;
mod secrets;
mod server;
mod streams;
#[cfg(target_os = "linux")]
mod wiped;

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;

use self::server::{Authority, Server, head, say, whole};
use super::{ConfigError, HttpConfig, HttpTransport, Token};
use crate::cancel::CancelToken;
use crate::request::{
    Client, Limits, Reason, Reply, Request, RequestError, TransportKind, Verb, WatchEvent,
};
use crate::runtime::System;

type Http = Client<System, HttpTransport>;

fn client(config: &HttpConfig) -> Http {
    config.client(&System::new()).unwrap().with_limiter(None)
}

fn pods(client: &Http) -> Request {
    client.request(Verb::Get, "/api/v1").resource("pods").max_retries(1)
}

async fn send(client: &Http) -> Result<Reply, RequestError> {
    let token = CancelToken::new(&System::new());
    let request = pods(client);
    let call = client.send(&request, &token);
    tokio::time::timeout(Duration::from_secs(20), call).await.expect("the call ends")
}

fn kind(result: Result<Reply, RequestError>) -> TransportKind {
    match result.unwrap_err() {
        RequestError::Transport { last, .. } | RequestError::Incomplete(last) => last.kind(),
        other => panic!("{other:?}"),
    }
}

/// A folder that ends with its test.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("seatrial-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&path)); // of an earlier process with this number
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file and returns its path.
    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> std::path::PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Answers every request with its head, as a text in JSON.
async fn echo(_: usize, mut stream: server::Stream) {
    while let Some(head) = head(&mut stream).await {
        let body = serde_json::json!(head).to_string();
        say(&mut stream, whole("200 OK", "", &body)).await;
    }
}

/// Answers every request of a connection with the same bytes.
async fn same(answer: &'static str) -> Server {
    Server::start(move |_, mut stream| async move {
        while head(&mut stream).await.is_some() {
            say(&mut stream, answer).await;
        }
    })
    .await
}

#[tokio::test]
async fn a_connection_is_used_again_and_carries_the_token() {
    let server = Server::start(|_, mut stream| async move {
        while let Some(head) = head(&mut stream).await {
            let has =
                head.contains("authorization: Bearer abc\r\n") && head.contains("user-agent: me/1");
            let body = format!("{{\"has\":{has}}}");
            say(&mut stream, whole("200 OK", "", &body)).await;
        }
    })
    .await;
    let client = client(&server.config().token(Token::new("abc")).agent("me/1"));
    for _ in 0..5 {
        let reply = send(&client).await.unwrap();
        assert_eq!(reply.json::<serde_json::Value>().unwrap()["has"], true);
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_byte_at_a_time_is_an_answer_like_any() {
    let server = Server::start(|_, mut stream| async move {
        drop(head(&mut stream).await);
        for byte in whole("200 OK", "X-A: b\r\n", "[1]").bytes() {
            say(&mut stream, [byte]).await;
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(send(&client(&server.config())).await.unwrap().json::<[i32; 1]>().unwrap(), [1]);
}

#[tokio::test]
async fn answers_that_are_cut_are_never_read() {
    let short = same("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n[1]").await;
    let cut = Server::start(|_, mut stream| async move {
        drop(head(&mut stream).await);
        say(&mut stream, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n[1]").await;
    })
    .await;
    let chunks = Server::start(|_, mut stream| async move {
        drop(head(&mut stream).await);
        say(&mut stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1]\r\n9\r\n")
            .await;
    })
    .await;
    for server in [&cut, &chunks] {
        assert_eq!(kind(send(&client(&server.config())).await), TransportKind::Eof);
    }
    // The rest never comes, and the connection stays open: the request's own time limit ends it.
    let client = client(&short.config());
    let request = pods(&client).timeout(Duration::from_millis(200));
    let error = client.send(&request, &CancelToken::new(&System::new())).await.unwrap_err();
    assert!(matches!(error, RequestError::Ended(_)), "{error:?}");
}

#[tokio::test]
async fn a_connection_that_ends_before_the_answer_is_tried_once_more() {
    let server = Server::start(|number, mut stream| async move {
        drop(head(&mut stream).await);
        if number > 0 {
            say(&mut stream, whole("200 OK", "", "{}")).await;
        }
    })
    .await;
    send(&client(&server.config())).await.unwrap();
    assert_eq!(server.connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let server = Server::start(|_, mut stream| async move {
        let answers =
            [whole("429 Too Many Requests", "Retry-After: 1\r\n", "x"), whole("200 OK", "", "{}")];
        for answer in answers {
            drop(head(&mut stream).await);
            say(&mut stream, answer).await;
        }
    })
    .await;
    send(&client(&server.config())).await.unwrap();
    assert_eq!(
        server.connections.load(Ordering::SeqCst),
        1,
        "the short answer was read to its end"
    );
}

#[tokio::test]
async fn refusals_without_a_delay_are_final() {
    for (answer, reason) in [
        ("HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\n\r\n", Reason::TooManyRequests),
        ("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", Reason::InternalError),
        (
            "HTTP/1.1 302 Found\r\nLocation: https://elsewhere/\r\nContent-Length: 0\r\n\r\n",
            Reason::Unknown,
        ),
    ] {
        let server = same(answer).await;
        let error = send(&client(&server.config())).await.unwrap_err();
        assert!(error.status().unwrap().is(&reason), "{error:?}");
        assert_eq!(server.connections.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn nobody_listens() {
    let config = HttpConfig::new("https://localhost:1").unwrap();
    assert_eq!(kind(send(&client(&config)).await), TransportKind::Refused);
}

#[tokio::test]
async fn endless_headers_and_bodies_end() {
    let endless = Server::start(|_, mut stream| async move {
        drop(head(&mut stream).await);
        say(&mut stream, "HTTP/1.1 200 OK\r\n").await;
        while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
    })
    .await;
    assert!(send(&client(&endless.config())).await.is_err());
    let body = Server::start(|_, mut stream| async move {
        drop(head(&mut stream).await);
        say(&mut stream, "HTTP/1.1 422 No\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        let chunk = [b"1000\r\n".as_slice(), &[b'x'; 0x1000], b"\r\n"].concat();
        while stream.write_all(&chunk).await.is_ok() {}
    })
    .await;
    let limits = Limits { body: 1 << 20, ..Limits::default() };
    let client = client(&body.config()).with_limits(limits);
    assert!(matches!(send(&client).await, Err(RequestError::TooLarge(_))));
}

#[tokio::test]
async fn a_watch_reads_events_and_ends_when_it_is_cancelled() {
    let server = Server::start(|_, mut stream| async move {
        drop(head(&mut stream).await);
        say(&mut stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        for part in
            ["{\"type\":\"ADDED\",", "\"object\":1}\n{\"ty", "pe\":\"DELETED\",\"object\":2}\n"]
        {
            say(&mut stream, format!("{:x}\r\n{part}\r\n", part.len())).await;
        }
        std::future::pending::<()>().await;
    })
    .await;
    let client = client(&server.config());
    let token = CancelToken::new(&System::new());
    let request = pods(&client).param("watch", "true");
    let mut watch = client.watch(&request, &token).await.unwrap();
    assert_eq!(watch.next::<i32>().await, Some(WatchEvent::Added(1)));
    assert_eq!(watch.next::<i32>().await, Some(WatchEvent::Deleted(2)));
    let ending = tokio::spawn(async move { watch.next::<i32>().await });
    tokio::task::yield_now().await;
    token.cancel();
    assert_eq!(ending.await.unwrap(), None);
}

#[tokio::test]
async fn a_silent_watch_ends_by_itself() {
    let server = Server::start(|_, mut stream| async move {
        drop(head(&mut stream).await);
        say(&mut stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        std::future::pending::<()>().await;
    })
    .await;
    let idle = Limits { idle: Duration::from_millis(100), ..Limits::default() };
    let client = client(&server.config()).with_limits(idle);
    let token = CancelToken::new(&System::new());
    let mut watch = client.watch(&pods(&client), &token).await.unwrap();
    assert_eq!(watch.next::<i32>().await, None);
}

#[tokio::test]
async fn slow_headers_are_waited_for_and_missing_ones_are_not() {
    let slow = Server::start(|number, mut stream| async move {
        drop(head(&mut stream).await);
        say(&mut stream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n").await;
        // One header at a time, for ever if the client does not hang up.
        for _ in 0..if number == 0 { 3 } else { usize::MAX } {
            tokio::time::sleep(Duration::from_millis(100)).await;
            if stream.write_all(b"X-A: b\r\n").await.is_err() || stream.flush().await.is_err() {
                return;
            }
        }
        say(&mut stream, "\r\n{}").await;
    })
    .await;
    let with_idle = |seconds| {
        let limits = Limits { idle: Duration::from_secs(seconds), ..Limits::default() };
        client(&slow.config()).with_limits(limits)
    };
    send(&with_idle(60)).await.unwrap();
    let client = with_idle(1);
    // The server sends them for ever: only a client that hangs up comes to an end.
    assert_eq!(kind(send(&client).await), TransportKind::Timeout);
    assert_eq!(slow.connections.load(Ordering::SeqCst), 2);
}

#[test]
fn in_a_cluster() {
    let folder = Folder::new("account");
    let variable = |name: &str| match name {
        "KUBERNETES_SERVICE_HOST" => Some("fd00::1".to_owned()),
        "KUBERNETES_SERVICE_PORT" => Some("443".to_owned()),
        _ => None,
    };
    let read = || HttpConfig::in_cluster_at(&folder.0, variable);
    assert!(matches!(read(), Err(ConfigError::File(path, _)) if path.ends_with("ca.crt")));
    folder.write("ca.crt", Authority::new().pem());
    assert!(matches!(read(), Err(ConfigError::File(path, _)) if path.ends_with("token")));
    folder.write("token", "secret\n");
    let config = read().unwrap();
    assert!(!format!("{config:?}").contains("secret"));
    assert_eq!(config.base.to_string(), "https://[fd00::1]:443/");
    assert!(config.client(&System::new()).is_ok());
    let missing = HttpConfig::in_cluster_at(&folder.0, |_| None).unwrap_err();
    assert!(matches!(missing, ConfigError::NotInCluster("KUBERNETES_SERVICE_HOST")), "{missing}");
}

#[tokio::test(start_paused = true)]
async fn a_token_file_is_read_again_and_its_last_value_outlives_it() {
    let path = std::env::temp_dir().join(format!("seatrial-token-{}", std::process::id()));
    std::fs::write(&path, "one\n").unwrap();
    let token = Token::file(&path);
    assert_eq!(token.now().unwrap().as_str(), "one");
    std::fs::write(&path, "two").unwrap();
    assert_eq!(token.now().unwrap().as_str(), "one", "it is not read for every request");
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(token.now().unwrap().as_str(), "two");
    std::fs::remove_file(&path).unwrap();
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(token.now().unwrap().as_str(), "two");
    assert!(Token::file(&path).now().is_err());
}

#[tokio::test]
async fn a_token_that_is_not_taken_is_read_again() {
    let path = std::env::temp_dir().join(format!("seatrial-renewed-{}", std::process::id()));
    std::fs::write(&path, "one").unwrap();
    let server = Server::start(|_, mut stream| async move {
        while let Some(head) = head(&mut stream).await {
            let knows = head.contains("authorization: Bearer two\r\n");
            let status = if knows { "200 OK" } else { "401 Unauthorized" };
            say(&mut stream, whole(status, "", "{}")).await;
        }
    })
    .await;
    let client = client(&server.config().token(Token::file(&path)));
    assert_eq!(send(&client).await.unwrap_err().status().unwrap().code, 401);
    std::fs::write(&path, "two").unwrap();
    send(&client).await.unwrap();
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn secrets_do_not_travel_in_the_open_or_to_others() {
    let open = HttpConfig::new("http://h").unwrap();
    let with = open.clone().token(Token::new("secret"));
    assert!(matches!(with.client(&System::new()), Err(ConfigError::Plain)));
    assert!(open.client(&System::new()).is_ok());
    let bad = HttpConfig::new("h").unwrap().identity("nonsense", "nonsense");
    let error = bad.client(&System::new()).unwrap_err();
    assert!(matches!(error, ConfigError::Certificate("client key", _)), "{error}");
}
