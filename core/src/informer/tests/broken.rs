//! Functions that panic while an informer calls them.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;

use super::server::{Object, Server};
use crate::cancel::CancelToken;
use crate::informer::reflector::Hooks;
use crate::informer::{
    AlreadyRun, BoxFuture, Change, Informer, ListOptions, ListWatch, OpenWatch, Page, Recovery,
    SourceError, Unwell, WatchOptions,
};
use crate::runtime::Manual;
use crate::store::indexed::IndexFunction;
use crate::store::{LastState, NoMetadata};

/// Panics once after it was lit.
#[derive(Clone, Default)]
struct Fuse(Arc<AtomicUsize>);

impl Fuse {
    fn light(&self) {
        self.light_for(1);
    }

    /// It panics when this call of several comes.
    fn light_for(&self, call: usize) {
        self.0.store(call, Ordering::Relaxed);
    }

    fn pass(&self) {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        assert!(left != 1, "a bug");
    }
}

/// A server whose client may panic.
struct Source {
    server: Server,
    fuse: Fuse,
}

impl ListWatch<Object> for Source {
    fn list(&self, options: ListOptions) -> BoxFuture<'_, Result<Page<Object>, SourceError>> {
        self.fuse.pass();
        self.server.list(options)
    }

    fn watch(
        &self,
        options: WatchOptions,
    ) -> BoxFuture<'_, Result<Box<dyn OpenWatch<Object>>, SourceError>> {
        self.server.watch(options)
    }

    fn streams_lists(&self) -> bool {
        false
    }
}

/// The function that panics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    Transformer,
    Index,
    Source,
}

struct Bed {
    runtime: Manual,
    server: Server,
    fuse: Fuse,
    informer: Informer<Object, Manual>,
    token: CancelToken<Manual>,
    failures: Arc<Mutex<Vec<String>>>,
}

impl Bed {
    fn new(breaks: Where, recovery: Recovery) -> Self {
        let (runtime, server, fuse) = (Manual::new(), Server::default(), Fuse::default());
        server.put("a");
        let failures = Arc::new(Mutex::new(Vec::new()));
        let keeps = Arc::clone(&failures);
        let failed = move |failed: &_| keeps.lock().push(format!("{failed}"));
        let hooks = Hooks { failed: Arc::new(failed), ..Hooks::default() };
        let of = |place| if breaks == place { fuse.clone() } else { Fuse::default() };
        let source = Source { server: server.clone(), fuse: of(Where::Source) };
        let in_transformer = of(Where::Transformer);
        let informer = Informer::builder(&runtime, Arc::new(source))
            .hooks(hooks)
            .recovery(recovery)
            .transform(move |object| {
                in_transformer.pass();
                Ok(object)
            })
            .build();
        let in_index = of(Where::Index);
        let index: IndexFunction<Object> = Arc::new(move |_, _| {
            in_index.pass();
            Ok(())
        });
        informer.store().add_indexers([("picky", index)]).unwrap();
        let token = CancelToken::new(&runtime);
        Self { runtime, server, fuse, informer, token, failures }
    }

    fn stored(&self) -> Vec<String> {
        let list = self.informer.store().list();
        let mut all: Vec<_> =
            list.objects().map(|it| format!("{}@{}", it.name, it.version)).collect();
        all.sort();
        all
    }
}

pub(super) type Run<'a> = Pin<Box<dyn Future<Output = Result<(), AlreadyRun>> + 'a>>;

/// Lets the informer do what it can do without a wait.
pub(super) fn step(run: &mut Run<'_>) -> Poll<Result<(), AlreadyRun>> {
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..20 {
        if let Poll::Ready(result) = run.as_mut().poll(&mut context) {
            return Poll::Ready(result);
        }
    }
    Poll::Pending
}

#[test]
fn an_informer_that_panics_lists_again_and_says_so() {
    for breaks in [Where::Transformer, Where::Index, Where::Source] {
        let bed = Bed::new(breaks, Recovery::default());
        let reader = bed.informer.subscribe();
        let mut run: Run<'_> = Box::pin(bed.informer.run_async(&bed.token));
        assert!(step(&mut run).is_pending());
        assert_eq!((bed.informer.has_synced(), bed.informer.check()), (true, Ok(())));
        bed.fuse.light();
        bed.server.put("a");
        if breaks == Where::Source {
            bed.server.forget(); // it has to list again
            assert!(step(&mut run).is_pending());
            bed.runtime.advance(Duration::from_secs(2));
        }
        assert!(step(&mut run).is_pending(), "{breaks:?}");
        let message = Some("a bug".to_owned());
        assert_eq!(bed.informer.check(), Err(Unwell::Panicked { message, times: 1 }), "{breaks:?}");
        assert_eq!(*bed.failures.lock(), ["the informer panicked: a bug"]);
        bed.server.put("b");
        bed.runtime.advance(Duration::from_secs(2));
        assert!(step(&mut run).is_pending());
        assert_eq!((bed.informer.has_synced(), bed.informer.check()), (true, Ok(())), "{breaks:?}");
        assert_eq!(bed.stored().iter().map(|it| &it[..2]).collect::<Vec<_>>(), ["a@", "b@"]);
        assert!(bed.stored()[0].as_str() > "a@1", "{breaks:?}");
        let told = reader.waiting();
        assert!((3..=4).contains(&told), "{breaks:?}: {told} changes, none of them missed");
        bed.token.cancel();
        assert_eq!(step(&mut run), Poll::Ready(Ok(())));
        assert_eq!(bed.informer.check(), Err(Unwell::Ended { panic: None }));
    }
}

#[test]
fn a_panic_that_comes_again_is_waited_for_longer_and_longer() {
    let bed = Bed::new(Where::Transformer, Recovery::ListAgain);
    let mut run: Run<'_> = Box::pin(bed.informer.run_async(&bed.token));
    for times in 1..=10 {
        bed.fuse.light();
        assert!(step(&mut run).is_pending());
        let message = Some("a bug".to_owned());
        assert_eq!(bed.informer.check(), Err(Unwell::Panicked { message, times }));
        assert!(!bed.informer.has_synced());
        bed.runtime.advance(Duration::from_secs(60));
    }
    assert!(step(&mut run).is_pending());
    assert_eq!((bed.informer.has_synced(), bed.informer.check()), (true, Ok(())));
}

#[test]
fn an_informer_may_end_with_the_panic() {
    let bed = Bed::new(Where::Transformer, Recovery::End);
    let mut run: Run<'_> = Box::pin(bed.informer.run_async(&bed.token));
    assert!(step(&mut run).is_pending());
    bed.fuse.light();
    bed.server.put("a");
    let panic = catch_unwind(AssertUnwindSafe(|| step(&mut run))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug"));
    assert!(bed.informer.is_stopped());
    let panic = Some("a bug".to_owned());
    let unwell = bed.informer.check().unwrap_err();
    assert_eq!(unwell, Unwell::Ended { panic });
    assert_eq!(unwell.to_string(), "the informer has ended: a bug");
    assert_eq!(*bed.failures.lock(), [""; 0]);
}

#[test]
fn what_was_received_before_a_panic_is_not_lost() {
    let bed = Bed::new(Where::Transformer, Recovery::ListAgain);
    let mut reader = bed.informer.subscribe();
    let mut run: Run<'_> = Box::pin(bed.informer.run_async(&bed.token));
    assert!(step(&mut run).is_pending());
    // They come together: the second object of them breaks the transformer.
    bed.fuse.light_for(2);
    let gone = bed.server.delete("a");
    bed.server.put("b");
    assert!(step(&mut run).is_pending());
    assert!(matches!(bed.informer.check(), Err(Unwell::Panicked { times: 1, .. })));
    bed.runtime.advance(Duration::from_secs(2));
    assert!(step(&mut run).is_pending());
    assert_eq!((bed.informer.check(), bed.stored()), (Ok(()), vec!["b@3".to_owned()]));
    let told: Vec<_> = (0..reader.waiting()).map(|_| reader.next().unwrap()).collect();
    // With its last state: a list would show only that it is gone.
    let last = Change::Deleted(LastState::Final(gone));
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[1], last);
}

#[test]
fn a_long_list_is_told_in_parts() {
    let bed = Bed::new(Where::Transformer, Recovery::ListAgain);
    for number in 0..3_000 {
        let _object = bed.server.put(&format!("b{number}"));
    }
    let reader = bed.informer.subscribe();
    let mut run: Run<'_> = Box::pin(bed.informer.run_async(&bed.token));
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..1_000 {
        if reader.waiting() == 0 {
            assert!(run.as_mut().poll(&mut context).is_pending());
        }
    }
    assert!((1..3_000).contains(&reader.waiting()), "other tasks of the thread come between");
    assert!(!bed.informer.has_synced());
    assert!(step(&mut run).is_pending());
    assert_eq!(reader.waiting(), 3_001);
    assert!(bed.informer.has_synced());
}

#[test]
fn what_is_stored_is_told_although_the_next_change_of_its_batch_panics() {
    let bed = Bed::new(Where::Transformer, Recovery::ListAgain);
    let calls = AtomicUsize::new(0);
    // Its batch is refused, so the changes are stored one by one; then it panics; then it is stored.
    let index: IndexFunction<Object> = Arc::new(move |object, _| match &*object.name {
        "bad" => match calls.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Arc::new(NoMetadata)),
            1 => panic!("a bug"),
            _ => Ok(()),
        },
        _ => Ok(()),
    });
    bed.informer.store().add_indexers([("odd", index)]).unwrap();
    let reader = bed.informer.subscribe();
    let mut run: Run<'_> = Box::pin(bed.informer.run_async(&bed.token));
    assert!(step(&mut run).is_pending());
    bed.server.put("good");
    bed.server.put("bad");
    assert!(step(&mut run).is_pending());
    assert!(matches!(bed.informer.check(), Err(Unwell::Panicked { times: 1, .. })));
    assert_eq!((bed.stored(), reader.waiting()), (vec!["a@1".to_owned(), "good@2".to_owned()], 2));
    bed.runtime.advance(Duration::from_secs(2));
    assert!(step(&mut run).is_pending());
    assert_eq!((bed.informer.check(), reader.waiting()), (Ok(()), 3));
}
