//! The promises of the calls, by the second statement of the rules (`rule.rs`).

use seatrial_core::machine::Cx;
use seatrial_core::request::steps::{Failures, Op as Asks, Ret as Says};
use seatrial_core::request::{Mode, Retry, RetryCause, Want};
use seatrial_core::runtime::Instant;

use super::{BURST, Call, Checked, Exchange, RATE, check};
use crate::request::rule::{Outcome, Verdict, Way};

impl Exchange {
    pub(super) fn keeps_its_rate(&self, now: Instant) -> Checked {
        for (number, first) in self.turns.iter().enumerate() {
            let count = (self.turns.len() - number) as f64;
            let window = now.since(*first).as_secs_f64();
            check(
                count <= BURST as f64 + window * RATE + 1e-6,
                "the_limiter_keeps_its_rate",
                || format!("{count} turns in {window} s"),
            )?;
        }
        Ok(())
    }

    /// A turn must be requested exactly when the pause is over.
    pub(super) fn may_take_a_turn(&self, number: usize, now: Instant) -> Checked {
        let Call { last: Some((_, Verdict::Again(_))), due, .. } = self.calls[number] else {
            return Ok(());
        };
        check(now >= due, "turns_are_taken", || format!("a turn is asked for before {due:?}"))?;
        check(now == due, "pauses_are_kept", || format!("this was due at {due:?}"))
    }

    pub(super) fn may_send(&self, number: usize, now: Instant) -> Checked {
        let call = &self.calls[number];
        let Way { mode, reads, max } = call.way;
        check(call.cancelled.is_none(), "nothing_after_the_end", || {
            format!("call {number} sends after it was cancelled")
        })?;
        check(!call.open, "answers_are_closed", || "the answer before is still open".to_owned())?;
        check(call.attempts <= max, "attempts_are_bounded", || format!("more than 1 + {max}"))?;
        if let Some((outcome, verdict)) = call.last {
            let in_doubt = matches!(outcome, Outcome::Fails(_)) && mode == Mode::Whole && !reads;
            check(!in_doubt, "writes_are_sent_once", || format!("again after {outcome:?}"))?;
            check(matches!(verdict, Verdict::Again(_)), "repeats_what_may_help", || {
                format!("another attempt after {outcome:?}")
            })?;
        }
        let is_free = call.attempts == 0 && mode == Mode::Watch;
        check(call.turns == u32::from(!is_free), "turns_are_taken", || {
            format!("{} turns were taken", call.turns)
        })?;
        let due = call.due;
        check(now == due, "pauses_are_kept", || format!("this was due at {due:?}"))
    }

    pub(super) fn says_why(&self, number: usize, retry: Option<&Retry>) -> Checked {
        let call = &self.calls[number];
        let Some((outcome, Verdict::Again(after))) = call.last else { return Ok(()) };
        let cause = match outcome {
            Outcome::Status(status, _) => RetryCause::Status(status),
            Outcome::Fails(kind) => RetryCause::Failure(format!("{kind:?}")),
        };
        let right = Retry { count: call.attempts, after, cause };
        check(retry == Some(&right), "retries_say_why", || {
            format!("{retry:?}, and {right:?} is right")
        })
    }

    /// Judges the result of a call.
    pub(super) fn is_right_end(&mut self, number: usize, end: &Want, cx: &mut Cx<'_>) -> Checked {
        let told = match end {
            Want::Failure => match self.rules(number).ask(Asks::Failures(Failures), cx) {
                Says::Failures(told) => told,
                other => unreachable!("{other:?} is no answer"),
            },
            _ => None,
        };
        let kinds = told.map(|(last, previous)| (last.kind(), previous.map(|it| it.kind())));
        let call = &self.calls[number];
        let right = match (call.last, call.failed.last) {
            (Some((_, Verdict::Answer)), _) => (Want::Answer, None),
            (Some((_, Verdict::EndedWatch)), _) => (Want::EndedWatch, None),
            (Some((_, Verdict::Failure)), Some(last)) => {
                (Want::Failure, Some((last, call.failed.previous(call.way.mode))))
            }
            (last, _) => {
                let text = format!("no other attempt after {last:?}");
                return Err(("repeats_what_may_help", text));
            }
        };
        check((end, kinds) == (&right.0, right.1), "the_last_counts", || {
            format!("{end:?} with {kinds:?}, and {right:?} is right")
        })
    }
}
