//! The API server: one lock object with all its versions, and compare-and-swap.

use seatrial_core::elector::{LeaseSpec, Name, Record, StoreError, Stored, Version};

/// The writer of a version: a process, or somebody outside of the election.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// The process of that number.
    Process(u16),
    /// An administrator.
    Outside,
}

/// One version of the lock object; a deletion is one too.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When it was applied.
    pub at: u64,
    /// The writer.
    pub by: Writer,
    /// The version that the write named; zero for a creation.
    pub over: u64,
    /// The record; `None` if the object was deleted.
    pub record: Option<Record>,
    /// The number of the object: how many were created so far.
    pub epoch: u32,
}

/// The lock object and its history. Version `n` is the `n`-th entry, counted from one, until the
/// store goes back: then it gives away the versions after that state a second time.
#[derive(Clone, Debug)]
pub struct Server {
    history: Vec<Entry>,
    /// The version of each entry, if the store has ever gone back.
    versions: Vec<u64>,
    /// How many objects were created.
    epoch: u32,
    uids: Vec<Name>,
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// Makes a server without the object.
    #[must_use]
    pub fn new() -> Self {
        Self { history: Vec::new(), versions: Vec::new(), epoch: 0, uids: vec![Name::EMPTY] }
    }

    /// Returns every version, oldest first.
    #[must_use]
    pub fn history(&self) -> &[Entry] {
        &self.history
    }

    /// Returns the number of the newest version; zero before the first.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.version_of(self.history.len())
    }

    /// Returns the version of the entry of that number, counted from one.
    fn version_of(&self, number: usize) -> u64 {
        let Some(index) = number.checked_sub(1) else { return 0 };
        self.versions.get(index).copied().unwrap_or(number as u64)
    }

    /// Forgets everything, and goes on in the memory of an old history.
    pub fn restart(&mut self, mut history: Vec<Entry>) {
        history.clear();
        self.history = history;
        self.versions.clear();
        self.epoch = 0;
    }

    /// Hands over every version.
    pub fn take_history(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.history)
    }

    /// Reads the object as it was `lag` versions ago, as a lagging replica does.
    ///
    /// # Errors
    /// If the object did not exist.
    pub fn read(&self, lag: u64) -> Result<Stored, StoreError> {
        let number = self.history.len().saturating_sub(lag as usize);
        let entry = number.checked_sub(1).and_then(|index| self.history.get(index));
        let entry = entry.ok_or(StoreError::NotFound)?;
        let record = entry.record.clone().ok_or(StoreError::NotFound)?;
        Ok(self.stored(record, self.version_of(number), entry.epoch))
    }

    /// Creates the object.
    ///
    /// # Errors
    /// The errors of a store.
    pub fn create(&mut self, record: Record, by: Writer, at: u64) -> Result<Stored, StoreError> {
        LeaseSpec::from_record(&record).validate()?;
        if self.current().is_some() {
            return Err(StoreError::AlreadyExists);
        }
        self.epoch += 1;
        if self.uids.len() <= self.epoch as usize {
            self.uids.push(Name::new(&format!("uid-{}", self.epoch)));
        }
        Ok(self.append(record, by, 0, at, self.epoch))
    }

    /// Replaces the record, if the object still has the version.
    ///
    /// # Errors
    /// The errors of a store.
    pub fn update(
        &mut self,
        record: Record,
        version: &Version,
        by: Writer,
        at: u64,
    ) -> Result<Stored, StoreError> {
        LeaseSpec::from_record(&record).validate()?;
        let Some(Entry { record: Some(_), epoch, .. }) = self.history.last() else {
            return Err(StoreError::NotFound);
        };
        let (newest, epoch) = (self.newest(), *epoch);
        if *version != Version::Number(newest) {
            return Err(StoreError::Conflict);
        }
        Ok(self.append(record, by, newest, at, epoch))
    }

    /// Deletes the object; false if there is none.
    pub fn delete(&mut self, at: u64) -> bool {
        let exists = self.current().is_some();
        if exists {
            let (over, epoch) = (self.newest(), self.epoch);
            self.push(Entry { at, by: Writer::Outside, over, record: None, epoch }, over + 1);
        }
        exists
    }

    /// Loses the last `writes` changes, as after a restore from an older copy: the object and its
    /// version are as they were then. Returns false if there was no change.
    pub fn go_back(&mut self, writes: u64, at: u64) -> bool {
        let lost = usize::try_from(writes).unwrap_or(usize::MAX);
        let number = self.history.len().saturating_sub(lost);
        let is_changed = number < self.history.len();
        if is_changed {
            self.versions = (1..=self.history.len()).map(|it| self.version_of(it)).collect();
            let old = number.checked_sub(1).map(|index| self.history[index].clone());
            let (record, epoch) = old.map_or((None, 0), |old| (old.record, old.epoch));
            let (by, over) = (Writer::Outside, self.newest());
            let version = self.version_of(number);
            self.push(Entry { at, by, over, record, epoch }, version);
        }
        is_changed
    }

    /// Changes the record from outside; false if there is no object.
    pub fn edit(&mut self, at: u64, change: impl FnOnce(&mut Record)) -> bool {
        let Some(mut record) = self.current().cloned() else { return false };
        change(&mut record);
        let (over, epoch) = (self.newest(), self.history.last().map_or(0, |entry| entry.epoch));
        let _stored = self.append(record, Writer::Outside, over, at, epoch);
        true
    }

    /// Returns the record as it is now.
    #[must_use]
    pub fn current(&self) -> Option<&Record> {
        self.history.last().and_then(|entry| entry.record.as_ref())
    }

    fn append(&mut self, record: Record, by: Writer, over: u64, at: u64, epoch: u32) -> Stored {
        let version = self.newest() + 1;
        let stored = self.stored(record.clone(), version, epoch);
        self.push(Entry { at, by, over, record: Some(record), epoch }, version);
        stored
    }

    fn push(&mut self, entry: Entry, version: u64) {
        self.history.push(entry);
        if !self.versions.is_empty() || version != self.history.len() as u64 {
            self.versions.push(version);
        }
    }

    fn stored(&self, record: Record, version: u64, epoch: u32) -> Stored {
        Stored::new(record, Version::Number(version), self.uids[epoch as usize].clone())
    }
}
