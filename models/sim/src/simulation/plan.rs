//! Plans: the faults of a run, as data and as text.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A fault. Writes are the ones that the controller asks for, changes are made by anybody; both are
/// counted from 1 since the run began.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The controller dies when this write has been carried out, before it learns of it; another one
    /// begins.
    Crash {
        /// The write.
        write: u32,
    },
    /// When this number of the user's steps is done and all is quiet, the controller begins anew, and its
    /// replica of one resource is as it was before a change. A read that accepts any version is
    /// answered from there, and its watches learn of the rest after ten seconds.
    Stale {
        /// The resource, such as `configmaps`.
        resource: String,
        /// The first change that the replica has not seen.
        change: u32,
        /// How many steps are done.
        step: u32,
    },
    /// From this change on no watch of the resource tells anything, until the opposite has happened to
    /// the same object. Then the watch is too old, and the client lists anew.
    Unobserved {
        /// The resource.
        resource: String,
        /// The first change that is not told.
        change: u32,
    },
    /// This write is carried out, and the connection breaks before its answer.
    Lost {
        /// The write.
        write: u32,
    },
    /// This write is refused.
    Refused {
        /// The write.
        write: u32,
        /// The status, such as 409 or 500.
        status: u16,
    },
    /// The watches of a resource break off at this change.
    Cut {
        /// The resource.
        resource: String,
        /// The change.
        change: u32,
    },
    /// The watches of a resource say nothing from this change on, for a while.
    Silent {
        /// The resource.
        resource: String,
        /// The change.
        change: u32,
        /// How long.
        seconds: u32,
    },
    /// The garbage that this change makes is collected so much later.
    Uncollected {
        /// The change.
        change: u32,
        /// How late.
        seconds: u32,
    },
    /// From this call of a webhook on nobody listens there, for a while. Calls are counted for each webhook.
    WebhookDown {
        /// The name of the webhook, or of the definition whose objects it converts.
        webhook: String,
        /// The call.
        call: u32,
        /// How long.
        seconds: u32,
    },
    /// This call of a webhook takes so long. If the server does not wait that long, the answer is too late.
    WebhookSlow {
        /// The name of the webhook, or of the definition whose objects it converts.
        webhook: String,
        /// The call.
        call: u32,
        /// How long.
        seconds: u32,
    },
    /// Requests and events take between 1 and 50 ms, by chance.
    Jitter {
        /// Decides the chance.
        seed: u64,
    },
    /// Requests and events wait until no process can do anything without one of them, and then come one by one:
    /// the one that waits longest, or another one. It is a fault of no process, and goes with any other.
    Order {
        /// The number of a delivery, and which one of those that wait it is: not the first, which is 0.
        taken: BTreeMap<u32, u32>,
    },
    /// A fault of one process of a system: writes are counted for each process, and the others' watches and
    /// replicas stay as they are.
    Of {
        /// The name of the process.
        process: String,
        /// The fault, which is not of this kind itself.
        fault: Box<Fault>,
    },
}

impl Fault {
    /// The same for a process; an empty name is that of the only one.
    pub(crate) fn of(self, process: &str) -> Self {
        match process {
            "" => self,
            _ => Self::Of { process: process.to_owned(), fault: Box::new(self) },
        }
    }

    /// The process that it names, and what strikes it.
    pub(crate) fn parts(&self) -> (&str, &Self) {
        match self {
            Self::Of { process, fault } => (process, fault),
            fault => ("", fault),
        }
    }

    /// Whether a run under it may have nothing to show for it.
    pub(crate) fn strikes_nothing(&self) -> bool {
        match self {
            Self::Jitter { .. } => true,
            Self::Order { taken } => taken.is_empty(),
            _ => false,
        }
    }

    /// Reads a fault whose first part names a process.
    fn read_of(name: &str, parts: &[&str]) -> Option<Self> {
        // No fault has more parts; and a text of names alone must not be looked at again and again.
        let (process, rest) = parts.split_first().filter(|(_, rest)| rest.len() <= 3)?;
        let fault: Self = format!("{name}({})", rest.join(",")).parse().ok()?;
        let is_of_all = matches!(
            fault,
            Self::Of { .. }
                | Self::Uncollected { .. }
                | Self::WebhookDown { .. }
                | Self::WebhookSlow { .. }
                | Self::Jitter { .. }
                | Self::Order { .. }
        );
        let is_own = !is_of_all;
        (is_own && is_name(process)).then(|| fault.of(process))
    }
}

/// Whether a process can have this name, so that plans can be read: it begins with a letter.
pub(crate) fn is_name(text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    text.starts_with(|it: char| it.is_ascii_alphabetic()) && text.chars().all(is_part)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash { write } => write!(f, "crash({write})"),
            Self::Stale { resource, change, step } => {
                write!(f, "stale({resource},{change},{step})")
            }
            Self::Unobserved { resource, change } => write!(f, "unobserved({resource},{change})"),
            Self::Lost { write } => write!(f, "lost({write})"),
            Self::Refused { write, status } => write!(f, "refused({write},{status})"),
            Self::Cut { resource, change } => write!(f, "cut({resource},{change})"),
            Self::Silent { resource, change, seconds } => {
                write!(f, "silent({resource},{change},{seconds})")
            }
            Self::Uncollected { change, seconds } => write!(f, "uncollected({change},{seconds})"),
            Self::WebhookDown { webhook, call, seconds } => {
                write!(f, "webhook_down({webhook},{call},{seconds})")
            }
            Self::WebhookSlow { webhook, call, seconds } => {
                write!(f, "webhook_slow({webhook},{call},{seconds})")
            }
            Self::Jitter { seed } => write!(f, "jitter({seed})"),
            Self::Order { taken } => {
                let taken: Vec<_> = taken.iter().map(|it| format!("{}:{}", it.0, it.1)).collect();
                write!(f, "order({})", taken.join(","))
            }
            Self::Of { process, fault } => {
                let text = fault.to_string();
                let (name, rest) = text.split_once('(').unwrap_or((&text, ""));
                write!(f, "{name}({process},{rest}")
            }
        }
    }
}

/// A text that is not a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPlan {
    /// The part that is wrong.
    pub part: String,
}

impl fmt::Display for BadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no fault; a plan is faults with blanks between them, such as \"crash(3) stale(configmaps,7,2) unobserved(pods,4) lost(2) refused(5,500) cut(pods,1) silent(pods,1,20) uncollected(4,60) webhook_down(v.example.com,2,60) webhook_slow(v.example.com,3,45) jitter(9) order(3:1,7:2)\"; in a system of processes the name of one comes first, as in \"crash(a,3)\"",
            self.part
        )
    }
}

impl std::error::Error for BadPlan {}

impl FromStr for Fault {
    type Err = BadPlan;

    fn from_str(text: &str) -> Result<Self, BadPlan> {
        let bad = || BadPlan { part: text.to_owned() };
        let (name, rest) = text.split_once('(').ok_or_else(bad)?;
        let inner = rest.strip_suffix(')').ok_or_else(bad)?;
        let parts: Vec<&str> = inner.split(',').collect();
        let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
        if parts.first().is_some_and(|it| is_name(it))
            && let Some(fault) = Self::read_of(name, &parts)
        {
            return Ok(fault);
        }
        Ok(match (name, &parts[..]) {
            ("crash", [write]) => Self::Crash { write: number(write)? },
            ("stale", [resource, change, step]) => Self::Stale {
                resource: (*resource).to_owned(),
                change: number(change)?,
                step: number(step)?,
            },
            ("unobserved", [resource, change]) => {
                Self::Unobserved { resource: (*resource).to_owned(), change: number(change)? }
            }
            ("lost", [write]) => Self::Lost { write: number(write)? },
            ("refused", [write, status]) => {
                let status = status.parse().map_err(|_| bad())?;
                Self::Refused { write: number(write)?, status }
            }
            ("cut", [resource, change]) => {
                Self::Cut { resource: (*resource).to_owned(), change: number(change)? }
            }
            ("silent", [resource, change, seconds]) => Self::Silent {
                resource: (*resource).to_owned(),
                change: number(change)?,
                seconds: number(seconds)?,
            },
            ("uncollected", [change, seconds]) => {
                Self::Uncollected { change: number(change)?, seconds: number(seconds)? }
            }
            ("webhook_down", [webhook, call, seconds]) => Self::WebhookDown {
                webhook: (*webhook).to_owned(),
                call: number(call)?,
                seconds: number(seconds)?,
            },
            ("webhook_slow", [webhook, call, seconds]) => Self::WebhookSlow {
                webhook: (*webhook).to_owned(),
                call: number(call)?,
                seconds: number(seconds)?,
            },
            ("order", parts) => Self::Order { taken: taken(parts).ok_or_else(bad)? },
            ("jitter", [seed]) => Self::Jitter { seed: seed.parse().map_err(|_| bad())? },
            _ => return Err(bad()),
        })
    }
}

/// The deliveries of an order that are not those that wait longest.
fn taken(parts: &[&str]) -> Option<BTreeMap<u32, u32>> {
    let read = |part: &&str| {
        let (number, which) = part.split_once(':')?;
        let some = |it: &str| it.parse().ok().filter(|it| *it > 0);
        Some((some(number)?, some(which)?))
    };
    if *parts == [""] {
        return Some(BTreeMap::new());
    }
    let taken: BTreeMap<_, _> = parts.iter().map(read).collect::<Option<_>>()?;
    (taken.len() == parts.len()).then_some(taken)
}

/// The faults of one run; none if it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The faults.
    pub faults: Vec<Fault>,
}

impl Plan {
    /// A plan of one fault.
    pub(crate) fn of(fault: Fault) -> Self {
        Self { faults: vec![fault] }
    }

    /// The seed of its chance; 0 if it has none.
    pub(crate) fn seed(&self) -> u64 {
        let seed = self.faults.iter().find_map(|fault| match fault {
            Fault::Jitter { seed } => Some(*seed),
            _ => None,
        });
        seed.unwrap_or(0)
    }

    /// Its orders: a plan that was read has one at most.
    pub(crate) fn orders(&self) -> impl Iterator<Item = &Fault> {
        self.faults.iter().filter(|it| matches!(it, Fault::Order { .. }))
    }

    /// The same without one of its faults.
    pub(crate) fn without(&self, index: usize) -> Self {
        let mut faults = self.faults.clone();
        faults.remove(index);
        Self { faults }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            let blank = if index == 0 { "" } else { " " };
            write!(f, "{blank}{fault}")?;
        }
        Ok(())
    }
}

impl FromStr for Plan {
    type Err = BadPlan;

    fn from_str(text: &str) -> Result<Self, BadPlan> {
        let faults = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let plan = Self { faults };
        // A run has one order.
        if let Some(second) = plan.orders().nth(1) {
            return Err(BadPlan { part: second.to_string() });
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::Plan;

    #[test]
    fn a_plan_is_read_as_it_is_written() {
        let text = "crash(3) stale(statefulsets.apps,7,2) unobserved(pods,4) lost(2) refused(5,500) cut(pods,1) silent(pods,1,20) uncollected(4,60) webhook_down(v.example.com,2,60) webhook_slow(a,3,45) jitter(9) order(3:1,7:2)";
        let plan: Plan = text.parse().expect("it is a plan");
        assert_eq!(plan.faults.len(), 12);
        assert_eq!("order()".parse::<Plan>().map(|it| it.to_string()), Ok("order()".to_owned()));
        let error = "order(3:1) crash(1) order()".parse::<Plan>().expect_err("a second order");
        assert_eq!(error.part, "order()");
        assert_eq!(plan.to_string(), text);
        assert_eq!("".parse(), Ok(Plan::default()));
        let text = "crash(a,3) stale(b,pods,4,2) unobserved(c-0,pods,4) lost(a,2) refused(a,5,500) cut(b,pods,1) silent(b,pods,1,20)";
        let plan: Plan = text.parse().expect("it is a plan of several processes");
        assert!(plan.faults.iter().all(|it| !it.parts().0.is_empty()));
        assert_eq!(plan.to_string(), text);
        for bad in [
            "crash",
            "crash(x)",
            "crash(1",
            "crash(1,2)",
            "hail(3)",
            "refused(1,70000)",
            "crash(a,b,3)",
            "crash(a!,3)",
            "jitter(a,9)",
            "uncollected(a,4,60)",
            "webhook_down(v.example.com,2)",
            "webhook_down(a,v.example.com,2,60)",
            "order(a,3:1)",
            "order(3:0)",
            "order(0:1)",
            "order(3:1,3:2)",
            "order(3,1)",
        ] {
            let error = bad.parse::<Plan>().expect_err("it is none");
            assert!(error.to_string().starts_with(&format!("{bad:?} is no fault")), "{error}");
        }
    }
}
