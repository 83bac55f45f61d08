//! Flags as programs in Go take them: `--name=value`, `--name value`, `--name`, and with one dash.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io;
use std::str::FromStr;

/// The name of a flag, and what it does here. Empty: it is accepted, and there is nothing to do.
pub(super) type Flag = (&'static str, &'static str);

/// What a command line asks for.
pub(super) enum Asked {
    Help,
    Version,
    Run(Flags),
}

/// The values of the flags.
#[derive(Debug, Default)]
pub(super) struct Flags {
    values: BTreeMap<String, String>,
    /// The names of those that are not known.
    pub(super) unknown: BTreeSet<String>,
}

/// Reads a command line. What is no flag is passed over, as are flags that are not known.
pub(super) fn read(known: &[Flag], words: impl Iterator<Item = String>) -> Asked {
    let (mut flags, mut words) = (Flags::default(), words.peekable());
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix('-') else { continue };
        let flag = flag.strip_prefix('-').unwrap_or(flag);
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => {
                let value = words.next_if(|next| !next.starts_with('-'));
                (flag, value.unwrap_or_default())
            }
        };
        match name {
            "help" | "h" => return Asked::Help,
            "version" => return Asked::Version,
            _ if known.iter().any(|(it, _)| *it == name) => {
                flags.values.insert(name.to_owned(), value);
            }
            _ => {
                flags.unknown.insert(name.chars().take(100).collect());
            }
        }
    }
    Asked::Run(flags)
}

impl Flags {
    /// The value of a flag; none if it is absent or empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|it| !it.is_empty())
    }

    /// The same, of a type.
    pub(super) fn parsed<T>(&self, name: &str) -> io::Result<Option<T>>
    where
        T: FromStr<Err: Display>,
    {
        let parse = |text: &str| {
            text.parse().map_err(|error| {
                let why = format!("--{name} cannot be read: {error}");
                io::Error::new(io::ErrorKind::InvalidInput, why)
            })
        };
        self.get(name).map(parse).transpose()
    }
}

/// The help: a flag a line, as libraries look for them.
pub(super) fn help(name: &str, about: &str, known: &[Flag]) -> String {
    let mut text = format!("{about}\n\nUsage:\n  {name} [flags]\n\nFlags:\n");
    for (flag, says) in known {
        let says = if says.is_empty() { "accepted; there is nothing to do here" } else { says };
        text.push_str(&format!("      --{flag:<34} {says}\n"));
    }
    text.push_str("\nOther flags are accepted with a warning, and change nothing.\n");
    text
}
