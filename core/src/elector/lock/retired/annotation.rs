//! The locks that keep the record in an annotation of another object (`election:LK-18` to `LK-23`).

use std::sync::Arc;

use crate::elector::record::{Fields, Name, Record};

use crate::elector::lock::slot::{EventRecorder, Kind, Slot};
use crate::elector::lock::{
    AsyncLock, AsyncObjectStore, Call, Lock, Object, ObjectStore, StoreError, Stored, Version,
};

/// The annotation that holds the record.
pub const ANNOTATION: &str = "control-plane.alpha.kubernetes.io/leader";

/// A ConfigMap; only its metadata matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConfigMap;

impl Kind for ConfigMap {
    const KIND: &'static str = "ConfigMap";
    const API_VERSION: &'static str = "v1";
}

/// An Endpoints object; only its metadata matters here. Many agents watch Endpoints, so every
/// renewal is broadcast to them (`election:LK-22`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Endpoints;

impl Kind for Endpoints {
    const KIND: &'static str = "Endpoints";
    const API_VERSION: &'static str = "v1";
}

/// A lock in an annotation of a ConfigMap.
pub type ConfigMapLock<S> = AnnotationLock<S, ConfigMap>;
/// A lock in an annotation of an Endpoints object.
pub type EndpointsLock<S> = AnnotationLock<S, Endpoints>;

/// A lock in an annotation of an object of kind `C`.
#[derive(Clone, Debug)]
pub struct AnnotationLock<S, C> {
    slot: Slot<S, C>,
    fields: Fields,
}

impl<C: Kind, S> AnnotationLock<S, C> {
    /// Makes a lock in the object of that name. It writes the five fields that all generations
    /// know.
    pub fn new(store: S, namespace: &str, name: &str) -> Self {
        let slot = Slot::new(store, namespace, name);
        Self { slot, fields: Fields::Older }
    }

    /// Sets the fields that it writes.
    #[must_use]
    pub fn with_fields(self, fields: Fields) -> Self {
        Self { fields, ..self }
    }

    /// Records events with this recorder (`election:LK-16`).
    #[must_use]
    pub fn with_recorder(mut self, recorder: Arc<dyn EventRecorder>) -> Self {
        self.slot.set_recorder(recorder);
        self
    }
}

/// Reads the record. An absent annotation is an empty record. A corrupt one is an error that blocks
/// the election until it is repaired (`election:LK-19`).
fn stored<C>(object: &Object<C>) -> Result<Stored, StoreError> {
    let annotations = object.meta.annotations.as_ref();
    let text = annotations.and_then(|annotations| annotations.get(ANNOTATION));
    let record = match text {
        None => Record::default(),
        Some(text) => Record::from_json(text).map_err(|error| {
            StoreError::Invalid(format!("annotation {ANNOTATION}: {error}").into())
        })?,
    };
    Ok(Stored::new(record, object.meta.version.clone(), object.meta.uid.clone()))
}

fn write<C>(object: &mut Object<C>, record: &Record, fields: Fields) {
    let annotations = object.meta.annotations.get_or_insert_default();
    annotations.insert(ANNOTATION.to_owned(), record.to_json(fields));
}

impl<C: Kind + Sync, S: ObjectStore<C>> Lock for AnnotationLock<S, C> {
    fn get(&mut self, call: Call<'_>) -> Result<Stored, StoreError> {
        self.slot.get(call).and_then(stored)
    }

    fn create(&mut self, record: &Record, call: Call<'_>) -> Result<Stored, StoreError> {
        let fields = self.fields;
        self.slot.create(call, |object| write(object, record, fields)).and_then(stored)
    }

    fn update(
        &mut self,
        record: &Record,
        version: &Version,
        call: Call<'_>,
    ) -> Result<Stored, StoreError> {
        let fields = self.fields;
        self.slot.update(version, call, |object| write(object, record, fields)).and_then(stored)
    }

    fn record_event(&self, identity: &Name, text: &'static str) {
        self.slot.record_event(identity, text);
    }

    fn describe(&self) -> String {
        self.slot.name.to_string()
    }
}

impl<C: Kind + Sync, S: AsyncObjectStore<C>> AsyncLock for AnnotationLock<S, C> {
    async fn get(&mut self) -> Result<Stored, StoreError> {
        self.slot.get_async().await.and_then(stored)
    }

    async fn create(&mut self, record: &Record) -> Result<Stored, StoreError> {
        let fields = self.fields;
        self.slot.create_async(|object| write(object, record, fields)).await.and_then(stored)
    }

    async fn update(&mut self, record: &Record, version: &Version) -> Result<Stored, StoreError> {
        let fields = self.fields;
        let write = |object: &mut Object<C>| write(object, record, fields);
        self.slot.update_async(version, write).await.and_then(stored)
    }

    fn record_event(&self, identity: &Name, text: &'static str) {
        self.slot.record_event(identity, text);
    }

    fn describe(&self) -> String {
        self.slot.name.to_string()
    }
}
