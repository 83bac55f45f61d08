//! Colour, and where reports go.

use std::fs;
use std::io::IsTerminal as _;
use std::path::Path;

use super::args::{ColorChoice, Printed, ReportTo, Reports, Witnesses};
use super::{Failure, Outcome};
use crate::report::{
    Colour, Detail, Format, Report, WitnessFile, report_text, report_text_within, witness_files,
    write_atomically,
};

/// Decides whether standard output is coloured.
pub(super) fn colour(choice: ColorChoice) -> Colour {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let cargo = std::env::var("CARGO_TERM_COLOR").unwrap_or_default();
    Colour(match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR") || cargo == "never" => false,
        ColorChoice::Auto if cargo == "always" => true,
        ColorChoice::Auto => std::io::stdout().is_terminal(),
    })
}

/// Renders a report for a person, as wide as their terminal.
pub(super) fn rendered(report: &Report, detail: Detail, colour: Colour) -> String {
    match console::Term::stdout().size_checked() {
        Some((_, columns)) => report_text_within(report, detail, colour, columns.into()),
        None => report_text(report, detail, colour),
    }
}

impl Reports {
    /// Refuses reports that cannot be written, before anything runs for minutes.
    ///
    /// # Errors
    /// Two of them go to one place, or one cannot be written.
    pub fn check(&self) -> Result<(), Failure> {
        check_reports(self)
    }

    /// Prints this text or the report, and writes the report where it was asked for; returns its exit code.
    ///
    /// # Errors
    /// Something cannot be written.
    pub fn deliver(&self, report: &Report, text: &str) -> Outcome {
        deliver(report, self, &Witnesses::default(), || text.to_owned())
    }
}

/// Refuses reports that cannot be written, before anything runs for minutes.
pub(super) fn check_reports(reports: &Reports) -> Result<(), Failure> {
    if reports.format == Printed::Json && to_standard_output(&reports.reports) {
        return Err(Failure::usage(
            "`--format json` and a report to `-` both go to standard output: leave one of them out, \
             or name a file for the report",
        ));
    }
    check_paths(&reports.reports)
}

/// Refuses report paths that cannot be written, and paths that are named twice.
pub(super) fn check_paths(reports: &[ReportTo]) -> Result<(), Failure> {
    for (at, ReportTo { path, .. }) in reports.iter().enumerate() {
        if reports[..at].iter().any(|before| before.path == *path) {
            return Err(Failure::usage(format!(
                "two reports go to {}: name a file of its own for each of them",
                if is_standard_output(path) {
                    "standard output".into()
                } else {
                    path.display().to_string()
                }
            )));
        }
        if is_standard_output(path) {
            continue;
        }
        let refuse = |why: String| {
            Err(Failure::usage(format!(
                "cannot write {}: {why}: name a file in a folder that can be written",
                path.display()
            )))
        };
        if path.is_dir() {
            return refuse("it is a folder".to_owned());
        }
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let probe = folder.join(format!(".seatrial-{}.tmp", std::process::id()));
        match fs::File::create(&probe) {
            Ok(_) => drop(fs::remove_file(&probe)),
            Err(error) => return refuse(error.to_string()),
        }
    }
    Ok(())
}

/// Prints a report and writes it where it was asked for; returns its exit code.
pub(super) fn deliver(
    report: &Report,
    reports: &Reports,
    witnesses: &Witnesses,
    text: impl Fn() -> String,
) -> Outcome {
    match reports.format {
        Printed::Text => tell(&reports.reports, &text())?,
        Printed::Json => print(&Format::Json.render(report))?,
    }
    for to in &reports.reports {
        write(report, to)?;
    }
    if let Some(folder) = &witnesses.folder {
        write_witnesses(report, folder)?;
    }
    Ok(report.outcome.exit_code())
}

/// Writes the witnesses of a report.
fn write_witnesses(report: &Report, folder: &Path) -> Result<(), Failure> {
    for WitnessFile { path, text } in witness_files(report) {
        let path = folder.join(path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.map_err(|error| {
            Failure::usage(format!("cannot make the folder of {}: {error}", path.display()))
        })?;
        write_atomically(&path, &text).map_err(|error| Failure::usage(error.to_string()))?;
    }
    Ok(())
}

/// Writes a report where it was asked for.
pub(super) fn write(report: &Report, to: &ReportTo) -> Result<(), Failure> {
    let text = to.format.render(report);
    if is_standard_output(&to.path) {
        return print(&text);
    }
    write_atomically(&to.path, &text).map_err(|error| Failure::usage(error.to_string()))
}

/// Prints what a person reads: aside if standard output is to hold a report, and nothing else.
pub(super) fn tell(reports: &[ReportTo], text: &str) -> Result<(), Failure> {
    if !to_standard_output(reports) {
        return print(text);
    }
    eprint!("{text}");
    Ok(())
}

fn to_standard_output(reports: &[ReportTo]) -> bool {
    reports.iter().any(|to| is_standard_output(&to.path))
}

fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

/// Prints; it is not an error if the reader has gone away.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    use std::io::Write as _;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot print: {error}")))
        }
        _ => Ok(()),
    }
}
