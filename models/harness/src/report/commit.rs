//! The commit that was checked.

use std::process::Command;

/// Names the commit that is checked: the one that the environment names, or else the one that the
/// program was built from. If that is not known, it asks a hosted workflow, whose environment names
/// its commit, and then git, in the folder where the program was started.
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
