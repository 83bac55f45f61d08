//! Serves an empty cluster on loopback until its input ends.
//!
//! `cargo run --features http --example serve` prints the address; `kubectl -s http://ADDRESS` and
//! any other client may use it.

use std::io;
use std::time::SystemTime;

use seatrial_sim::apiserver::{Options, Server};
use seatrial_sim::http::{Face, Listen};

fn main() -> io::Result<()> {
    let begins_at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let server = Server::new(&Options { begins_at, ..Options::default() });
    let face = Face::listen(server, &Listen::default())?;
    println!("http://{}", face.address());
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}
