//! A semaphore of tasks that forgets, when a future is given up, that this one had been handed the permit.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use seatrial_sync::sync::{Arc, Mutex};
use seatrial_sync::tokio::time::{Duration, timeout};
use seatrial_sync::tokio::{spawn, task};

use super::Program;

pub(super) const PROGRAM: Program = Program {
    name: "permits",
    broken: || seatrial::program::run_task(give_up(false)),
    mended: || seatrial::program::run_task(give_up(true)),
    says: "terminates",
};

#[derive(Default)]
struct State {
    permits: usize,
    next: u64,
    line: VecDeque<(u64, Waker)>,
    /// Those who were handed a permit and have not taken it yet.
    handed: Vec<u64>,
}

#[derive(Default)]
struct Semaphore(Mutex<State>);

struct Place<'a> {
    of: &'a Semaphore,
    id: Option<u64>,
    passes_on: bool,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let mut state = self.of.0.lock().unwrap();
        state.line.retain(|(known, _)| *known != id);
        let was_handed = state.handed.contains(&id);
        state.handed.retain(|known| *known != id);
        drop(state);
        if was_handed && self.passes_on {
            self.of.release();
        }
    }
}

impl Semaphore {
    async fn acquire(&self, passes_on: bool) {
        let mut place = Place { of: self, id: None, passes_on };
        poll_fn(|context| {
            let mut state = self.0.lock().unwrap();
            match place.id {
                None if state.permits > 0 => {
                    state.permits -= 1;
                    return Poll::Ready(());
                }
                Some(id) if state.handed.contains(&id) => {
                    state.handed.retain(|known| *known != id);
                    place.id = None;
                    return Poll::Ready(());
                }
                Some(_) => {}
                None => {
                    let id = state.next;
                    state.next += 1;
                    state.line.push_back((id, context.waker().clone()));
                    drop(state);
                    place.id = Some(id);
                }
            }
            Poll::Pending
        })
        .await;
    }

    fn release(&self) {
        let mut state = self.0.lock().unwrap();
        match state.line.pop_front() {
            None => state.permits += 1,
            Some((id, waker)) => {
                state.handed.push(id);
                drop(state);
                waker.wake();
            }
        }
    }
}

async fn give_up(passes_on: bool) {
    let semaphore = Arc::new(Semaphore::default());
    let theirs = Arc::clone(&semaphore);
    let impatient = spawn(async move {
        if timeout(Duration::from_secs(1), theirs.acquire(passes_on)).await.is_ok() {
            theirs.release();
        }
    });
    task::yield_now().await;
    semaphore.release();
    impatient.await.unwrap();
    semaphore.acquire(passes_on).await; // the only permit is somewhere
}
