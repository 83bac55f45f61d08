//! Input from outside, as arbitrary bytes: parts of an address, answers, watches, and the header
//! that says when to come again. These are the properties that fuzzers feed.

use std::sync::Arc;

use seatrial_core::cancel::CancelToken;
use seatrial_core::request::{
    self, Answer, Attempt, Base, BoxFuture, Client, Execution, Headers, Mode, Observer, Reply,
    RequestError, Transport, TransportError, Verb, Want, Warning, WatchEvent,
};
use seatrial_core::runtime::{Runtime, System};
use serde_json::Value;

use crate::single_step::each_call;

/// Splits off at most `most` lines of text; returns them and the remaining bytes.
fn lines(bytes: &[u8], most: usize) -> (Vec<String>, &[u8]) {
    let (mut rest, mut lines) = (bytes, Vec::new());
    while lines.len() < most {
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        lines.push(String::from_utf8_lossy(&rest[..end]).into_owned());
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    (lines, rest)
}

/// Builds an address from lines: namespace, resource, name, subresource, prefix, suffix, a
/// parameter, a URI.
///
/// # Panics
/// If a part changes the number of segments of the path, if the address differs the second time, or
/// if its parameters cannot be read back.
pub fn check_url(bytes: &[u8]) {
    let parts = lines(bytes, 9).0;
    let [namespace, resource, name, sub, prefix, suffix, key, value, uri] = &parts[..] else {
        unreachable!("nine lines were asked for")
    };
    let base = Arc::new(Base::parse("https://h:1/b").expect("an address"));
    let plain = || request::Request::new(&base, Verb::Get, "api/v1");
    let named = plain().namespace(namespace).resource(resource).name(name).sub_resource(&[sub]);
    if let Ok(url) = named.url() {
        let given = [namespace, resource, name, sub];
        let there = given.iter().filter(|part| !part.is_empty()).count();
        let wanted = 5 + there + usize::from(!namespace.is_empty());
        assert_eq!(url.matches('/').count(), wanted, "{url}");
        assert!(url.is_ascii() && !url.contains([' ', '\n', '\r', '"', '?', '#']), "{url}");
    }
    let free = plain().prefix(&[prefix]).resource("pods").suffix(&[suffix]).param(key, value);
    let url = free.url().expect("none of these is checked");
    assert_eq!(free.url().expect("as before"), url);
    assert_eq!(free.template().expect("as before"), free.template().expect("as before"));
    assert!(url.starts_with("https://h:1/"), "{url}");
    let query = &url[url.find('?').expect("it has a parameter")..];
    let again = plain().request_uri(query).url().expect("what was written can be read");
    assert!(again.ends_with(query), "{again}");
    let of_uri = plain().request_uri(uri);
    if let Ok(url) = of_uri.url() {
        assert!(url.starts_with("https://h:1/") && url.is_ascii(), "{url}");
    }
}

/// A server that always gives the same answer.
struct Says {
    status: u16,
    headers: Headers,
    chunks: Vec<Vec<u8>>,
}

impl Transport for Says {
    fn send<'a>(&'a self, _: Attempt<'a>) -> BoxFuture<'a, Result<Answer, TransportError>> {
        let (status, headers) = (self.status, self.headers.clone());
        let body = Box::new(self.chunks.clone().into_iter());
        Box::pin(async move { Ok(Answer { status, headers, body }) })
    }
}

/// Listens to warnings.
struct Hears;

impl Observer for Hears {
    fn warned(&self, warning: &Warning) {
        let Warning { code, agent, text, .. } = warning;
        assert!(*code < 1000 && !agent.contains(char::is_control), "{warning:?}");
        assert!(!text.contains(char::is_control), "{warning:?}");
    }
}

fn client(status: u16, headers: Headers, chunks: Vec<Vec<u8>>) -> Client<System, Says> {
    let base = Base::parse("http://h").expect("an address");
    let client = Client::new(&System::new(), base, Says { status, headers, chunks });
    client.with_limiter(None).with_observer(Arc::new(Hears))
}

fn cut(bytes: &[u8], length: usize) -> Vec<Vec<u8>> {
    bytes.chunks(length.max(1)).map(<[u8]>::to_vec).collect()
}

/// Reads an answer: two bytes for its status and the length of its chunks; lines for the time to
/// come again, for its type and for a warning; then the body.
///
/// # Panics
/// If a body differs from the one that was sent, or an answer does not mean what its status says.
pub fn check_answer(bytes: &[u8]) {
    let (&[status, length], rest) = bytes
        .split_at_checked(2)
        .map_or((&[0, 1], bytes), |it| (it.0.try_into().expect("two bytes"), it.1));
    let (told, body) = lines(rest, 3);
    check_retry_after(&told[0]);
    let mut headers = Headers::new();
    for (name, value) in ["Retry-After", "Content-Type", "Warning"].into_iter().zip(&told) {
        headers.add(name, value);
    }
    let status = u16::from(status) * 2 + 100;
    let client = client(status, headers, cut(body, length.into()));
    let request = client.request(Verb::Get, "api/v1").resource("pods").max_retries(0);
    let token = CancelToken::new(&System::new());
    match client.send_blocking(&request, &token) {
        Ok(reply) => {
            assert!(matches!(status, 101 | 200..=206) && reply.body == body);
            check_json(&reply);
        }
        Err(RequestError::Status(told)) => {
            assert!(!matches!(status, 101 | 200..=206));
            let own = body.windows(6).any(|word| word == b"Status");
            assert!(told.code == status || own, "{told:?}");
            assert!(!told.to_string().is_empty());
        }
        Err(other) => panic!("{other}"),
    }
}

fn check_json(reply: &Reply) {
    let read = serde_json::from_slice::<Value>(&reply.body);
    match (reply.json::<Value>(), read) {
        (Ok(value), Ok(read)) => assert_eq!(value, read),
        (Err(RequestError::Status(told)), read) => {
            assert!(read.is_err() || read.is_ok_and(|read| read["kind"] == "Status"));
            assert_eq!(told.status, "Failure");
        }
        (Err(RequestError::Decode(_)), Err(_)) => {}
        (other, _) => panic!("{other:?}"),
    }
}

/// Reads the header that says when to come again.
///
/// # Panics
/// If a call waits for another time than the seconds that are written there.
pub fn check_retry_after(text: &str) {
    let mut execution = Execution::new(Mode::Whole, false, 1);
    match execution.answered(429, Some(text)) {
        Want::Pause(wait) => {
            assert_eq!(wait.subsec_nanos(), 0);
            let text = text.trim();
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text).trim_start_matches('0');
            let none = text.starts_with('-') || digits.is_empty();
            let told = if none { "0" } else { digits };
            assert_eq!(wait.as_secs().to_string(), told);
        }
        Want::Answer => assert!(text.parse::<u32>().is_err(), "{text}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(Execution::new(Mode::Whole, true, 1).answered(404, Some(text)), Want::Answer);
}

fn events(chunks: Vec<Vec<u8>>) -> Vec<WatchEvent<Value>> {
    let client = client(200, Headers::new(), chunks);
    let request = client.request(Verb::Get, "api/v1").resource("pods");
    System::new().block_on(async {
        let token = CancelToken::new(&System::new());
        let mut watch = client.watch(&request, &token).await.expect("it begins");
        let mut events = Vec::new();
        while let Some(event) = watch.next::<Value>().await {
            events.push(event);
        }
        assert!(watch.is_ended() && watch.next::<Value>().await.is_none());
        events
    })
}

/// Reads a watch: a byte for the length of its chunks, then its bytes.
///
/// # Panics
/// If its events depend on the cuts between chunks, if an event comes after an error, or if there
/// are more events than lines.
pub fn check_watch(bytes: &[u8]) {
    let (length, body) = bytes.split_first().map_or((1, bytes), |(first, rest)| (*first, rest));
    let told = events(cut(body, length.into()));
    assert_eq!(told, events(vec![body.to_vec()]));
    let is_error = |event: &WatchEvent<Value>| matches!(event, WatchEvent::Error(_));
    assert!(told.iter().rev().skip(1).all(|event| !is_error(event)));
    let lines = body.split(|byte| *byte == b'\n');
    let full = lines.filter(|line| !line.iter().all(u8::is_ascii_whitespace)).count();
    assert!(told.len() <= full, "{} events of {full} lines", told.len());
}

/// Pieces of what servers and callers write, for made-up texts.
const PIECES: [&str; 24] = [
    "\n",
    "\n",
    "\n",
    "a",
    "b/c",
    "pods",
    " ",
    "%2F",
    "?",
    "#",
    "&=",
    "é",
    "..",
    "\r",
    "0",
    "-",
    "+7",
    "120",
    "application/json",
    "{",
    "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\"}}",
    "{\"type\":\"MODIFIED\",\"object\":{}}\n",
    "{\"type\":\"ERROR\",\"object\":{\"code\":410}}",
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":409}",
];

/// Makes a text of pieces for each of the checks in turn, for callers whose bytes are random: these
/// would hardly ever be what a check reads.
///
/// # Panics
/// As the checks.
pub fn check_made_up(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let piece = |byte: &u8| PIECES[usize::from(*byte) % PIECES.len()];
    let text: String = rest.iter().map(piece).collect();
    each_call([&text]).for_each(drop);
    match first % 4 {
        0 => check_url(text.as_bytes()),
        1 => check_retry_after(text.lines().next().unwrap_or_default()),
        2 => check_answer(&[&[*first, first / 8], text.as_bytes()].concat()),
        _ => check_watch(&[&[first / 4], text.as_bytes()].concat()),
    }
}
