//! Which commit was checked.

use std::process::Command;

use super::own_program;

/// Says which commit of itself this program was built from, unless the environment says another.
pub(super) fn own() -> String {
    named(&["SEATRIAL_COMMIT"]).unwrap_or_else(|| env!("SEATRIAL_BUILT_FROM").to_owned())
}

/// Says which commit a program checks. A program with scenarios of its own is not what this crate
/// was built from: a hosted workflow knows its commit, or git where it is started.
pub(super) fn of(program: &str) -> String {
    if program == own_program() {
        return own();
    }
    named(&["SEATRIAL_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA"]).unwrap_or_else(|| {
        let asked = Command::new("git").args(["rev-parse", "HEAD"]).output();
        match asked {
            Ok(said) if said.status.success() => {
                String::from_utf8_lossy(&said.stdout).trim().to_owned()
            }
            _ => "unknown".to_owned(),
        }
    })
}

fn named(variables: &[&str]) -> Option<String> {
    variables
        .iter()
        .find_map(|variable| std::env::var(variable).ok().filter(|name| !name.is_empty()))
}
