//! The rules of the elector, one behaviour a test.

mod async_driver;
mod attempt;
mod awaited_locks;
mod bench;
mod broken_reports;
mod checks;
mod config;
mod corners;
mod driver;
mod ends;
mod fence;
mod going_back;
mod kept;
mod lock;
mod metrics;
mod pairs;
mod release;
mod release_calls;
mod reports;
mod run;
mod run_new;
mod slow_locks;
mod strange;
mod work;
