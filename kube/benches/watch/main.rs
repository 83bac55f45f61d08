//! One table: a watch of many events, read by the client of `seatrial-core`, by kube's client, and
//! by `serde_json` alone from the same bytes.
//!
//! Each row runs in its own process, so that its peak of memory is its own. The server is another
//! process, on loopback. Processor time is that of the reading thread, which does everything: the
//! socket, TLS, frames, JSON.
//!
//! ```text
//! cargo bench -p seatrial-kube --bench watch -- [EVENTS]...
//! ```

mod events;
mod readers;
mod server;

use std::env;
use std::process::{Command, Stdio};

/// How many events are read by default.
const EVENTS: [usize; 2] = [100_000, 1_000_000];

/// Tells a process that it is one row: the reader, the ports and the number of events.
const ROW: &str = "SEATRIAL_WATCH_ROW";

/// The measurements of a row.
struct Figures {
    wall: f64,
    processor: f64,
    /// The peak of the process's memory before the first event, and after the last.
    before_kb: usize,
    peak_kb: usize,
}

impl Figures {
    fn tell(&self) {
        let Self { wall, processor, before_kb, peak_kb } = self;
        println!("{wall} {processor} {before_kb} {peak_kb}");
    }

    fn hear(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let wall = words.next()?.parse().ok()?;
        let processor = words.next()?.parse().ok()?;
        let before_kb = words.next()?.parse().ok()?;
        Some(Self { wall, processor, before_kb, peak_kb: words.next()?.parse().ok()? })
    }
}

fn main() {
    if let Ok(row) = env::var(ROW) {
        return readers::row(&row).tell();
    }
    let asked: Vec<usize> = env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let counts = if asked.is_empty() { EVENTS.to_vec() } else { asked };
    let server = server::Server::start();
    println!(
        "  events | reader                  | events/s |  wall | of serde | processor | of serde | MB before | peak"
    );
    for count in counts {
        let mut alone: Option<Figures> = None;
        for (reader, name) in readers::READERS {
            let figures = measured(&server, reader, count);
            let (wall, processor) = alone.as_ref().map_or((1.0, 1.0), |alone| {
                (alone.wall / figures.wall, alone.processor / figures.processor)
            });
            println!(
                "{count:8} | {name:23} | {:8.0} | {:4.2}s | {wall:8.2} | {:8.2}s | {processor:8.2} | {:9.1} | {:4.1}",
                count as f64 / figures.wall,
                figures.wall,
                figures.processor,
                figures.before_kb as f64 / 1024.0,
                figures.peak_kb as f64 / 1024.0,
            );
            alone.get_or_insert(figures);
        }
    }
}

/// Runs one row in a process of its own.
fn measured(server: &server::Server, reader: &str, count: usize) -> Figures {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.env(ROW, format!("{reader} {} {} {count}", server.plain, server.encrypted));
    command.env(readers::AUTHORITY, &server.authority);
    let output = command.stderr(Stdio::inherit()).output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stdout);
    Figures::hear(&told).unwrap_or_else(|| panic!("{reader} has told {told:?}"))
}
