//! A survey as a picture: an SVG that works as a file and inside a page, and leaves the page's
//! styles alone.

use std::fmt::Write as _;
use std::time::Duration;

use seatrial_core::elector::{Bounds, Timing};

use super::survey::{Region, Survey};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;
/// The number of values at which the curve is computed.
const STEPS: u32 = 80;

/// The scales of both axes: the largest drift in percent, the largest time in seconds.
struct Scales {
    percent: f64,
    seconds: f64,
}

impl Scales {
    fn x(&self, ppm: u32) -> f64 {
        LEFT + percent(ppm) / self.percent * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, time: Duration) -> f64 {
        let share = (time.as_secs_f64() / self.seconds).min(1.0);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }
}

fn percent(ppm: u32) -> f64 {
    f64::from(ppm) / 10_000.0
}

/// Draws a survey: the computed curve with the safe region below it, a circle for every boundary
/// that was found, and a diamond at the usual set-up.
#[must_use]
pub fn picture(survey: &Survey) -> String {
    let region = &survey.region;
    let usual = usual(region);
    let curve = curve(region, survey.largest_drift_ppm);
    let tallest = curve.iter().map(|(_, time)| *time).chain([usual.1]).max().unwrap_or_default();
    let widest = survey.largest_drift_ppm.max(usual.0);
    let scales = Scales {
        percent: percent(widest) * 1.15,
        seconds: (tallest.as_secs_f64() * 1.15).max(0.001),
    };
    let mut svg = head(region);
    axes(&scales, region, &mut svg);
    region_below(&scales, &curve, &mut svg);
    for point in &survey.points {
        let Some(found) = point.boundary.unsafe_at else { continue };
        let (x, y) = (scales.x(point.drift_ppm), scales.y(found));
        let _infallible = writeln!(
            svg,
            "<circle class=\"found\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>drift {:.1} %: no \
             overlap at {:.3} s, two leaders at {:.3} s</title></circle>",
            percent(point.drift_ppm),
            point.boundary.safe_at.as_secs_f64(),
            found.as_secs_f64(),
        );
    }
    if let Some(found) = survey.drift.unsafe_at {
        let (x, y) = (scales.x(found.min(widest)), scales.y(survey.drift.value));
        let _infallible = writeln!(
            svg,
            "<circle class=\"found\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>two leaders at a \
             drift of {:.2} %</title></circle>",
            percent(found),
        );
    }
    mark(&scales, usual, region.strict, &mut svg);
    svg.push_str("</svg>\n");
    svg
}

/// The usual set-up: clocks within one percent. In the classic profile, answers are as late as the
/// lock's own client allows; in the strict profile, the acting time is the one that an elector
/// chooses by itself.
fn usual(region: &Region) -> (u32, Duration) {
    let drift_ppm = Bounds::default().drift_ppm;
    let strict = region.question(drift_ppm).computed().unwrap_or_default();
    (drift_ppm, if region.strict { strict } else { region.timing.request_timeout() })
}

/// The computed limit from no drift to the largest that is safe.
fn curve(region: &Region, largest: u32) -> Vec<(u32, Duration)> {
    let drifts = (0..=STEPS).map(|step| (u64::from(largest) * u64::from(step)) / u64::from(STEPS));
    let limit = |ppm: u64| {
        let ppm = ppm as u32;
        Some((ppm, region.question(ppm).computed()?))
    };
    drifts.filter_map(limit).collect()
}

fn head(region: &Region) -> String {
    let Timing { lease, renew, retry } = region.timing;
    let profile = if region.strict { "strict" } else { "classic" };
    let title = format!("{profile} profile, lease {lease:?}, renew {renew:?}, retry {retry:?}");
    format!(
        "<svg class=\"boundary\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<title>{title}</title>\n<style>.boundary .axis{{stroke:#888;fill:none}}\
         .boundary .safe{{fill:#2a9d4a;fill-opacity:.18}}.boundary .limit{{stroke:#2a9d4a;stroke-width:2;fill:none}}\
         .boundary .found{{fill:#fff;stroke:#c22;stroke-width:2}}.boundary .usual{{fill:#225}}.boundary text{{fill:#333}}\
         </style>\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\">{title}</text>\n"
    )
}

fn axes(scales: &Scales, region: &Region, svg: &mut String) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let _infallible = writeln!(svg, "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>");
    for tick in 0..=4 {
        let share = f64::from(tick) / 4.0;
        let x = LEFT + share * (right - LEFT);
        let y = bottom - share * (bottom - TOP);
        let _infallible = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{:.1}</text>\n<text x=\"{:.1}\" \
             y=\"{:.1}\" text-anchor=\"end\">{:.1}</text>",
            bottom + 16.0,
            share * scales.percent,
            LEFT - 6.0,
            y + 4.0,
            share * scales.seconds,
        );
    }
    let what = if region.strict { "acting time" } else { "latest answer" };
    let _infallible = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">drift of every clock, in \
         percent</text>\n<text x=\"14\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 \
         14 {:.1})\">{what}, in seconds</text>",
        f64::midpoint(LEFT, right),
        HEIGHT - 14.0,
        f64::midpoint(TOP, bottom),
        f64::midpoint(TOP, bottom),
    );
}

fn region_below(scales: &Scales, curve: &[(u32, Duration)], svg: &mut String) {
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else { return };
    let mut line = String::new();
    for (ppm, time) in curve {
        let _infallible = write!(line, "{:.1},{:.1} ", scales.x(*ppm), scales.y(*time));
    }
    let (line, bottom) = (line.trim_end(), HEIGHT - BOTTOM);
    let (from, to) = (scales.x(first.0), scales.x(last.0));
    let _infallible = writeln!(
        svg,
        "<polygon class=\"safe\" points=\"{from:.1},{bottom} {line} {to:.1},{bottom}\"/>\n\
         <polyline class=\"limit\" points=\"{line}\"/>"
    );
}

fn mark(scales: &Scales, usual: (u32, Duration), strict: bool, svg: &mut String) {
    let (x, y) = (scales.x(usual.0), scales.y(usual.1));
    let says = if strict {
        "the elector's own acting time"
    } else {
        "answers as late as its client allows"
    };
    let _infallible = writeln!(
        svg,
        "<path class=\"usual\" d=\"M{x:.1} {:.1}l6 6l-6 6l-6 -6z\"/>\n<text x=\"{:.1}\" \
         y=\"{:.1}\">{says}: {:.1} s at {:.1} %</text>",
        y - 6.0,
        x + 10.0,
        y - 6.0,
        usual.1.as_secs_f64(),
        percent(usual.0),
    );
}
