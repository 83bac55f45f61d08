//! A simulated run in lines, and as a picture: one column for each node, time downwards, with the
//! windows in which a process leads.

use std::fmt::Write as _;

use crate::cluster::invariants::Terms;
use crate::cluster::{Answer, Entry, Happening, Run, What, Window, Writer};
use crate::trial::Line;

/// The column of happenings that belong to no node.
const OUTSIDE: u8 = u8::MAX;

/// Describes the important happenings of a run: writes, failures, and who leads.
pub(super) fn lines(run: &Run) -> Vec<Line> {
    let mut lines: Vec<_> =
        run.happenings.iter().filter_map(|happening| line(run, happening)).collect();
    if let Some(last) = lines.last() {
        let text = format!("{} steps in all", run.steps);
        lines.push(Line { text, at_nanos: run.end, ..last.clone() });
    }
    lines
}

fn line(run: &Run, happening: &Happening) -> Option<Line> {
    let text = text(run, happening)?;
    let process = &run.processes[usize::from(happening.process)];
    let (thread, name) = match happening.what {
        What::Outside { .. } => (OUTSIDE, "outside".to_owned()),
        _ => (process.node, format!("node {}", char::from(b'a' + process.node % 26))),
    };
    let identity = process.identity().as_str();
    let first = identity.len() == 1 || thread == OUTSIDE;
    let text = if first { text } else { format!("{identity}: {text}") };
    Some(Line { thread, name, at_nanos: happening.at, text, ..Line::default() })
}

fn text(run: &Run, happening: &Happening) -> Option<String> {
    Some(match happening.what {
        What::Begins => "begins a run".to_owned(),
        What::Applied { version, .. } => written(run, version),
        What::Outside { version } => format!("somebody changes the lease, v{version}"),
        What::Learns { answer: Answer::Unsure, .. } => "gets no answer".to_owned(),
        What::Learns { answer: Answer::Conflict, .. } => "meets a conflict".to_owned(),
        What::Learns { answer: Answer::Refused, .. } => "is refused".to_owned(),
        What::Leads { term } => format!("leads, term {term}"),
        What::Revoked { .. } => "leads no more".to_owned(),
        What::WorkEnded { .. } => "its work has ended".to_owned(),
        What::Acts { accepted: false, .. } => "acts, and is refused".to_owned(),
        What::Cancelled => "is cancelled".to_owned(),
        What::Ended { .. } => "its run ends".to_owned(),
        What::Crashed => "crashes".to_owned(),
        What::Frozen => "stops moving".to_owned(),
        _ => return None,
    })
}

/// Describes the effect of a write.
fn written(run: &Run, version: u64) -> String {
    let index = version.saturating_sub(1) as usize;
    let holder = |entry: Option<&Entry>| {
        let record = entry.and_then(|entry| entry.record.as_ref());
        record.map(|record| record.holder.clone())
    };
    let before = holder(index.checked_sub(1).and_then(|before| run.versions.get(before)));
    let word = match (before, holder(run.versions.get(index))) {
        (None, _) => "creates the lease",
        (Some(_), Some(now)) if now.is_empty() => "frees the lease",
        (Some(before), Some(now)) if before == now => "renews",
        _ => "takes the lease",
    };
    format!("{word}, v{version}")
}

/// How much of a run is drawn before and after the important moment, in leases.
const BEFORE: u64 = 2;

/// Draws a run around a moment; draws the whole run if there is no such moment, or if the run is
/// short.
pub(super) fn timeline(run: &Run, lines: &[Line], around: Option<u64>, terms: &Terms) -> String {
    const SHORT: usize = 40;
    let lease = u64::try_from(terms.config.timing.lease.as_nanos()).unwrap_or(u64::MAX);
    let (from, to) = match around {
        Some(at) if lines.len() > SHORT => {
            (at.saturating_sub(BEFORE * lease), at.saturating_add(lease))
        }
        _ => (0, u64::MAX),
    };
    let mut nodes: Vec<(u8, &str)> = Vec::new();
    for line in lines {
        if !nodes.iter().any(|(node, _)| *node == line.thread) {
            nodes.push((line.thread, &line.name));
        }
    }
    nodes.sort_unstable();
    let (believes, acts) = (run.belief_windows(), run.acting_windows());
    let drawing = Drawing { run, nodes, believes, acts };
    let mut text = drawing.head();
    for line in lines.iter().filter(|line| (from..=to).contains(&line.at_nanos)) {
        let mark = if around == Some(line.at_nanos) { "   <-- here" } else { "" };
        drawing.row(line, mark, &mut text);
    }
    text.push_str(
        "\n\u{2588} leads   \u{2592} cancelled, and still at work   lease: who holds it\n",
    );
    text
}

struct Drawing<'a> {
    run: &'a Run,
    nodes: Vec<(u8, &'a str)>,
    believes: Vec<Window>,
    acts: Vec<Window>,
}

const WIDTH: usize = 26;

impl Drawing<'_> {
    fn head(&self) -> String {
        let mut text = format!("{:>10}  {:<8}", "time", "lease");
        for (_, name) in &self.nodes {
            let _infallible = write!(text, "{name:<width$}", width = WIDTH + 2);
        }
        format!("{}\n", text.trim_end())
    }

    fn row(&self, line: &Line, mark: &str, text: &mut String) {
        let at = line.at_nanos;
        let mut row = format!("{:>10.3}  {:<8}", at as f64 / 1e9, self.holder(at));
        for (node, _) in &self.nodes {
            let said = if *node == line.thread { line.text.as_str() } else { "" };
            let cut: String = said.chars().take(WIDTH - 1).collect();
            let _infallible = write!(row, "{} {cut:<WIDTH$}", self.bar(*node, at));
        }
        let leaders = self.nodes.iter().filter(|(node, _)| self.within(&self.believes, *node, at));
        let two = if leaders.count() > 1 { " two leaders" } else { "" };
        let _infallible = writeln!(text, "{}{two}{mark}", row.trim_end());
    }

    fn bar(&self, node: u8, at: u64) -> char {
        if self.within(&self.believes, node, at) {
            '\u{2588}'
        } else if self.within(&self.acts, node, at) {
            '\u{2592}'
        } else {
            ' '
        }
    }

    fn within(&self, windows: &[Window], node: u8, at: u64) -> bool {
        windows.iter().any(|window| {
            let of_node = self.run.processes[usize::from(window.process)].node == node;
            of_node && (window.from..window.to).contains(&at)
        })
    }

    /// Returns the holder of the lease by its newest record.
    fn holder(&self, at: u64) -> &str {
        let newest = self.run.versions.iter().rev().find(|entry| entry.at <= at);
        let record = newest.and_then(|entry| entry.record.as_ref());
        match (record, newest.map(|entry| entry.by)) {
            (Some(record), _) if record.holder.is_empty() => "nobody",
            (Some(record), Some(Writer::Process(_) | Writer::Outside)) => record.holder.as_str(),
            _ => "-",
        }
    }
}
