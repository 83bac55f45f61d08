//! The behaviour of a pair of locks, in both forms: with blocking and with awaited calls.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::elector::{
    AsyncLock, Call, Lock, Name, PairLock, Record, StoreError, Stored, UNKNOWN_HOLDER, Version,
};
use crate::runtime::{Runtime, System};

/// An object with a record, and its next failure.
#[derive(Default)]
struct Object {
    held: Option<(Record, u64)>,
    written: u64,
    fails: Option<StoreError>,
    hides_version: bool,
}

/// One half of a pair: records its calls under its name.
#[derive(Clone)]
struct Half {
    name: &'static str,
    object: Arc<Mutex<Object>>,
    calls: Arc<Mutex<Vec<String>>>,
}

impl Half {
    fn answer(&self, object: &Object) -> Result<Stored, StoreError> {
        let (record, version) = object.held.clone().ok_or(StoreError::NotFound)?;
        let version =
            if object.hides_version { Version::new("") } else { Version::Number(version) };
        Ok(Stored { record, version, uid: Name::EMPTY })
    }

    fn call(
        &self,
        what: String,
        change: impl FnOnce(&mut Object) -> Result<(), StoreError>,
    ) -> Result<Stored, StoreError> {
        self.calls.lock().push(format!("{what} {}", self.name));
        let mut object = self.object.lock();
        if let Some(error) = object.fails.take() {
            return Err(error);
        }
        change(&mut object)?;
        self.answer(&object)
    }

    fn write(object: &mut Object, record: &Record) {
        object.written += 1;
        object.held = Some((record.clone(), object.written));
    }

    fn read(&self) -> Result<Stored, StoreError> {
        self.call("get".to_owned(), |_| Ok(()))
    }

    fn make(&self, record: &Record) -> Result<Stored, StoreError> {
        self.call("create".to_owned(), |object| {
            if object.held.is_some() {
                return Err(StoreError::AlreadyExists);
            }
            Self::write(object, record);
            Ok(())
        })
    }

    fn swap(&self, record: &Record, version: &Version) -> Result<Stored, StoreError> {
        self.call(format!("update {version} of"), |object| {
            match &object.held {
                Some((_, held)) if Version::Number(*held) == *version => {}
                _ => return Err(StoreError::Conflict),
            }
            Self::write(object, record);
            Ok(())
        })
    }
}

impl Lock for Half {
    fn get(&mut self, _: Call<'_>) -> Result<Stored, StoreError> {
        self.read()
    }

    fn create(&mut self, record: &Record, _: Call<'_>) -> Result<Stored, StoreError> {
        self.make(record)
    }

    fn update(
        &mut self,
        record: &Record,
        version: &Version,
        _: Call<'_>,
    ) -> Result<Stored, StoreError> {
        self.swap(record, version)
    }

    fn describe(&self) -> String {
        self.name.to_owned()
    }
}

impl AsyncLock for Half {
    async fn get(&mut self) -> Result<Stored, StoreError> {
        self.read()
    }

    async fn create(&mut self, record: &Record) -> Result<Stored, StoreError> {
        self.make(record)
    }

    async fn update(&mut self, record: &Record, version: &Version) -> Result<Stored, StoreError> {
        self.swap(record, version)
    }

    fn describe(&self) -> String {
        self.name.to_owned()
    }
}

/// A pair in one of the two forms.
struct Pair {
    awaited: bool,
    lock: PairLock<Half, Half>,
    one: Half,
    two: Half,
}

impl Pair {
    /// Makes a pair for participant "me" in each form; `holders` are the holders of the halves.
    fn both_forms(holders: [Option<&str>; 2]) -> [Self; 2] {
        [false, true].map(|awaited| {
            let calls = Arc::default();
            let [one, two] = [("one", holders[0]), ("two", holders[1])].map(|(name, holder)| {
                let half = Half { name, object: Arc::default(), calls: Arc::clone(&calls) };
                if let Some(holder) = holder {
                    Half::write(&mut half.object.lock(), &record(holder));
                }
                half
            });
            let lock = PairLock::new(Name::new("me"), one.clone(), two.clone());
            Self { awaited, lock, one, two }
        })
    }

    fn get(&mut self) -> Result<Stored, StoreError> {
        match self.awaited {
            false => Lock::get(&mut self.lock, Call::default()),
            true => System::new().block_on(AsyncLock::get(&mut self.lock)),
        }
    }

    fn create(&mut self) -> Result<Stored, StoreError> {
        match self.awaited {
            false => Lock::create(&mut self.lock, &record("me"), Call::default()),
            true => System::new().block_on(AsyncLock::create(&mut self.lock, &record("me"))),
        }
    }

    fn update(&mut self, version: &Version) -> Result<Stored, StoreError> {
        match self.awaited {
            false => Lock::update(&mut self.lock, &record("me"), version, Call::default()),
            true => {
                System::new().block_on(AsyncLock::update(&mut self.lock, &record("me"), version))
            }
        }
    }

    /// Returns the calls of both halves since the last time.
    fn calls(&self) -> Vec<String> {
        std::mem::take(&mut *self.one.calls.lock())
    }

    /// Lets somebody else write one of the halves.
    fn is_written(half: &Half, holder: &str) {
        Half::write(&mut half.object.lock(), &record(holder));
    }
}

fn record(holder: &str) -> Record {
    Record { holder: holder.into(), duration_seconds: 15, ..Record::default() }
}

#[test]
fn the_first_is_read_first_and_alone_if_that_fails() {
    for mut pair in Pair::both_forms([Some("me"), Some("me")]) {
        assert_eq!(pair.get().unwrap().record.holder.as_str(), "me");
        assert_eq!(pair.calls(), ["get one", "get two"]);
        pair.one.object.lock().fails = Some(StoreError::Timeout);
        assert_eq!(pair.get(), Err(StoreError::Timeout));
        assert_eq!(pair.calls(), ["get one"]);
        pair.two.object.lock().fails = Some(StoreError::Timeout);
        assert_eq!(pair.get(), Err(StoreError::Timeout), "LK-25: nobody knows who leads");
    }
}

#[test]
fn an_update_names_the_versions_that_were_received_last() {
    for mut pair in Pair::both_forms([Some("me"), Some("me")]) {
        let read = pair.get().unwrap();
        let written = pair.update(&read.version).unwrap();
        pair.calls();
        let again = pair.update(&written.version).unwrap();
        assert_eq!(pair.calls(), ["update 2 of one", "get two", "update 2 of two"]);
        assert_eq!(pair.update(&written.version), Err(StoreError::NotInitialised), "an old one");
        assert_eq!(pair.calls(), [""; 0]);
        assert!(pair.update(&again.version).is_ok());
    }
}

#[test]
fn the_second_is_read_anew_before_it_is_updated() {
    for mut pair in Pair::both_forms([Some("me"), Some("me")]) {
        let read = pair.get().unwrap();
        Pair::is_written(&pair.two, "other");
        pair.calls();
        assert!(pair.update(&read.version).is_ok(), "LK-26");
        assert_eq!(pair.calls(), ["update 1 of one", "get two", "update 2 of two"]);
    }
}

#[test]
fn the_second_is_updated_as_it_was_known_if_it_cannot_be_read() {
    for mut pair in Pair::both_forms([Some("me"), Some("me")]) {
        let read = pair.get().unwrap();
        pair.calls();
        pair.two.object.lock().fails = Some(StoreError::Timeout);
        assert!(pair.update(&read.version).is_ok());
        assert_eq!(pair.calls(), ["update 1 of one", "get two", "update 1 of two"]);
    }
}

#[test]
fn a_second_that_was_missing_is_known_to_be_missing() {
    for mut pair in Pair::both_forms([Some("old"), Some("me")]) {
        pair.get().unwrap();
        pair.two.object.lock().held = None;
        let read = pair.get().unwrap();
        assert_eq!(read.record.holder.as_str(), "old", "somebody who knows the first alone");
        pair.two.object.lock().fails = Some(StoreError::Timeout);
        pair.calls();
        assert_eq!(pair.update(&read.version), Err(StoreError::Timeout));
        assert_eq!(pair.calls(), ["update 1 of one", "get two"], "no version of it is known");
    }
}

#[test]
fn a_second_that_cannot_be_created_fails_the_update() {
    for mut pair in Pair::both_forms([Some("old"), None]) {
        let read = pair.get().unwrap();
        pair.calls();
        let two = Arc::clone(&pair.two.object);
        two.lock().fails = Some(StoreError::NotFound);
        Pair::is_written(&pair.two, "other");
        let failed = pair.update(&read.version);
        assert_eq!(failed, Err(StoreError::AlreadyExists), "LK-26");
        assert_eq!(pair.calls(), ["update 1 of one", "get two", "create two"]);
        let seen = pair.get().unwrap();
        assert_eq!(seen.record.holder.as_str(), UNKNOWN_HOLDER);
        assert!(pair.update(&seen.version).is_ok(), "and the next one names what it reads");
    }
}

#[test]
fn a_pair_has_no_version_if_one_of_its_locks_has_none() {
    for without in [0, 1] {
        for mut pair in Pair::both_forms([Some("me"), Some("me")]) {
            [&pair.one, &pair.two][without].object.lock().hides_version = true;
            let read = pair.get().unwrap();
            assert!(read.version.is_empty(), "LK-4: {:?}", read.version);
        }
    }
}

#[test]
fn both_are_created_and_the_second_decides() {
    for mut pair in Pair::both_forms([None, None]) {
        let created = pair.create().unwrap();
        assert_eq!(pair.calls(), ["create one", "create two"]);
        assert!(pair.update(&created.version).is_ok());
        pair.calls();
        assert_eq!(pair.create(), Err(StoreError::AlreadyExists));
        assert_eq!(pair.calls(), ["create one", "create two"]);
    }
    for mut pair in Pair::both_forms([None, Some("other")]) {
        assert_eq!(pair.create(), Err(StoreError::AlreadyExists), "it has a holder");
    }
}

#[test]
fn a_first_that_existed_is_not_known_by_its_creation() {
    for mut pair in Pair::both_forms([Some("old"), None]) {
        pair.get().unwrap();
        let created = pair.create().unwrap();
        assert_eq!(pair.update(&created.version), Err(StoreError::NotInitialised), "LK-26");
    }
}
