//! `doctor --controller`: has a controller's own test say what it depends on, in place of what it tests.

use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

use super::args::DoctorArguments;
use super::output::print;
use super::{Failure, Outcome};
use crate::report::Summary;

/// The environment variable that asks a simulation for a diagnosis; `seatrial_sim::simulation` reads it.
const DOCTOR: &str = "SEATRIAL_DOCTOR";
/// How its answer begins.
const ANSWER: &str = "two runs ";

pub(super) fn diagnose(test: &str, arguments: &DoctorArguments) -> Outcome {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let (code, said) = ask(&cargo, test, &arguments.cargo)?;
    print(&said)?;
    Ok(code)
}

/// Runs the test, and returns its exit code and its output.
fn ask(cargo: &OsStr, test: &str, more: &[String]) -> Result<(u8, String), Failure> {
    let mut command = Command::new(cargo);
    command.arg("test").args(more).arg(test).args(["--", "--nocapture"]);
    let ran = command.env(DOCTOR, "1").stderr(Stdio::inherit()).output();
    let ran = ran.map_err(|error| Failure::usage(format!("cargo does not start: {error}")))?;
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let has_answered = said.lines().any(|line| line.contains(ANSWER));
    if !has_answered {
        let code = Summary::Empty.exit_code();
        let advice = format!(
            "no simulation answered: name a test that calls Simulation::check, and what `cargo test` \
             needs to find it, as in `doctor --controller {test} -- --package my-operator`\n"
        );
        return Ok((code, said + &advice));
    }
    let summary = if ran.status.success() { Summary::Holds } else { Summary::Violated };
    Ok((summary.exit_code(), said))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;

    /// A cargo that says its arguments and this.
    fn cargo(name: &str, says: &str, code: u8) -> PathBuf {
        let name = format!("seatrial-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let script =
            format!("#!/bin/sh\necho \"$SEATRIAL_DOCTOR $*\"\necho '{says}'\nexit {code}\n");
        std::fs::write(&path, script).expect("a file");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, executable).expect("executable");
        path
    }

    fn asked(cargo: &std::path::Path) -> (u8, String) {
        let more = ["--package", "mine"].map(str::to_owned);
        let answer = ask(cargo.as_os_str(), "holds", &more);
        std::fs::remove_file(cargo).expect("it was there");
        answer.unwrap_or_else(|failure| (failure.code, failure.message))
    }

    #[test]
    fn the_test_is_run_as_a_diagnosis_and_its_answer_is_shown() {
        let same = cargo("same", "two runs without faults: they are the same", 0);
        let (code, said) = asked(&same);
        assert_eq!(code, 0);
        assert!(said.contains("1 test --package mine holds -- --nocapture"), "{said}");
        assert!(said.contains("they are the same"), "{said}");
        let differ = cargo("differ", "two runs crash(1): they differ, first in", 101);
        assert_eq!(asked(&differ).0, Summary::Violated.exit_code());
    }

    #[test]
    fn a_test_that_simulates_nothing_is_no_answer() {
        let (code, said) = asked(&cargo("silent", "running 0 tests", 0));
        assert_eq!(code, Summary::Empty.exit_code());
        assert!(said.contains("name a test that calls Simulation::check"), "{said}");
        let missing = ask(OsStr::new("/no/such/cargo"), "holds", &[]).expect_err("it is not there");
        assert!(missing.message.contains("cargo does not start"), "{}", missing.message);
    }
}
