//! Writes a report in one of its formats, whole or not at all.

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::Report;

/// A format of the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// The source of truth.
    Json,
    /// The format of test reports that CI systems read.
    Junit,
    /// SARIF, for code scanning.
    Sarif,
    /// A page for a person.
    Html,
    /// A summary of a CI job.
    Markdown,
    /// Annotations of a hosted workflow.
    Github,
    /// A trace of the violating executions, for a timeline viewer.
    Perfetto,
}

/// The formats, by name.
const FORMATS: [(&str, Format); 7] = [
    ("json", Format::Json),
    ("junit", Format::Junit),
    ("sarif", Format::Sarif),
    ("html", Format::Html),
    ("markdown", Format::Markdown),
    ("github", Format::Github),
    ("perfetto", Format::Perfetto),
];

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] = {
        let mut all = [Self::Json; 7];
        let mut at = 0;
        while at < all.len() {
            all[at] = FORMATS[at].1;
            at += 1;
        }
        all
    };

    /// Returns the name that it has on the command line.
    pub fn name(self) -> &'static str {
        match FORMATS.iter().find(|(_, format)| *format == self) {
            Some((name, _)) => name,
            None => unreachable!("every format is in the list of them"),
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = FORMATS.iter().find(|(name, _)| *name == text);
        known.map(|(_, format)| *format).ok_or_else(|| {
            let names: Vec<_> = FORMATS.iter().map(|(name, _)| *name).collect();
            format!("unknown report format '{text}': use one of {}", names.join(", "))
        })
    }
}

impl Format {
    /// Renders a report.
    pub fn render(self, report: &Report) -> String {
        match self {
            Self::Json => pretty(report),
            Self::Junit => super::junit(report),
            Self::Sarif => pretty(&super::sarif(report)),
            Self::Html => super::html(report),
            Self::Markdown => super::markdown(report),
            Self::Github => super::github(report),
            Self::Perfetto => pretty(&super::perfetto(report)),
        }
    }
}

fn pretty(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("a report is plain data");
    format!("{text}\n")
}

/// Why a report could not be written.
#[derive(Debug)]
pub struct WriteError {
    path: PathBuf,
    error: std::io::Error,
}

impl WriteError {
    /// Returns what the machine says, for a sentence that is not about a file.
    pub fn cause(&self) -> &std::io::Error {
        &self.error
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(
            f,
            "cannot write {path}: {}: name a file in a folder that can be written",
            self.error
        )
    }
}

impl std::error::Error for WriteError {}

/// Writes a file under a temporary name and renames it, so that no reader ever sees half of it.
///
/// # Errors
/// The folder cannot be written. The old file stays as it was.
pub fn write_atomically(path: &Path, text: &str) -> Result<(), WriteError> {
    let failed = |error| WriteError { path: path.to_owned(), error };
    if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
        // Pipes and devices are written to; a file in their place would be of no use.
        return fs::write(path, text).map_err(failed);
    }
    let name = path.file_name().ok_or_else(|| failed(std::io::ErrorKind::InvalidInput.into()))?;
    let mut temporary = name.to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        drop(fs::remove_file(&temporary)); // it may never have been made
        failed(error)
    })
}
