//! `merge`: several reports as one.

use super::args::{ColorChoice, MergeArguments, ReportTo, Reports};
use super::output::{check_reports, colour, deliver, rendered};
use super::{Failure, Outcome};
use crate::report::{self, Format};

pub(super) fn merge(arguments: &MergeArguments, color: ColorChoice) -> Outcome {
    let out = ReportTo { format: Format::Json, path: arguments.out.clone() };
    let mut reports = vec![out];
    reports.extend(arguments.reports.reports.iter().cloned());
    let reports = Reports { reports, format: arguments.reports.format };
    check_reports(&reports)?;
    let mut read = Vec::new();
    for input in &arguments.inputs {
        read.push(report::read(input).map_err(|error| Failure::usage(error.to_string()))?);
    }
    let merged = report::merge(read).map_err(|error| Failure::usage(error.to_string()))?;
    let merged = merged.ok_or_else(|| Failure::usage("name the reports to be merged"))?;
    let colour = colour(color);
    deliver(&merged, &reports, &arguments.witnesses, || {
        rendered(&merged, arguments.detail.of(), colour)
    })
}
