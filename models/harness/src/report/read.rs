//! Reads a report back, and believes nothing that it can compute.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Report, SCHEMA_VERSION};

/// Why a file is not a report that can be used here.
#[derive(Debug)]
pub struct ReadError {
    path: PathBuf,
    why: Why,
}

#[derive(Debug)]
enum Why {
    Unreadable(std::io::Error),
    Damaged(String),
    NoReport,
    OtherVersion(Value),
    Changed(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.why {
            Why::Unreadable(error) => {
                write!(f, "cannot read it: {error}: name a file written by `--report json=FILE`")
            }
            Why::Damaged(how) => write!(
                f,
                "it is cut short or damaged ({how}): copy it again, or run again with \
                 `--report json=FILE`"
            ),
            Why::NoReport => f.write_str(
                "it is no report (it has no schema_version): name a file written by \
                 `--report json=FILE`",
            ),
            Why::OtherVersion(version) => write!(
                f,
                "it is a report of form {version}, and this program reads form \
                 {SCHEMA_VERSION}: use the release that wrote it"
            ),
            Why::Changed(how) => write!(
                f,
                "it was changed after it was written ({how}): take the one that the run wrote"
            ),
        }
    }
}

impl std::error::Error for ReadError {}

/// Reads a report.
///
/// # Errors
/// The file cannot be read, is cut short, is of another form, or says what does not follow from
/// what it holds.
pub fn read(path: &Path) -> Result<Report, ReadError> {
    let failed = |why| ReadError { path: path.to_owned(), why };
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => failed(Why::Damaged("it is not text".to_owned())),
        _ => failed(Why::Unreadable(error)),
    })?;
    parse(&text).map_err(failed)
}

/// Reads a report from its text.
///
/// # Errors
/// As of [`read`].
pub fn parse_report(text: &str) -> Result<Report, ReadError> {
    parse(text).map_err(|why| ReadError { path: PathBuf::from("the text"), why })
}

fn parse(text: &str) -> Result<Report, Why> {
    let damaged = |error: serde_json::Error| Why::Damaged(error.to_string());
    let value: Value = serde_json::from_str(text).map_err(damaged)?;
    match value.get("schema_version") {
        None => return Err(Why::NoReport),
        Some(version) if *version != SCHEMA_VERSION => {
            return Err(Why::OtherVersion(version.clone()));
        }
        Some(_) => {}
    }
    let report: Report = serde_json::from_value(value).map_err(damaged)?;
    if let Some(how) = report.short_of() {
        return Err(Why::Changed(how));
    }
    let follows = report.summarise();
    if follows != report.outcome {
        let says = report.outcome;
        return Err(Why::Changed(format!("it says {says:?}, what it holds comes to {follows:?}")));
    }
    Ok(report)
}
