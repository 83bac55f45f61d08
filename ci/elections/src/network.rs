//! A way to the server that can be slow or cut: what is under way hangs, and so does what comes later.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// One replica's way to the server.
pub struct Network {
    pub address: SocketAddr,
    is_cut: Arc<AtomicBool>,
}

impl Network {
    /// Everything takes so long each way.
    pub fn to(server: SocketAddr, delay: Duration) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let is_cut = Arc::new(AtomicBool::new(false));
        let cut = Arc::clone(&is_cut);
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(server) else { continue };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    if let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) {
                        let cut = Arc::clone(&cut);
                        thread::spawn(move || pump(from, to, delay, &cut));
                    }
                }
            }
        });
        Ok(Self { address, is_cut })
    }

    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, delay: Duration, is_cut: &AtomicBool) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        thread::sleep(delay);
        if is_cut.load(Ordering::Relaxed) {
            loop {
                thread::park(); // neither end hears of the other any more
            }
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    if !is_cut.load(Ordering::Relaxed) {
        let _closed = to.shutdown(Shutdown::Both);
    }
}
