//! A channel with room for one item and one condition variable for both sides: `notify_one` may wake a thread of the
//! wrong side, which goes back to sleep.

use seatrial_sync::sync::{Arc, Condvar, Mutex};
use seatrial_sync::thread;

use super::Program;

pub(super) const PROGRAM: Program = Program {
    name: "bounded",
    broken: || pass_on(false),
    mended: || pass_on(true),
    says: "terminates",
};

#[derive(Default)]
struct Channel {
    item: Mutex<Option<u32>>,
    changed: Condvar,
}

impl Channel {
    fn notify(&self, all: bool) {
        if all {
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
        }
    }

    fn send(&self, item: u32, all: bool) {
        let free = self.item.lock().unwrap();
        let mut free = self.changed.wait_while(free, |item| item.is_some()).unwrap();
        *free = Some(item);
        drop(free);
        self.notify(all);
    }

    fn receive(&self, all: bool) -> u32 {
        let filled = self.item.lock().unwrap();
        let mut filled = self.changed.wait_while(filled, |item| item.is_none()).unwrap();
        let item = filled.take().unwrap();
        drop(filled);
        self.notify(all);
        item
    }
}

fn pass_on(all: bool) {
    let channel = Arc::new(Channel::default());
    let receivers = [(); 2].map(|()| {
        let channel = Arc::clone(&channel);
        thread::spawn(move || channel.receive(all))
    });
    channel.send(1, all);
    channel.send(2, all);
    assert_eq!(receivers.map(|receiver| receiver.join().unwrap()).iter().sum::<u32>(), 3);
}
