//! Describes events in a few words, for pictures and histories.

use std::fmt::Write as _;

use seatrial_core::elector::{
    Io, LeaseSpec, Name, Next, Object, Op, Reply, Ret, StoreError, Stored, Turn,
};
use seatrial_core::machine::Step;

use super::part::{Answer, Call, Request, Serve};
use super::store::Served;

/// Describes a step.
pub(super) fn describe(call: &Call, outcome: &Step<Answer>) -> String {
    match (call, outcome) {
        (Call::SetUp(set_up), Step::Done(Answer::SetUp(Ok(())))) => {
            format!("{} is set up", named(&set_up.config.identity))
        }
        (Call::SetUp(_), Step::Done(Answer::SetUp(Err(error)))) => format!("refused: {error}"),
        (Call::Ask(ask), Step::Done(Answer::Ask(ret))) => answered(&ask.0, ret),
        (Call::Ask(ask), Step::Wait { until, .. }) => match (&ask.0, until) {
            (Op::Watch(watch), _) => format!("waits for the end of term {}", watch.term),
            (_, Some(until)) => format!("sleeps until {until:?}"),
            (op, None) => format!("{op:?} sleeps"),
        },
        (Call::Serve(serve), Step::Done(Answer::Serve(served))) => served_text(serve, served),
        (call, outcome) => format!("{call:?} -> {outcome:?}"),
    }
}

fn named(name: &Name) -> &str {
    if name.is_empty() { "nobody" } else { name.as_str() }
}

fn answered(op: &Op, ret: &Ret) -> String {
    match (op, ret) {
        (Op::Begin(_), Ret::Begin(turn)) => format!("begins; {}", ordered(turn)),
        (Op::Try(_), Ret::Try(turn)) => format!("tries; {}", ordered(turn)),
        (Op::GiveUp(_), Ret::GiveUp(turn)) => format!("gives up; {}", ordered(turn)),
        (Op::Reply(Reply(Some(answer))), Ret::Reply(turn)) => {
            format!("{}; {}", learned(answer), ordered(turn))
        }
        (_, Ret::Rest(turn)) => ordered(turn),
        (_, Ret::Runs(run)) => format!("run {run}"),
        (Op::Cancel(cancel), _) => format!("run {} is cancelled", cancel.run),
        (_, Ret::Abort(_)) => "breaks down".to_owned(),
        (Op::WorkEnded(work), _) if work.panicked => format!("work of term {} broke", work.term),
        (Op::WorkEnded(work), _) => format!("work of term {} ended", work.term),
        (Op::Watch(watch), _) => format!("term {} is over", watch.term),
        (Op::Holds(holds), Ret::Holds(says)) => format!("term {} holds? {says}", holds.term),
        (_, Ret::IsLeader(says)) => format!("leads? {says}"),
        (_, Ret::Leader(name)) => format!("who leads? {}", named(name)),
        (_, Ret::Look(observed)) => {
            format!("observed {} at {:?}", named(&observed.record.holder), observed.at)
        }
        (_, Ret::Check(healthy)) => format!("healthy? {healthy}"),
        (op, ret) => format!("{op:?} -> {ret:?}"),
    }
}

fn learned(answer: &Result<Stored, StoreError>) -> String {
    match answer {
        Ok(stored) => format!("{:?} of {}", stored.version, named(&stored.record.holder)),
        Err(error) => error.to_string(),
    }
}

fn ordered(turn: &Turn) -> String {
    let mut text = match &turn.next {
        Next::Call { io: Io::Get, .. } => "reads".to_owned(),
        Next::Call { io: Io::Create(_), .. } => "creates".to_owned(),
        Next::Call { io: Io::Update(record, version), .. } if record.holder.is_empty() => {
            format!("frees {version:?}")
        }
        Next::Call { io: Io::Update(_, version), .. } => format!("updates {version:?}"),
        Next::Rest => "rests".to_owned(),
        Next::Lead { term, .. } => format!("leads, term {term}"),
        Next::Done(success) => format!("done, {success}"),
        Next::Ended { led: true } => "its run ends".to_owned(),
        Next::Ended { led: false } => "its run ends, never led".to_owned(),
        Next::Refused => "refused".to_owned(),
    };
    if let Some(leader) = &turn.notes.new_leader {
        let _infallible = write!(text, ", reports {}", named(leader));
    }
    if turn.notes.metric_off {
        text.push_str(", off");
    }
    text
}

fn served_text(serve: &Serve, served: &Served) -> String {
    let request = match &serve.request {
        Request::Get => "get".to_owned(),
        Request::Create(_) => "create".to_owned(),
        Request::Update(lease) => format!("update {:?}", lease.meta.version),
        Request::Delete => "delete".to_owned(),
        Request::Edit(edit) => format!("{edit:?}"),
    };
    match served {
        Ok(lease) => format!("store: {request} -> {:?} of {}", lease.meta.version, holder(lease)),
        Err(error) => format!("store: {request}: {error}"),
    }
}

fn holder(lease: &Object<LeaseSpec>) -> &str {
    lease.content.holder.as_ref().map_or("nobody", named)
}
