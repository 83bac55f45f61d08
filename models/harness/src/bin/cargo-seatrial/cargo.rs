//! Information from Cargo: the packages around here, their check targets, and the built programs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::invocation::Invocation;

/// A package of the workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest: PathBuf,
    /// Its test targets, each with its source.
    pub(crate) tests: Vec<(String, PathBuf)>,
}

impl Package {
    /// Returns the folder of its manifest.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest.parent().unwrap_or(Path::new("."))
    }
}

/// A test target that is a command line of seatrial.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Target {
    pub(crate) package: String,
    pub(crate) manifest: PathBuf,
    pub(crate) test: String,
}

/// Returns the command `cargo NAME`, of the Cargo that started this program.
pub(crate) fn cargo(name: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.arg(name);
    command
}

/// Returns the packages that an invocation means.
pub(crate) fn packages(invocation: &Invocation) -> Result<Vec<Package>, String> {
    let mut command = cargo("metadata");
    command.args(["--no-deps", "--format-version", "1", "--quiet"]);
    if let Some(manifest) = &invocation.manifest {
        command.arg("--manifest-path").arg(manifest);
    }
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err("cargo metadata failed: run this in the folder of a crate".to_owned());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cannot read what cargo metadata says: {error}"))?;
    let all: Vec<Package> = list(&metadata["packages"]).iter().filter_map(package).collect();
    meant(invocation, all, &here(invocation)?)
}

/// Returns the place from where the packages are looked for: without links and `..`, which would
/// name folders that it is not in.
fn here(invocation: &Invocation) -> Result<PathBuf, String> {
    let here = match &invocation.manifest {
        Some(manifest) => manifest.canonicalize(),
        None => std::env::current_dir().and_then(|folder| folder.canonicalize()),
    };
    here.map_err(|error| format!("cannot tell where the crate is: {error}"))
}

/// Chooses among the packages of the workspace: the named ones, else the one around the folder,
/// else all.
fn meant(invocation: &Invocation, all: Vec<Package>, here: &Path) -> Result<Vec<Package>, String> {
    if let Some(name) =
        invocation.packages.iter().find(|name| all.iter().all(|it| it.name != **name))
    {
        let known: Vec<_> = all.iter().map(|package| package.name.as_str()).collect();
        return Err(format!("there is no package {name} here: name one of {}", known.join(", ")));
    }
    if !invocation.packages.is_empty() {
        return Ok(all.into_iter().filter(|it| invocation.packages.contains(&it.name)).collect());
    }
    let folder = |package: &Package| {
        let folder = package.folder();
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
    };
    let around = all.iter().map(|package| (folder(package), package));
    let around = around.filter(|(folder, _)| here.starts_with(folder));
    let around = around.max_by_key(|(folder, _)| folder.components().count());
    Ok(match around.map(|(_, package)| package.clone()) {
        Some(package) if !invocation.workspace => vec![package],
        _ => all,
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn package(value: &Value) -> Option<Package> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let is_test = |target: &&Value| list(&target["kind"]).iter().any(|kind| kind == "test");
    let tests = list(&value["targets"]).iter().filter(is_test);
    let tests = tests.filter_map(|target| {
        Some((text(&target["name"])?, PathBuf::from(text(&target["src_path"])?)))
    });
    Some(Package {
        name: text(&value["name"])?,
        manifest: PathBuf::from(text(&value["manifest_path"])?),
        tests: tests.collect(),
    })
}

/// Returns the check targets of packages: tests that were named, or whose source hands its command
/// line to seatrial.
pub(crate) fn targets(packages: &[Package], tests: &[String]) -> Vec<Target> {
    let hands_over = |source: &Path| {
        let text = std::fs::read_to_string(source).unwrap_or_default();
        text.contains("seatrial")
            && ["tests::main(", "cli::main("].iter().any(|it| text.contains(it))
    };
    let all = packages.iter().flat_map(|package| {
        let wanted = |(name, source): &&(String, PathBuf)| match tests {
            [] => hands_over(source),
            named => named.contains(name),
        };
        package.tests.iter().filter(wanted).map(|(name, _)| Target {
            package: package.name.clone(),
            manifest: package.manifest.clone(),
            test: name.clone(),
        })
    });
    all.collect()
}

/// Builds check targets and returns their programs; `Err` has the exit code of Cargo, which has
/// said what is wrong.
pub(crate) fn build(
    invocation: &Invocation,
    targets: &[Target],
) -> Result<Result<Vec<PathBuf>, u8>, String> {
    let mut command = cargo("test");
    command.args(["--no-run", "--message-format", "json-render-diagnostics"]);
    command.args(&invocation.cargo);
    if let Some(manifest) = &invocation.manifest {
        command.arg("--manifest-path").arg(manifest);
    }
    for package in targets.iter().map(|target| &target.package).collect::<BTreeSet<_>>() {
        command.args(["--package", package]);
    }
    for test in targets.iter().map(|target| &target.test).collect::<BTreeSet<_>>() {
        command.args(["--test", test]);
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        let code = output.status.code().and_then(|code| u8::try_from(code).ok());
        return Ok(Err(code.unwrap_or(101)));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let built: Vec<Value> =
        said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let program = |target: &Target| {
        let is_it = |message: &&Value| {
            message["reason"] == "compiler-artifact"
                && message["target"]["name"] == target.test.as_str()
                && list(&message["target"]["kind"]).iter().any(|kind| kind == "test")
                && message["manifest_path"].as_str().map(Path::new) == Some(&target.manifest)
        };
        let program = built.iter().find(is_it).and_then(|message| message["executable"].as_str());
        program.map(PathBuf::from).ok_or_else(|| {
            format!("cargo built no program for the test {} of {}", target.test, target.package)
        })
    };
    targets.iter().map(program).collect::<Result<_, _>>().map(Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> Vec<Package> {
        ["/w", "/w/inner", "/w/other"]
            .map(|folder| Package {
                name: folder.rsplit('/').next().expect("a name").to_owned(),
                manifest: Path::new(folder).join("Cargo.toml"),
                tests: vec![],
            })
            .to_vec()
    }

    fn names(invocation: &Invocation, here: &str) -> Vec<String> {
        let all = meant(invocation, workspace(), Path::new(here)).expect("known packages");
        all.into_iter().map(|package| package.name).collect()
    }

    #[test]
    fn the_package_around_the_folder_is_meant_unless_others_are_named() {
        let plain = Invocation::default();
        assert_eq!(names(&plain, "/w/inner/src"), ["inner"]);
        assert_eq!(names(&plain, "/w/src"), ["w"]);
        assert_eq!(names(&plain, "/elsewhere"), ["w", "inner", "other"]);
        let all = Invocation { workspace: true, ..Invocation::default() };
        assert_eq!(names(&all, "/w/inner"), ["w", "inner", "other"]);
        let named = |name: &str| Invocation { packages: vec![name.to_owned()], ..plain.clone() };
        assert_eq!(names(&named("other"), "/w/inner"), ["other"]);
        let refused = meant(&named("nobody"), workspace(), Path::new("/w")).expect_err("unknown");
        assert!(refused.contains("name one of w, inner, other"), "{refused}");
    }

    #[cfg(unix)]
    #[test]
    fn a_manifest_is_found_behind_dots_and_links() {
        let root = std::env::temp_dir().join(format!("cargo-seatrial-here-{}", std::process::id()));
        let (outer, inner) = (root.join("outer"), root.join("outer/inner"));
        std::fs::create_dir_all(&inner).expect("folders can be made");
        let package = |name: &str, folder: &Path| {
            let manifest = folder.join("Cargo.toml");
            std::fs::write(&manifest, "").expect("a file can be written");
            Package { name: name.to_owned(), manifest, tests: vec![] }
        };
        let all = [package("outer", &outer), package("inner", &inner)];
        let link = root.join("link");
        std::os::unix::fs::symlink(&inner, &link).expect("a link can be made");
        let chosen = |manifest: PathBuf| {
            let invocation = Invocation { manifest: Some(manifest), ..Invocation::default() };
            let here = here(&invocation).expect("there is a manifest");
            let chosen = meant(&invocation, all.to_vec(), &here).expect("it is known");
            chosen.into_iter().map(|package| package.name).collect::<Vec<_>>()
        };
        assert_eq!(chosen(inner.join("../Cargo.toml")), ["outer"]);
        assert_eq!(chosen(outer.join("inner/Cargo.toml")), ["inner"]);
        assert_eq!(chosen(link.join("Cargo.toml")), ["inner"]);
        let nowhere =
            Invocation { manifest: Some(root.join("Cargo.toml")), ..Invocation::default() };
        assert!(here(&nowhere).is_err());
        std::fs::remove_dir_all(&root).expect("it was just made");
    }

    #[test]
    fn a_check_target_is_a_test_that_hands_its_command_line_over() {
        let folder = std::env::temp_dir().join(format!("cargo-seatrial-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let test = |name: &str, text: &str| {
            let source = folder.join(name);
            std::fs::write(&source, text).expect("a file can be written");
            (name.to_owned(), source)
        };
        let package = Package {
            name: "a".to_owned(),
            manifest: folder.join("Cargo.toml"),
            tests: vec![
                test("check", "fn main() { seatrial::tests::main(&CATALOGUE, &[]) }"),
                test("program", "fn main() { seatrial::cli::main(&CATALOGUE) }"),
                test("other", "fn main() { other::cli::main() }"),
            ],
        };
        let found = |tests: &[String]| {
            let all = targets(std::slice::from_ref(&package), tests);
            all.into_iter().map(|target| target.test).collect::<Vec<_>>()
        };
        assert_eq!(found(&[]), ["check", "program"]);
        assert_eq!(found(&["other".to_owned()]), ["other"]);
        std::fs::remove_dir_all(&folder).expect("it was just made");
    }
}
