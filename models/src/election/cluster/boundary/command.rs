//! `boundary`: the safe region of an election, computed and searched.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgMatches, Args, FromArgMatches as _, ValueEnum};
use seatrial_core::elector::Timing;
use serde_json::{Value, json};

use super::{Drift, Point, Region, Survey, classic_conditions, liveness, picture};
use crate::cli::{ExtraCommand, Failure, Outcome, Printed, print};
use crate::elector::timeline_of;
use crate::report::{Colour, Summary, write_atomically};

/// The rules of an election.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ElectionProfile {
    /// Exactly the reference.
    Classic,
    /// One leader at most, whatever the latency.
    Strict,
}

#[derive(Debug, Args)]
struct BoundaryArguments {
    /// How long a lease lasts.
    #[arg(long, value_name = "TIME", default_value = "15s")]
    lease: String,
    /// How long a leader tries to renew.
    #[arg(long, value_name = "TIME", default_value = "10s")]
    renew: String,
    /// How long it waits between attempts.
    #[arg(long, value_name = "TIME", default_value = "2s")]
    retry: String,
    /// The rules.
    #[arg(long, value_enum, default_value_t = ElectionProfile::Classic)]
    profile: ElectionProfile,
    /// Where randomness starts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draws the safe region into an SVG file.
    #[arg(long, value_name = "PATH")]
    picture: Option<PathBuf>,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = Printed::Text)]
    format: Printed,
}

/// The command `boundary`.
pub const COMMAND: ExtraCommand = ExtraCommand { definition, run };

fn definition() -> clap::Command {
    let says = "Shows how much drift and latency an election survives: computed, and searched";
    BoundaryArguments::augment_args(clap::Command::new("boundary").about(says))
}

fn run(matches: &ArgMatches, colour: Colour) -> Outcome {
    let arguments = BoundaryArguments::from_arg_matches(matches)
        .map_err(|error| Failure::usage(error.to_string()))?;
    boundary(&arguments, colour)
}

fn boundary(arguments: &BoundaryArguments, colour: Colour) -> Outcome {
    let region = region(arguments)?;
    let survey = region.survey();
    if let Some(path) = &arguments.picture {
        write_atomically(path, &picture(&survey))
            .map_err(|error| Failure::usage(error.to_string()))?;
    }
    match arguments.format {
        Printed::Text => print(&text(&survey, colour))?,
        Printed::Json => print(&format!("{:#}\n", json(&survey)))?,
    }
    let outcome = match (survey.is_violated(), survey.agrees()) {
        (true, _) => Summary::Violated,
        (false, true) => Summary::Holds,
        (false, false) => Summary::Inconclusive,
    };
    Ok(outcome.exit_code())
}

fn region(arguments: &BoundaryArguments) -> Result<Region, Failure> {
    let timing = Timing {
        lease: duration("--lease", &arguments.lease)?,
        renew: duration("--renew", &arguments.renew)?,
        retry: duration("--retry", &arguments.retry)?,
    };
    let strict = arguments.profile == ElectionProfile::Strict;
    let region = Region { timing, strict, seed: arguments.seed };
    region.validate().map_err(Failure::usage)?;
    Ok(region)
}

/// Reads a duration: a number and its unit.
fn duration(option: &str, text: &str) -> Result<Duration, Failure> {
    let refuse = || {
        Failure::usage(format!(
            "{option} '{text}' is no duration: write a number and its unit, e.g. 15s, 500ms or 2m"
        ))
    };
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(refuse)?;
    let (number, unit) = text.split_at(unit);
    let scale = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return Err(refuse()),
    };
    let seconds = number.parse::<f64>().map_err(|_| refuse())? * scale;
    // A day is longer than any lease, and far from what a simulation could not hold.
    let known = (0.0..=86_400.0).contains(&seconds);
    // Whole microseconds, so that 0.5s is exact.
    known.then(|| Duration::from_micros((seconds * 1e6).round() as u64)).ok_or_else(refuse)
}

fn percent(ppm: u32) -> f64 {
    (f64::from(ppm) / 1_000.0).floor() / 10.0
}

fn seconds(time: Option<Duration>) -> String {
    time.map_or_else(|| "none".to_owned(), |time| format!("{:.3} s", time.as_secs_f64()))
}

fn quantity(region: &Region) -> &'static str {
    if region.strict { "acting time" } else { "latest answer" }
}

fn text(survey: &Survey, colour: Colour) -> String {
    let region = &survey.region;
    let Timing { lease, renew, retry } = region.timing;
    let profile = if region.strict { "strict" } else { "classic" };
    let head = format!("{profile} profile, lease {lease:?}, renew {renew:?}, retry {retry:?}");
    let mut text = format!("{}\n\n", colour.head(&head));
    text.push_str(formula(region.strict));
    drift(survey, &mut text);
    let _infallible = writeln!(
        text,
        "\n{:>8}  {:>14}  {:>12}  {:>14}  {:>8}  {:>6}",
        "drift",
        quantity(region),
        "no overlap",
        "two leaders",
        "apart",
        "runs"
    );
    for point in &survey.points {
        row(point, &mut text);
    }
    if !region.strict {
        conditions(&region.timing, &mut text);
    }
    waits(&region.timing, &mut text);
    if let Some(worst) = &survey.worst {
        let _infallible = writeln!(
            text,
            "\nTwo leaders, a hundredth beyond the boundary, at the worst moment of the search:\n"
        );
        text.push_str(&timeline_of(worst, &survey.terms));
    }
    let verdict = match (survey.is_violated(), survey.agrees()) {
        (true, _) => "VIOLATED: two leaders where the formula says that it is safe",
        (false, true) => "the boundary found is within 1 % of the formula",
        (false, false) => "inconclusive: the boundary found is not within 1 % of the formula",
    };
    let _infallible = writeln!(text, "\n{verdict}");
    text
}

fn formula(strict: bool) -> &'static str {
    if strict {
        "safe if   A/(1-drift) + timers + work <= L/(1+drift)        election:SF-10\n          \
         timers served within 0.1 s, work stopped within 0.9 s; answers may be as late as they \
         like\n"
    } else {
        "safe if   latest answer + (R+D)/(1-drift) <= L/(1+drift)    election:SF-9\n"
    }
}

fn drift(survey: &Survey, text: &mut String) {
    let largest = percent(survey.largest_drift_ppm);
    let Drift { value, computed, unsafe_at } = survey.drift;
    let found = unsafe_at.map_or_else(
        || "none found".to_owned(),
        |ppm| format!("two leaders from {:.2} % on", f64::from(ppm) / 10_000.0),
    );
    let _infallible = match (survey.region.strict, computed) {
        (true, _) => writeln!(
            text,
            "\nsafe drift up to {largest:.1} %, if the elector is told; with the acting time of \
             {:.3} s, which it gives itself for 1.0 %: {found}",
            value.as_secs_f64()
        ),
        (false, Some(_)) => {
            writeln!(text, "\nsafe drift up to {largest:.1} % with instant answers: {found}")
        }
        (false, None) => {
            writeln!(text, "\nno drift is safe, not even none: R + D is longer than L: {found}")
        }
    };
}

fn row(point: &Point, text: &mut String) {
    let boundary = &point.boundary;
    let apart = boundary.gap().map_or_else(
        || if boundary.agrees() { "as said" } else { "-" }.to_owned(),
        |gap| format!("{:+.3} %", gap * 100.0),
    );
    let _infallible = writeln!(
        text,
        "{:>6.1} %  {:>14}  {:>12}  {:>14}  {apart:>8}  {:>6}",
        f64::from(point.drift_ppm) / 10_000.0,
        seconds(boundary.computed),
        if boundary.safe_at.is_zero() {
            "none".to_owned()
        } else {
            seconds(Some(boundary.safe_at))
        },
        seconds(boundary.unsafe_at),
        boundary.runs
    );
}

fn conditions(timing: &Timing, text: &mut String) {
    text.push('\n');
    for condition in classic_conditions(timing, timing.request_timeout()) {
        let slack = condition.slack.as_secs_f64();
        let word = if condition.slack.holds() { "safe" } else { "NOT SAFE" };
        let _infallible = writeln!(
            text,
            "{:<59} {:<22} {word}, slack {slack:+.1} s",
            condition.situation, condition.condition
        );
    }
}

fn waits(timing: &Timing, text: &mut String) {
    let bound = liveness(timing, 0, Duration::ZERO);
    let _infallible = writeln!(
        text,
        "\na new leader within {} of a crash, and within {} of a release (election:LV-1, election:LV-2)",
        seconds(Some(bound.after_crash)),
        seconds(Some(bound.after_release))
    );
}

fn json(survey: &Survey) -> Value {
    let region = &survey.region;
    let Timing { lease, renew, retry } = region.timing;
    let secs = |time: Duration| time.as_secs_f64();
    let point = |point: &Point| {
        let boundary = &point.boundary;
        json!({
            "drift_percent": f64::from(point.drift_ppm) / 10_000.0,
            "computed_s": boundary.computed.map(secs),
            "safe_at_s": secs(boundary.safe_at),
            "unsafe_at_s": boundary.unsafe_at.map(secs),
            "overlap_s": secs(boundary.overlap),
            "gap_percent": boundary.gap().map(|gap| gap * 100.0),
            "runs": boundary.runs,
            "agrees": boundary.agrees(),
        })
    };
    json!({
        "schema_version": 1,
        "profile": if region.strict { "strict" } else { "classic" },
        "lease_s": secs(lease),
        "renew_s": secs(renew),
        "retry_s": secs(retry),
        "seed": region.seed,
        "quantity": quantity(region),
        "safe_drift_percent": percent(survey.largest_drift_ppm),
        "drift": {
            "value_s": secs(survey.drift.value),
            "computed_percent": survey.drift.computed.map(|ppm| f64::from(ppm) / 10_000.0),
            "unsafe_at_percent": survey.drift.unsafe_at.map(|ppm| f64::from(ppm) / 10_000.0),
            "agrees": survey.drift.agrees(),
        },
        "points": survey.points.iter().map(point).collect::<Vec<_>>(),
        "within_one_percent": survey.agrees(),
    })
}
