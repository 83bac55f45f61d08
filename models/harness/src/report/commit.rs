//! Which commit was checked.

use std::process::Command;

/// Says which commit is checked: what the environment says, or else what the program was built from.
/// A program that does not know that is asked about where it runs: a hosted workflow knows its
/// commit, or git where it is started.
pub(super) fn of(built_from: Option<&str>) -> String {
    if let Some(commit) = built_from {
        return named(&["SEATRIAL_COMMIT"]).unwrap_or_else(|| commit.to_owned());
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
