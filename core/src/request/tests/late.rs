//! The log of calls that wait for their turn.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tracing::Level;

use super::scripted::{Bed, answers, later};
use crate::limiter::TokenBucketFlow;
use crate::request::Verb;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the log, up to a level, of calls made one after the other with this many turns a second.
fn logged(level: Level, calls: usize, rate: f32) -> Vec<String> {
    let lines = Lines::default();
    let to = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_max_level(level).with_ansi(false);
    let subscriber = subscriber.without_time().with_writer(move || to.clone()).finish();
    tracing::subscriber::with_default(subscriber, || {
        let mut bed = Bed::new((0..calls).map(|_| answers(200, "{}")));
        let limiter = Arc::new(TokenBucketFlow::new(&bed.clock, rate, 1));
        bed.client = bed.client.with_limiter(Some(limiter));
        bed.clock.advance(Duration::from_secs(1));
        for _ in 0..calls {
            bed.run(bed.client.send(&bed.request(Verb::Get).name("web"), &bed.token)).unwrap();
        }
    });
    let text = String::from_utf8(lines.0.lock().clone()).unwrap();
    text.lines().filter(|line| line.contains("waited")).map(str::to_owned).collect()
}

#[test]
fn long_waits_are_told_now_and_then_and_others_in_detail() {
    // Six waits of two seconds each: the first is logged, and another one ten seconds later.
    let told = logged(Level::INFO, 7, 0.5);
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told[0].contains("a call waited for long"), "{}", told[0]);
    for part in ["waited=2s", "not the server", "verb=\"GET\"", "%7Bname%7D"] {
        assert!(told[0].contains(part), "no {part} in {}", told[0]);
    }
    let told = logged(Level::DEBUG, 7, 0.5);
    assert_eq!(told.len(), 6, "each is more than a second after the one before: {told:#?}");
    assert_eq!(logged(Level::DEBUG, 3, 2.0), [""; 0], "half a second is not long");
    assert_eq!(logged(Level::TRACE, 3, 2.0).len(), 2, "but told in detail");
}

#[test]
fn a_repetition_says_why_it_is_one() {
    let lines = Lines::default();
    let to = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_ansi(false);
    let subscriber = subscriber.with_writer(move || to.clone()).finish();
    tracing::subscriber::with_default(subscriber, || {
        let mut bed = Bed::new([later(429, "0"), answers(200, "{}")]);
        let limiter = Arc::new(TokenBucketFlow::new(&bed.clock, 0.5, 1));
        bed.client = bed.client.with_limiter(Some(limiter));
        bed.run(bed.client.send(&bed.request(Verb::Get), &bed.token)).unwrap();
    });
    let text = String::from_utf8(lines.0.lock().clone()).unwrap();
    assert!(text.contains("retry 1 after 0 s: the server throttles"), "{text}");
}
