//! One execution to look at.

use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError};

use super::case::{Case, Slot, left_in};
use super::lines::lines;
use super::shuttling;
use crate::author::{Component, shown};
use crate::engine::{End, Schedule};
use crate::outcome::{Broken, Explored, StopAt, digest, transcript};

impl<C: Component> Case<C> {
    /// Runs the execution that begins with these decisions; after them threads run as long as they can.
    pub(crate) fn explored(&self, beginning: &Schedule) -> Result<Explored, String> {
        let slot: Slot<C> = Arc::default();
        let body = self.body(&slot);
        let mark = {
            let slot = Arc::clone(&slot);
            move || {
                let left = slot.lock().unwrap_or_else(PoisonError::into_inner);
                left.as_ref().map_or(0, |left| left.log.len())
            }
        };
        let mut jury = self.jury(StopAt::End);
        let mut seen = Err("the engine ran nothing".to_owned());
        let mut look = |execution: &crate::engine::Execution<'_>| {
            let left = left_in(&slot);
            if let End::Diverged(why) | End::Refused(why) = &execution.end {
                seen = Err(why.clone());
                return ControlFlow::Break(());
            }
            let history = left.log.close(execution.end.clone());
            let all = lines::<C>(&history, &*left.thread_name);
            let schedule = execution.schedule.map(ToString::to_string).unwrap_or_default();
            seen = Ok((transcript(&all, &history.end), all, schedule, execution.preemptions));
            jury.judge(execution, &history, &*left.thread_name)
        };
        let config = self.config();
        let (watched, states) = shown::watching(|| {
            shuttling::watch(beginning, &config, &body, Box::new(mark), &mut look)
        });
        let (transcript, lines, schedule, preemptions) = seen?;
        let broken = jury.findings.into_iter().map(|finding| Broken {
            invariant: finding.invariant.to_owned(),
            because: finding.violation.because,
            at: finding.violation.at,
        });
        Ok(Explored {
            watched,
            schedule,
            lines,
            states,
            end: transcript.lines().next_back().unwrap_or_default().to_owned(),
            preemptions,
            broken: broken.collect(),
            history: digest(&transcript),
        })
    }
}
