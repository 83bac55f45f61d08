//! A store that is used wrongly, which shows that the checks of its content find mistakes.

use seatrial_core::machine::{Cx, Machine, Step};

use super::{Mutant, MutantKind};
use crate::election::plain;
use crate::elector::Elector;
use crate::elector::part::{Answer, Call, Part, Request, Serve};
use crate::trial::MachineOf;

pub(super) const STORE: &[Mutant] = &[Mutant {
    name: "writes_without_comparing",
    origin: "election:LK-4: an update without a version",
    breaks: &["versions_form_a_chain"],
    kind: MutantKind::Seeded,
    make: plain::elector,
    part: || Box::new(Unconditional(Part::shipped())),
}];

/// A part whose store replaces the lease whatever version an elector names.
struct Unconditional(MachineOf<Elector>);

impl Unconditional {
    /// Reads the stored lease, as a caller from outside that changes nothing.
    fn stored(&mut self, cx: &mut Cx<'_>) -> Step<Answer> {
        self.0.step(&mut Call::Serve(Serve { by: None, call: 0, request: Request::Get }), cx)
    }
}

impl Machine for Unconditional {
    type Op = Call;
    type Ret = Answer;

    fn step(&mut self, op: &mut Call, cx: &mut Cx<'_>) -> Step<Answer> {
        let Call::Serve(Serve { by: by @ Some(_), call, request: Request::Update(sent) }) = op
        else {
            return self.0.step(op, cx);
        };
        let mut sent = sent.clone();
        if let Step::Done(Answer::Serve(Ok(stored))) = self.stored(cx) {
            sent.meta.version = stored.meta.version;
        }
        let request = Request::Update(sent);
        self.0.step(&mut Call::Serve(Serve { by: *by, call: *call, request }), cx)
    }

    fn assert_valid(&self) {
        self.0.assert_valid();
    }
}
