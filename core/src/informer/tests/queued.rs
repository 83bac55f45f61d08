//! A reflector whose consumer is a queue.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use super::server::{Object, Server};
use crate::cancel::CancelToken;
use crate::events::{Delta, Event};
use crate::informer::reflector::{Config, Driver, Hooks};
use crate::ordered_fifo::{Options, OrderedFifo};
use crate::runtime::Manual;
use crate::store::{Cause, Intake, LastState, NoMetadata, metadata_key};

#[test]
fn a_queue_is_kept_in_step_with_a_collection() {
    let (runtime, server) = (Manual::new(), Server::default());
    let (a, b) = (server.put("a"), server.put("b"));
    let intake =
        Intake::new(&runtime, |object: &Object| -> Result<String, Cause> { metadata_key(object) });
    let intake = intake.with_transform(|object: Object| -> Result<Object, Cause> {
        if object.version == "4" { Err(Arc::new(NoMetadata)) } else { Ok(object) }
    });
    let queue = OrderedFifo::with_options(&runtime, intake, Options::default());
    let source = Arc::new(server.clone());
    let driver = Driver::new(&runtime, source, Config::default(), Hooks::default());
    let token = CancelToken::new(&runtime);
    let mut run = pin!(driver.run(&queue, &token));
    let mut context = Context::from_waker(Waker::noop());
    assert!(run.as_mut().poll(&mut context).is_pending());
    let changed = server.put("a");
    server.delete("b"); // refused, so the key is all that is queued
    assert!(run.as_mut().poll(&mut context).is_pending());
    let events = queue.list();
    let [Event::ReplacedAll(list), rest @ ..] = &events[..] else { panic!("{events:?}") };
    assert_eq!((&*list.resource_version, &list.objects[..]), ("2", &[a, b][..]));
    let gone = LastState::unknown("b".to_owned(), None);
    assert_eq!(rest, [Delta::Updated(changed).into(), Delta::Deleted(gone).into()]);
    assert_eq!(*driver.last_resource_version(), "4");
    token.cancel();
    assert!(run.as_mut().poll(&mut context).is_ready());
}
