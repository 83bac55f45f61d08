//! Requests to an API server (client-go `rest`), and how their URLs are built.
//!
//! ```
//! use std::sync::Arc;
//!
//! use seatrial_core::request::{Base, Request, Verb};
//!
//! let server = Arc::new(Base::host("cluster:6443", true)?);
//! let request = Request::new(&server, Verb::Get, "/apis/apps/v1")
//!     .namespace("default")
//!     .resource("deployments")
//!     .name("web")
//!     .sub_resource(&["status"]);
//! assert_eq!(
//!     request.url()?,
//!     "https://cluster:6443/apis/apps/v1/namespaces/default/deployments/web/status",
//! );
//! # Ok::<(), seatrial_core::request::BuildError>(())
//! ```
//!
//! Resource, namespace, name and subresource are checked, so that no value can change which object
//! a request is about: a value that is more than one path segment is refused. Prefix, suffix and
//! absolute paths are not checked and may hold anything.

mod api;
mod base;
mod body;
mod build;
mod call;
mod carry;
mod client;
mod collection;
mod duration;
mod error;
mod escape;
mod event;
mod execution;
mod failure;
mod frames;
mod headers;
mod host_backoff;
#[cfg(feature = "http")]
pub mod http;
mod json;
#[cfg(feature = "tracing")]
mod late;
mod leases;
#[cfg(feature = "metrics")]
mod metered;
mod observer;
mod path;
mod patience;
mod query;
mod reply;
mod segment;
mod status;
pub mod steps;
mod template;
mod transport;
mod veil;
mod verb;
mod warning;
mod watch;

#[cfg(test)]
mod tests;

pub use api::{
    Api, ApiResource, DeleteParams, Events, ListParams, ObjectMeta, Patch, Propagation, Resource,
};
pub use base::Base;
pub use build::Request;
pub use client::{Client, Limits};
pub use collection::Collection;
pub use error::{BuildError, Part};
pub use event::WatchEvent;
pub use execution::{Execution, Mode, Retry, RetryCause, Want};
pub use failure::RequestError;
pub use frames::{Frames, TooLong};
pub use headers::Headers;
pub use host_backoff::HostBackoff;
pub use json::JsonError;
pub use leases::Leases;
pub use observer::{Observer, Silent};
pub use reply::Reply;
pub use status::{Cause, Details, Reason, Status};
pub use transport::{
    Answer, Attempt, BoxFuture, Chunks, Secret, Transport, TransportError, TransportKind,
};
pub use veil::Veil;
pub use verb::Verb;
pub use warning::Warning;
pub use watch::Watch;
