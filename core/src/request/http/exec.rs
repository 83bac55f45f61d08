//! Programs that issue credentials (client-go `plugin/pkg/client/auth/exec`).
//!
//! A program runs when there is no credential that is still good: once for all calls that wait, and
//! to its end even if their callers give up. What it prints is in no error.

use std::ffi::OsString;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use zeroize::Zeroizing;

use crate::elector::Timestamp;
use crate::request::{TransportError, TransportKind};
use crate::runtime::{Ambient as _, System};

use super::pem::Identity;
use super::token::Token;
use super::transport::Issued;

/// How long a program may run.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// The largest output of a program, in bytes.
const LARGEST: usize = 256 << 10;

/// How a program is run.
pub(super) struct Program {
    pub(super) program: OsString,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, Zeroizing<String>)>,
    /// What it is told, in JSON.
    pub(super) info: String,
    /// The version of what it is told, and must say.
    pub(super) version: String,
    /// How it is installed, for the error if it is not.
    pub(super) hint: String,
    /// The kubeconfig and its user, for errors.
    pub(super) user: String,
    pub(super) limit: Duration,
}

/// A program, and the credential that it issued last.
#[derive(Clone)]
pub(super) struct Plugin(Arc<State>);

struct State {
    program: Program,
    /// Held while the program runs.
    turn: Arc<tokio::sync::Mutex<()>>,
    last: Mutex<Last>,
}

/// The newest credential, and the one before: calls that are under way may have sent it.
#[derive(Default)]
struct Last {
    credentials: [Option<Arc<Credential>>; 2],
    is_good: bool,
    /// How often the program has run.
    runs: u64,
    failure: Option<TransportError>,
}

struct Credential {
    token: Option<Token>,
    identity: Option<Identity>,
    expires: Option<Timestamp>,
}

impl Plugin {
    pub(super) fn new(program: Program) -> Self {
        let (turn, last) = (Arc::default(), Mutex::default());
        Self(Arc::new(State { program, turn, last }))
    }

    /// Sets the time that the program has.
    #[cfg(test)]
    pub(super) fn within(self, limit: Duration) -> Self {
        let state = Arc::into_inner(self.0).expect("it is not shared yet");
        Self::new(Program { limit, ..state.program })
    }

    /// Returns a credential that is good now.
    pub(super) async fn issued(&self) -> Result<Issued, TransportError> {
        let runs = match self.0.now() {
            Ok(issued) => return Ok(issued),
            Err(runs) => runs,
        };
        let turn = Arc::clone(&self.0.turn).lock_owned().await;
        match self.0.now() {
            Ok(issued) => return Ok(issued),
            // The program has failed while this call waited for it.
            Err(now) if now != runs => {
                if let Some(failure) = &self.0.last.lock().failure {
                    return Err(failure.clone());
                }
            }
            Err(_) => {}
        }
        let state = Arc::clone(&self.0);
        let run = tokio::spawn(async move {
            let _turn = turn;
            let told = state.program.run().await;
            state.keep(told)
        });
        let gone = |_| Err(TransportError::new(TransportKind::Other, "tokio has ended"));
        run.await.unwrap_or_else(gone)
    }

    /// Notes that a server refused a credential: the program runs again for the next request.
    pub(super) fn doubt(&self, issued: &Issued) {
        let mut last = self.0.last.lock();
        if last.runs == issued.run {
            last.is_good = false;
        }
    }

    /// Passes every token to `tell` that may have been sent to a server lately.
    pub(super) fn known(&self, tell: &mut dyn FnMut(&str)) {
        let credentials = self.0.last.lock().credentials.clone();
        for token in credentials.iter().flatten().filter_map(|it| it.token.as_ref()) {
            token.known(tell);
        }
    }
}

impl State {
    /// Returns the newest credential if it is good, or else how often the program has run.
    fn now(&self) -> Result<Issued, u64> {
        let last = self.last.lock();
        let now = Timestamp::from(System::new().wall());
        let good = last.credentials[0]
            .as_ref()
            .filter(|it| last.is_good && it.expires.is_none_or(|end| now < end));
        good.map_or(Err(last.runs), |it| Ok(it.issued(last.runs)))
    }

    fn keep(&self, told: Result<Credential, String>) -> Result<Issued, TransportError> {
        let mut last = self.last.lock();
        last.runs += 1;
        match told {
            Ok(credential) => {
                let new = Arc::new(credential);
                last.credentials = [Some(Arc::clone(&new)), last.credentials[0].take()];
                (last.is_good, last.failure) = (true, None);
                Ok(new.issued(last.runs))
            }
            Err(why) => {
                let why = format!("{}: exec: {why}", self.program.user);
                let failure = TransportError::new(TransportKind::Other, why);
                (last.is_good, last.failure) = (false, Some(failure.clone()));
                Err(failure)
            }
        }
    }
}

impl Credential {
    fn issued(&self, run: u64) -> Issued {
        Issued { token: self.token.clone(), identity: self.identity.clone(), run }
    }
}

impl Program {
    async fn run(&self) -> Result<Credential, String> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env("KUBERNETES_EXEC_INFO", &self.info);
        command.envs(self.env.iter().map(|(name, value)| (name, value.as_str())));
        // It has nobody to talk to. Its complaints go where those of this program go.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let name = self.program.display();
        let mut child = command.kill_on_drop(true).spawn().map_err(|why| {
            let is_missing = why.kind() == std::io::ErrorKind::NotFound;
            let hint = if is_missing { self.hint.trim() } else { "" };
            let colon = if hint.is_empty() { "" } else { ": " };
            format!("{name} cannot be started: {}{colon}{hint}", why.kind())
        })?;
        let mut text = Zeroizing::new(Vec::with_capacity(LARGEST + 1));
        let work = async {
            if let Some(out) = child.stdout.take() {
                out.take(LARGEST as u64 + 1).read_to_end(&mut text).await?;
            }
            if text.len() > LARGEST { Ok(None) } else { child.wait().await.map(Some) }
        };
        let ended = tokio::time::timeout(self.limit, work).await;
        let ended = ended.map_err(|_| format!("{name} was not ready within {:?}", self.limit))?;
        match ended.map_err(|why| format!("{name} cannot be run: {}", why.kind()))? {
            None => Err(format!("{name} says more than {LARGEST} bytes")),
            Some(status) if !status.success() => Err(format!("{name} ended with {status}")),
            Some(_) => self.read(&text).map_err(|why| format!("{name}: {why}")),
        }
    }

    /// Reads what the program says: JSON, or as in the reference YAML.
    fn read(&self, text: &[u8]) -> Result<Credential, &'static str> {
        let told: Told = serde_json::from_slice(text)
            .ok()
            .or_else(|| serde_saphyr::from_slice(text).ok())
            .ok_or("what it says is no ExecCredential")?;
        if told.kind.as_deref() != Some("ExecCredential") {
            return Err("what it says is no ExecCredential");
        }
        if told.api_version.as_deref() != Some(&self.version) {
            return Err("it does not say the version that it was asked for");
        }
        let status = told.status.ok_or("it says no credential: the status is missing")?;
        let text = |it: Option<String>| it.filter(|it| !it.is_empty()).map(Zeroizing::new);
        let token = text(status.token).map(|token| Token::new(token.as_str()));
        let bytes = |it: Zeroizing<String>| Arc::new(Zeroizing::new(it.as_bytes().to_vec()));
        let chain = text(status.client_certificate_data).map(bytes);
        let identity = match (chain, text(status.client_key_data).map(bytes)) {
            (Some(chain), Some(key)) => Some((chain, key)),
            (None, None) if token.is_some() => None,
            (None, None) => return Err("it says neither a token nor a certificate"),
            _ => return Err("it says a certificate or a key without the other"),
        };
        let expires = text(status.expiration_timestamp);
        let expires = expires.map(|time| Timestamp::parse(&time).ok_or("its expiry is no time"));
        Ok(Credential { token, identity, expires: expires.transpose()? })
    }
}

/// What a program says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    kind: Option<String>,
    api_version: Option<String>,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<String>,
}
