//! Runs a command on every check target.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::USAGE;
use crate::cargo::{Target, build, packages, targets};
use crate::invocation::Invocation;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Builds the check targets and hands each of them the command; returns the worst exit code.
pub(crate) fn pass_on(invocation: &Invocation, words: &[String]) -> Result<u8, String> {
    let packages = packages(invocation)?;
    let targets = targets(&packages, &invocation.tests);
    if targets.is_empty() {
        let names: Vec<_> = packages.iter().map(|package| package.name.as_str()).collect();
        return Err(format!(
            "no test of {} calls `seatrial::tests::main`: `cargo seatrial init` writes one",
            names.join(", ")
        ));
    }
    if targets.len() > 1 && words.iter().any(|word| names_a_file(word)) {
        let all: Vec<_> = targets.iter().map(described).collect();
        return Err(format!(
            "{} would write the same file: name one of them with -p or --test",
            all.join(" and ")
        ));
    }
    let programs = match build(invocation, &targets)? {
        Ok(programs) => programs,
        Err(code) => return Ok(code),
    };
    if let ([target], [program]) = (&targets[..], &programs[..]) {
        return only(&mut command(target, program, words));
    }
    several(&targets, &programs, words)
}

/// Tells whether an option says where something is written.
fn names_a_file(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    ["--report", "--ledger", "--witnesses", "--out", "--to", "-o"].contains(&name)
}

fn described(target: &Target) -> String {
    format!("{}/{}", target.package, target.test)
}

/// Returns the program with the command. Paths on the command line are the user's, so it runs in
/// this folder.
fn command(target: &Target, program: &Path, words: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    if words.is_empty() {
        command.arg("run"); // without a command a check target runs as tests
    }
    if let Some(folder) = target.manifest.parent() {
        command.env("CARGO_MANIFEST_DIR", folder);
    }
    command
}

/// Becomes the only program, so that signals reach it and nothing else.
#[cfg(unix)]
fn only(command: &mut Command) -> Result<u8, String> {
    use std::os::unix::process::CommandExt as _;
    Err(format!("cannot start {command:?}: {}", command.exec()))
}

#[cfg(not(unix))]
fn only(command: &mut Command) -> Result<u8, String> {
    run(command)
}

fn several(targets: &[Target], programs: &[PathBuf], words: &[String]) -> Result<u8, String> {
    // The signal goes to the running program as well, which writes its report before it ends.
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed))
        .map_err(|error| format!("cannot listen to signals: {error}"))?;
    let mut programs = programs.iter();
    let stopped = || INTERRUPTED.load(Ordering::Relaxed);
    let (code, skipped) = in_turn(targets, stopped, |target| {
        let program = programs.next().expect("every target has a program");
        eprintln!("== {}", described(target));
        run(&mut command(target, program, words))
    })?;
    if let Some(skipped) = skipped {
        eprintln!("cargo seatrial: {skipped}");
    }
    Ok(code)
}

/// Runs targets until it is told to stop. Returns the worst exit code, and a line about the targets
/// that did not run, whose results are unknown.
fn in_turn(
    targets: &[Target],
    stopped: impl Fn() -> bool,
    mut run: impl FnMut(&Target) -> Result<u8, String>,
) -> Result<(u8, Option<String>), String> {
    let mut codes = Vec::new();
    for target in targets {
        if stopped() {
            break;
        }
        codes.push(run(target)?);
    }
    let skipped: Vec<_> = targets[codes.len()..].iter().map(described).collect();
    if skipped.is_empty() {
        return Ok((worst(&codes), None));
    }
    codes.push(INCONCLUSIVE);
    Ok((worst(&codes), Some(format!("interrupted, so not run: {}", skipped.join(", ")))))
}

fn run(command: &mut Command) -> Result<u8, String> {
    let status = command.status().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

/// The exit code where something is undecided, as of the check targets.
const INCONCLUSIVE: u8 = 5;

/// Exit codes of the check targets, the mildest first. Any other is worse: a program died.
const BY_WEIGHT: [u8; 6] = [0, 4, 5, 3, 102, 100];

/// Returns the exit code for several targets together. A target that does not know the requested
/// names refuses them; that counts only if all targets do.
fn worst(codes: &[u8]) -> u8 {
    let weight = |code: &u8| BY_WEIGHT.iter().position(|known| known == code).unwrap_or(usize::MAX);
    codes.iter().copied().filter(|code| *code != USAGE).max_by_key(weight).unwrap_or(USAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_exit_code_decides() {
        assert_eq!(worst(&[0, 0]), 0);
        assert_eq!(worst(&[0, 5, 0]), 5);
        assert_eq!(worst(&[100, 3]), 100);
        assert_eq!(worst(&[100, 101]), 101, "a program that panicked");
        assert_eq!(worst(&[0, 4]), 4);
    }

    #[test]
    fn targets_that_did_not_run_leave_it_undecided_and_are_named() {
        let targets = ["a", "b", "c"].map(|test| Target {
            package: "p".to_owned(),
            manifest: PathBuf::from("Cargo.toml"),
            test: test.to_owned(),
        });
        let ended = |most: usize, code: u8| {
            let run = std::cell::Cell::new(0);
            let stopped = || run.get() == most;
            in_turn(&targets, stopped, |_| {
                run.set(run.get() + 1);
                Ok(code)
            })
        };
        assert_eq!(ended(9, 0), Ok((0, None)));
        let skipped = "interrupted, so not run: p/b, p/c".to_owned();
        assert_eq!(ended(1, 0), Ok((INCONCLUSIVE, Some(skipped.clone()))));
        assert_eq!(ended(1, 100), Ok((100, Some(skipped))), "a violation is worse");
        assert_eq!(ended(0, 0).expect("nothing fails").0, INCONCLUSIVE);
    }

    #[test]
    fn one_target_that_knows_what_was_asked_for_is_enough() {
        assert_eq!(worst(&[2, 0]), 0);
        assert_eq!(worst(&[2, 100]), 100);
        assert_eq!(worst(&[2, 2]), 2);
    }

    #[test]
    fn options_that_name_a_file_are_known() {
        assert!(names_a_file("--report") && names_a_file("--report=json=a") && names_a_file("-o"));
        assert!(!names_a_file("run") && !names_a_file("--jobs"));
    }
}
