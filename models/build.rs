//! Tells the crate from which commit it was built: reports say so.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What the program is made of, from the root of the repository: a change of anything else does not
/// make it another program.
const PARTS: [&str; 11] = [
    "Cargo.toml",
    "Cargo.lock",
    "core/Cargo.toml",
    "core/src",
    "models/Cargo.toml",
    "models/build.rs",
    "models/conformance",
    "models/harness/Cargo.toml",
    "models/harness/build.rs",
    "models/harness/src",
    "models/src",
];

fn main() {
    let package = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    let commit = of_repository(&package).or_else(|| of_package(&package));
    println!("cargo::rustc-env=SEATRIAL_BUILT_FROM={}", commit.unwrap_or("unknown".to_owned()));
    println!("cargo::rerun-if-changed=build.rs");
}

/// Returns the commit of the repository that the crate lies in, if it is the crate's own: one that
/// merely has a copy somewhere, among the packages of a home folder say, is not asked.
fn of_repository(package: &Path) -> Option<String> {
    let git = |arguments: &[&str]| said(Command::new("git").arg("-C").arg(package).args(arguments));
    let is_own = git(&["rev-parse", "--show-prefix"])? == "models/";
    if !is_own || git(&["ls-files", "build.rs"])? != "build.rs" {
        return None;
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    let root = package.parent()?;
    // Not the place where HEAD is written down: to commit changes nothing that is compiled, and the crate
    // takes minutes. Until the next change the program says what it was built from, a tree that was dirty.
    for path in PARTS.iter().map(|part| root.join(part)).filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let mut status = Command::new("git");
    status.arg("-C").arg(root).args(["--no-optional-locks", "status", "--porcelain"]);
    let changed = said(status.args(["--untracked-files=no", "--"]).args(PARTS))?;
    Some(if changed.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// Returns the commit that Cargo wrote down when it packed the crate.
fn of_package(package: &Path) -> Option<String> {
    let packed = std::fs::read_to_string(package.join(".cargo_vcs_info.json")).ok()?;
    let (_, commit) = packed.split_once("\"sha1\": \"")?;
    let dirty = if packed.contains("\"dirty\": true") { "-dirty" } else { "" };
    Some(format!("{}{dirty}", commit.split('"').next()?))
}

/// Returns what a program says, if it succeeds.
fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
