//! The way back to one execution, as text.
//!
//! ```text
//! seatrial-0.1:queue/two_workers+lost_requeue:sample:a4b2c3:9f31c2d0:5a77
//!          |     |       |           |          |      |       |       |
//!    version component scenario    mutant    engine  route  history checksum
//! ```
//!
//! The route is the schedule of an execution of threads, or the set-up and seed of a simulated run.
//!
//! Patch releases of one version read each other's witnesses: a schedule names the decisions of
//! one version of the code. The digest of the history tells a replay that went the same way from
//! one that merely violated something; the checksum tells a damaged text from a wrong one.

use std::fmt;
use std::str::FromStr;

use crate::engine::{Engine, Route};
use crate::outcome::digest;

/// The release line that writes and reads witnesses of this form.
pub const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
const PREFIX: &str = "seatrial-";

/// One execution of one scenario on one engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// The component.
    pub component: String,
    /// The scenario.
    pub scenario: String,
    /// The mutant; `None` for the code that ships.
    pub mutant: Option<String>,
    /// The engine.
    pub engine: Engine,
    /// The way back to the execution.
    pub route: Route,
    /// The digest of its history.
    pub history: u32,
}

/// Why a text is not a witness that can be replayed here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WitnessError {
    /// It does not look like a witness at all.
    NotAWitness,
    /// It was written by another release line.
    OtherVersion(String),
    /// Characters are missing or changed.
    Damaged,
    /// It names an engine that this build does not know.
    UnknownEngine(String),
}

impl fmt::Display for WitnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAWitness => write!(
                f,
                "this is no witness: copy the whole text that begins with '{PREFIX}', or name a \
                 file that holds it"
            ),
            Self::OtherVersion(version) => write!(
                f,
                "this witness was written by seatrial {version}, and this is seatrial {}, which \
                 reads what begins with '{PREFIX}{VERSION}:': replay it with the version that wrote it",
                env!("CARGO_PKG_VERSION")
            ),
            Self::Damaged => f.write_str(
                "this witness is damaged (its checksum does not match): copy the whole text again",
            ),
            Self::UnknownEngine(name) => write!(f, "this witness needs an unknown engine '{name}'"),
        }
    }
}

impl std::error::Error for WitnessError {}

impl Witness {
    /// Returns `scenario` or `scenario+mutant`.
    fn subject(&self) -> String {
        match &self.mutant {
            Some(mutant) => format!("{}+{mutant}", self.scenario),
            None => self.scenario.clone(),
        }
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { component, engine, route, history, .. } = self;
        let body = format!(
            "{PREFIX}{VERSION}:{component}/{}:{engine}:{route}:{history:08x}",
            self.subject()
        );
        write!(f, "{body}:{:04x}", checksum(&body))
    }
}

impl FromStr for Witness {
    type Err = WitnessError;

    fn from_str(text: &str) -> Result<Self, WitnessError> {
        let text = text.trim();
        let rest = text.strip_prefix(PREFIX).ok_or(WitnessError::NotAWitness)?;
        let (version, rest) = rest.split_once(':').ok_or(WitnessError::Damaged)?;
        if version != VERSION {
            return Err(WitnessError::OtherVersion(version.to_owned()));
        }
        let (body, sum) = text.rsplit_once(':').ok_or(WitnessError::Damaged)?;
        if u16::from_str_radix(sum, 16).ok() != Some(checksum(body)) {
            return Err(WitnessError::Damaged);
        }
        let parts: Vec<_> = rest.split(':').collect();
        let [subject, engine, route, history, _] = parts[..] else {
            return Err(WitnessError::Damaged);
        };
        let (component, subject) = subject.split_once('/').ok_or(WitnessError::Damaged)?;
        let (scenario, mutant) = match subject.split_once('+') {
            Some((scenario, mutant)) => (scenario, Some(mutant.to_owned())),
            None => (subject, None),
        };
        let engine: Engine =
            engine.parse().map_err(|_| WitnessError::UnknownEngine((*engine).to_owned()))?;
        Ok(Self {
            component: component.to_owned(),
            scenario: scenario.to_owned(),
            mutant,
            engine,
            route: Route::parse(engine, route).ok_or(WitnessError::Damaged)?,
            history: u32::from_str_radix(history, 16).map_err(|_| WitnessError::Damaged)?,
        })
    }
}

fn checksum(text: &str) -> u16 {
    let digest = digest(text);
    (digest ^ (digest >> 16)) as u16
}
