//! Bodies that a server has compressed.

use std::io::Write as _;

use flate2::write::MultiGzDecoder;

use crate::request::{BoxFuture, Chunks, TransportError, TransportKind};

/// How many bytes are unpacked at a time. They become a thousand times as many at most, so the
/// limit on the bytes of an answer stops a body that is made to fill the memory.
const PIECE: usize = 1024;

/// A body that is unpacked as it arrives.
pub(super) struct Unpacked<C> {
    inner: C,
    packed: Vec<u8>,
    at: usize,
    /// `None` once the body has ended.
    decoder: Option<MultiGzDecoder<Vec<u8>>>,
}

impl<C: Chunks> Unpacked<C> {
    pub(super) fn new(inner: C) -> Self {
        let decoder = Some(MultiGzDecoder::new(Vec::new()));
        Self { inner, packed: Vec::new(), at: 0, decoder }
    }

    /// Unpacks the next piece.
    fn piece(&mut self) -> std::io::Result<Vec<u8>> {
        let Some(decoder) = &mut self.decoder else { return Ok(Vec::new()) };
        let end = self.packed.len().min(self.at + PIECE);
        let taken = decoder.write(&self.packed[self.at..end])?;
        decoder.flush()?;
        let unpacked = std::mem::take(decoder.get_mut());
        if taken == 0 && unpacked.is_empty() {
            return Err(std::io::Error::other("it goes on behind its end"));
        }
        self.at += taken;
        Ok(unpacked)
    }

    /// Unpacks what is left. A body that was cut is an error.
    fn end(&mut self) -> std::io::Result<Vec<u8>> {
        let Some(decoder) = self.decoder.take() else { return Ok(Vec::new()) };
        if self.at == 0 { Ok(Vec::new()) } else { decoder.finish() }
    }

    fn bad(&mut self, kind: TransportKind) -> Option<Result<Vec<u8>, TransportError>> {
        self.decoder = None;
        Some(Err(TransportError::new(kind, "the body is not what gzip makes")))
    }
}

impl<C: Chunks> Chunks for Unpacked<C> {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Vec<u8>, TransportError>>> {
        Box::pin(async {
            while self.decoder.is_some() {
                if self.at < self.packed.len() {
                    match self.piece() {
                        Ok(unpacked) if unpacked.is_empty() => continue,
                        Ok(unpacked) => return Some(Ok(unpacked)),
                        Err(_) => return self.bad(TransportKind::Other),
                    }
                }
                match self.inner.next().await {
                    Some(Ok(packed)) if packed.is_empty() => {}
                    Some(Ok(packed)) => (self.packed, self.at) = (packed, 0),
                    Some(Err(why)) => {
                        self.decoder = None;
                        return Some(Err(why));
                    }
                    None => match self.end() {
                        Ok(rest) if rest.is_empty() => {}
                        Ok(rest) => return Some(Ok(rest)),
                        Err(_) => return self.bad(TransportKind::Eof),
                    },
                }
            }
            None
        })
    }
}
