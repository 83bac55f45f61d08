//! The store of one lease: compare-and-swap, and changes from outside.

use seatrial_core::elector::{LeaseSpec, Name, Object, StoreError, Version};

use super::part::{Edit, Request};

/// The answer of the store; a deletion shows the lease as it was, an edit shows it as it is now.
pub type Served = Result<Object<LeaseSpec>, StoreError>;

/// One lease. Every change of it has a version of its own, even a deletion.
#[derive(Clone, Debug, Default)]
pub struct Store {
    lease: Option<Object<LeaseSpec>>,
    changes: u64,
}

impl Store {
    pub(super) fn serve(&mut self, request: &Request) -> Served {
        match request {
            Request::Get => self.lease.clone().ok_or(StoreError::NotFound),
            Request::Create(lease) => self.create(lease),
            Request::Update(lease) => self.update(lease),
            Request::Delete => {
                let deleted = self.lease.take().ok_or(StoreError::NotFound)?;
                self.changes += 1;
                Ok(deleted)
            }
            Request::Edit(edit) => {
                let lease = self.lease.clone().ok_or(StoreError::NotFound)?;
                Ok(self.keep(edited(lease, *edit)))
            }
        }
    }

    fn create(&mut self, lease: &Object<LeaseSpec>) -> Served {
        lease.content.validate()?;
        if self.lease.is_some() {
            return Err(StoreError::AlreadyExists);
        }
        let mut lease = lease.clone();
        lease.meta.uid = Name::new(&format!("uid-{}", self.changes + 1));
        Ok(self.keep(lease))
    }

    fn update(&mut self, lease: &Object<LeaseSpec>) -> Served {
        lease.content.validate()?;
        let stored = self.lease.as_ref().ok_or(StoreError::NotFound)?;
        if stored.meta.version != lease.meta.version {
            return Err(StoreError::Conflict);
        }
        let mut lease = lease.clone();
        lease.meta.uid = stored.meta.uid.clone();
        Ok(self.keep(lease))
    }

    fn keep(&mut self, mut lease: Object<LeaseSpec>) -> Object<LeaseSpec> {
        self.changes += 1;
        lease.meta.version = Version::Number(self.changes);
        self.lease = Some(lease.clone());
        lease
    }
}

fn named(letter: char) -> Name {
    Name::new(letter.encode_utf8(&mut [0; 4]))
}

fn edited(mut lease: Object<LeaseSpec>, edit: Edit) -> Object<LeaseSpec> {
    match edit {
        Edit::ClearHolder => lease.content.holder = None,
        Edit::ClearDuration => lease.content.duration_seconds = None,
        Edit::Touch => {
            let labels = lease.meta.labels.get_or_insert_default();
            labels.insert("touched".to_owned(), "yes".to_owned());
        }
        Edit::Nominate(letter) => {
            let content = &mut lease.content;
            content.holder = Some(named(letter));
            content.preferred_holder = None;
            content.transitions = Some(content.transitions.unwrap_or(0) + 1);
        }
        Edit::Prefer(letter) => lease.content.preferred_holder = Some(named(letter)),
    }
    lease
}
