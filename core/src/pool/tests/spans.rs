//! The output of a `tracing` subscriber for the items of a pool.

use std::fmt;
use std::io::{self, Write};

use tracing_subscriber::fmt::MakeWriter;

use super::*;

/// A log that the tests read.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[test]
fn every_item_has_a_span_and_every_failure_is_an_event_in_it() {
    let reconcile = |key: &u8| match key {
        1 => Err("an error"),
        2 => panic!("of two"),
        _ => {
            tracing::info!("mine");
            Ok(Action::Done)
        }
    };
    is_told_of(|queue| {
        while let Some((key, delivery)) = Source::next(queue) {
            reconcile::process(queue, &reconcile, &key, delivery);
        }
    });
}

#[test]
fn the_items_of_a_task_have_spans_and_events_as_well() {
    let reconcile = |key: u8| async move {
        match key {
            1 => Err("an error"),
            2 => panic!("of two"),
            _ => {
                tracing::info!("mine");
                Ok(Action::Done)
            }
        }
    };
    is_told_of(|queue| System::new().block_on(awaited::work(queue, &reconcile)));
}

/// Has three items worked on, and checks that the log has the error of 1, the panic of 2 and the
/// event that 3 writes.
fn is_told_of(work: impl FnOnce(&LimitedQueue<u8, System, Exponential<u8>>)) {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt().with_writer(lines.clone()).with_ansi(false);
    let subscriber = Arc::new(subscriber.without_time().finish());
    let queue = queue(&System::new());
    queue.add_all([1, 2, 3]);
    queue.shut_down();
    tracing::subscriber::with_default(subscriber, || work(&queue));
    let text = String::from_utf8(lines.0.lock().clone()).unwrap();
    let expected = [
        "WARN reconcile{key=1}: ",
        "an error: it is tried again",
        "ERROR reconcile{key=2}: ",
        "a panic: it is tried again attempt=1 panic=\"of two\"",
        "INFO reconcile{key=3}: ",
        "mine",
    ];
    for part in expected {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}

/// A key whose `Debug` panics.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shy;

impl fmt::Debug for Shy {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("how to show it has a bug")
    }
}

#[test]
fn an_item_is_done_also_if_it_cannot_be_shown() {
    let queue = LimitedQueue::new(&System::new(), Exponential::new(ms(1), ms(1)));
    queue.add(Shy);
    let (key, delivery) = Source::next(&queue).unwrap();
    let reconcile = |_: &Shy| Ok::<_, ()>(Action::Done);
    tracing::subscriber::with_default(
        tracing_subscriber::fmt().with_test_writer().finish(),
        || {
            let shows = || reconcile::process(&queue, &reconcile, &key, delivery);
            assert!(catch_unwind(AssertUnwindSafe(shows)).is_err());
        },
    );
    assert!(!queue.done(delivery), "CL-2: its delivery has ended");
}
