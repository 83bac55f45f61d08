//! The times and contents of a candidate's writes, on a clock that is moved by hand.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::elector::candidate::RENEW_EVERY;
use crate::runtime::Manual;

/// How long a test waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(10);

/// The call that wrote an object, and the content.
type Written = (&'static str, CandidateSpec);

/// Reports every write; the first one may meet a conflict.
struct Tells(Sender<Written>, AtomicBool);

impl Tells {
    fn write(
        &self,
        how: &'static str,
        object: &Object<CandidateSpec>,
    ) -> Result<Object<CandidateSpec>, StoreError> {
        self.0.send((how, object.content.clone())).unwrap();
        let conflicts = self.1.swap(false, Ordering::Relaxed);
        if conflicts { Err(StoreError::Conflict) } else { Ok(object.clone()) }
    }
}

impl ObjectStore<CandidateSpec> for Tells {
    fn get(&self, _: &ObjectName, _: Call<'_>) -> Result<Object<CandidateSpec>, StoreError> {
        Err(StoreError::NotFound)
    }
    fn create(
        &self,
        object: &Object<CandidateSpec>,
        _: Call<'_>,
    ) -> Result<Object<CandidateSpec>, StoreError> {
        self.write("created", object)
    }
    fn update(
        &self,
        object: &Object<CandidateSpec>,
        _: Call<'_>,
    ) -> Result<Object<CandidateSpec>, StoreError> {
        self.write("updated", object)
    }
}

/// A watch that sees one object; the test sends later states.
struct Sees(Object<CandidateSpec>, Sender<Seen>);

impl WatchCandidate<Manual> for Sees {
    type Watching = ();

    fn watch(&self, _: &ObjectName, seen: Seen, _: &CancelToken<Manual>) -> Option<()> {
        seen(Some(self.0.clone()));
        self.1.send(seen).ok()
    }
}

/// A running candidate, and its clock.
struct Renewing {
    clock: Manual,
    token: CancelToken<Manual>,
    written: Receiver<Written>,
    seen: Seen,
    run: <Manual as Runtime>::Join<()>,
}

impl Renewing {
    fn new(there: CandidateSpec, conflicts: bool) -> Self {
        let clock = Manual::new();
        let token = CancelToken::new(&clock);
        let ((tell, written), (hand, handed)) = (channel(), channel());
        let there = Object { meta: Meta::new(name()), content: there };
        let store = Tells(tell, AtomicBool::new(conflicts));
        let candidate = Candidate::new(&clock, store, "ns", "candidate", spec());
        let (inner, watch) = (token.clone(), Sees(there, hand));
        let run = clock.spawn("candidate", move || candidate.run(&inner, &watch));
        let seen = handed.recv_timeout(PATIENCE).unwrap();
        Self { clock, token, written, seen, run }
    }

    /// Waits for the next write, and until the candidate sleeps again.
    fn next(&self) -> Written {
        let written = self.written.recv_timeout(PATIENCE).expect("the candidate writes");
        assert!(self.clock.until_asleep(1, PATIENCE));
        written
    }

    fn ends(self) {
        self.token.cancel();
        self.clock.join(self.run).unwrap();
    }
}

#[test]
fn a_candidate_renews_every_five_minutes() {
    let it = Renewing::new(spec(), false);
    for _ in 0..2 {
        assert_eq!(it.next().0, "updated");
        it.clock.advance(RENEW_EVERY - Duration::from_nanos(1));
        assert_eq!(it.clock.asleep(), 1, "it sleeps on (LC-5)");
        assert!(it.written.try_recv().is_err());
        it.clock.advance(Duration::from_nanos(1));
    }
    it.next();
    it.ends();
}

#[test]
fn a_candidate_that_meets_a_conflict_does_not_wait_for_its_next_renewal() {
    let it = Renewing::new(spec(), true);
    it.next();
    it.clock.advance(Duration::from_millis(5));
    assert_eq!(it.next().0, "updated", "LC-6");
    it.ends();
}

#[test]
fn a_renewal_changes_the_time_alone() {
    let there = CandidateSpec { strategy: "of another".into(), ..spec() };
    let it = Renewing::new(there.clone(), false);
    let (how, written) = it.next();
    assert!(written.renew_time.is_some());
    let renew_time = written.renew_time;
    assert_eq!((how, written), ("updated", CandidateSpec { renew_time, ..there }));
    it.ends();
}

#[test]
fn a_candidate_whose_object_was_deleted_creates_it_again() {
    let it = Renewing::new(spec(), false);
    assert_eq!(it.next().0, "updated");
    (it.seen)(None);
    it.clock.advance(RENEW_EVERY);
    assert_eq!(it.next().0, "created");
    it.ends();
}
