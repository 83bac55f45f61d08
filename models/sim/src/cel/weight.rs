//! How large and how deep values are: what functions cost.

use std::borrow::Cow;

use super::value::{List, Map, Value};

/// Beyond this weight no function is within the limit of a rule.
const HEAVIEST: u64 = 10_000_000;

impl Value<'_> {
    /// How much there is to look at, as the cost of a function counts it.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Text(it) => it.len() as u64,
            Self::Bytes(it) => it.len() as u64,
            Self::List(it) => it.len() as u64,
            Self::Map(it) | Self::Made(_, it) => it.most() as u64,
            Self::Url(it) => it.size(),
            _ => 1,
        }
    }

    /// What a copy takes, and a look at what an object holds in another form.
    pub(super) fn copied(&self) -> u64 {
        match self {
            Self::Text(Cow::Owned(it)) => it.len() as u64 / 100,
            Self::Bytes(it) => it.len() as u64 / 100,
            _ => 0,
        }
    }

    /// How many made values lie within each other. Those of an object have a depth that its reader bounds.
    pub(super) fn depth(&self) -> usize {
        let (mut it, mut depth) = (self, 0);
        while let Self::Optional(Some(inner)) = it {
            (it, depth) = (inner, depth + 1);
        }
        match it {
            Self::List(List::Made(_, own))
            | Self::Map(Map::Made(_, own))
            | Self::Made(_, Map::Made(_, own)) => depth + own,
            _ => depth,
        }
    }

    /// All that there is to look at, below it too. Beyond a limit it is some number above that limit: one value
    /// may lie in a list many times, and the same list in others.
    pub(super) fn weight(&self, limit: u64) -> u64 {
        let mut sum = self.size();
        let add = |sum: &mut u64, it: &Value<'_>| {
            *sum = sum.saturating_add(it.weight(limit.saturating_sub(*sum)));
        };
        match self {
            Self::Optional(Some(inner)) => add(&mut sum, inner),
            Self::List(list) => {
                for index in 0..list.len() {
                    if sum > limit {
                        break;
                    }
                    add(&mut sum, &list.get(index).unwrap_or(Value::Null));
                }
            }
            Self::Map(map) | Self::Made(_, map) => {
                // Made maps are searched by one key after another.
                if matches!(map, Map::Made(..)) {
                    sum = sum.saturating_add(sum.saturating_mul(sum) / 16);
                }
                for (key, value) in map.entries() {
                    if sum > limit {
                        break;
                    }
                    sum = sum.saturating_add(key.size() / 16);
                    add(&mut sum, &value.unwrap_or(Value::Null));
                }
            }
            _ => {}
        }
        sum
    }

    /// The whole weight, or more than any rule may cost.
    pub(super) fn whole(&self) -> u64 {
        let weight = self.weight(HEAVIEST);
        if weight > HEAVIEST { u64::MAX } else { weight }
    }

    /// What it takes to compare two values, one of them `times` times: as much as the lesser one. Neither is
    /// walked much further than that.
    pub(super) fn lesser(&self, times: u64, other: &Self) -> u64 {
        let mut limit = 64;
        while limit <= HEAVIEST {
            let one = self.weight(limit / times.max(1)).saturating_mul(times);
            let least = one.min(other.weight(limit));
            if least <= limit {
                return least;
            }
            limit *= 4;
        }
        u64::MAX
    }
}
