//! Varints and fields: the bytes below every message.

use super::Error;

/// The content of a field, as its wire type says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Content<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    /// Four bytes, or a group: no field of the API has such a content.
    Other(u8),
}

impl Content<'_> {
    /// The number that the wire has for this type.
    pub(super) fn wire_type(self) -> u8 {
        match self {
            Self::Varint(_) => 0,
            Self::Fixed64(_) => 1,
            Self::Bytes(_) => 2,
            Self::Other(of) => of,
        }
    }
}

/// Reads a message, field by field. It keeps nothing and copies nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The number of the next field and its content. `of` is the message, which errors name.
    pub(super) fn field(&mut self, of: &str) -> Result<(u32, Content<'a>), Error> {
        let tag = self.varint()?;
        let (number, wire_type) = ((tag >> 3) as u32 as i32, (tag & 7) as u8);
        if wire_type == 4 {
            return Err(Error::new(format!("proto: {of}: wiretype end group for non-group")));
        }
        if number <= 0 {
            let why = format!("proto: {of}: illegal tag {number} (wire type {tag})");
            return Err(Error::new(why));
        }
        Ok((number.unsigned_abs(), self.content(wire_type)?))
    }

    fn content(&mut self, wire_type: u8) -> Result<Content<'a>, Error> {
        Ok(match wire_type {
            0 => Content::Varint(self.varint()?),
            1 => Content::Fixed64(self.fixed64()?),
            2 => Content::Bytes(self.bytes()?),
            3 => {
                self.skip_group()?;
                Content::Other(3)
            }
            5 => {
                self.take(4)?;
                Content::Other(5)
            }
            other => return Err(Error::new(format!("proto: illegal wireType {other}"))),
        })
    }

    pub(super) fn varint(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = *self.take(1)? else { break };
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::new("proto: integer overflow"))
    }

    pub(super) fn fixed64(&mut self) -> Result<u64, Error> {
        let bytes = self.take(8)?.iter().rev();
        Ok(bytes.fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Error> {
        let length = self.varint()?;
        if i64::try_from(length).is_err() {
            return Err(Error::new("proto: negative length found during unmarshaling"));
        }
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let taken = self.bytes.split_at_checked(count);
        let (taken, rest) = taken.ok_or_else(|| Error::new("unexpected EOF"))?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Skips the rest of a group, whose groups are counted rather than descended into.
    fn skip_group(&mut self) -> Result<(), Error> {
        let mut depth = 1_u64;
        while depth > 0 {
            match (self.varint()? & 7) as u8 {
                3 => depth += 1,
                4 => depth -= 1,
                other => drop(self.content(other)?),
            }
        }
        Ok(())
    }
}

/// Writes a varint.
pub(super) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes what comes before the content of a field.
pub(super) fn put_tag(number: u32, wire_type: u8, out: &mut Vec<u8>) {
    put_varint(u64::from(number) << 3 | u64::from(wire_type), out);
}

/// Writes a field of bytes.
pub(super) fn put_bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    put_tag(number, 2, out);
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}
