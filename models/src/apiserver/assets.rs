//! `assets`: the server in place of the programs that envtest starts.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{ArgMatches, Args, FromArgMatches as _};

use crate::cli::{ExtraCommand, Failure, Outcome};
use crate::report::Colour;

#[derive(Debug, Args)]
struct AssetsArguments {
    /// The folder; without it one in the user's cache.
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// The command `assets`.
pub const COMMAND: ExtraCommand = ExtraCommand { definition, run };

fn definition() -> clap::Command {
    let says =
        "Makes a folder with the simulated server as `etcd` and `kube-apiserver`, for envtest";
    let after = "It prints the folder alone, so a suite runs with\n\n    \
                 KUBEBUILDER_ASSETS=$(seatrial assets) go test ./...\n\n\
                 A kubectl of PATH is linked into it. With --authorization-mode=RBAC, which envtest gives, roles and \
                 bindings decide who may do what. With SEATRIAL_CONTROLLERS=all in its environment the server also \
                 runs the controllers of a cluster; without it, as in envtest, nothing changes by itself.";
    AssetsArguments::augment_args(clap::Command::new("assets").about(says).after_help(after))
}

fn run(matches: &ArgMatches, _: Colour) -> Outcome {
    let arguments = AssetsArguments::from_arg_matches(matches)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let made = seatrial_sim::assets::make(arguments.folder.as_deref())
        .map_err(|error| Failure::usage(format!("the folder cannot be made: {error}")))?;
    // The reader of this line may have ended by now, so a failed write is no error.
    drop(writeln!(std::io::stdout(), "{}", made.display()));
    Ok(0)
}
