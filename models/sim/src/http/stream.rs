//! The bytes of one connection, in both directions: over the socket as it is, or over TLS.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[cfg(feature = "tls")]
use super::tls::Session;
use crate::apiserver::{Request, Response};

/// A connection.
pub(super) struct Stream<'a> {
    socket: &'a TcpStream,
    /// When what the client is about to say must be here.
    deadline: Cell<Option<Instant>>,
    #[cfg(feature = "tls")]
    session: Option<Session>,
}

impl<'a> Stream<'a> {
    #[cfg(not(feature = "tls"))]
    pub(super) fn new(socket: &'a TcpStream) -> Self {
        Self { socket, deadline: Cell::new(None) }
    }

    #[cfg(feature = "tls")]
    pub(super) fn new(socket: &'a TcpStream, session: Option<Session>) -> Self {
        Self { socket, deadline: Cell::new(None), session }
    }

    /// All reads from now on must end within this time together, however many pieces arrive.
    pub(super) fn expect_within(&self, patience: Duration) {
        self.deadline.set(Instant::now().checked_add(patience));
    }

    /// Notes who makes a request, or gives the answer to one that may not be made.
    pub(super) fn refusal(&self, _request: &mut Request) -> Option<Response> {
        #[cfg(feature = "tls")]
        if let Some(gate) = self.session.as_ref().and_then(|it| it.gate.as_ref()) {
            let asked = (_request.method.as_str(), _request.path.as_str());
            match gate.admit(asked, _request.header("Authorization")) {
                Ok(user) => _request.by = user,
                Err(refusal) => return Some(refusal),
            }
        }
        None
    }

    /// Waits no longer for the next piece than there is time.
    fn limit(&self) -> io::Result<()> {
        let Some(deadline) = self.deadline.get() else { return Ok(()) };
        match deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => self.socket.set_read_timeout(Some(left)),
        }
    }

    /// Says that nothing follows.
    pub(super) fn finish(&self) -> io::Result<()> {
        #[cfg(feature = "tls")]
        if let Some(session) = &self.session {
            return session.finish(self.socket);
        }
        Ok(())
    }

    /// Tells whether the client has hung up. Bytes that it sends meanwhile belong to the next
    /// request.
    pub(super) fn has_left(&self) -> bool {
        if self.socket.set_nonblocking(true).is_err() {
            return true;
        }
        let left = self.is_at_end();
        self.socket.set_nonblocking(false).is_err() || left
    }

    fn is_at_end(&self) -> bool {
        #[cfg(feature = "tls")]
        if let Some(session) = &self.session {
            return session.has_left(self.socket);
        }
        match self.socket.peek(&mut [0]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }
}

/// The socket, each read of which waits no longer than there is time.
struct Limited<'a>(&'a Stream<'a>);

impl Read for Limited<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.limit()?;
        let mut socket = self.0.socket;
        socket.read(into)
    }
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut socket = self.0.socket;
        socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for &Stream<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut limited = Limited(self);
        #[cfg(feature = "tls")]
        if let Some(session) = &self.session {
            return session.read(&mut limited, into);
        }
        limited.read(into)
    }
}

impl Write for &Stream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(feature = "tls")]
        if let Some(session) = &self.session {
            return session.write(self.socket, bytes);
        }
        let mut socket = self.socket;
        socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        #[cfg(feature = "tls")]
        if let Some(session) = &self.session {
            return session.flush(self.socket);
        }
        Ok(())
    }
}
