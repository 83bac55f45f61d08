//! One run on many machines: which cases fall to which shard.

use std::fmt;
use std::str::FromStr;

use crate::report::{Dealing, Partition};
use crate::trial::digest;

/// One shard's share of the cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// How the cases are dealt out.
    pub dealing: Dealing,
    /// The shard.
    pub partition: Partition,
}

impl Default for Share {
    fn default() -> Self {
        Self { dealing: Dealing::Slice, partition: Partition { index: 1, count: 1 } }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}/{}", self.dealing, self.partition.index, self.partition.count)
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unreadable = || {
            format!("unreadable partition '{text}': write e.g. slice:1/4 or hash:1/4, from 1 to 4")
        };
        let (dealing, of) = text.split_once(':').ok_or_else(unreadable)?;
        let (index, count) = of.split_once('/').ok_or_else(unreadable)?;
        let index = index.parse().map_err(|_| unreadable())?;
        let count = count.parse().map_err(|_| unreadable())?;
        if !(1..=count).contains(&index) {
            return Err(unreadable());
        }
        Ok(Self { dealing: dealing.parse()?, partition: Partition { index, count } })
    }
}

/// The variables in which schedulers give a process its number, the count of processes, and the
/// first number.
const KNOWN: [(&str, &str, u32); 4] = [
    ("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", 0), // Kubernetes: the Job's template sets the second
    ("CI_NODE_INDEX", "CI_NODE_TOTAL", 1),
    ("CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0),
    ("BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0),
];

impl Share {
    /// Returns the share that the environment names, everything if it names none.
    ///
    /// # Errors
    /// It names one that does not exist, or half of one: running everything in silence, on every
    /// machine, would be wrong.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        for (index_name, count_name, first) in KNOWN {
            let Some(index) = variable(index_name) else { continue };
            let advice = || {
                format!(
                    "{index_name} is set to '{index}' and {count_name} to '{}': set both to which \
                     shard of how many this is, or give --partition slice:1/1",
                    variable(count_name).unwrap_or_default()
                )
            };
            let number: u32 = index.parse().map_err(|_| advice())?;
            let count = variable(count_name).and_then(|count| count.parse().ok());
            let count: u32 = count.ok_or_else(advice)?;
            let index = number.checked_add(1).and_then(|one| one.checked_sub(first));
            let index = index.ok_or_else(advice)?;
            if !(1..=count).contains(&index) {
                return Err(advice());
            }
            return Ok(Self { partition: Partition { index, count }, ..Self::default() });
        }
        Ok(Self::default())
    }

    /// Returns those of the cases that fall to this shard, in their order. `kind` groups cases that
    /// cost alike, so that every shard gets its part of each group.
    pub(super) fn of<T, K: Ord>(
        &self,
        cases: Vec<T>,
        kind: impl Fn(&T) -> K,
        name: impl Fn(&T) -> String,
    ) -> Vec<T> {
        let Partition { index, count } = self.partition;
        let mut turns: Vec<usize> = (0..cases.len()).collect();
        turns.sort_by_key(|at| kind(&cases[*at]));
        let mut mine = vec![false; cases.len()];
        for (turn, at) in turns.into_iter().enumerate() {
            let dealt = match self.dealing {
                Dealing::Slice => turn as u64,
                Dealing::Hash => u64::from(digest(&name(&cases[at]))),
            };
            mine[at] = dealt % u64::from(count) == u64::from(index - 1);
        }
        cases.into_iter().zip(mine).filter_map(|(case, mine)| mine.then_some(case)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(text: &str) -> Share {
        text.parse().unwrap()
    }

    #[test]
    fn every_case_falls_to_exactly_one_shard() {
        for dealing in ["slice", "hash"] {
            let mut dealt = Vec::new();
            for index in 1..=4 {
                let share = share(&format!("{dealing}:{index}/4"));
                dealt.extend(share.of((0..50).collect(), |_| 0, |case| format!("case {case}")));
            }
            dealt.sort_unstable();
            assert_eq!(dealt, (0..50).collect::<Vec<_>>(), "{dealing}");
        }
    }

    #[test]
    fn slices_deal_out_every_kind_evenly() {
        let first = share("slice:1/4").of((0..40).collect(), |case| case % 4, |_| String::new());
        let of_kind = |kind| first.iter().filter(|case| **case % 4 == kind).count();
        assert_eq!([0, 1, 2, 3].map(of_kind), [3, 2, 3, 2]);
    }

    #[test]
    fn what_is_no_partition_is_refused() {
        assert_eq!(share("hash:2/3").to_string(), "hash:2/3");
        for text in ["", "slice", "slice:1", "slice:0/4", "slice:5/4", "deal:1/4", "slice:a/4"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }

    #[test]
    fn schedulers_name_the_shard() {
        let with = |set: &'static [(&str, &str)]| {
            Share::of_environment(|name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(with(&[]), Ok(Share::default()));
        const KUBERNETES: &[(&str, &str)] =
            &[("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "4")];
        assert_eq!(with(KUBERNETES), Ok(share("slice:1/4")));
        assert_eq!(with(&[("CI_NODE_INDEX", "4"), ("CI_NODE_TOTAL", "4")]), Ok(share("slice:4/4")));
        for half in [
            with(&[("JOB_COMPLETION_INDEX", "0")]),
            with(&[("JOB_COMPLETION_INDEX", "4"), ("JOB_COMPLETIONS", "4")]),
            with(&[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "4")]),
            with(&[("CIRCLE_NODE_INDEX", "x"), ("CIRCLE_NODE_TOTAL", "4")]),
        ] {
            assert!(half.unwrap_err().contains("--partition"));
        }
    }
}
