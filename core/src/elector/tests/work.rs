//! Protected work that breaks down.

use std::sync::Arc;
use std::time::Duration;

use super::driver::{Store, config, elector, token};
use crate::cancel::CancelToken;
use crate::elector::{Bounds, Callbacks, Config, Leadership, MemoryStore, Name, Profile, Timing};
use crate::queue::WorkQueue;
use crate::runtime::{Ambient, Runtime, System};

/// Its work breaks down at once.
struct WorkBreaks(WorkQueue<()>);

impl Callbacks<System> for WorkBreaks {
    fn started_leading(&self, _: &Leadership<System>) {
        self.0.add(());
        panic!("the work breaks")
    }

    fn stopped_leading(&self) {}
}

#[test]
fn work_that_panics_has_ended_and_the_run_goes_on() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    // A minute would be waited for work that has not ended.
    let bounds = Bounds { work: Duration::from_secs(60), ..Bounds::default() };
    let timing = Timing::seconds(3_600, 1_800, 600);
    let patient = Config { timing, profile: Profile::Strict(bounds), ..config("a") };
    let elector = elector(&store, patient);
    let (token, breaks) = (token(), Arc::new(WorkBreaks(WorkQueue::new(&System::new()))));
    let system = System::new();
    let run = {
        let (elector, token, breaks) = (Arc::clone(&elector), token.clone(), Arc::clone(&breaks));
        system.spawn("run", move || elector.run(&token, &breaks))
    };
    let (work, ()) = breaks.0.take().unwrap();
    breaks.0.done(work);
    assert!(elector.is_leader(), "the work's panic is not the run's");
    let began = system.now();
    token.cancel();
    assert_eq!(system.join(run).unwrap(), Ok(true));
    assert!(system.now().since(began) < Duration::from_secs(30), "nothing is waited for");
    assert_eq!(elector.observed().record.holder, Name::EMPTY, "freed");
}

/// Looks at its leading token right after the run was cancelled.
struct LooksAtOnce(CancelToken, WorkQueue<bool>);

impl Callbacks<System> for LooksAtOnce {
    fn started_leading(&self, leadership: &Leadership<System>) {
        let leading = leadership.token();
        self.0.cancel();
        self.1.add(leading.is_cancelled());
    }

    fn stopped_leading(&self) {}
}

#[test]
fn the_leading_token_is_a_child_of_that_of_the_run() {
    let store: Store = Arc::new(MemoryStore::new(&System::new()));
    let elector = elector(&store, config("a"));
    let token = token();
    let looks = Arc::new(LooksAtOnce(token.clone(), WorkQueue::new(&System::new())));
    assert_eq!(elector.run(&token, &looks), Ok(true));
    let (_, was_cancelled) = looks.1.take().expect("it has looked");
    assert!(was_cancelled, "LE-46: no thread had to hear of it");
}
