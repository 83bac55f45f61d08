//! Two candidates and one lease: the first one leads and steps down, the other one takes over.
//!
//! ```text
//! cargo run -p seatrial-core --features election --example leader
//! ```

use std::sync::Arc;
use std::time::Duration;

use seatrial_core::cancel::CancelToken;
use seatrial_core::elector::{
    Bounds, Callbacks, Config, Elector, Leadership, LeaseLock, MemoryStore, Timing,
};
use seatrial_core::runtime::{Ambient, Runtime, System};

/// A replica of a controller. It leads for a moment and steps down; a real one works until its
/// leadership is over.
struct Replica {
    name: &'static str,
    /// Ends its run.
    stop: CancelToken,
    /// Ends when it leads.
    leads: CancelToken,
}

impl Callbacks<System> for Replica {
    fn started_leading(&self, leadership: &Leadership<System>) {
        println!("{}: leads, with {:?}", self.name, leadership.fence());
        self.leads.cancel();
        let system = self.stop.runtime();
        for _ in 0..3 {
            if !leadership.is_valid() {
                return; // to be asked immediately before every effect
            }
            println!("{}: works", self.name);
            system.sleep_until(system.now() + Duration::from_millis(20));
        }
        self.stop.cancel();
        assert!(!leadership.is_valid(), "a run that is cancelled leads no longer");
    }

    fn stopped_leading(&self) {
        println!("{}: its run is over", self.name);
    }
}

/// Short times, to keep the example short: a controller uses `Timing::DEFAULT`.
fn config(name: &'static str) -> Config {
    let ms = Duration::from_millis;
    let timing = Timing { lease: ms(2000), renew: ms(1000), retry: ms(20) };
    let bounds = Bounds::default().work(ms(300));
    // A leader that steps down releases the lease, so nobody has to wait for it to expire.
    Config::new(name).timing(timing).bounds(bounds).release_on_cancel(true)
}

fn main() {
    let system = System::new();
    let server = Arc::new(MemoryStore::new(&system)); // stands in for the API server
    let start = |name: &'static str| {
        let lock = LeaseLock::new(Arc::clone(&server), "default", "controller");
        let elector = Elector::new(&system, lock, config(name)).expect("these times are safe");
        let (stop, leads) = (CancelToken::new(&system), CancelToken::new(&system));
        let replica = Arc::new(Replica { name, stop, leads: leads.clone() });
        let run = move || elector.run(&replica.stop, &replica).expect("it runs once");
        (system.spawn(name, run), leads)
    };

    let (first, leads) = start("pod-1");
    leads.wait();
    let (second, _) = start("pod-2");
    for run in [first, second] {
        assert!(system.join(run).expect("a run ends"), "both have led");
    }
}
