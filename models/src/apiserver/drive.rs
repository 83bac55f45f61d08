//! `drive`: any process, in any language, under the default plan of faults.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use clap::{ArgMatches, Args, FromArgMatches as _};
use seatrial::outcome::Budget;
use seatrial::report::Dealing;
use seatrial::runner::Share;
use seatrial_sim::campaign::driven;
use seatrial_sim::drive::{Act, Drive, Progress, Stated};
use serde_json::Value;

use crate::cli::{ExtraCommand, Failure, Outcome, Reports};
use crate::report::Colour;

/// The name of the process after `--`.
const ALONE: &str = "controller";
/// How often a progress line is written where there is no terminal.
const LINE: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
struct DriveArguments {
    /// Objects that are there before the processes begin: YAML, also many documents in one file.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    given: Vec<PathBuf>,
    /// What the user does: a YAML list of steps, each after all is quiet.
    #[arg(long, value_name = "FILE")]
    steps: Option<PathBuf>,
    /// A further process: a name, and a command as a shell would split it at blanks.
    #[arg(long, value_name = "NAME=COMMAND")]
    process: Vec<String>,
    /// Runs the controllers of a cluster: workloads become ready, and so on.
    #[arg(long)]
    controllers: bool,
    /// The processes find the server as those in a pod of this namespace do, without a kubeconfig (Linux).
    #[arg(long, value_name = "NAMESPACE", num_args = 0..=1, require_equals = true, default_missing_value = "default")]
    in_cluster: Option<String>,
    /// The plan: `default`, or faults as in `--replay`.
    #[arg(long, value_name = "PLAN", default_value = "default")]
    plan: String,
    /// Runs one plan only, such as "crash(3) lost(5)".
    #[arg(long, value_name = "PLAN", conflicts_with = "plan")]
    replay: Option<String>,
    /// In place of plans: changes of an object, drawn from the schema of this kind. The first one that a step
    /// applies is changed, and others are examples. `--replay` takes operations then, and `--budget` a time or a
    /// count of sequences.
    #[arg(long, value_name = "KIND", conflicts_with_all = ["plan", "role"])]
    operations: Option<String>,
    /// With `--operations`: a field of which nothing depends is a finding.
    #[arg(long, requires = "operations")]
    needs_effect: bool,
    /// How many seconds nothing may change before a run is at rest.
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    rest: f64,
    /// How many seconds a run may take until it is at rest, after each step and each fault.
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    limit: f64,
    /// How many plans are made by chance, beside those of one fault.
    #[arg(long, value_name = "N", default_value_t = 30)]
    random: u64,
    /// Decides them.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Tries this number of plans at most.
    #[arg(long, value_name = "N")]
    at_most: Option<u64>,
    /// How many plans run at once; by default as memory and cores allow.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// How much: a time (30s, 5m), after which no plan begins, or a count of plans.
    #[arg(long, value_name = "BUDGET")]
    budget: Option<Budget>,
    /// Only this shard of the plans: slice:1/4 deals them out in turn, hash:1/4 by their text. By default
    /// what a Kubernetes Indexed Job, GitLab, CircleCI or Buildkite say in the environment.
    #[arg(long, value_name = "DEALING:N/M")]
    partition: Option<Share>,
    /// The processes have the rights of these roles (YAML) and no others: what is missing, what is never
    /// used and the smallest role are told.
    #[arg(long, value_name = "FILE")]
    role: Option<PathBuf>,
    /// A rule of your own, an expression (CEL) that is true after each change, such as
    /// 'pods.size() <= 3' or 'deployments.all(d, d.spec.replicas > 0)'.
    #[arg(long, value_name = "EXPRESSION")]
    always: Vec<String>,
    /// A rule that is true of each change, such as
    /// 'before.secrets.all(b, after.secrets.exists(a, a.metadata.name == b.metadata.name))'.
    #[arg(long, value_name = "EXPRESSION")]
    step: Vec<String>,
    /// A rule that is true at the end of each run.
    #[arg(long, value_name = "EXPRESSION")]
    at_end: Vec<String>,
    /// Objects of this resource are not compared, such as `configmaps`.
    #[arg(long, value_name = "RESOURCE")]
    ignore: Vec<String>,
    /// How many requests a minute are fine while nothing happens.
    #[arg(long, value_name = "N", default_value_t = 60)]
    requests_per_minute: u32,
    /// A process may end with an error now and then, and is started again.
    #[arg(long)]
    may_exit: bool,
    /// The folder for the output of every run; without it a new one in the folder for temporary files.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    reports: Reports,
    /// The command. `{kubeconfig}`, `{port}` (each another free one), `{dir}`, `{service:NAMESPACE/NAME}` (the port at
    /// which its webhooks are called) and `{certificates}` (a folder for them) are filled in.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The command `drive`.
pub const COMMAND: ExtraCommand = ExtraCommand { definition, run };

fn definition() -> clap::Command {
    let says = "Runs any controller, a process in any language, under the default plan of faults";
    let after = "Each plan has a simulated server and processes of its own, with KUBECONFIG in their \
                 environment:\n\n    seatrial drive --given crds.yaml --steps steps.yaml -- ./manager \
                 --metrics-bind-address=127.0.0.1:{port}\n\nA step is one of\n\n    \
                 - apply: {apiVersion: v1, kind: ConfigMap, ...}\n    \
                 - patch: {kind: ConfigMap, name: a, patch: {data: {k: v}}}\n    \
                 - delete: {kind: ConfigMap, name: a}\n    \
                 - wait: {kind: Secret, name: a, at: /data/k, equals: dg==}\n\n\
                 Exit codes: 0 all plans hold, 2 wrong usage, 4 nothing ran, 5 inconclusive (stopped, or a \
                 plan failed in one run of five), 100 a promise is broken.";
    DriveArguments::augment_args(clap::Command::new("drive").about(says).after_help(after))
}

fn run(matches: &ArgMatches, _: Colour) -> Outcome {
    let arguments = DriveArguments::from_arg_matches(matches)
        .map_err(|error| Failure::usage(error.to_string()))?;
    arguments.reports.check()?;
    let share = share(&arguments)?;
    let drive = configured(&arguments, share)?;
    let stop = drive.stop();
    ctrlc::set_handler(move || stop.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::usage(format!("cannot listen for Ctrl-C: {error}")))?;
    let told = Mutex::new(Instant::now());
    let report = drive.check(&|progress| tell(progress, &told));
    let report = report.map_err(|error| Failure::usage(error.to_string()))?;
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
    let budget = arguments.budget.as_ref().map(Budget::to_string).unwrap_or_default();
    let form = driven(&report, &names(&arguments), arguments.seed, &budget, share);
    arguments.reports.deliver(&form, &format!("{report}\n"))
}

/// The shard that is asked for, or that the environment names. A single plan is in whichever is asked for.
fn share(arguments: &DriveArguments) -> Result<Share, Failure> {
    match arguments.partition {
        _ if arguments.replay.is_some() => Ok(Share::default()),
        Some(share) => Ok(share),
        None => Share::of_environment(|name| std::env::var(name).ok()).map_err(Failure::usage),
    }
}

/// The names of all processes, as a report has them.
fn names(arguments: &DriveArguments) -> String {
    let alone = (!arguments.command.is_empty()).then_some(ALONE);
    let named = arguments.process.iter().filter_map(|it| it.split_once('=')).map(|it| it.0);
    alone.into_iter().chain(named).collect::<Vec<_>>().join("+")
}

/// One line that is written again and again, or a line now and then.
fn tell(progress: Progress, told: &Mutex<Instant>) {
    let mut told = told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if std::io::stderr().is_terminal() {
        eprint!("\r{progress}\x1b[K");
    } else if told.elapsed() > LINE {
        *told = Instant::now();
        eprintln!("{progress}");
    }
}

fn configured(arguments: &DriveArguments, share: Share) -> Result<Drive, Failure> {
    // A container that begins anew may have the number of its process again, on a folder that is kept.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let name = format!("seatrial-drive-{}-{}", std::process::id(), now.as_nanos());
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => private(std::env::temp_dir().join(name))?,
    };
    let mut drive = Drive::new(out)
        .rest(seconds(arguments.rest)?)
        .limit(seconds(arguments.limit)?)
        .random(arguments.random, arguments.seed)
        .requests_per_minute(arguments.requests_per_minute)
        .shown_as(shown(std::env::args().skip(1)));
    if !arguments.command.is_empty() {
        drive = drive.process(ALONE, arguments.command.clone());
    }
    for process in &arguments.process {
        let bad = || Failure::usage(format!("{process:?} is no NAME=COMMAND"));
        let (name, command) = process.split_once('=').ok_or_else(bad)?;
        let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
        // A plan names it, where what begins otherwise is a number.
        if !name.starts_with(|it: char| it.is_ascii_alphabetic()) || !name.chars().all(is_plain) {
            return Err(bad());
        }
        drive = drive.process(name, command.split_whitespace().map(str::to_owned).collect());
    }
    for path in &arguments.given {
        drive = drive.given(documents(path)?);
    }
    if let Some(path) = &arguments.steps {
        drive = drive.steps(steps(path)?);
    }
    drive = planned(drive, arguments)?;
    if let Some(path) = &arguments.role {
        let text = read(path)?;
        let bad = |why| Failure::usage(format!("{}: {why}", path.display()));
        drive = drive.role(&text).map_err(bad)?;
    }
    if let Some(Budget { time, simulated_runs, .. }) = arguments.budget {
        drive = match time {
            Some(time) => drive.time(time),
            None => drive.at_most(simulated_runs),
        };
    }
    let (index, count) = (share.partition.index, share.partition.count);
    drive = drive.part(u64::from(index) - 1, count.into());
    drive = if share.dealing == Dealing::Hash { drive.dealt_by_name() } else { drive };
    let stated = [
        (Stated::Always, &arguments.always),
        (Stated::Step, &arguments.step),
        (Stated::AtEnd, &arguments.at_end),
    ];
    for (when, texts) in stated {
        drive = texts.iter().fold(drive, |drive, text| drive.rule(when, text));
    }
    drive = arguments.ignore.iter().fold(drive, |drive, it| drive.ignoring(it));
    drive = arguments.at_most.into_iter().fold(drive, Drive::at_most);
    drive = arguments.in_cluster.iter().fold(drive, |drive, it| drive.in_cluster(it));
    drive = arguments.jobs.into_iter().fold(drive, Drive::jobs);
    drive = if arguments.controllers { drive.controllers() } else { drive };
    Ok(if arguments.may_exit { drive.may_exit() } else { drive })
}

/// The plan that is asked for, or operations.
fn planned(mut drive: Drive, arguments: &DriveArguments) -> Result<Drive, Failure> {
    let plan = Some(&arguments.plan).filter(|it| *it != "default");
    let plan = arguments.replay.as_ref().or(plan);
    let Some(kind) = &arguments.operations else {
        let Some(plan) = plan else { return Ok(drive) };
        return drive.replay(plan).map_err(|error| Failure::usage(error.to_string()));
    };
    drive = drive.operations(kind);
    drive = if arguments.needs_effect { drive.needs_effect() } else { drive };
    let Some(text) = plan.filter(|it| !it.is_empty()) else { return Ok(drive) };
    drive.replay_operations(text).map_err(|error| Failure::usage(error.to_string()))
}

/// A new folder that nobody else reads: there are credentials in it.
fn private(folder: PathBuf) -> Result<PathBuf, Failure> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.create(&folder);
    made.map_err(|error| {
        Failure::usage(format!("cannot make {}: {error}; name one with --out", folder.display()))
    })?;
    Ok(folder)
}

fn seconds(number: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(number)
        .map_err(|_| Failure::usage(format!("{number} is no number of seconds")))
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))
}

/// The documents of a file of YAML. An error tells the place alone: a file may hold secrets.
fn documents(path: &Path) -> Result<Vec<Value>, Failure> {
    let text = read(path)?;
    let read: Result<Vec<Value>, _> = serde_saphyr::from_multiple(&text);
    let documents = read.map_err(|error| {
        let at = error.location().map(|it| format!(" at line {}", it.line()));
        let at = at.unwrap_or_default();
        Failure::usage(format!("{} is no YAML{at}", path.display()))
    })?;
    Ok(documents.into_iter().filter(|it| !it.is_null()).collect())
}

/// A list of steps. A word that no step knows is an error.
fn steps(path: &Path) -> Result<Vec<Act>, Failure> {
    let lists = documents(path)?.into_iter().map(|it| match it {
        Value::Array(steps) => steps,
        other => vec![other],
    });
    let read = |(index, value)| {
        serde_json::from_value(value).map_err(|error| {
            Failure::usage(format!("{}, step {}: {error}; see --help", path.display(), index + 1))
        })
    };
    lists.flatten().enumerate().map(read).collect()
}

/// Options that say which plans run, or where the outcome goes: a replay has its own.
const ONE_RUN: [&str; 8] =
    ["--replay", "--plan", "--report", "--format", "--partition", "--at-most", "--budget", "--out"];

/// This command line, with the plan to be filled in.
fn shown(words: impl Iterator<Item = String>) -> String {
    let mut shown = vec!["seatrial".to_owned()];
    let (mut words, mut is_after) = (words.peekable(), false);
    while let Some(word) = words.next() {
        let (option, value) = word.split_once('=').unzip();
        if !is_after && ONE_RUN.contains(&option.unwrap_or(&word)) {
            if value.is_none() {
                words.next();
            }
            continue;
        }
        if !is_after && word == "--" {
            is_after = true;
            shown.push("--replay '{plan}'".to_owned());
        }
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./=:,{}".contains(it);
        // A shell makes several words of `{a,b}` and `{1..3}`.
        let is_list = word.contains('{') && (word.contains(',') || word.contains(".."));
        shown.push(match word.chars().all(is_plain) && !word.is_empty() && !is_list {
            true => word,
            false => format!("'{}'", word.replace('\'', "'\\''")),
        });
    }
    if !is_after {
        shown.push("--replay '{plan}'".to_owned());
    }
    shown.join(" ")
}

pub(crate) mod tests {
    use seatrial::tests;
    use seatrial::tests::Tests;

    use super::*;

    fn the_command_that_is_shown_runs_one_plan_of_the_same() {
        let words = ["drive", "--report", "r.json", "--out=d", "--", "./a b", "--report"];
        let words = words.map(str::to_owned);
        let wanted = "seatrial drive --replay '{plan}' -- './a b' --report";
        assert_eq!(shown(words.into_iter()), wanted);
        let words = ["drive", "--", "it", "--features={a,b}", "{1..3}", "{dir}", "a,b"];
        let words = words.map(str::to_owned);
        let wanted = "seatrial drive --replay '{plan}' -- it '--features={a,b}' '{1..3}' {dir} a,b";
        assert_eq!(shown(words.into_iter()), wanted);
        assert_eq!(shown(["drive".to_owned()].into_iter()), "seatrial drive --replay '{plan}'");
    }

    fn steps_are_read_from_yaml_and_a_wrong_word_is_named() {
        let file = std::env::temp_dir().join(format!("seatrial-steps-{}", std::process::id()));
        let read = |text: &str| {
            std::fs::write(&file, text).expect("the file is written");
            steps(&file).map(|it| it.iter().map(Act::to_string).collect::<Vec<_>>().join(", "))
        };
        let good = "- apply: {kind: ConfigMap, metadata: {name: a}}\n\
                    - patch: {kind: Pod, name: b, status: true, patch: {status: {phase: Running}}}\n\
                    - wait: {kind: Secret, name: c, at: /data/k, equals: null}\n\
                    - delete: {kind: ConfigMap, name: a}\n";
        let told = read(good).ok();
        let bad = read("- aply: {}").map_err(|it| format!("{it:?}")).expect_err("no such step");
        let secret = read("- apply: {a: hunter2").map_err(|it| format!("{it:?}"));
        drop(std::fs::remove_file(&file));
        let wanted =
            "apply ConfigMap a, patch Pod b, wait for Secret c /data/k, delete ConfigMap a";
        assert_eq!(told.as_deref(), Some(wanted));
        assert!(bad.contains("step 1") && bad.contains("`aply`"), "{bad}");
        assert!(!secret.expect_err("it is no YAML").contains("hunter2"));
    }

    pub(crate) const TESTS: Tests = tests![
        steps_are_read_from_yaml_and_a_wrong_word_is_named,
        the_command_that_is_shown_runs_one_plan_of_the_same
    ];
}
