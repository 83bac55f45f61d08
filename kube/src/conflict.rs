//! Writes that are tried again after a conflict.
//!
//! A server refuses a write that names another version than the newest. The writer then reads the
//! newest state and decides anew.
//!
//! ```no_run
//! # use k8s_openapi::api::core::v1::ConfigMap;
//! # async fn example(maps: kube::Api<ConfigMap>) -> kube::Result<()> {
//! use seatrial_kube::conflict;
//!
//! let changed = conflict::update(&maps, "colours", |map| {
//!     map.data.get_or_insert_default().insert("sky".to_owned(), "blue".to_owned());
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::time::Duration;

use kube::api::{Api, PostParams};
use kube::{Error, Resource, Result};
use seatrial_core::runtime::{Ambient as _, Tokio};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How often a write is tried, as in the reference.
const ATTEMPTS: u32 = 5;

/// The wait before the second attempt; it doubles, and each has a random part.
const PAUSE: Duration = Duration::from_millis(10);

/// Tells whether a write was refused because it named a version that is not the newest.
#[must_use]
pub fn is_conflict(error: &Error) -> bool {
    matches!(error, Error::Api(status) if status.code == 409 && status.reason != "AlreadyExists")
}

/// Makes a write, again after each conflict, five times at most. Each attempt must read the state
/// anew.
///
/// # Errors
/// The last conflict, or any other error.
///
/// # Panics
/// Outside of a tokio runtime: tokio's own panic.
pub async fn retry<T, W>(mut attempt: impl FnMut() -> W) -> Result<T>
where
    W: Future<Output = Result<T>>,
{
    let mut pause = PAUSE;
    for _ in 1..ATTEMPTS {
        match attempt().await {
            Err(error) if is_conflict(&error) => {}
            result => return result,
        }
        tokio::time::sleep(pause.mul_f64(1.0 + Tokio::current().uniform())).await;
        pause *= 2;
    }
    attempt().await
}

/// Reads an object, changes it and writes it back, as [`retry`] does.
///
/// # Errors
/// As [`retry`].
///
/// # Panics
/// As [`retry`].
pub async fn update<K>(api: &Api<K>, name: &str, change: impl Fn(&mut K)) -> Result<K>
where
    K: Resource + Clone + Serialize + DeserializeOwned + fmt::Debug,
{
    let change = &change;
    retry(|| async {
        let mut object = api.get(name).await?;
        change(&mut object);
        api.replace(name, &PostParams::default(), &object).await
    })
    .await
}
