//! One connection: requests one after the other, and watches.

use std::io::{self, BufRead as _, BufReader, BufWriter, Write};
use std::net::TcpStream;
use std::sync::PoisonError;
use std::time::Duration;

use super::stream::Stream;
use super::wire::{self, Received, Trouble};
use super::{Open, Shared, now};
use crate::apiserver::{Answer, Attempt, Response, WatchId};

/// How often a watch looks whether its time is over and its client is still there.
pub(super) const LOOK: Duration = Duration::from_millis(200);

/// Answers requests until the client leaves, is too slow, or does not speak HTTP.
pub(super) fn serve(socket: TcpStream, shared: &Shared, open: Open<'_>) -> io::Result<()> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(shared.patience))?;
    socket.set_write_timeout(Some(shared.patience))?;
    #[cfg(feature = "tls")]
    let (socket, session) = match &shared.tls {
        None => (socket, None),
        Some(tls) => match tls.greet(socket, shared)? {
            Some((socket, session)) => (socket, Some(session)),
            None => return Ok(()),
        },
    };
    #[cfg(feature = "tls")]
    let stream = Stream::new(&socket, session);
    #[cfg(not(feature = "tls"))]
    let stream = Stream::new(&socket);
    let talked = converse(&stream, shared);
    // A client that is told of the end may come again at once. This connection is no longer
    // counted, so a client that does not listen is not waited for.
    drop(open);
    talked?;
    socket.set_nonblocking(true)?;
    stream.finish()
}

fn converse(stream: &Stream<'_>, shared: &Shared) -> io::Result<()> {
    let (mut reader, mut writer) = (BufReader::new(stream), BufWriter::new(stream));
    while !shared.door.is_stopped() {
        stream.expect_within(shared.patience);
        if reader.fill_buf().map_or(true, <[u8]>::is_empty) {
            return Ok(()); // gone, or too slow
        }
        // It has begun: the whole request has as much time again.
        stream.expect_within(shared.patience);
        let Received { mut request, goes_on } = match wire::read(&mut reader, &mut writer) {
            Ok(received) => received,
            Err(Trouble::Gone) => return Ok(()),
            Err(Trouble::Bad(status)) => return wire::complain(&mut writer, status),
        };
        if shared.door.is_stopped() {
            return Ok(()); // while it was idle
        }
        let refusal = stream.refusal(&mut request).map(Answer::Response);
        match refusal.unwrap_or_else(|| shared.handle(&request)) {
            Answer::Response(response) => {
                // A real server would have taken so long.
                shared.door.pause(response.after);
                let body = response.body.bytes();
                wire::head(&mut writer, &response, Some(body.len()), goes_on)?;
                if request.method != "HEAD" {
                    writer.write_all(&body)?;
                }
                writer.flush()?;
            }
            Answer::Watch { id, head } => {
                shared.door.pause(head.after);
                let told = wire::head(&mut writer, &head, None, goes_on).and_then(|()| {
                    writer.flush()?;
                    tell(shared, id, &head, stream, &mut writer)
                });
                shared.lock().close(id);
                told?;
            }
            Answer::Lost => return Ok(()),
        }
        if !goes_on {
            return Ok(());
        }
    }
    Ok(())
}

/// Tells the events of a watch, each in a chunk, until the watch or the client ends.
fn tell(
    shared: &Shared,
    id: WatchId,
    head: &Response,
    stream: &Stream<'_>,
    writer: &mut impl Write,
) -> io::Result<()> {
    let mut inner = shared.lock();
    let mut attempt = Attempt::default();
    loop {
        let calls = inner.server.unconverted(id, &mut attempt);
        let news = inner.events(now(), id);
        if news.events.is_empty() && !news.has_ended {
            if shared.door.is_stopped() {
                return Ok(());
            }
            if !calls.is_empty() {
                drop(inner);
                if stream.has_left() {
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
                shared.call(calls, &mut attempt);
                inner = shared.lock();
                continue;
            }
            attempt = Attempt::default();
            let slept = shared.changed.wait_timeout(inner, LOOK);
            let (woken, timeout) = slept.unwrap_or_else(PoisonError::into_inner);
            inner = woken;
            if timeout.timed_out() && stream.has_left() {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            continue;
        }
        // A slow client is not waited for.
        drop(inner);
        for event in &news.events {
            wire::chunk(writer, &event.bytes(head))?;
        }
        if news.has_ended {
            return wire::chunk(writer, b"");
        }
        // What is known by now was told before more is asked for.
        if !calls.is_empty() {
            shared.call(calls, &mut attempt);
        }
        inner = shared.lock();
    }
}
