//! No token or key is visible in anything that is logged, reported, counted or shown. A panic shows
//! the output of `Debug`.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::AUTHORIZATION;
use parking_lot::Mutex;

use super::server::{Authority, Server, Valid, head, say, whole};
use super::{Http, client, send};
use crate::cancel::CancelToken;
use crate::elector::{AsyncObjectStore, ObjectName, Timing};
use crate::informer::{ListOptions, ListWatch as _, Page};
use crate::request::http::transport::Issued;
use crate::request::http::{HttpConfig, HttpTransport, Token};
use crate::request::{
    Collection, Headers, Leases, Observer, RequestError, Retry, TransportKind, Verb, Warning,
};
use crate::runtime::System;

const TOKEN: &str = "eyJ-the-token-of-nobody";

/// All reports about calls, as text.
#[derive(Default)]
struct Heard(Mutex<String>);

impl Heard {
    fn hear(&self, what: &dyn std::fmt::Debug) {
        writeln!(self.0.lock(), "{what:?}").unwrap();
    }
}

/// The receiver of metrics.
#[cfg(feature = "metrics")]
use crate::metrics::facade::Facade as Counts;
#[cfg(not(feature = "metrics"))]
use crate::request::Silent as Counts;

impl Observer for Heard {
    fn began(&self, verb: &Verb, template: &str) {
        Counts.began(verb, template);
        self.hear(&(verb, template));
    }

    fn attempted(&self, verb: &Verb, host: &str, count: u32, result: Result<u16, TransportKind>) {
        #[cfg(feature = "tracing")]
        tracing::trace!("in the span of the call");
        Counts.attempted(verb, host, count, result);
        self.hear(&(verb, host, count, result));
    }

    fn retries(&self, verb: &Verb, template: &str, retry: &Retry) {
        self.hear(&(verb, template, retry));
        self.hear(&retry.to_string());
    }

    fn warned(&self, warning: &Warning) {
        self.hear(warning);
    }

    fn finished(&self, verb: &Verb, template: &str, took: Duration, succeeded: bool) {
        Counts.finished(verb, template, took, succeeded);
        self.hear(&(verb, template, took, succeeded));
    }
}

fn told(heard: &Heard, error: &RequestError) {
    heard.hear(error);
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        heard.hear(&inner.to_string());
        cause = inner.source();
    }
}

/// Sends a request that has a secret in every place that can have one.
async fn call(client: &Http, heard: &Heard) {
    let request = client.request(Verb::Post, "/api/v1").resource("secrets").max_retries(1);
    let request = request.header("X-Token", &[TOKEN]).body(TOKEN.as_bytes());
    heard.hear(&request);
    heard.hear(&request.template().unwrap());
    match client.send(&request, &CancelToken::new(&System::new())).await {
        Ok(reply) => heard.hear(&reply),
        Err(error) => told(heard, &error),
    }
}

/// Also records the log.
#[cfg(feature = "tracing")]
struct Log(Arc<Heard>);

#[cfg(feature = "tracing")]
impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.0.lock().push_str(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Records everything that this thread logs, as a terminal shows it or without colours. While there is
/// only one subscriber, a span that another thread begins first counts as one that nobody listens to, on
/// this thread too. So there are two.
#[cfg(feature = "tracing")]
fn listen(
    heard: &Arc<Heard>,
    colours: bool,
) -> (tracing::Dispatch, tracing::subscriber::DefaultGuard) {
    let other = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::new());
    let heard = Arc::clone(heard);
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE);
    let subscriber = subscriber.with_ansi(colours);
    let subscriber = subscriber.with_writer(move || Log(Arc::clone(&heard)));
    (other, tracing::subscriber::set_default(subscriber.finish()))
}

/// Returns a text without its colours, which may stand in the middle of a secret.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[tokio::test]
async fn no_text_has_a_token_or_a_key() {
    for colours in [false, true] {
        let (heard, key) = hear_calls(colours).await;
        let plain = without_colours(&heard);
        #[cfg(feature = "tracing")]
        assert_eq!(heard != plain, colours, "{heard}");
        let has = |text: &str| plain.contains(text);
        assert!(has("secrets") && has("503"), "it heard of the calls: {heard}");
        #[cfg(feature = "tracing")]
        assert!(has("request{verb=\"POST\""), "it heard of what is logged: {heard}");
        #[cfg(feature = "metrics")]
        assert!(has("rest_client_requests_total"), "it heard of what is counted: {heard}");
        assert!(!has(TOKEN) && !heard.contains(TOKEN), "{heard}");
        for line in key.lines().filter(|line| !line.starts_with("-----")) {
            assert!(!has(line) && !heard.contains(line), "{heard}");
        }
    }
}

/// Makes calls of all kinds. Returns everything that was told of them, and the client's key.
async fn hear_calls(colours: bool) -> (String, String) {
    let heard = Arc::new(Heard::default());
    #[cfg(feature = "tracing")]
    let _logs = listen(&heard, colours);
    #[cfg(not(feature = "tracing"))]
    let _ = colours;
    #[cfg(feature = "metrics")]
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    #[cfg(feature = "metrics")]
    let _counts = metrics::set_default_local_recorder(&recorder);
    let echo = Server::start(|number, mut stream| async move {
        let Some(text) = head(&mut stream).await else { return };
        assert!(text.contains(TOKEN), "it goes to the server");
        let set = format!("Set-Cookie: {TOKEN}\r\nRetry-After: 0\r\n");
        let status = if number % 2 == 0 { "503 Busy" } else { "200 OK" };
        say(&mut stream, whole(status, &set, "{}")).await;
    })
    .await;
    let gone = Server::start(|_, mut stream| async move {
        drop(head(&mut stream).await);
        say(&mut stream, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n").await;
    })
    .await;
    let (certificate, key) = Authority::new().certify("client", Valid::Now);
    let nobody = HttpConfig::new("https://localhost:1").unwrap();
    let stranger = echo.config().authorities(Authority::new().pem());
    for config in [echo.config(), gone.config(), nobody, stranger] {
        for token in [TOKEN.to_owned(), format!("{TOKEN}\n\u{7f}")] {
            let config = config.clone().token(Token::new(token));
            let config = config.identity(certificate.clone(), key.clone());
            let client = client(&config).with_observer(Arc::clone(&heard) as Arc<dyn Observer>);
            heard.hear(&config);
            heard.hear(&client);
            call(&client, &heard).await;
            if let Err(error) = send(&client).await {
                told(&heard, &error);
            }
        }
    }
    let bad = echo.config().identity(key.clone(), format!("{key}{TOKEN}"));
    heard.hear(&bad.client(&System::new()).map(drop));
    let plain = HttpConfig::new("http://localhost").unwrap().token(Token::new(TOKEN));
    heard.hear(&plain.client(&System::new()).map(drop).map_err(|error| error.to_string()));
    #[cfg(feature = "metrics")]
    heard.hear(&recorder.handle().render());
    let heard = heard.0.lock().clone();
    (heard, key)
}

#[tokio::test]
async fn what_is_logged_of_a_request_that_goes_out_does_not_show_its_token() {
    let config = HttpConfig::new("https://localhost:1").unwrap().token(Token::new(TOKEN));
    let mut headers = hyper::HeaderMap::new();
    let transport = HttpTransport::new(&config).unwrap();
    transport.put_headers(&Headers::new(), &Issued::default(), &mut headers).unwrap();
    assert_eq!(headers[AUTHORIZATION].to_str().unwrap(), format!("Bearer {TOKEN}"));
    assert!(!format!("{headers:?}").contains(TOKEN), "{headers:?}");
}

#[tokio::test]
async fn a_token_that_calls_under_way_may_have_sent_is_known_when_there_is_a_new_one() {
    let path = std::env::temp_dir().join(format!("seatrial-known-{}", std::process::id()));
    let token = Token::file(&path);
    for text in ["one", "two"] {
        std::fs::write(&path, text).unwrap();
        token.doubt();
        assert_eq!(token.now().unwrap().as_str(), text);
    }
    std::fs::remove_file(&path).unwrap();
    let mut known = Vec::new();
    token.known(&mut |secret| known.push(secret.to_owned()));
    assert_eq!(known, ["two", "one"]);
}

/// Echoes the request: as text, in the API's form, as an object, as events.
async fn mirror() -> Server {
    Server::start(|number, mut stream| async move {
        let Some(text) = head(&mut stream).await else { return };
        assert!(text.contains(TOKEN), "it goes to the server");
        // A long answer is cut, and the cut must not leave a part of the token.
        let padded = text.trim_end().to_owned() + &"x".repeat(2040 - text.trim_end().len()) + TOKEN;
        let json = serde_json::json!(text).to_string();
        let escaped = json.replace("eyJ", "\\u0065yJ");
        let words = |word: &str, json: &str| {
            let causes = format!(r#"[{{"reason":{json},"message":{json},"field":{json}}}]"#);
            format!(
                r#"{{"kind":"Status","status":"Failure","message":{json},"reason":{json},
                "code":{word},"details":{{"name":{json},"kind":{json},"causes":{causes}}}}}"#
            )
        };
        let event = |object: &str| format!("{{\"type\":\"ERROR\",\"object\":{object}}}\n");
        let line = |text: String| text.replace("\n  ", "") + "\n";
        let plain = "Content-Type: text/plain\r\n";
        let warns = format!("Warning: 299 - \"{TOKEN}\"\r\nContent-Type: {TOKEN}\r\n");
        say(
            &mut stream,
            match number {
                0 => whole("500 No", plain, &text),
                1 => whole("403 No", plain, &padded),
                2 => whole("403 No", "", &words("403", &json)),
                3 => whole("200 OK", "", &words("403", &escaped)),
                4 => whole("200 OK", &warns, &json),
                5 => whole("200 OK", "", &line(event(&words("410", &escaped)))),
                6 => whole("200 OK", "", &event(&json)),
                _ => whole("200 OK", &warns, &format!("{{\"type\":{json}}}")),
            },
        )
        .await;
    })
    .await
}

#[tokio::test]
async fn a_token_that_is_echoed_is_struck_out() {
    let server = mirror().await;
    let heard = Arc::new(Heard::default());
    let observer = Arc::clone(&heard) as Arc<dyn Observer>;
    let client = client(&server.config().token(Token::new(TOKEN))).with_observer(observer);
    for _ in 0..5 {
        match send(&client).await.map(|reply| reply.json::<u32>().unwrap_err()) {
            Ok(error) | Err(error) => told(&heard, &error),
        }
    }
    let token = CancelToken::new(&System::new());
    for _ in 0..3 {
        let mut watch = client.watch(&super::pods(&client), &token).await.unwrap();
        while let Some(event) = watch.next::<u32>().await {
            heard.hear(&event);
        }
    }
    let heard = heard.0.lock();
    assert_eq!(server.connections.load(std::sync::atomic::Ordering::SeqCst), 8);
    assert!(heard.matches("(secret)").count() >= 15, "all echo it: {heard}");
    assert_eq!(heard.matches("ClientWatchDecoding").count(), 2, "two cannot be read: {heard}");
    for part in [TOKEN, &TOKEN[..6]] {
        assert!(!heard.contains(part), "{heard}");
    }
}

/// Returns the message of a panic for an unexpected error.
fn panicked(error: impl std::fmt::Debug + Send + 'static) -> String {
    let answer: Option<Result<(), _>> = Some(Err(error));
    let panics = std::panic::AssertUnwindSafe(move || answer.map(|it| it.expect("no error")));
    let panic = std::panic::catch_unwind(panics);
    *panic.unwrap_err().downcast::<String>().unwrap()
}

#[tokio::test]
async fn what_stands_on_a_client_and_a_panic_tell_no_token() {
    let echo = Server::start(|_, mut stream| async move {
        while let Some(text) = head(&mut stream).await {
            say(&mut stream, whole("403 No", "Content-Type: text/plain\r\n", &text)).await;
        }
    })
    .await;
    let config = echo.config().token(Token::new(TOKEN));
    let heard = Heard::default();
    let leases = Leases::new(client(&config), &Timing::DEFAULT);
    heard.hear(&leases);
    let name = ObjectName::new("default", "controller");
    let refused = AsyncObjectStore::get(&leases, &name).await.unwrap_err();
    heard.hear(&(refused.to_string(), &refused));
    let shared = Arc::new(client(&config));
    let pods = Collection::new(&shared, super::pods(&shared));
    heard.hear(&pods);
    let listed: Result<Page<Arc<serde_json::Value>>, _> = pods.list(ListOptions::default()).await;
    let refused = listed.unwrap_err();
    heard.hear(&(refused.to_string(), &refused));
    heard.hear(&panicked(refused));
    heard.hear(&panicked(send(&shared).await.unwrap_err()));
    heard.hear(&panicked((config, shared)));
    let heard = heard.0.lock();
    assert!(heard.matches("(secret)").count() >= 5, "all of it echoes: {heard}");
    assert!(!heard.contains(TOKEN), "{heard}");
}
