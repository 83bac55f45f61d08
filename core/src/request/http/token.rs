//! The bearer token of a client.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::error::ConfigError;

/// How long a token from a file is used before the file is looked at again.
const FRESH: Duration = Duration::from_secs(10);

/// A bearer token. It is overwritten when it is dropped, and `Debug` does not show it.
#[derive(Clone)]
pub struct Token(Source);

#[derive(Clone)]
enum Source {
    Fixed(Arc<Zeroizing<String>>),
    File(PathBuf, Arc<Mutex<Option<Read>>>),
}

/// What a file held, and when it was read.
struct Read {
    token: Arc<Zeroizing<String>>,
    at: Instant,
}

impl Token {
    /// A token that never changes.
    pub fn new(token: impl Into<String>) -> Self {
        Self(Source::Fixed(Arc::new(Zeroizing::new(token.into()))))
    }

    /// A token in a file that somebody renews: a cluster does so for its pods.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Source::File(path.into(), Arc::new(Mutex::new(None))))
    }

    /// Returns the token as it is now. A file that cannot be read any more gives what it held when
    /// it could.
    pub(super) fn now(&self) -> Result<Arc<Zeroizing<String>>, ConfigError> {
        let (path, read) = match &self.0 {
            Source::Fixed(token) => return Ok(Arc::clone(token)),
            Source::File(path, read) => (path, read),
        };
        let mut read = read.lock();
        if let Some(read) = &*read
            && read.at.elapsed() < FRESH
        {
            return Ok(Arc::clone(&read.token));
        }
        let at = Instant::now();
        // Who renews it may have emptied it first.
        let text = std::fs::read_to_string(path).map(Zeroizing::new).and_then(|text| {
            let is_empty = text.trim().is_empty();
            if is_empty { Err(std::io::Error::other("it is empty")) } else { Ok(text) }
        });
        match text {
            Ok(text) => {
                let token = Arc::new(Zeroizing::new(text.trim().to_owned()));
                *read = Some(Read { token: Arc::clone(&token), at });
                Ok(token)
            }
            Err(why) => match &mut *read {
                None => Err(ConfigError::File(path.clone(), why)),
                Some(read) => {
                    read.at = at;
                    Ok(Arc::clone(&read.token))
                }
            },
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Fixed(_) => f.write_str("Token(fixed)"),
            Source::File(path, _) => write!(f, "Token({})", path.display()),
        }
    }
}
