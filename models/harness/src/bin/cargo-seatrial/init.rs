//! `cargo seatrial init`: a first component, scenario and check target in a crate.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo::{Package, cargo, packages, targets};
use crate::invocation::Invocation;

/// The source of the check target.
const CHECK: &str = include_str!("../../../examples/sample.rs");

/// The name of the check target.
const NAME: &str = "check";

const TARGET: &str = "
# `cargo seatrial run` runs it: the command line for this crate's own components.
[[test]]
name = \"check\"
harness = false
";

const PROFILE: &str = "
# Checkers run many executions: they want optimised code even in a test build.
[profile.dev.package.\"*\"]
opt-level = 1
";

const NEXT: &str = "\
wrote tests/check.rs and a test target for it. Next:

  cargo seatrial run        the sample holds, and its hasty worker is convicted as expected
  cargo seatrial mutants    the bug that was put into the rules is convicted
  cargo seatrial run hasty --witnesses witnesses
  cargo seatrial replay witnesses/hasty/the_last_node.txt    shows that execution

Then replace the sample by what threads share in this crate.
";

/// Writes them; where that fails the manifest is as before.
pub(crate) fn init(invocation: &Invocation, repository: Option<&Path>) -> Result<u8, String> {
    let package = match &packages(invocation)?[..] {
        [package] => package.clone(),
        several => {
            let names: Vec<_> = several.iter().map(|package| package.name.as_str()).collect();
            return Err(format!("name one package with -p: {}", names.join(", ")));
        }
    };
    let source = package.folder().join("tests").join(format!("{NAME}.rs"));
    if source.exists() || package.tests.iter().any(|(name, _)| name == NAME) {
        return Err(format!(
            "{} has a test named {NAME} already: remove it, or write the target by hand",
            package.name
        ));
    }
    let before = read(&package.manifest)?;
    let done = written(&package, repository, &source);
    if let Err(error) = done {
        // The manifest was the user's and is restored; the source is removed if it was made here.
        let restored = fs::write(&package.manifest, before);
        let removed = if source.exists() { fs::remove_file(&source) } else { Ok(()) };
        let kept = restored.and(removed).err();
        let kept = kept.map_or(String::new(), |error| format!("; and cannot undo it: {error}"));
        return Err(format!("{error}{kept}"));
    }
    print!("{NEXT}");
    Ok(0)
}

fn written(package: &Package, repository: Option<&Path>, source: &Path) -> Result<(), String> {
    add(package, "seatrial", &["--features", "loom,shuttle"], repository, "models/harness")?;
    // The seam alone: a first check needs none of the queues, which take long to compile.
    add(package, "seatrial-core", &["--no-default-features"], repository, "core")?;
    let root = is_root(package)?;
    write(&package.manifest, &extended(&read(&package.manifest)?, root))?;
    if let Some(folder) = source.parent() {
        let made = fs::create_dir_all(folder);
        made.map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    }
    write(source, CHECK)?;
    let invocation =
        Invocation { manifest: Some(package.manifest.clone()), ..Invocation::default() };
    if targets(&packages(&invocation)?, &[]).is_empty() {
        return Err(format!("{} has no target for tests/{NAME}.rs", package.manifest.display()));
    }
    Ok(())
}

/// Adds a dependency of tests, from the registry or from a copy of the repository.
fn add(
    package: &Package,
    name: &str,
    options: &[&str],
    repository: Option<&Path>,
    folder: &str,
) -> Result<(), String> {
    let mut command = cargo("add");
    command.args(["--quiet", "--dev", "--manifest-path"]).arg(&package.manifest);
    match repository {
        None => command.arg(name),
        Some(repository) => command.arg("--path").arg(repository.join(folder)),
    };
    let status = command.args(options).status();
    let status = status.map_err(|error| format!("cannot start cargo: {error}"))?;
    status.success().then_some(()).ok_or_else(|| format!("cargo add did not add {name}"))
}

/// Tells whether the package is the root of its workspace: only there profiles count.
fn is_root(package: &Package) -> Result<bool, String> {
    let mut command = cargo("locate-project");
    command.args(["--workspace", "--message-format", "plain", "--manifest-path"]);
    let output = command.arg(&package.manifest).output();
    let output = output.map_err(|error| format!("cannot start cargo: {error}"))?;
    let root = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    Ok(root == package.manifest)
}

/// Returns a manifest with the check target, and the profile where it counts and is not there.
fn extended(manifest: &str, is_root: bool) -> String {
    let profile = if is_root && !manifest.contains("[profile.dev") { PROFILE } else { "" };
    format!("{}\n{TARGET}{profile}", manifest.trim_end())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_keeps_what_it_says_and_gets_the_target() {
        let before = "[package]\nname = \"a\"\n";
        let root = extended(before, true);
        assert!(root.starts_with(before) && root.contains(TARGET) && root.contains(PROFILE));
        assert!(!extended(before, false).contains(PROFILE), "a member's profiles do not count");
        let own = "[package]\nname = \"a\"\n\n[profile.dev.package.\"*\"]\nopt-level = 2\n";
        assert!(!extended(own, true).contains(PROFILE), "theirs is kept");
    }
}
