//! Traces, as they are written down.

use std::time::Duration;

use serde_json::Value;

/// One recorded program with its answers.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Its name.
    pub name: String,
    /// How many namespaces it is given.
    pub namespaces: u64,
    /// The steps.
    pub steps: Vec<Step>,
}

/// One step of a trace.
#[derive(Clone, Debug)]
pub enum Step {
    /// A request and its answer.
    Call {
        /// The request as it was sent.
        request: Value,
        /// The answer.
        response: Value,
    },
    /// A request that opens a watch, or fails to.
    Open {
        /// The name of the watch within the trace.
        watch: String,
        /// The request as it was sent.
        request: Value,
        /// The answer.
        response: Value,
    },
    /// The events of a watch since it was last read.
    Read {
        /// The watch.
        watch: String,
        /// Its events.
        events: Value,
        /// The server had ended it.
        has_ended: bool,
        /// How long the reader waited for its end, if it did.
        waits: Option<Duration>,
    },
    /// The client hung up.
    Close {
        /// The watch.
        watch: String,
    },
    /// The storage was compacted at its newest revision.
    Compact,
}

impl Trace {
    /// Reads a trace from one line of JSON.
    ///
    /// # Errors
    ///
    /// The problem with the line.
    pub fn parse(line: &str) -> Result<Self, String> {
        let trace: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let name = trace["name"].as_str().ok_or("the trace has no name")?.to_owned();
        let steps = trace["steps"].as_array().ok_or_else(|| format!("{name} has no steps"))?;
        let steps = steps.iter().enumerate().map(|(index, step)| {
            Step::parse(step).ok_or_else(|| format!("{name}: step {index} is of no known kind"))
        });
        let namespaces = trace["namespaces"].as_u64().unwrap_or(1);
        Ok(Self { steps: steps.collect::<Result<_, _>>()?, name, namespaces })
    }
}

impl Step {
    fn parse(step: &Value) -> Option<Self> {
        let (request, response) = (step["request"].clone(), step["response"].clone());
        let watch = step["watch"].as_str().unwrap_or("").to_owned();
        Some(match step["op"].as_str()? {
            "call" => Self::Call { request, response },
            "watch_open" => Self::Open { watch, request, response },
            op @ ("watch_read" | "watch_wait_end") => Self::Read {
                watch,
                events: step["events"].clone(),
                has_ended: step["ended"] == "server",
                waits: (op == "watch_wait_end")
                    .then(|| Duration::from_secs(step["waited"].as_u64().unwrap_or(5))),
            },
            "watch_close" => Self::Close { watch },
            "compact" => Self::Compact,
            _ => return None,
        })
    }
}
