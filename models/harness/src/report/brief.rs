//! The report for a person: a table, the unexpected results, and one closing line.

use std::fmt::Write as _;

use super::grid::{Standing, grid};
use super::text::{
    Colour, mutants_text, rows_text, speeds_text, summary, verdict_words, violation,
};
use super::{Fate, MutantRow, Report, Row, thousands};
use crate::engine::Engine;

/// How much is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// A line per component and engine, and the unexpected results.
    Brief,
    /// A line per scenario and engine, and one per mutant.
    Verbose,
}

/// How wide a table may be where no terminal says it.
const WIDTH: usize = 100;

/// Renders a report for a person, in lines of 100 columns.
pub fn report_text(report: &Report, detail: Detail, colour: Colour) -> String {
    report_text_within(report, detail, colour, WIDTH)
}

/// As [`report_text`], for a terminal of some width.
pub fn report_text_within(report: &Report, detail: Detail, colour: Colour, width: usize) -> String {
    let mut text = match detail {
        Detail::Brief => {
            let tables = [verdicts(&report.rows, colour, width), kills(&report.mutants, colour)];
            let tables: String = tables.into_iter().filter(|table| !table.is_empty()).collect();
            tables + &unexpected(report, colour)
        }
        Detail::Verbose => {
            let rows = rows_text(&report.rows, &report.program, colour);
            rows + &mutants_text(&report.mutants, colour)
        }
    };
    text.push_str(&speeds_text(&report.mutants, colour));
    text.push_str(&summary(report, colour));
    text
}

/// Returns a name where it is new, and nothing where it is that of the line above.
fn once<'a>(name: &'a str, above: &mut &'a str) -> &'a str {
    if name == std::mem::replace(above, name) { "" } else { name }
}

/// Breaks a text into lines of a width; a word that is longer has a line of its own.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Renders a line per component and engine; how far it came and the verdict take more lines where they
/// would be wider than `width`.
fn verdicts(rows: &[Row], colour: Colour, width: usize) -> String {
    const NARROWEST: usize = 14;
    let cells = grid(rows);
    if cells.is_empty() {
        return String::new();
    }
    let wide = |texts: &mut dyn Iterator<Item = &str>, least: usize| {
        texts.map(|text| text.chars().count()).max().unwrap_or(0).max(least)
    };
    let name = wide(&mut cells.iter().map(|cell| cell.component), "component".len());
    let verdict = wide(&mut cells.iter().map(|cell| cell.verdict.as_str()), "verdict".len());
    let left = |name: usize| format!("{:<name$} {:<8} {:>9} {:>12}  ", "", "", "", "");
    let room = width.saturating_sub(left(name).len() + 2).max(2 * NARROWEST);
    let far = wide(&mut cells.iter().map(|cell| cell.reach.as_str()), 8);
    let far = far.min(room.saturating_sub(verdict).max(room / 2 + 1));
    let head = format!(
        "{:<name$} {:<8} {:>9} {:>12}  {:<far$}  verdict",
        "component", "engine", "scenarios", "executions", "how far"
    );
    let mut text = format!("{}\n", colour.head(&head));
    let mut above = "";
    for cell in &cells {
        let executions =
            if cell.executions == 0 { String::new() } else { thousands(cell.executions) };
        let painted = |text: &String| match cell.standing {
            Standing::Good => colour.good(text),
            Standing::NotRun => colour.dim(text),
            Standing::Doubt | Standing::Bad => colour.bad(text),
        };
        let (reach, verdict) = (wrapped(&cell.reach, far), wrapped(&cell.verdict, room - far));
        let verdict: Vec<_> = verdict.iter().map(painted).collect();
        let _infallible = writeln!(
            text,
            "{:<name$} {:<8} {:>9} {executions:>12}  {:<far$}  {}",
            once(cell.component, &mut above),
            cell.engine,
            cell.scenarios,
            reach[0],
            verdict[0],
        );
        for at in 1..reach.len().max(verdict.len()) {
            let of = |lines: &[String]| lines.get(at).cloned().unwrap_or_default();
            let line = format!("{}{:<far$}  {}", left(name), of(&reach), of(&verdict));
            let _infallible = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}

/// Renders a line per component: how many of its bugs each engine convicted.
fn kills(rows: &[MutantRow], colour: Colour) -> String {
    let killed_by = |row: &MutantRow, engine| row.kills.iter().any(|kill| kill.engine == engine);
    let tried = |row: &MutantRow, engine| killed_by(row, engine) || row.missed_by.contains(&engine);
    let used = |engine: &Engine| rows.iter().any(|row| tried(row, *engine));
    let engines: Vec<_> = Engine::ALL.iter().copied().filter(used).collect();
    if rows.is_empty() {
        return String::new();
    }
    let name = rows.iter().map(|row| row.component.chars().count()).max().unwrap_or(0).max(9);
    let heads: String = engines.iter().map(|engine| format!(" {:>8}", engine.name())).collect();
    let head = format!("{:<name$} {:>5}{heads} {:>11}  verdict", "component", "bugs", "equivalent");
    let mut text = format!("{}\n", colour.head(&head));
    for group in rows.chunk_by(|a, b| a.component == b.component) {
        let bugs = || group.iter().filter(|row| row.kind != "equivalent");
        let cells = engines.iter().map(|engine| {
            let of = bugs().filter(|row| tried(row, *engine)).count();
            let by = bugs().filter(|row| killed_by(row, *engine)).count();
            let cell = if of == 0 { "-".to_owned() } else { format!("{by}/{of}") };
            format!(" {cell:>8}")
        });
        let cells: String = cells.collect();
        let wrong = group.iter().filter(|row| !row.as_expected()).count();
        let verdict = match wrong {
            0 => colour.good("as expected"),
            _ => colour.bad(&format!("{wrong} not as expected")),
        };
        let (bugs, equivalent) = (bugs().count(), group.len() - bugs().count());
        let _infallible = writeln!(
            text,
            "{:<name$} {bugs:>5}{cells} {equivalent:>11}  {verdict}",
            group[0].component
        );
    }
    text
}

/// Renders what is not as expected: each with its accusation and the way back to it. The first
/// violation of an invariant is drawn.
fn unexpected(report: &Report, colour: Colour) -> String {
    let mut text = String::new();
    let mut drawn: Vec<(&str, &str)> = Vec::new();
    for group in report.rows.chunk_by(Row::same_case) {
        let (word, detail) = verdict_words(group);
        if matches!(Standing::of(word), Standing::Good | Standing::NotRun) {
            continue;
        }
        let (case, engine) = (group[0].case(), group[0].engine);
        let _infallible = writeln!(text, "{case} on {engine}: {}{detail}", colour.bad(word));
        for row in group.iter().filter(|row| !row.as_expected()) {
            let promise = (row.component.as_str(), row.invariant.as_str());
            let draws = !drawn.contains(&promise);
            drawn.push(promise);
            text.push_str(&violation(row, &report.program, draws, colour));
        }
    }
    for row in report.mutants.iter().filter(|row| !row.as_expected()) {
        text.push_str(&unexpected_mutant(row, &report.program, colour));
    }
    if text.is_empty() { text } else { format!("\n{}\n{text}\n", colour.head("not as expected")) }
}

fn unexpected_mutant(row: &MutantRow, program: &str, colour: Colour) -> String {
    let name = format!("{}/{}", row.component, row.name);
    if row.outcome == Fate::Survived {
        let word = colour.bad("SURVIVED");
        let promises = row.breaks.join(", ");
        return format!("{name}: {word}: it should break {promises} ({})\n", row.origin);
    }
    let word = colour.bad("CONVICTED although listed as equivalent");
    let mut text = format!("{name}: {word}\n");
    for kill in &row.kills {
        let _infallible =
            writeln!(text, "    {} in {} on {}", kill.invariant, kill.scenario, kill.engine);
        if let Some(witness) = &kill.witness {
            let _infallible = writeln!(text, "    see it again: {program} replay {witness}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of rows of a component with a long name that ran on every engine.
    fn table(width: usize) -> String {
        let row = |engine: Engine, coverage: &str| {
            serde_json::json!({
                "component": "mutation_cache", "scenario": format!("{engine} {coverage}"),
                "invariant": "holds_always", "rules": [], "engine": engine, "expect": "holds",
                "verdict": "holds", "coverage": coverage, "bounds": {"preemptions": 2},
                "executions": 50_000_000, "traces": 1_234_567, "steps": 123_456_789,
                "unseen_mass": 0.2221,
            })
        };
        let both =
            |engine: &Engine| ["exhausted", "sampled"].map(|coverage| row(*engine, coverage));
        let rows = Engine::ALL.iter().flat_map(both);
        let rows: Vec<Row> = rows.map(|row| serde_json::from_value(row).expect("a row")).collect();
        verdicts(&rows, Colour(false), width)
    }

    #[test]
    fn a_table_fits_its_width_and_tells_all_of_it() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for width in [80, 100, 200] {
            let table = table(width);
            let widest = table.lines().map(|line| line.chars().count()).max();
            assert!(widest.is_some_and(|widest| widest <= width), "{width}:\n{table}");
            assert_eq!(words(&table).len(), words(&self::table(500)).len(), "{table}");
        }
        assert_eq!(table(200).lines().count(), 1 + Engine::ALL.len(), "{}", table(200));
    }
}
