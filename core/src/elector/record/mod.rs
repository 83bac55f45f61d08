//! The leader record: the content of the lock object.

mod json;
mod name;
mod timestamp;

#[cfg(test)]
mod tests;

pub use json::JsonError;
pub use name::Name;
pub use timestamp::Timestamp;

use json::{Reader, write_string};

/// The election record (`election:LK-7`).
#[derive(Clone, PartialEq, Eq, Debug, Default, Hash)]
#[non_exhaustive]
pub struct Record {
    /// The holder of the lease; empty if the lease is free.
    pub holder: Name,
    /// How long others must wait after they last saw the holder renew the lease.
    pub duration_seconds: i64,
    /// When the holder's term began, on the holder's wall clock. For people to read.
    pub acquire_time: Option<Timestamp>,
    /// When the holder renewed last, on the holder's wall clock. For people to read; a change of
    /// it shows that the holder is alive.
    pub renew_time: Option<Timestamp>,
    /// How often the holder has changed.
    pub transitions: i64,
    /// How a coordinated election chooses the holder; empty if it is not coordinated.
    pub strategy: Name,
    /// The next holder of the lease in a coordinated election.
    pub preferred_holder: Name,
}

setters! {
    Record {
        holder: Name,
        duration_seconds: i64,
        acquire_time: Option<Timestamp>,
        renew_time: Option<Timestamp>,
        transitions: i64,
        strategy: Name,
        preferred_holder: Name,
    }
}

/// The fields in the JSON of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fields {
    /// All seven.
    #[default]
    Current,
    /// The first five, as versions before coordinated election wrote them.
    Older,
}

impl Record {
    /// Writes the record as JSON, byte for byte as the reference does (`election:LK-7`, `LK-8`).
    #[must_use]
    pub fn to_json(&self, fields: Fields) -> String {
        let mut out = String::with_capacity(192);
        out.push_str("{\"holderIdentity\":");
        write_string(&mut out, self.holder.as_str());
        out.push_str(",\"leaseDurationSeconds\":");
        out.push_str(&self.duration_seconds.to_string());
        out.push_str(",\"acquireTime\":");
        write_time(&mut out, self.acquire_time);
        out.push_str(",\"renewTime\":");
        write_time(&mut out, self.renew_time);
        out.push_str(",\"leaderTransitions\":");
        out.push_str(&self.transitions.to_string());
        if fields == Fields::Current {
            out.push_str(",\"strategy\":");
            write_string(&mut out, self.strategy.as_str());
            out.push_str(",\"preferredHolder\":");
            write_string(&mut out, self.preferred_holder.as_str());
        }
        out.push('}');
        out
    }

    /// Reads a record from JSON. Unknown members are ignored, missing ones and `null` are empty,
    /// names ignore case, and the last of two equal members counts.
    ///
    /// # Errors
    /// The text is not a JSON object, or a member has the wrong type or is out of range.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        let mut reader = Reader::new(text);
        let mut record = Self::default();
        if !reader.null()? {
            reader.need(b'{', "an object")?;
            if !reader.take(b'}') {
                loop {
                    let key = reader.key()?;
                    record.read_member(&key, &mut reader)?;
                    if reader.take(b'}') {
                        break;
                    }
                    reader.need(b',', "a comma or the end of an object")?;
                }
            }
        }
        reader.end()?;
        Ok(record)
    }

    /// As [`from_json`](Self::from_json), from bytes that may not be text: within a string, invalid
    /// UTF-8 becomes the replacement character.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json).
    pub fn from_json_bytes(bytes: &[u8]) -> Result<Self, JsonError> {
        Self::from_json(&String::from_utf8_lossy(bytes))
    }

    fn read_member(&mut self, key: &str, reader: &mut Reader<'_>) -> Result<(), JsonError> {
        if reader.null()? {
            self.clear_time(key);
            return Ok(());
        }
        let is = |name: &str| key.eq_ignore_ascii_case(name);
        if is("holderIdentity") {
            self.holder = Name::new(&reader.string()?);
        } else if is("leaseDurationSeconds") {
            self.duration_seconds = reader.integer()?;
        } else if is("acquireTime") {
            self.acquire_time = read_time(reader)?;
        } else if is("renewTime") {
            self.renew_time = read_time(reader)?;
        } else if is("leaderTransitions") {
            self.transitions = reader.integer()?;
        } else if is("strategy") {
            self.strategy = Name::new(&reader.string()?);
        } else if is("preferredHolder") {
            self.preferred_holder = Name::new(&reader.string()?);
        } else {
            reader.skip()?;
        }
        Ok(())
    }

    /// A `null` leaves strings and numbers as an earlier member set them, but clears a time.
    fn clear_time(&mut self, key: &str) {
        if key.eq_ignore_ascii_case("acquireTime") {
            self.acquire_time = None;
        } else if key.eq_ignore_ascii_case("renewTime") {
            self.renew_time = None;
        }
    }

    /// Tells whether both records have the same JSON, that is, whether they are equal apart from
    /// fractions of seconds.
    #[must_use]
    pub fn same_json(&self, other: &Self) -> bool {
        let seconds = |time: Option<Timestamp>| {
            time.filter(|time| !time.is_no_time()).map(Timestamp::whole_seconds)
        };
        seconds(self.renew_time) == seconds(other.renew_time)
            && seconds(self.acquire_time) == seconds(other.acquire_time)
            && self.duration_seconds == other.duration_seconds
            && self.transitions == other.transitions
            && self.holder == other.holder
            && self.strategy == other.strategy
            && self.preferred_holder == other.preferred_holder
    }
}

fn write_time(out: &mut String, time: Option<Timestamp>) {
    match time.filter(|time| !time.is_no_time()) {
        None => out.push_str("null"),
        Some(time) => {
            out.push('"');
            time.write_seconds(out);
            out.push('"');
        }
    }
}

fn read_time(reader: &mut Reader<'_>) -> Result<Option<Timestamp>, JsonError> {
    let error = reader.error("a time");
    let time = Timestamp::parse(&reader.string()?).ok_or(error)?;
    Ok(Some(time).filter(|time| !time.is_no_time()))
}
