//! The bearer token of a client.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::error::ConfigError;

/// How long a token from a file is used before the file is read again; certificates likewise.
pub(super) const FRESH: Duration = Duration::from_secs(10);

/// A bearer token. It is overwritten when it is dropped, and `Debug` does not show it.
#[derive(Clone)]
pub struct Token(Source);

#[derive(Clone)]
enum Source {
    Fixed(Arc<Zeroizing<String>>),
    File(PathBuf, Arc<Mutex<Option<Read>>>),
}

/// The content of a file, and when it was read.
struct Read {
    token: Arc<Zeroizing<String>>,
    /// The previous token: calls that are under way may have sent it.
    before: Option<Arc<Zeroizing<String>>>,
    /// `None` if the file has not been read, or a server refused the token: it may have a new one by
    /// now.
    at: Option<Instant>,
}

impl Token {
    /// A token that never changes.
    pub fn new(token: impl Into<String>) -> Self {
        Self(Source::Fixed(Arc::new(Zeroizing::new(token.into()))))
    }

    /// A token in a file that is renewed from outside, as a cluster does for its pods.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Source::File(path.into(), Arc::new(Mutex::new(None))))
    }

    /// Uses this token for as long as there is none in the file.
    pub(super) fn or(self, token: &str) -> Self {
        if let Source::File(_, read) = &self.0 {
            let token = Arc::new(Zeroizing::new(token.to_owned()));
            *read.lock() = Some(Read { token, before: None, at: None });
        }
        self
    }

    /// Returns the current token. If the file cannot be read any more, this is the last token read.
    pub(super) fn now(&self) -> Result<Arc<Zeroizing<String>>, ConfigError> {
        let (path, read) = match &self.0 {
            Source::Fixed(token) => return Ok(Arc::clone(token)),
            Source::File(path, read) => (path, read),
        };
        let mut read = read.lock();
        if let Some(read) = &*read
            && read.at.is_some_and(|at| at.elapsed() < FRESH)
        {
            return Ok(Arc::clone(&read.token));
        }
        let at = Some(Instant::now());
        // The program that renews the file may have emptied it first.
        let text = std::fs::read_to_string(path).map(Zeroizing::new).and_then(|text| {
            let is_empty = text.trim().is_empty();
            if is_empty { Err(std::io::Error::other("it is empty")) } else { Ok(text) }
        });
        match text {
            Ok(text) => {
                let token = Arc::new(Zeroizing::new(text.trim().to_owned()));
                let before = match read.take() {
                    Some(read) if read.token == token => read.before,
                    read => read.map(|read| read.token),
                };
                *read = Some(Read { token: Arc::clone(&token), before, at });
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

    /// Notes that a server refused the token: the file is read again for the next request.
    pub(super) fn doubt(&self) {
        if let Source::File(_, read) = &self.0
            && let Some(read) = &mut *read.lock()
        {
            read.at = None;
        }
    }

    /// Passes every token to `tell` that may have been sent to a server lately.
    pub(super) fn known(&self, tell: &mut dyn FnMut(&str)) {
        match &self.0 {
            Source::Fixed(token) => tell(token),
            Source::File(_, read) => {
                if let Some(Read { token, before, .. }) = &*read.lock() {
                    tell(token);
                    before.iter().for_each(|token| tell(token));
                }
            }
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
