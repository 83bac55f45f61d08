//! Leader election (client-go `tools/leaderelection`).

mod attempt;
mod config;
mod fence;
mod lock;
mod operations;
mod record;
mod release;
mod run;
mod sighting;
mod state;
mod turn;

pub use config::{Bounds, Config, ConfigError, JITTER, Profile, Timing, Versions, validate_nanos};
pub use fence::{Fence, Gate};
pub use lock::{
    Call, LeaseLock, LeaseSpec, Lock, MemoryStore, Meta, Object, ObjectName, ObjectStore,
    StoreError, Stored, Version,
};
pub use operations::{
    Abort, Begin, Cancel, Check, GiveUp, Holds, IsLeader, Leader, Look, Op, Reply, Report, Rest,
    Ret, Try, Watch, WorkEnded,
};
pub use record::{Fields, JsonError, Name, Record, Timestamp};
pub use sighting::Observed;
pub use state::{Election, RUN, TERM};
pub use turn::{Io, Next, Notes, Turn};
