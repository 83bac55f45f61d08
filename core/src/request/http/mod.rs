//! Requests over real HTTP: HTTP/1.1 and HTTP/2 over TLS, on tokio (feature `http`).
//!
//! ```no_run
//! use seatrial_core::cancel::CancelToken;
//! use seatrial_core::request::http::HttpConfig;
//! use seatrial_core::request::{RequestError, Verb};
//! use seatrial_core::runtime::System;
//!
//! # async fn pods() -> Result<(), Box<dyn std::error::Error>> {
//! let system = System::new();
//! let client = HttpConfig::in_cluster()?.client(&system)?; // or `infer`, with `kubeconfig`
//! let pods = client.request(Verb::Get, "/api/v1").namespace("default").resource("pods");
//! let reply = client.send(&pods, &CancelToken::new(&system)).await?;
//! println!("{}", reply.json::<serde_json::Value>()?);
//! # Ok(())
//! # }
//! ```
//!
//! Connections are reused, and pinged while in use. A dead one is detected within
//! [`HttpConfig::dead_after`]. Over HTTP/2 another one is opened when a server allows no more streams
//! on the others, so watches keep no other call waiting. Redirects are not followed, and the token is sent only to the
//! configured host.

mod config;
mod connect;
mod error;
#[cfg(feature = "kubeconfig")]
mod exec;
mod gzip;
mod impersonation;
#[cfg(feature = "kubeconfig")]
mod kubeconfig;
mod link;
mod links;
mod pem;
mod pool;
mod proxy;
mod sent;
mod tls;
mod token;
mod transport;

#[cfg(test)]
mod tests;

pub use config::HttpConfig;
pub use error::ConfigError;
pub use impersonation::Impersonation;
#[cfg(feature = "kubeconfig")]
pub use kubeconfig::{Kubeconfig, KubeconfigError};
pub use token::Token;
pub use transport::HttpTransport;
