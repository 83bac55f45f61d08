//! Properties of reading texts that come from outside. Reading never panics, and a value that was
//! read is written as a text that reads the same. Fuzz targets and tests share these properties.

use std::fmt::Debug;
use std::str::FromStr;

use crate::conformance::Trace;
use crate::engine::{Engine, Route, Schedule};
use crate::report::{Format, parse_report};
use crate::trial::{Budget, VERSION, Witness, digest};

/// A text that parses is printed as a text that parses to an equal value and is printed the same.
fn round_trip<T: FromStr + ToString + PartialEq + Debug>(text: &str) {
    let Ok(parsed) = text.parse::<T>() else { return };
    let printed = parsed.to_string();
    let again = printed.parse::<T>().ok().expect("what was printed parses");
    assert_eq!(again, parsed);
    assert_eq!(again.to_string(), printed);
}

/// Schedules, routes, witnesses and budgets.
///
/// # Panics
/// If one does not survive its text.
pub fn check_witness(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    round_trip::<Schedule>(&text);
    round_trip::<Budget>(&text);
    for engine in Engine::ALL {
        if let Some(route) = Route::parse(*engine, &text) {
            assert_eq!(Route::parse(*engine, &route.to_string()), Some(route));
        }
    }
    round_trip::<Witness>(&text);
    // A checksum keeps random bytes out: give it a body that passes.
    let body = format!("seatrial-{VERSION}:{text}");
    let sum = digest(&body);
    round_trip::<Witness>(&format!("{body}:{:04x}", (sum ^ (sum >> 16)) as u16));
}

/// Reports and recorded traces, as a file may hold them.
///
/// # Panics
/// If reading one panics, a format cannot show it, or it does not survive its text.
pub fn check_report(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines() {
        drop(Trace::parse(line));
    }
    let Ok(report) = parse_report(&text) else { return };
    for format in Format::ALL {
        drop(format.render(&report));
    }
    let again = parse_report(&Format::Json.render(&report)).expect("what was written can be read");
    assert_eq!(again, report);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::random_bytes;
    use crate::report::Report;

    /// Bytes near to a text that can be read: some of them changed, left out or doubled.
    fn near(text: &str, seed: u64) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        for chunk in random_bytes(seed, 12).chunks(4) {
            let at = (usize::from(chunk[0]) << 8 | usize::from(chunk[1])) % bytes.len();
            match chunk[2] % 4 {
                0 => bytes[at] = chunk[3],
                1 => bytes[at] = b"0\"{}[]:,"[usize::from(chunk[3]) % 8],
                2 => bytes.insert(at, bytes[at]),
                _ => drop(bytes.remove(at)),
            }
        }
        bytes
    }

    fn survives(check: fn(&[u8]), text: &str) {
        check(text.as_bytes());
        for seed in 0..2_000 {
            check(&near(text, seed));
            check(&random_bytes(seed, 60));
        }
    }

    #[test]
    fn witnesses_survive_damage() {
        survives(check_witness, "queue/two_workers+lost_requeue:sample:a4b2c3.=1:9f31c2d0");
        survives(check_witness, "queue/made_up_calls+lost_requeue:fuzz:00ff10:9f31c2d0");
    }

    #[test]
    fn reports_survive_damage() {
        let mut report = Report::new(7);
        report.conclude();
        survives(check_report, &Format::Json.render(&report));
    }
}
