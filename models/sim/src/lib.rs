//! A deterministic Kubernetes API server, in memory, for tests of controllers in any language.
//!
//! | part | what it is |
//! |---|---|
//! | [`apiserver`] | the server as a machine: a request and the time go in, an answer comes out |
//! | [`patch`] | the four ways to change a part of an object, and who owns which fields |
//! | [`controllers`] | the controllers of a cluster: garbage collection, workloads, a kubelet |
//! | [`world`] | an agenda, clocks that are wrong, the fate of a call: for simulations of one's own |
//! | [`protobuf`] | objects as protobuf, from and to JSON |
//! | [`conformance`] | replays recordings of a real server, and compares |
//! | `http` | with the feature `http`: the server on loopback, for clients in any language |
//! | `assets` | with the feature `assets`: the server in place of the programs that envtest starts |
//! | `tower` | with the feature `tower`: the server as a service in the same process, on tokio's clock |
//! | `simulation` | with the feature `simulation` or `ordered`: controllers as they are, under plans of faults |
//! | `drive` | with the feature `drive`: any process, in any language, under the same plans |
//! | `campaign` | with the feature `campaign`: the same as cases for `seatrial`, for a fleet |
//!
//! Nothing but `http` and `drive`, and simulations where the level `exact` is not to be had, reads a clock or opens a socket, and nothing draws a number of its own: a
//! program of requests gives the same bytes whenever and wherever it runs.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(doctest)]
#[doc = include_str!("../../../docs/checking/faults.md")]
mod faults {}

pub mod apiserver;
#[cfg(feature = "assets")]
pub mod assets;
#[cfg(feature = "campaign")]
pub mod campaign;
mod cel;
pub mod conformance;
pub mod controllers;
#[cfg(feature = "drive")]
pub mod drive;
#[cfg(feature = "http")]
pub mod http;
mod json;
mod map;
mod names;
pub mod patch;
pub mod protobuf;
mod quantity;
mod short;
#[cfg(feature = "ordered")]
pub mod simulation;
#[cfg(feature = "tower")]
pub mod tower;
pub mod world;
