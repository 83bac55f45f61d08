//! The requests behind a report, and the shards of each that the report holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ConformanceRow, NOT_HELD, Partition, Report};

/// How cases are dealt out to shards.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Dealing {
    /// One after the other, engine by engine.
    #[default]
    Slice,
    /// By a digest of their names: a case keeps its shard when others come and go.
    Hash,
}

impl fmt::Display for Dealing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Slice => "slice",
            Self::Hash => "hash",
        })
    }
}

impl FromStr for Dealing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "slice" => Ok(Self::Slice),
            "hash" => Ok(Self::Hash),
            _ => Err(format!("unknown way to deal out cases '{text}': use slice or hash")),
        }
    }
}

/// How much of a shard was run.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
pub struct Shard {
    /// Cases that fell to it.
    pub cases: u64,
    /// Cases whose results are here.
    pub ran: u64,
}

/// One request, and those of its shards that a report holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// `run`, `mutants`, `conformance` or `replay`.
    pub command: String,
    /// The patterns; empty for everything.
    pub patterns: Vec<String>,
    /// The names of the engines.
    pub engines: Vec<String>,
    /// The budget, as it is written.
    pub budget: String,
    /// How the cases were dealt out.
    pub dealing: Dealing,
    /// How many shards there are.
    pub count: u32,
    /// The shards that are here, by their number from one.
    pub shards: BTreeMap<u32, Shard>,
}

impl Part {
    /// Makes a part that is not dealt out.
    pub fn whole(command: &str, cases: u64) -> Self {
        Self {
            command: command.to_owned(),
            patterns: Vec::new(),
            engines: Vec::new(),
            budget: String::new(),
            dealing: Dealing::default(),
            count: 1,
            shards: BTreeMap::from([(1, Shard { cases, ran: cases })]),
        }
    }

    /// Tells whether two parts are shards of one request.
    pub(super) fn same_request(&self, other: &Self) -> bool {
        Self { shards: BTreeMap::new(), ..self.clone() }
            == Self { shards: BTreeMap::new(), ..other.clone() }
    }

    /// Takes over the shards of the same request. If both have a shard, the one that ran more is
    /// kept.
    pub(super) fn absorb(&mut self, other: &Self) {
        for (index, shard) in &other.shards {
            let mine = self.shards.entry(*index).or_insert(*shard);
            mine.cases = mine.cases.max(shard.cases);
            mine.ran = mine.ran.max(shard.ran);
        }
    }

    /// Says what is missing of the request; of one shard alone the others are not.
    fn lacks(&self, alone: bool) -> Vec<String> {
        let Self { command, dealing, count, shards, .. } = self;
        let expected = (1..=*count).filter(|index| !alone && !shards.contains_key(index));
        let missing = expected.map(|index| {
            format!(
                "shard {index} of {count} of `{command}` is missing: add the report of \
                 --partition {dealing}:{index}/{count}"
            )
        });
        let short =
            shards.iter().filter(|(_, shard)| shard.ran < shard.cases).map(|(at, shard)| {
                let Shard { cases, ran } = shard;
                let which =
                    if *count > 1 { format!("shard {at} of {count} of ") } else { String::new() };
                format!("{which}`{command}` was stopped after {ran} of {cases} cases: run it again")
            });
        missing.chain(short).collect()
    }
}

impl Report {
    /// Says what is missing of what was asked for; where something is, nothing can be concluded.
    ///
    /// A report of one shard lacks nothing: that there are others shows in its `partition`.
    pub fn lacks(&self) -> Vec<String> {
        let alone = self.one_shard().is_some();
        self.parts.iter().flat_map(|part| part.lacks(alone)).collect()
    }

    /// Returns the shard that this report is, if it is one.
    pub(super) fn one_shard(&self) -> Option<Partition> {
        let [part] = self.parts.as_slice() else { return None };
        let mut shards = part.shards.keys();
        match (shards.next(), shards.next()) {
            (Some(&index), None) if part.count > 1 && !self.merged => {
                Some(Partition { index, count: part.count })
            }
            _ => None,
        }
    }

    /// Says what a part claims to hold and the report does not.
    pub(super) fn short_of(&self) -> Option<String> {
        for part in &self.parts {
            let claimed: u64 = part.shards.values().map(|shard| shard.ran).sum();
            let held = match part.command.as_str() {
                "run" => self.cases(),
                "mutants" => self.mutants.len() as u64,
                "conformance" => self.conformance.len() as u64,
                _ => claimed,
            };
            if held < claimed {
                return Some(format!("`{}` ran {claimed} cases and {held} are here", part.command));
            }
            if part.shards.keys().any(|index| !(1..=part.count).contains(index)) {
                return Some(format!("it names a shard that is none of {}", part.count));
            }
        }
        for ConformanceRow { component, traces, replayed, faithful, failures, .. } in
            &self.conformance
        {
            let least = (*replayed).min(faithful.unwrap_or(*replayed));
            if failures.is_empty() && least != *traces {
                return Some(format!(
                    "{least} of {traces} traces of {component} replayed, and why \
                     not the others is not here"
                ));
            }
        }
        None
    }

    /// Counts the pairs of scenario or exhibit and engine that have verdicts.
    fn cases(&self) -> u64 {
        let case = |row: &super::Row| {
            // An exhibit is one case, whichever scenario convicts it.
            let name = row.exhibit.clone().map_or(Ok(row.scenario.clone()), Err);
            (row.component.clone(), name, row.engine)
        };
        self.rows.iter().map(case).collect::<BTreeSet<_>>().len() as u64
    }

    /// Tells whether anything was executed at all.
    pub(super) fn ran(&self) -> bool {
        self.rows.iter().any(|row| row.invariant != NOT_HELD)
            || !self.mutants.is_empty()
            || self.conformance.iter().any(|row| row.traces > 0)
    }
}
