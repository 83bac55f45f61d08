//! The command line: options for Cargo, then a command.

use std::path::PathBuf;

/// The command line, taken apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Invocation {
    /// Options that Cargo gets as they are.
    pub(crate) cargo: Vec<String>,
    /// `--package`, as often as it was given.
    pub(crate) packages: Vec<String>,
    /// `--test`, as often as it was given.
    pub(crate) tests: Vec<String>,
    /// Whether every package of the workspace is meant.
    pub(crate) workspace: bool,
    /// The manifest, where it is not found from the folder.
    pub(crate) manifest: Option<PathBuf>,
    pub(crate) wanted: Wanted,
}

/// The action that the user asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    Help,
    Init {
        repository: Option<PathBuf>,
    },
    /// A command of the check targets, with its options.
    PassedOn(Vec<String>),
}

impl Default for Wanted {
    fn default() -> Self {
        Self::PassedOn(Vec::new())
    }
}

/// Options of Cargo that have a value.
const VALUED: &[&str] = &["-F", "--features", "--profile", "--target-dir"];
/// Options of Cargo that have none.
const FLAGS: &[&str] = &[
    "-r",
    "--release",
    "--all-features",
    "--no-default-features",
    "--locked",
    "--offline",
    "--frozen",
];

impl Invocation {
    /// Takes a command line apart: the first word that is not an option of Cargo begins the
    /// command.
    pub(crate) fn read(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut invocation = Self::default();
        let mut words = words.peekable();
        while let Some(word) = words.next_if(|word| word.starts_with('-')) {
            let (name, given) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let mut value = || {
                let next = given.clone().or_else(|| words.next());
                next.ok_or_else(|| format!("{name} wants a value"))
            };
            match name {
                "-h" | "--help" => return Ok(Self { wanted: Wanted::Help, ..invocation }),
                "-p" | "--package" => invocation.packages.push(value()?),
                "--test" => invocation.tests.push(value()?),
                "--manifest-path" => invocation.manifest = Some(PathBuf::from(value()?)),
                "--workspace" => invocation.workspace = true,
                _ if VALUED.contains(&name) => {
                    let value = value()?;
                    invocation.cargo.extend([name.to_owned(), value]);
                }
                _ if FLAGS.contains(&name) => invocation.cargo.push(word),
                // An option of the check targets, such as `--color`.
                _ => {
                    let all = std::iter::once(word).chain(words).collect();
                    return Ok(Self { wanted: Wanted::PassedOn(all), ..invocation });
                }
            }
        }
        let words: Vec<String> = words.collect();
        let wanted = match words.split_first() {
            Some((first, more)) if first == "init" => Wanted::Init { repository: of_init(more)? },
            _ => Wanted::PassedOn(words),
        };
        Ok(Self { wanted, ..invocation })
    }
}

fn of_init(words: &[String]) -> Result<Option<PathBuf>, String> {
    match words {
        [] => Ok(None),
        [name, value] if name == "--path" => Ok(Some(PathBuf::from(value))),
        [one] if one.starts_with("--path=") => Ok(Some(PathBuf::from(&one["--path=".len()..]))),
        _ => Err("init takes --path REPOSITORY and nothing else".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Invocation, String> {
        Invocation::read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_of_cargo_come_before_the_command_and_all_others_are_passed_on() {
        let read =
            read("-p a --features=x,y --release --test one run queue --jobs 2").expect("fine");
        assert_eq!((read.packages, read.tests), (vec!["a".to_owned()], vec!["one".to_owned()]));
        assert_eq!(read.cargo, ["--features", "x,y", "--release"]);
        let words = ["run", "queue", "--jobs", "2"].map(str::to_owned);
        assert_eq!(read.wanted, Wanted::PassedOn(words.to_vec()));
    }

    #[test]
    fn an_option_that_cargo_does_not_know_begins_the_command() {
        let words = ["--color", "never", "list"].map(str::to_owned);
        let read = read("--locked --color never list").expect("fine");
        assert_eq!(read.wanted, Wanted::PassedOn(words.to_vec()));
        assert_eq!(read.cargo, ["--locked"]);
    }

    #[test]
    fn init_takes_a_path_and_nothing_else() {
        let repository = Some(PathBuf::from("there"));
        for line in ["init --path there", "init --path=there"] {
            let wanted = Wanted::Init { repository: repository.clone() };
            assert_eq!(read(line).expect("fine").wanted, wanted);
        }
        assert!(read("init there").is_err());
        assert!(read("init --path").is_err());
        assert!(read("-p").is_err());
    }

    #[test]
    fn help_is_for_this_program_unless_a_command_comes_first() {
        assert_eq!(read("--help").expect("fine").wanted, Wanted::Help);
        let words = ["run", "--help"].map(str::to_owned);
        assert_eq!(read("run --help").expect("fine").wanted, Wanted::PassedOn(words.to_vec()));
    }
}
