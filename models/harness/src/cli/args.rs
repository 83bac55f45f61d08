//! The options and arguments of the command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::engine::Engine;
use crate::report::{Detail, Format};
use crate::runner::Share;
use crate::trial::Budget;

/// Deterministic checking of concurrent parts: run, convict, replay.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Without a command everything is run, as by `run`.\n\nExit codes: 0 all as expected; 2 wrong usage; 3 blind (an expected violation \
                  was not found); 4 nothing ran; 5 inconclusive; 100 a violation; 102 a replay \
                  went another way."
)]
pub(super) struct Arguments {
    /// The command; without one, everything is run.
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// When to colour the output.
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto)]
    pub(super) color: ColorChoice,
}

/// When to colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` or `CARGO_TERM_COLOR` says otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Lists components, scenarios, invariants and mutants.
    List(ListArguments),
    /// Checks scenarios on engines and prints the verdicts.
    Run(RunArguments),
    /// Shows one execution again.
    Replay(ReplayArguments),
    /// Serves a page on which to step through an execution, choose another thread, and save a witness.
    Explore(ExploreArguments),
    /// Makes the execution of a witness as small as it goes and prints the smaller witness.
    Shrink(ShrinkArguments),
    /// Convicts the seeded bugs: the kill matrix.
    Mutants(MutantsArguments),
    /// Replays recorded traces of the reference.
    Conformance(ConformanceArguments),
    /// Makes one report of several, e.g. of all shards of a run.
    Merge(MergeArguments),
    /// Renders a report in other formats.
    Report(ReportArguments),
    /// Prints the JSON Schema of the report.
    Schema,
    /// Says what works on this machine, and why the rest does not.
    Doctor(DoctorArguments),
    /// Prints the completions of a shell.
    Completions(CompletionsArguments),
    /// Writes the manual pages.
    Man(ManArguments),
}

impl Default for Command {
    fn default() -> Self {
        Self::Run(RunArguments::default())
    }
}

#[derive(Debug, Args)]
pub(super) struct DoctorArguments {
    /// Runs this test, which simulates a controller on kube, and says on which inputs outside its
    /// plan the controller depends: the first event in which two runs differ, and which code asked
    /// for chance.
    #[arg(long, value_name = "TEST")]
    pub(super) controller: Option<String>,
    /// What `cargo test` needs to find that test, such as `-- --package my-operator`.
    #[arg(last = true, value_name = "CARGO", requires = "controller")]
    pub(super) cargo: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// Only what has this in its `component/name`.
    pub(super) patterns: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct ReplayArguments {
    /// The printed text, or a file that holds it.
    pub(super) witness: String,
    #[arg(
        long = "report",
        value_name = "FORMAT=PATH",
        help = formats("Writes the execution, e.g. as `perfetto=trace.json` or `html=page.html`")
    )]
    pub(super) reports: Vec<ReportTo>,
}

#[derive(Debug, Args)]
pub(super) struct ShrinkArguments {
    /// The printed text, or a file that holds it.
    pub(super) witness: String,
}

#[derive(Debug, Args)]
pub(super) struct ExploreArguments {
    /// A witness (the printed text, or a file that holds it), or a scenario as
    /// `component/scenario` or `component/scenario+mutant`.
    #[arg(value_name = "WITNESS|SCENARIO")]
    pub(super) what: String,
    /// The port on this machine; a free one by default.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(super) port: u16,
    /// The folder for the witnesses that are saved, each as FOLDER/component/name.txt.
    #[arg(long = "witnesses", value_name = "FOLDER", default_value = "witnesses")]
    pub(super) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    /// The shell.
    pub(super) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArguments {
    /// The folder for one page per command; it is made if it does not exist. Without it the first
    /// page is printed.
    pub(super) folder: Option<PathBuf>,
}

/// Reads an engine; the help and the completions list the engines.
fn engines() -> impl TypedValueParser<Value = Engine> {
    PossibleValuesParser::new(Engine::ALL.iter().map(|engine| engine.name()))
        .try_map(|name| name.parse::<Engine>())
}

/// Returns the help of an option that takes `FORMAT=PATH`.
fn formats(what: &str) -> String {
    let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
    format!(
        "{what}; a PATH of `-` is standard output; may be given more than once [possible formats: \
         {}]",
        names.join(", ")
    )
}

/// The options that `run` and `mutants` share.
#[derive(Debug, Default, Args)]
pub(super) struct Effort {
    /// Only this engine; may be given more than once.
    #[arg(long = "engine", value_name = "ENGINE", value_parser = engines())]
    pub(super) engines: Vec<Engine>,
    /// How much: smoke (the default), ci, nightly, a time (30s, 5m) or a count (1e6), of which real
    /// threads take a fifth.
    #[arg(long, value_name = "BUDGET")]
    pub(super) budget: Option<Budget>,
    /// The seed of the random numbers.
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
    /// How many cases run at a time; by default as many as there are processors.
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<std::num::NonZeroUsize>,
    /// Only this shard: slice:1/4 deals the cases out in turn, hash:1/4 by their names. By default
    /// what a Kubernetes Indexed Job, GitLab, CircleCI or Buildkite say in the environment.
    #[arg(long, value_name = "DEALING:N/M")]
    pub(super) partition: Option<Share>,
    /// Starts nothing new once something is not as expected.
    #[arg(long)]
    pub(super) fail_fast: bool,
    /// Leaves a failing schedule as it was found, in place of looking for the smallest one: quicker
    /// where many fail. `shrink` makes one small afterwards.
    #[arg(long, conflicts_with = "folder")]
    pub(super) as_found: bool,
}

/// The options for reports, also for commands that a catalogue adds.
#[derive(Debug, Default, Args)]
pub struct Reports {
    #[arg(
        long = "report",
        value_name = "FORMAT=PATH",
        help = formats("Writes a report, e.g. `json=report.json` or `html=report.html`")
    )]
    pub(super) reports: Vec<ReportTo>,
    /// The format of the standard output.
    #[arg(long, value_enum, default_value_t = Printed::Text)]
    pub(super) format: Printed,
}

/// The options for witnesses.
#[derive(Debug, Default, Args)]
pub(super) struct Witnesses {
    /// Writes the smallest way back to every violation that was expected and found, each into a
    /// file FOLDER/component/name.txt.
    #[arg(long = "witnesses", value_name = "FOLDER")]
    pub(super) folder: Option<PathBuf>,
}

/// How much is printed.
#[derive(Debug, Default, Args)]
pub(super) struct Verbosity {
    /// Prints a line per scenario and engine, and one per mutant, in place of one per component.
    #[arg(short, long)]
    verbose: bool,
}

impl Verbosity {
    pub(super) fn of(&self) -> Detail {
        if self.verbose { Detail::Verbose } else { Detail::Brief }
    }
}

/// The formats of the standard output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Printed {
    /// For a person.
    #[default]
    Text,
    /// The report as JSON.
    Json,
}

#[derive(Debug, Default, Args)]
pub(super) struct RunArguments {
    /// Only what has this in its `component/scenario`.
    pub(super) patterns: Vec<String>,
    /// Looks at what failed before first, and keeps what fails now: a text file, made if it is not
    /// there.
    #[arg(long, value_name = "FILE")]
    pub(super) ledger: Option<PathBuf>,
    #[command(flatten)]
    pub(super) effort: Effort,
    #[command(flatten)]
    pub(super) reports: Reports,
    #[command(flatten)]
    pub(super) witnesses: Witnesses,
    #[command(flatten)]
    pub(super) detail: Verbosity,
}

#[derive(Debug, Args)]
pub(super) struct MutantsArguments {
    /// Only what has this in its `component/mutant`.
    pub(super) patterns: Vec<String>,
    /// Measures how many executions a conviction takes: the median over N seeds, next to the same
    /// for plain loom and for a plain random walk.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seeds: u32,
    /// Shows instead what each invariant convicts that no other invariant of its component does: a
    /// pattern is then a component's name, or a part of it.
    #[arg(
        long,
        conflicts_with_all = [
            "seeds", "engines", "budget", "seed", "partition", "fail_fast", "as_found", "reports",
            "folder", "format", "verbose", "trust_equivalents",
        ]
    )]
    pub(super) alone: bool,
    /// Only glances at mutants that are said to be equivalent, in place of spending the whole budget
    /// on what nobody expects to be convicted.
    #[arg(long)]
    pub(super) trust_equivalents: bool,
    #[command(flatten)]
    pub(super) effort: Effort,
    #[command(flatten)]
    pub(super) reports: Reports,
    #[command(flatten)]
    pub(super) witnesses: Witnesses,
    #[command(flatten)]
    pub(super) detail: Verbosity,
}

#[derive(Debug, Args)]
pub(super) struct ConformanceArguments {
    /// Files of traces, .jsonl or .jsonl.gz, or folders of them; without any the traces carried
    /// inside.
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) reports: Reports,
}

#[derive(Debug, Args)]
pub(super) struct MergeArguments {
    /// The reports, as JSON; their order does not matter, nor does giving one twice.
    #[arg(required = true, value_name = "REPORT.json")]
    pub(super) inputs: Vec<PathBuf>,
    /// The file of the merged report, as JSON.
    #[arg(short, long, value_name = "OUT.json")]
    pub(super) out: PathBuf,
    #[command(flatten)]
    pub(super) reports: Reports,
    #[command(flatten)]
    pub(super) witnesses: Witnesses,
    #[command(flatten)]
    pub(super) detail: Verbosity,
}

#[derive(Debug, Args)]
pub(super) struct ReportArguments {
    /// The report, as JSON.
    #[arg(value_name = "REPORT.json")]
    pub(super) input: PathBuf,
    #[arg(
        long = "to",
        required = true,
        value_name = "FORMAT=PATH",
        help = formats("What to write, e.g. `html=report.html`")
    )]
    pub(super) to: Vec<ReportTo>,
}

/// A report to be written.
#[derive(Clone, Debug)]
pub(super) struct ReportTo {
    pub(super) format: Format,
    pub(super) path: PathBuf,
}

impl FromStr for ReportTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, path) = text
            .split_once('=')
            .ok_or_else(|| format!("'{text}' names no file: write e.g. json=report.json"))?;
        if path.is_empty() {
            return Err(format!("'{text}' names no file: write e.g. {format}=report.{format}"));
        }
        Ok(Self { format: format.parse()?, path: PathBuf::from(path) })
    }
}
