//! Errors of a configuration, and the meaning of connection failures.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::request::{BuildError, TransportError, TransportKind};

#[cfg(feature = "kubeconfig")]
use super::kubeconfig::KubeconfigError;

/// Why a configuration cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The address of the server.
    Address(BuildError),
    /// A variable of the environment is not set: this program does not run in a cluster.
    NotInCluster(&'static str),
    /// A file cannot be read: which, and why.
    File(PathBuf, io::Error),
    /// Certificates or a key cannot be used: which, and why.
    Certificate(&'static str, String),
    /// A secret or a certificate would be sent over an unencrypted connection.
    Plain,
    /// The name that the server's certificate must have is no name.
    ServerName,
    /// A proxy cannot be used: why.
    Proxy(&'static str),
    /// A user name, a password or a value of an impersonation has letters that no header takes:
    /// which.
    Header(&'static str),
    /// A kubeconfig cannot be used.
    #[cfg(feature = "kubeconfig")]
    Kubeconfig(KubeconfigError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => fmt::Display::fmt(error, f),
            Self::NotInCluster(variable) => {
                write!(f, "this does not run in a cluster: {variable} is not set")
            }
            Self::File(path, _) => write!(f, "cannot read {}", path.display()),
            Self::Certificate(which, why) => write!(f, "the {which} cannot be used: {why}"),
            Self::Plain => f.write_str(
                "a token, a password or a certificate needs https: change the address, or leave \
                 them out",
            ),
            Self::ServerName => f.write_str("the name of the server's certificate is no name"),
            Self::Proxy(why) => write!(f, "the proxy cannot be used: {why}"),
            Self::Header(which) => write!(f, "the {which} has letters that no header takes"),
            #[cfg(feature = "kubeconfig")]
            Self::Kubeconfig(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Address(error) => error.source(),
            Self::File(_, why) => Some(why),
            #[cfg(feature = "kubeconfig")]
            Self::Kubeconfig(error) => error.source(),
            _ => None,
        }
    }
}

/// Classifies a failure of a connection (`election:RQ-66`) by its causes, which are more precise.
pub(super) fn failure(error: Box<dyn Error + Send + Sync>) -> TransportError {
    let mut kind = TransportKind::Other;
    let mut text = error.to_string();
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    if let Some(found) = kind_of(error.as_ref()) {
        kind = found;
    }
    while let Some(inner) = cause {
        // Some layers repeat the message of the layer below.
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        kind = kind_of(inner).unwrap_or(kind);
        cause = inner.source();
    }
    TransportError::new(kind, text)
}

fn kind_of(error: &(dyn Error + 'static)) -> Option<TransportKind> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        if let Some(kind) = error.get_ref().and_then(|inner| kind_of(inner)) {
            return Some(kind);
        }
        return Some(match error.kind() {
            io::ErrorKind::ConnectionRefused => TransportKind::Refused,
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => {
                TransportKind::Reset
            }
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => TransportKind::Eof,
            io::ErrorKind::TimedOut => TransportKind::Timeout,
            // Of an error of TLS, h2 keeps the text alone.
            io::ErrorKind::InvalidData if error.to_string().contains("received fatal alert") => {
                TransportKind::Untrusted
            }
            _ => return None,
        });
    }
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        use rustls::Error::{AlertReceived, InvalidCertificate, NoCertificatesPresented};
        return match error {
            InvalidCertificate(_) | NoCertificatesPresented | AlertReceived(_) => {
                Some(TransportKind::Untrusted)
            }
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<h2::Error>() {
        return kind_over_http2(error);
    }
    let error = error.downcast_ref::<hyper::Error>()?;
    if error.is_incomplete_message() || error.is_closed() || error.is_body_write_aborted() {
        return Some(TransportKind::Eof);
    }
    if !error.is_timeout() {
        return None; // its cause tells
    }
    // That a ping was not answered can be told only by the text.
    let text = error.source().map(ToString::to_string).unwrap_or_default();
    let is_ping = text.contains("keep-alive timed out");
    Some(if is_ping { TransportKind::ConnectionLost } else { TransportKind::Timeout })
}

/// Classifies an error of HTTP/2. A server that goes away names the last stream that it processes,
/// and only the streams after that fail by its word. A stream that it refuses it has not processed
/// either (RFC 9113, 6.8 and 8.7).
fn kind_over_http2(error: &h2::Error) -> Option<TransportKind> {
    if error.is_go_away() {
        let is_told = error.is_remote();
        return Some(match is_told {
            true => TransportKind::Unprocessed,
            false => TransportKind::ConnectionLost,
        });
    }
    let is_refused = error.is_remote() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    match error.get_io() {
        _ if is_refused => Some(TransportKind::Unprocessed),
        Some(why) => kind_of(why),
        None => None,
    }
}

/// Classifies a failure before a request was sent: the server has not processed it. Only a lack of
/// trust says more than that.
pub(super) fn not_sent(why: TransportError) -> TransportError {
    match why.kind() {
        TransportKind::Untrusted => why,
        _ => TransportError::new(TransportKind::Unprocessed, why),
    }
}

/// Classifies a failure within the body of an answer. The request was processed by then, whatever
/// the server says now.
pub(super) fn cut(error: Box<dyn Error + Send + Sync>) -> TransportError {
    let error = failure(error);
    match error.kind() {
        TransportKind::Unprocessed => TransportError::new(TransportKind::Eof, error),
        _ => error,
    }
}
