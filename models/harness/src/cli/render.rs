//! `report` and `schema`: what was found, in other forms.

use super::args::ReportArguments;
use super::output::{check_paths, print, write};
use super::{Failure, Outcome};
use crate::report;

pub(super) fn report(arguments: &ReportArguments) -> Outcome {
    check_paths(&arguments.to)?;
    let read = report::read(&arguments.input).map_err(|error| Failure::usage(error.to_string()))?;
    for to in &arguments.to {
        write(&read, to)?;
    }
    Ok(0) // rendering is no verdict
}

pub(super) fn schema() -> Outcome {
    let text = serde_json::to_string_pretty(&report::schema()).expect("a schema is plain data");
    print(&format!("{text}\n"))?;
    Ok(0)
}
