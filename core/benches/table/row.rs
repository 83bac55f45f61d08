//! One line of the table.

/// Measures a row; it is given the part and the name.
type How = fn(&'static str, &'static str) -> Row;

/// A row that has not been measured.
pub(crate) struct Measure {
    part: &'static str,
    row: &'static str,
    how: How,
    /// The same with SipHash in the plain implementation, if that hashes.
    siphash: Option<How>,
}

impl Measure {
    pub(crate) const fn new(part: &'static str, row: &'static str, how: How) -> Self {
        Self { part, row, how, siphash: None }
    }

    pub(crate) const fn siphash(self, how: How) -> Self {
        Self { siphash: Some(how), ..self }
    }

    /// Tells whether its part or its name contains a word.
    pub(crate) fn is_about(&self, word: &str) -> bool {
        self.part.contains(word) || self.row.contains(word)
    }

    /// Tells whether it can be measured with SipHash.
    pub(crate) fn is_hashed(&self) -> bool {
        self.siphash.is_some()
    }

    /// Measures it, with or without SipHash.
    pub(crate) fn measured(&self, siphash: bool) -> Option<Row> {
        let how = if siphash { self.siphash? } else { self.how };
        Some(how(self.part, self.row))
    }
}

/// The measurements of one thing, and the contestant that it is compared with.
pub(crate) struct Row {
    part: &'static str,
    row: &'static str,
    ours_ns: f64,
    /// The time to reach on the machine where the reference was measured.
    goal_ns: Option<f64>,
    /// The contestant, and its time.
    against: &'static str,
    plain_ns: f64,
    bytes_per_item: Option<f64>,
    /// The least ratio that passes.
    gate: Option<f64>,
    /// The largest number of bytes that passes.
    most_bytes: Option<f64>,
    /// Our longest call: how long others may have to wait for it.
    pause_ns: Option<f64>,
}

impl Row {
    /// Makes a row of our time and that of the plain implementation.
    pub(crate) fn new(
        part: &'static str,
        row: &'static str,
        (ours_ns, plain_ns): (f64, f64),
    ) -> Self {
        Self {
            part,
            row,
            ours_ns,
            goal_ns: None,
            against: "plain",
            plain_ns,
            bytes_per_item: None,
            gate: None,
            most_bytes: None,
            pause_ns: None,
        }
    }

    pub(crate) fn goal(self, goal_ns: f64) -> Self {
        Self { goal_ns: Some(goal_ns), ..self }
    }

    pub(crate) fn against(self, against: &'static str) -> Self {
        Self { against, ..self }
    }

    pub(crate) fn gate(self, gate: f64) -> Self {
        Self { gate: Some(gate), ..self }
    }

    pub(crate) fn bytes(self, bytes_per_item: f64) -> Self {
        Self { bytes_per_item: Some(bytes_per_item), ..self }
    }

    pub(crate) fn most_bytes(self, most_bytes: f64) -> Self {
        Self { most_bytes: Some(most_bytes), ..self }
    }

    pub(crate) fn pause(self, pause_ns: f64) -> Self {
        Self { pause_ns: Some(pause_ns), ..self }
    }

    pub(crate) fn ratio(&self) -> f64 {
        self.plain_ns / self.ours_ns
    }

    /// Returns the contestant.
    pub(crate) fn contestant(&self) -> &'static str {
        self.against
    }

    /// Returns its line under the [`heading`], except for the last two columns.
    pub(crate) fn line(&self) -> String {
        format!(
            "{:<13} {:<34} {:>9.1} {:>6} {:>9.1} {:>6.2} {:>6} {:>7} {:>5}",
            self.part,
            self.row,
            self.ours_ns,
            optional(self.goal_ns, 0),
            self.plain_ns,
            self.ratio(),
            optional(self.gate, 2),
            optional(self.bytes_per_item, 1),
            optional(self.most_bytes, 0),
        )
    }

    /// Returns it as the fields of an object, in one line.
    pub(crate) fn fields(&self) -> String {
        format!(
            "\"part\": \"{}\", \"row\": \"{}\", \"against\": \"{}\", \"ours_ns\": {:.2}, \
             \"goal_ns\": {}, \"plain_ns\": {:.2}, \"ratio\": {:.3}, \"gate\": {}, \
             \"bytes_per_item\": {}, \"most_bytes\": {}, \"pause_ns\": {}",
            self.part,
            self.row,
            self.against,
            self.ours_ns,
            number(self.goal_ns),
            self.plain_ns,
            self.ratio(),
            number(self.gate),
            number(self.bytes_per_item),
            number(self.most_bytes),
            number(self.pause_ns),
        )
    }
}

/// Names the columns.
pub(crate) fn heading() -> String {
    format!(
        "{:<13} {:<34} {:>9} {:>6} {:>9} {:>6} {:>6} {:>7} {:>5} {:>7}  against",
        "part", "row", "ours ns", "goal", "other ns", "ratio", "gate", "bytes", "most", "SipHash"
    )
}

/// Writes an optional figure for a column.
pub(crate) fn optional(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
}

/// Writes an optional figure for an object.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map_or("null".to_owned(), |value| format!("{value:.2}"))
}
