//! A server that keeps one Lease, which other clients change as well.

use serde_json::{Value, json};

/// The path of the Leases.
pub(super) const PATH: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
pub(super) const NAME: &str = "controller";

/// A change of the Lease by another client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Takes the Lease, and adds fields of its own.
    Takes,
    /// Empties the Lease.
    Empties,
    /// Deletes the Lease.
    Deletes,
    /// Writes a text that is no time.
    Spoils,
}

/// The trouble of the next request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// The request is refused with this code, and may be repeated after a second.
    Refuses(u16),
    /// The request is lost.
    LosesRequest,
    /// The answer is lost.
    LosesAnswer,
    /// The server never answers.
    Silence,
}

/// The server's reaction to a request.
pub(super) enum Answer {
    Says(u16, String),
    Breaks,
    Silence,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Server {
    pub(super) lease: Option<Value>,
    version: u32,
    pub(super) next: Option<Trouble>,
}

fn refusal(code: u16, reason: &str) -> Answer {
    let status = json!({
        "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": reason,
    });
    Answer::Says(code, status.to_string())
}

impl Server {
    /// Serves a request, unless it meets trouble.
    pub(super) fn serve(&mut self, verb: &str, target: &str, body: Option<&Value>) -> Answer {
        match self.next.take() {
            Some(Trouble::Refuses(code)) => Answer::Says(code, "refused".to_owned()),
            Some(Trouble::LosesRequest) => Answer::Breaks,
            Some(Trouble::Silence) => Answer::Silence,
            Some(Trouble::LosesAnswer) => {
                self.carry_out(verb, target, body);
                Answer::Breaks
            }
            None => self.carry_out(verb, target, body),
        }
    }

    fn carry_out(&mut self, verb: &str, target: &str, body: Option<&Value>) -> Answer {
        let path = target.split('?').next().unwrap_or_default();
        let is_one = path.strip_prefix(PATH).map(|rest| rest == format!("/{NAME}"));
        match (verb, is_one, body, &self.lease) {
            ("GET", Some(true), None, Some(lease)) => Answer::Says(200, lease.to_string()),
            ("POST", Some(false), Some(_), Some(_)) => refusal(409, "AlreadyExists"),
            ("POST", Some(false), Some(body), None) => self.store(201, body.clone()),
            ("PUT", Some(true), Some(body), Some(lease)) => {
                let wanted = &body["metadata"]["resourceVersion"];
                if wanted.is_null() || *wanted == lease["metadata"]["resourceVersion"] {
                    return self.store(200, body.clone());
                }
                refusal(409, "Conflict")
            }
            _ => refusal(404, "NotFound"),
        }
    }

    fn store(&mut self, status: u16, mut lease: Value) -> Answer {
        self.version += 1;
        lease["metadata"]["resourceVersion"] = self.version.to_string().into();
        lease["metadata"]["uid"] = "one".into();
        let text = lease.to_string();
        self.lease = Some(lease);
        Answer::Says(status, text)
    }

    /// Another client changes the Lease. If there is none, it is made first.
    pub(super) fn change(&mut self, how: Change) {
        let mut lease = self.lease.take().unwrap_or_else(
            || json!({ "metadata": { "name": NAME, "namespace": "default" }, "spec": {} }),
        );
        match how {
            Change::Deletes => return,
            Change::Takes => {
                lease["metadata"]["labels"] = json!({ "team": "theirs", "app": "other" });
                lease["metadata"]["finalizers"] = json!(["example.com/keep"]);
                lease["spec"] = json!({
                    "holderIdentity": "theirs", "leaseDurationSeconds": 20, "leaseTransitions": 7,
                    "acquireTime": "2023-11-14T22:13:23Z", "strategy": "OldestEmulationVersion",
                    "renewTime": "2023-11-14T22:13:20.123456789Z", "ofTheirs": { "a": [1] },
                });
            }
            Change::Empties => {
                lease["spec"] = Value::Null;
                lease["metadata"]["labels"] = Value::Null;
            }
            Change::Spoils => lease["spec"]["renewTime"] = "yesterday".into(),
        }
        self.store(200, lease);
    }
}
