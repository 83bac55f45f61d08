//! The bodies of attempts: each attempt sends all of it, or nothing is sent.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use super::scripted::{Bed, answers, later};
use crate::request::{BuildError, RequestError, Verb};

#[test]
fn a_body_is_made_anew_for_every_attempt() {
    let bed = Bed::new([later(429, "1"), later(503, "1"), answers(200, "{}")]);
    let made = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&made);
    let request = bed.request(Verb::Post).body_made(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(b"whole".to_vec())
    });
    bed.run(bed.client.send(&request, &bed.token)).unwrap();
    assert_eq!(made.load(Ordering::SeqCst), 3);
    let seen = bed.script.seen.lock();
    assert!(seen.iter().all(|it| it.body.as_deref() == Some(b"whole")), "{seen:?}");
}

#[test]
fn a_reader_that_is_used_up_is_sent_once() {
    let bed = Bed::new([later(429, "1"), answers(200, "{}")]);
    let reader = Mutex::new(Some(&b"only once"[..]));
    let request = bed.request(Verb::Post).body_made(move || {
        let mut reader = reader.lock().take().ok_or_else(|| std::io::Error::other("used up"))?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    let error = bed.run(bed.client.send(&request, &bed.token)).unwrap_err();
    let RequestError::Body(why) = &error else { panic!("{error:?}") };
    assert_eq!(why.to_string(), "used up");
    let seen = bed.script.seen.lock();
    assert_eq!(seen.len(), 1, "an attempt without its body is not made");
    assert_eq!(seen[0].body.as_deref(), Some(&b"only once"[..]));
    assert_eq!(*bed.script.open.lock(), 0);
}

#[test]
fn a_file_is_read_when_it_is_named_and_the_last_body_counts() {
    let path = std::env::temp_dir().join(format!("seatrial-body-{}", std::process::id()));
    std::fs::write(&path, "now").unwrap();
    let bed = Bed::new([later(429, "0"), answers(200, "{}"), answers(200, "{}")]);
    let request = bed.request(Verb::Post).body(*b"before").body_file(&path);
    std::fs::remove_file(&path).unwrap();
    bed.run(bed.client.send(&request, &bed.token)).unwrap();
    bed.run(bed.client.send(&request.body_json(&1), &bed.token)).unwrap();
    let bodies: Vec<_> = bed.script.seen.lock().iter().map(|it| it.body.clone()).collect();
    assert_eq!(bodies, [b"now".to_vec(), b"now".to_vec(), b"1".to_vec()].map(Some));
    let missing = bed.request(Verb::Post).body_file(&path).body(*b"too late");
    let mistake = missing.mistake().expect("there is no file").to_string();
    assert!(matches!(missing.mistake(), Some(BuildError::File(named, _)) if *named == path));
    assert!(mistake.contains("seatrial-body"), "{mistake}");
}
